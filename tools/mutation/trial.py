"""One mutant, read as a user would: what came of it."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import paddle2ov
from paddle2ov.errors import Paddle2OVError
from paddle2ov.inputs.given_arrays import given_inputs
from paddle2ov.jobs.conversions import GOOD, ConversionJob, is_done
from paddle2ov.jobs.state import State
from paddle2ov.program.model import Block, Program, Variable
from tools.mutation.beside import ARRAYS, RECORD, STATE
from tools.mutation.mutant import Mutant

OUTCOMES = ("converted", "refused", "caught", "exception", "memory", "hang", "crash")
"""`caught`: refused by our own error in place of another exception, which is its cause."""
FINDINGS = ("exception", "memory", "hang", "crash")
_CODE = Path(paddle2ov.__file__).resolve().parents[1]


@dataclass(frozen=True)
class Result:
    """What came of a mutant. `bucket` is the same for what has the same cause, as far as can be told."""

    outcome: str
    bucket: str = ""
    detail: str = ""


def _convert(path: Path, options: dict[str, Any]) -> None:
    report = {"report": paddle2ov.ConversionReport()} if options.get("report") else {}
    paddle2ov.convert(path, **{**options, **report})


def _arrays(path: Path, options: dict[str, Any]) -> None:
    inputs = [Variable("x", "float32", (-1, 3)), Variable("y", None, None)]
    given_inputs(Program("pir", 1, Block(0), inputs, [], {}, {}), path / ARRAYS)


def _state(path: Path, options: dict[str, Any]) -> None:
    """As `paddle2ov batch` does: asks what is done, writes what was done, reads all."""
    job = ConversionJob(name="a", program=Path("/no/program"), format="pir", target=path / STATE, fingerprint="f")
    with State(path / STATE) as state:
        for name in ("a", "b", "c"):
            is_done(job, state.get(name))
            state.put(name, RECORD)
        records = state.records()
    assert all(records[name]["state"] in GOOD for name in ("a", "b", "c"))


READERS: dict[str, Callable[[Path, dict[str, Any]], object]] = {
    "convert": _convert,
    "arrays": _arrays,
    "state": _state,
}


def attempt(mutant: Mutant, folder: Path) -> Result:
    """Reads a mutant in this process; its files are written to a folder."""
    mutant.write(folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            READERS[mutant.reader](folder, mutant.options)
    except Exception as error:
        return _classified(error)
    return Result("converted")


def _classified(error: Exception) -> Result:
    chain = list(_chain(error))
    exhausted = [item for item in chain if isinstance(item, MemoryError) or "bad_alloc" in str(item)]
    if exhausted:
        return Result("memory", f"MemoryError in {_innermost(exhausted[-1])}", _text(error))
    if not isinstance(error, Paddle2OVError):
        return Result("exception", f"{type(error).__name__} in {_innermost(error)}", _text(error))
    others = [item for item in chain if not isinstance(item, Paddle2OVError)]
    if others and error.__cause__ is not None:
        return Result("caught", f"{type(others[-1]).__name__} in {_innermost(others[-1])}")
    return Result("refused")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, what it was raised from, and so on."""
    while error is not None:
        yield error
        error = error.__cause__ if error.__cause__ is not None or error.__suppress_context__ else error.__context__


def _innermost(error: BaseException) -> str:
    """The innermost function of this project in a traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((function for frame in reversed(frames) if (function := function_of(frame.filename, frame.name))), "?")


def function_of(file: str, name: str) -> str | None:
    """`converters/conv.py:conv2d`; None for a function of another project, or of these tools."""
    path = Path(file)
    if not path.is_relative_to(_CODE):
        return None
    short = path.relative_to(_CODE)
    return None if short.parts[0] in ("tools", ".venv") else f"{short}:{name}"


def _text(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))[-3000:]
