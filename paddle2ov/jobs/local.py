"""Jobs in processes of this machine."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, TimeoutError, wait
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pebble import ProcessExpired, ProcessPool

from paddle2ov.jobs.executor import Job, Outcome, Returned


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Threads and processes that are begun inside take no notice of Ctrl-C: this process ends them.

    Otherwise a process that is still importing what it needs would end with a traceback.
    """
    if sys.platform == "win32":  # which has no masks
        yield
        return
    from multiprocessing import resource_tracker  # of POSIX

    resource_tracker.ensure_running()  # which would unblock them again as it starts
    with _interrupts_deferred():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _interrupts_deferred() -> Iterator[None]:
    """Ctrl-C is handled afterwards: another thread may receive it, and a process that is begun half-way complains."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if received:
        signal.raise_signal(signal.SIGINT)


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """A pool of processes that replaces those that die.

    Args:
        workers: the number of processes.
        timeout: seconds for one job; its process is then killed. None: no limit.
        jobs_per_worker: a process is replaced after this many jobs, which bounds what leaks; 0 for never.
    """

    workers: int
    timeout: float | None
    jobs_per_worker: int = 0

    def run(
        self, function: Callable[[Job], Returned], jobs: Iterable[Job]
    ) -> Generator[Outcome[Job, Returned], None, None]:
        """Runs the function over the jobs; see `Executor`."""
        # Spawned, not forked: OpenVINO and Paddle hold threads, which a fork does not take along.
        spawn: Any = multiprocessing.get_context("spawn")  # pebble's annotations take none of Windows's contexts
        pool = ProcessPool(max_workers=self.workers, max_tasks=self.jobs_per_worker, context=spawn)
        pending: dict[Future[Returned], Job] = {}
        waiting = iter(jobs)
        try:
            while True:
                for job in islice(waiting, self.workers - len(pending)):
                    with _interrupts_blocked():  # the threads that the pool begins here start its processes
                        pending[pool.schedule(function, args=[job], timeout=self.timeout)] = job
                if not pending:
                    pool.close()
                    break
                for future in wait(pending, return_when=FIRST_COMPLETED).done:
                    yield self._outcome(pending.pop(future), future)
        except BaseException:
            pool.stop()
            raise
        finally:
            pool.join()

    def _outcome(self, job: Job, future: Future[Any]) -> Outcome[Job, Any]:
        try:
            return Outcome(job, future.result())
        except TimeoutError as error:
            return Outcome(job, failure=f"took longer than {self.timeout:g} s" if self.timeout else f"{error}")
        except ProcessExpired as error:
            return Outcome(job, failure=f"its process died (exit code {error.exitcode})")
        except Exception as error:
            return Outcome(job, failure=f"{type(error).__name__}: {error}")
