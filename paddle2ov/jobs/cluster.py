"""Jobs on a Ray cluster. Its nodes need paddle2ov installed and the files that jobs name under the same paths."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from paddle2ov.errors import Paddle2OVError, install_command
from paddle2ov.jobs.executor import Job, Outcome, Returned
from paddle2ov.jobs.local import LocalExecutor


class ClusterError(Paddle2OVError):
    """Ray is not installed, or its cluster cannot be reached."""


@dataclass(frozen=True, slots=True)
class RayExecutor:
    """One task of Ray per job, at most as many at once as the cluster has processors.

    The task runs its job in a process of its own and supervises it, so that a job ends as it would on one machine.

    Args:
        address: as `ray.init` takes it ("auto", "ray://host:10001", "host:6379"); "local" starts a cluster here.
        timeout: seconds for one job; its process is then killed. None: no limit.
        workers: the most jobs at once. Default: the cluster's processors.
    """

    address: str
    timeout: float | None
    workers: int | None = None

    def run(self, function: Callable[[Job], Returned], jobs: Iterable[Job]) -> Iterator[Outcome[Job, Returned]]:
        """Runs the function over the jobs; see `Executor`.

        Raises:
            ClusterError: Ray is not installed, or the cluster cannot be reached.
        """
        ray = self._connected()
        try:
            task = ray.remote(_supervised)
            most = self.workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
            pending: dict[Any, Job] = {}
            waiting = iter(jobs)
            while True:
                for job in islice(waiting, most - len(pending)):
                    pending[task.remote(function, job, self.timeout)] = job
                if not pending:
                    return
                for reference in ray.wait(list(pending))[0]:
                    job = pending.pop(reference)
                    try:
                        yield ray.get(reference)
                    except ray.exceptions.RayError as error:  # a node went away, more often than Ray repeats a task
                        yield Outcome(job, failure=f"{type(error).__name__}: {error}")
        finally:
            ray.shutdown()  # also ends the tasks that are still running

    def _connected(self) -> Any:
        try:
            import ray
        except ImportError as error:
            raise ClusterError(f"Ray is not installed: {install_command('ray')}") from error
        try:
            _require_answer(self.address)
            ray.init(address=self.address, log_to_driver=False, logging_level=logging.ERROR)
        except Exception as error:  # that it could not start in time is nothing more special
            raise ClusterError(f"Ray at '{self.address}': {error}") from error
        return ray


def _require_answer(address: str) -> None:
    """Asks whether anything listens there; Ray itself waits for minutes before it says that nothing does."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _supervised(function: Callable[[Job], Returned], job: Job, timeout: float | None) -> Outcome[Job, Returned]:
    """Runs a job in a process of its own; called on a node of the cluster."""
    (outcome,) = LocalExecutor(1, timeout).run(function, [job])
    return outcome
