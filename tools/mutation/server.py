"""Mutants in processes that are forked off this one, with limits of memory and time."""

from __future__ import annotations

import faulthandler
import gc
import importlib
import json
import logging
import math
import os
import pkgutil
import re
import resource
import select
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, NoReturn

from tools.mutation.mutant import Mutant
from tools.mutation.trial import FINDINGS, Result, attempt, function_of

_OURS = 97
"""The exit status for errors of these tools."""
_NEARLY = 0.8
"""Of the limit: resident memory that grows by so much has all but met it, whatever became of the error."""


@dataclass(frozen=True)
class Limits:
    """Of one file.

    Attributes:
        seconds: of processor time.
        clock: seconds on the clock, for what waits; it may take twice as long.
        bytes: by how much memory may grow, beyond twice the size of the files.
    """

    seconds: int = 20
    clock: int = 300
    bytes: int = 1_000_000_000


def load() -> None:
    """Loads what conversions load when they first need it, so that forked processes have it."""
    logging.disable()
    for name in ("program", "translation", "converters", "passes", "graph"):
        package = importlib.import_module(f"paddle2ov.{name}")
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(info.name)
    gc.collect()
    gc.freeze()  # a collection in a forked process would copy what it shares with this one


def read(mutant: Mutant, limits: Limits = Limits()) -> Result:
    """What comes of a mutant in a process of its own."""
    return next(read_all([mutant], limits))


def read_all(mutants: Sequence[Mutant], limits: Limits = Limits()) -> Iterator[Result]:
    """What comes of mutants, which are read one after the other in a process, and in another one if that dies."""
    left, suspected = list(mutants), None
    while left:
        results, death = _together(left, limits)
        if suspected is not None and results and results[0].outcome not in FINDINGS:
            results[0] = replace(
                suspected, bucket=f"not alone: {suspected.bucket}"
            )  # those before left something behind
        yield from results
        left = left[len(results) :]
        suspected = death if results else None  # it is read again, as the first of its process
        if death is not None and not results:
            yield death
            left = left[1:]


def _together(mutants: Sequence[Mutant], limits: Limits) -> tuple[list[Result], Result | None]:
    """What came of mutants until the process ended, and how it did if it died."""
    with tempfile.TemporaryDirectory(prefix="paddle2ov-mutants-") as folder, tempfile.TemporaryFile() as log:
        answers = Path(folder) / "answers"
        answers.touch()
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            _serve(mutants, limits, answers, log)
        descriptor, size, is_waiting = os.pidfd_open(child), -1, False
        try:
            while not select.select([descriptor], [], [], limits.clock)[0]:
                if is_waiting := answers.stat().st_size == size:
                    break
                size = answers.stat().st_size
        finally:
            os.close(descriptor)
            os.kill(child, signal.SIGKILL)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        results = [Result(**json.loads(line)) for line in answers.read_text().splitlines()]
        log.seek(0)
        return results, _death(status, log.read().decode(errors="replace"), is_waiting) if status else None


def _serve(mutants: Sequence[Mutant], limits: Limits, answers: Path, log: IO[bytes]) -> NoReturn:
    """The process that reads mutants."""
    status = _OURS
    try:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        faulthandler.enable(log.fileno())
        faulthandler.register(signal.SIGXCPU, log.fileno(), chain=True)
        for number, mutant in enumerate(mutants):
            files = answers.with_name(str(number))
            files.mkdir()
            own = 2 * mutant.size
            before = _limit(limits.seconds, limits.bytes + own)
            result = attempt(mutant, files)
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            shutil.rmtree(files)
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before - own
            is_worn = grown > _NEARLY * limits.bytes  # where the largest size does not fall again
            if is_worn and result.outcome not in FINDINGS:
                result = Result("memory", f"growth in {mutant.family}", f"{grown / 1e6:.0f} MB")
            with answers.open("a") as file:
                file.write(json.dumps(asdict(result)) + "\n")
            if is_worn:
                break
        status = 0
    except BaseException:
        traceback.print_exc()  # into the log
        sys.stderr.flush()
    finally:
        os._exit(status)


def _limit(seconds: int, grown: int) -> int:
    """Sets the limits of this process; how many bytes are resident before it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = math.ceil(used.ru_utime + used.ru_stime) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))
    mapped, resident = map(int, Path("/proc/self/statm").read_text().split()[:2])
    page = resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped * page + grown, resource.RLIM_INFINITY))
    return resident * page


def _death(status: int, log: str, is_waiting: bool) -> Result:
    """How a process ended that did not finish."""
    if status == _OURS:
        raise RuntimeError(f"the tools themselves fail: {log}")
    functions = (function_of(*frame) for frame in re.findall(r'File "([^"]+)", line \d+ in (\S+)', log))
    place = next(filter(None, functions), "?")  # the innermost of this project in a traceback of faulthandler
    name = signal.Signals(-status).name if status < 0 else f"exit status {status}"
    if is_waiting or status == -signal.SIGXCPU:
        return Result("hang", f"{'waits' if is_waiting else 'computes'} in {place}", log[:3000])
    is_memory = status < 0 and ("bad_alloc" in log or "MemoryError" in log)
    return Result("memory" if is_memory else "crash", f"{name} in {place}", log[:3000])
