"""Mutants in processes that are forked off this one, with limits of memory and time.

A process reads many mutants, one after the other, and tells what came of each. When it dies, the mutant that it was at
is read again by a process of its own, and what is left by another.
"""

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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, NoReturn

from tools.mutation.mutant import Mutant
from tools.mutation.trial import FINDINGS, Result, attempt, function_of

_OURS = 97
"""The exit status for errors of these tools."""
_NEARLY = 0.8
"""Of the limit: resident memory that grows by so much has all but met it, whatever became of the error."""
Make = Callable[[int], Mutant]


@dataclass(frozen=True)
class Tried:
    """A mutant's row in the table of outcomes, and its outcome."""

    row: str
    result: Result


@dataclass(frozen=True)
class Limits:
    """Of one file.

    Attributes:
        seconds: of processor time.
        clock: seconds on the clock, for what waits.
        bytes: by how much memory may grow, beyond twice the size of the parameters.
    """

    seconds: int = 20
    clock: int = 300
    bytes: int = 1_000_000_000


def load() -> None:
    """Loads what conversions load when they first need it, so that forked processes have it."""
    logging.disable()
    for package in (
        "paddle2ov.program",
        "paddle2ov.translation",
        "paddle2ov.converters",
        "paddle2ov.passes",
        "paddle2ov.graph",
    ):
        imported = importlib.import_module(package)
        for info in pkgutil.walk_packages(imported.__path__, f"{package}."):
            importlib.import_module(info.name)
    gc.collect()
    gc.freeze()  # a collection in a forked process would copy what it shares with this one


def run(make: Make, numbers: Sequence[int], limits: Limits = Limits()) -> Iterator[tuple[int, Tried]]:
    """What came of the mutants with these numbers, in their order."""
    left = list(numbers)
    while left:
        told, death = _together(make, left, limits)
        yield from zip(left, told, strict=False)
        left = left[len(told) :]
        if death is not None:
            tried = alone(make, left[0], limits)
            if tried.result.outcome not in FINDINGS:  # something that those before left behind
                tried = Tried(tried.row, replace(death, bucket=f"not alone: {death.bucket}"))
            yield left[0], tried
            left = left[1:]


def alone(make: Make, number: int, limits: Limits = Limits()) -> Tried:
    """What came of one mutant in a process of its own."""
    told, death = _together(make, [number], limits)
    return told[0] if death is None else Tried(make(number).row, death)


def _together(make: Make, numbers: Sequence[int], limits: Limits) -> tuple[list[Tried], Result | None]:
    """What came of mutants until the process died, and how it did."""
    folder = Path(tempfile.mkdtemp(prefix="paddle2ov-mutants-"))
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as log:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _serve(make, numbers, limits, folder, writing, log)
        os.close(writing)
        is_stuck = True  # unless it is heard to the end
        try:
            told, is_stuck = _received(reading, limits.clock)
        finally:
            if is_stuck:
                os.kill(child, signal.SIGKILL)
            status = os.waitpid(child, 0)[1]
            os.close(reading)
            shutil.rmtree(folder, ignore_errors=True)
        log.seek(0)
        text = log.read().decode(errors="replace")
    if status == 0:
        return told, None
    return told, _death("waiting" if is_stuck else status, text)


def _received(reading: int, clock: float) -> tuple[list[Tried], bool]:
    """What a process tells until it ends, and whether it said nothing for too long."""
    text = b""
    while select.select([reading], [], [], clock)[0]:
        part = os.read(reading, 1 << 16)
        if not part:
            return _parsed(text), False
        text += part
    return _parsed(text), True


def _parsed(text: bytes) -> list[Tried]:
    told = (json.loads(line) for line in text.split(b"\n")[:-1])
    return [Tried(row, Result(**result)) for row, result in told]


def _serve(make: Make, numbers: Sequence[int], limits: Limits, folder: Path, writing: int, log: IO[bytes]) -> NoReturn:
    """The process that reads mutants."""
    status = _OURS
    try:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        faulthandler.enable(log.fileno())
        faulthandler.register(signal.SIGXCPU, log.fileno(), chain=True)
        for number in numbers:
            mutant = make(number)
            own = 2 * sum(max(len(file), mutant.sizes.get(name, 0)) for name, file in mutant.files.items())
            before = _limit(limits.seconds, limits.bytes + own)
            result = attempt(mutant, folder)
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before - own
            is_worn = grown > _NEARLY * limits.bytes  # where the largest size does not fall again
            if is_worn and result.outcome not in FINDINGS:
                result = Result("memory", f"growth in {mutant.family}", f"{grown / 1e6:.0f} MB")
            os.write(writing, json.dumps([mutant.row, asdict(result)]).encode() + b"\n")
            if is_worn:
                break
        status = 0
    except BaseException:
        traceback.print_exc()  # into the log
        sys.stderr.flush()
    finally:
        os._exit(status)


def _limit(seconds: int, grown: int) -> int:
    """Sets the limits for the next mutant; how many bytes are resident before it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    resource.setrlimit(
        resource.RLIMIT_CPU, (math.ceil(used.ru_utime + used.ru_stime) + seconds, resource.RLIM_INFINITY)
    )
    mapped, resident = map(int, Path("/proc/self/statm").read_text().split()[:2])
    page = resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped * page + grown, resource.RLIM_INFINITY))
    return resident * page


def _death(status: int | str, log: str) -> Result:
    """How a process ended that did not finish."""
    if status == "waiting":
        return Result("hang", f"waits in {_frame(log)}", log[:3000])
    assert isinstance(status, int)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == _OURS:
        raise RuntimeError(f"the tools themselves fail: {log}")
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGXCPU:
            return Result("hang", f"computes in {_frame(log)}", log[:3000])
        if "bad_alloc" in log or "MemoryError" in log:
            return Result("memory", f"{signal.Signals(number).name} in {_frame(log)}", log[:3000])
        return Result("crash", f"{signal.Signals(number).name} in {_frame(log)}", log[:3000])
    return Result("crash", f"exit status {os.waitstatus_to_exitcode(status)} in {_frame(log)}", log[:3000])


def _frame(log: str) -> str:
    """The innermost function of this project in a traceback of faulthandler."""
    for file, name in re.findall(r'File "([^"]+)", line \d+ in (\S+)', log):
        function = function_of(file, name)
        if function is not None:
            return function
    return "?"
