"""One mutant, read as a user would: what came of it."""

from __future__ import annotations

import math
import resource
import shutil
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openvino

import paddle2ov
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.errors import Paddle2OVError
from paddle2ov.jobs.conversions import GOOD
from tools.mutation.beside import ARRAYS, RECORD, STATE
from tools.mutation.mutant import Mutant

OUTCOMES = ("converted", "refused", "caught", "exception", "memory", "hang", "crash")
"""`caught`: refused by our own error in place of another exception, which is its cause."""
FINDINGS = ("exception", "memory", "hang", "crash")
_MAX_ELEMENTS = 1_000_000
_CODE = Path(paddle2ov.__file__).resolve().parents[1]


@dataclass(frozen=True)
class Result:
    """What came of a mutant. `bucket` is the same for what has the same cause, as far as can be told."""

    outcome: str
    bucket: str = ""
    detail: str = ""


def _convert(path: Path, options: dict[str, Any]) -> openvino.Model:
    arguments = dict(options)
    if arguments.pop("report", False):
        arguments["report"] = paddle2ov.ConversionReport()
    return paddle2ov.convert(path, **arguments)


def _run(path: Path, options: dict[str, Any]) -> None:
    """Also compiles the model, and runs it on zeros, of sizes of 2 where they are open."""
    compiled = compile_on_cpu(_convert(path, options))
    feeds = []
    for port in compiled.inputs:
        dims = [item.get_length() if item.is_static else 2 for item in port.get_partial_shape()]
        if math.prod(dims) > _MAX_ELEMENTS:
            return
        feeds.append(openvino.Tensor(port.get_element_type(), openvino.Shape(dims)))
    compiled(feeds)


def _arrays(path: Path, options: dict[str, Any]) -> None:
    from paddle2ov.inputs.given_arrays import given_inputs
    from paddle2ov.program.model import Block, Program, Variable

    inputs = [Variable("x", "float32", (-1, 3)), Variable("y", None, None)]
    given_inputs(Program("pir", 1, Block(0), inputs, [], {}, {}), path / ARRAYS)


def _state(path: Path, options: dict[str, Any]) -> None:
    """As `paddle2ov batch` does: asks what is done, writes what was done, reads all."""
    from paddle2ov.jobs.conversions import ConversionJob, is_done
    from paddle2ov.jobs.state import State

    job = ConversionJob(name="a", program=Path("/no/program"), format="pir", target=path / STATE, fingerprint="f")
    with State(path / STATE) as state:
        for name in ("a", "b", "c"):
            is_done(job, state.get(name))
            state.put(name, RECORD)
        records = state.records()
    assert all(records[name]["state"] in GOOD for name in ("a", "b", "c"))


READERS: dict[str, Callable[[Path, dict[str, Any]], object]] = {
    "convert": _convert,
    "run": _run,
    "arrays": _arrays,
    "state": _state,
}


def attempt(mutant: Mutant, folder: Path) -> Result:
    """Reads a mutant in this process; its files are written to a folder, which is emptied."""
    mutant.write(folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            READERS[mutant.reader](folder, mutant.options)
        return Result("converted")
    except Exception as error:
        _lift_limit()
        return _classified(error)
    finally:
        _lift_limit()
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _lift_limit() -> None:
    """Of memory: what follows is not one of the mutant's."""
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def _classified(error: Exception) -> Result:
    chain = list(_chain(error))
    exhausted = next(
        (item for item in reversed(chain) if isinstance(item, MemoryError) or "bad_alloc" in str(item)), None
    )
    if exhausted is not None:
        return Result("memory", f"MemoryError in {_innermost(exhausted)}", _text(error))
    if not isinstance(error, Paddle2OVError):
        return Result("exception", f"{type(error).__name__} in {_innermost(error)}", _text(error))
    other = next((item for item in reversed(chain) if not isinstance(item, Paddle2OVError)), None)
    if other is not None and error.__cause__ is not None:
        return Result("caught", f"{type(other).__name__} in {_innermost(other)}")
    return Result("refused")


def _chain(error: BaseException | None) -> Any:
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
