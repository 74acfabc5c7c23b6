"""Compares what OpenVINO computes from a converted model with what Paddle computes. For these tests and for yours.

`check_model(model_dir, inputs)` converts a Paddle model, with an `extension` of yours if need be, runs it in OpenVINO
and in Paddle, and compares. `check_case(folder)` does so for a folder of `gen_models`, where Paddle's results are
recorded; `check_cases(folders)` for many at once. All convert twice by default: as declared, and with every
input dimension dynamic.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import openvino
from numpy.typing import NDArray

from paddle2ov.comparison.differences import (
    LEAST_TOLERANCE,
    Expected,
    as_openvino_array,
    compare_within,
    largest_magnitude,
    root_mean_square,
)
from paddle2ov.comparison.paddle_worker import LoadedProgram
from paddle2ov.compilation.running import MismatchError, Result, compile_on_cpu, infer, name_of, run, run_in_order
from paddle2ov.conversion import convert
from paddle2ov.program.files import find_model
from paddle2ov.translation.extension import Extension

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Trial:
    """A converted model, what to run it with, and what must come out."""

    where: str
    model: openvino.Model
    inputs: Mapping[str, Array]
    expected: Sequence[Expected]
    atol: float
    rtol: float


def check_model(
    model_dir: str | Path,
    inputs: Mapping[str, Array],
    expected: Sequence[Array] | None = None,
    *,
    extension: Extension = None,
    atol: float = 2e-5,
    rtol: float = 2e-5,
    dynamic: bool = True,
) -> None:
    """Checks that a Paddle model, converted, computes what it computes in Paddle.

    Args:
        model_dir: the folder of the model.
        inputs: arrays by the names of the model's inputs; bfloat16 as its bits (uint16).
        expected: Paddle's results in their order; by default Paddle is imported and computes them.
        extension: converters of yours, as for `convert`.
        atol: absolute tolerance of floats.
        rtol: relative tolerance of floats; added to the absolute one, as in `numpy.allclose`.
        dynamic: whether to convert once more with every input dimension dynamic.

    Raises:
        MismatchError: a result differs in number, type, shape or value; the message names the worst element.
        Paddle2OVError: the model cannot be converted.
    """
    arrays = _paddle_results(Path(model_dir), inputs) if expected is None else list(expected)
    wanted = [Expected("", "bfloat16" if a.dtype == np.uint16 else str(a.dtype), a) for a in arrays]
    for trial in _trials(Path(model_dir), inputs, wanted, "model", atol, rtol, True, dynamic, extension):
        _check(trial)


def check_case(folder: Path, extension: Extension = None, *, declared: bool = True, dynamic: bool = True) -> None:
    """Checks one case folder.

    Args:
        folder: the folder.
        extension: converters of your own, as for `convert`.
        declared: whether to convert with the shapes that the program declares; it is if nothing else is to be.
        dynamic: whether to convert (once more) with every input dimension dynamic, unless the case itself says no.

    Raises:
        MismatchError: a result differs in number, name, type, shape or value; the message names the worst element.
        Paddle2OVError: the model cannot be converted.
    """
    for trial in _trials_of_case(folder, extension, declared, dynamic):
        _check(trial)


def check_cases(
    folders: Iterable[Path], extension: Extension = None, *, declared: bool = True, dynamic: bool = True
) -> None:
    """Checks many case folders as parts of one compiled model, in a tenth of the time that one by one takes.

    Args and errors are those of `check_case`; an error of OpenVINO does not tell which case it comes from.
    """
    trials = [trial for folder in folders for trial in _trials_of_case(folder, extension, declared, dynamic)]
    if trials:
        _check_together(trials)


def _check_together(trials: Sequence[Trial]) -> None:
    ports = [port for trial in trials for port in trial.model.inputs]
    arrays = [trial.inputs[name_of(port, trial.inputs)] for trial in trials for port in trial.model.inputs]
    names = [frozenset(port.get_names()) for trial in trials for port in trial.model.outputs]
    results = [node for trial in trials for node in trial.model.get_results()]
    for port in (*ports, *(port for trial in trials for port in trial.model.outputs)):
        port.get_tensor().set_names(set())  # which must be unique in a model
    together = openvino.Model(results, [node for trial in trials for node in trial.model.get_parameters()])
    computed = run_in_order(compile_on_cpu(together), arrays)
    remaining = [Result(name, kind, array) for name, (kind, array) in zip(names, computed, strict=True)]
    for trial in trials:
        count = len(trial.model.outputs)
        mine, remaining = remaining[:count], remaining[count:]
        compare(mine, trial.expected, trial.atol, trial.rtol, trial.where)


def _trials_of_case(folder: Path, extension: Extension, declared: bool, dynamic: bool) -> Iterator[Trial]:
    record = json.loads((folder / "case.json").read_text())
    case = record["case"]
    inputs = load(folder / "inputs.npz")
    arrays = load(folder / "outputs.npz")
    expected = [Expected(item["name"], item["dtype"], arrays[str(i)]) for i, item in enumerate(record["outputs"])]
    what = f"{case.get('name') or record['op']} ({record['format']})"
    tolerances = case.get("atol", 2e-5), case.get("rtol", 2e-5)
    dynamic = dynamic and case.get("dynamic", True)
    return _trials(folder, inputs, expected, what, *tolerances, declared, dynamic, extension)


def _trials(
    folder: Path,
    inputs: Mapping[str, Array],
    expected: Sequence[Expected],
    what: str,
    atol: float,
    rtol: float,
    declared: bool,
    dynamic: bool,
    extension: Extension,
) -> Iterator[Trial]:
    """The model as declared and with all dimensions dynamic, or one of them."""
    if declared or not dynamic:
        where = f"{what}, as declared, in {folder}"
        with _with_note(where):
            model = convert(folder, extension=extension)
        # Without a fixed dimension the second conversion would be the first.
        dynamic = dynamic and any(not size.is_dynamic for port in model.inputs for size in port.get_partial_shape())
        yield Trial(where, model, inputs, expected, atol, rtol)
    if not dynamic:
        return
    shapes = {name: [-1] * (array.ndim + (array.dtype.kind == "c")) for name, array in inputs.items()}
    where = f"{what}, all dimensions dynamic, in {folder}"
    with _with_note(where):
        model = convert(folder, input=shapes, extension=extension)
    yield Trial(where, model, inputs, expected, atol, rtol)


def _check(trial: Trial) -> None:
    with _with_note(trial.where):
        results = run(trial.model, trial.inputs)
    compare(results, trial.expected, trial.atol, trial.rtol, trial.where)


def check_network(folder: Path, extension: Extension = None) -> None:
    """Checks a network's folder: results within its tolerance of the largest value.

    One request runs all of its sets of inputs, one after the other.

    Raises:
        MismatchError: a result differs in number, name, type, shape or value.
        Paddle2OVError: the model cannot be converted.
    """
    record = json.loads((folder / "case.json").read_text())
    with _with_note(f"{record['network']} ({record['format']}), model in {folder}"):
        compiled = compile_on_cpu(convert(folder, extension=extension))
    request = compiled.create_infer_request()
    for i in range(record["sets"]):
        arrays = load(folder / f"outputs_{i}.npz")
        expected = [Expected(item["name"], item["dtype"], arrays[str(k)]) for k, item in enumerate(record["outputs"])]
        results = infer(compiled, load(folder / f"inputs_{i}.npz"), request)
        where = f"{record['network']} ({record['format']}, inputs {i}), model in {folder}"
        compare(results, expected, record["tolerance"], record["tolerance"], where, to_largest=True)


def compare(
    results: Sequence[Result],
    expected: Sequence[Expected],
    atol: float,
    rtol: float,
    where: str,
    to_largest: bool = False,
    least: float = 0.0,
) -> None:
    """Compares results with what Paddle recorded.

    Count, types, shapes, integers and bools must be the same; floats may differ by atol + rtol * |expected|; NaN equals
    NaN, and infinities are exact. With `to_largest` atol is relative to the largest value of the result, or to
    `least` if that is more.

    Raises:
        MismatchError: something differs.
    """
    for result, want, label in _paired(results, expected, where):
        values = as_openvino_array(want)
        absolute, relative = (max(bound, LEAST_TOLERANCE.get(want.dtype, 0.0)) for bound in (atol, rtol))
        absolute *= max(largest_magnitude(values), least) if to_largest else 1.0
        limit = absolute + relative * np.abs(np.where(np.isfinite(values), values, 0.0))
        comparison = compare_within(result, want, limit)
        if not comparison.ok:
            reason = comparison.reason.replace(" elements;", " elements differ;")
            raise MismatchError(f"{label}: {reason} (atol={absolute:.3g}, rtol={relative:.3g})")


def compare_rounded(results: Sequence[Result], expected: Sequence[Expected], rtol: float, where: str) -> None:
    """Compares results that were computed in a narrower type: floats by the root mean square of their errors.

    It is relative to the root mean square of the values, of which 0.1 counts as the least. Count, types, shapes,
    integers, bools and places of NaN must be the same.

    Raises:
        MismatchError: something differs.
    """
    for result, want, label in _paired(results, expected, where):
        comparison = compare_within(result, want, np.inf)
        if not comparison.ok:
            raise MismatchError(f"{label}: {comparison.reason}")
        ours, theirs = result.array, as_openvino_array(want)
        unlike = np.isnan(ours) != np.isnan(theirs)
        if unlike.any():
            raise MismatchError(f"{label}: {unlike.sum()} elements are NaN on one side only")
        numbers = ~np.isnan(theirs)
        with np.errstate(invalid="ignore", over="ignore"):
            error = root_mean_square(ours[numbers].astype(np.float64) - theirs[numbers])
            scale = root_mean_square(theirs[numbers])
        if not error <= rtol * max(scale, 0.1):
            raise MismatchError(
                f"{label}: the root mean square of the errors is {error:.3g}, that of the values {scale:.3g}"
            )


def _paired(
    results: Sequence[Result], expected: Sequence[Expected], where: str
) -> Iterator[tuple[Result, Expected, str]]:
    """The results with Paddle's, and how to name them; number and names have to agree."""
    if len(results) != len(expected):
        raise MismatchError(f"{where}: {len(results)} results, Paddle has {len(expected)}")
    for i, (result, want) in enumerate(zip(results, expected, strict=True)):
        names = "', '".join(sorted(result.names))
        label = f"{where}: result {i} ('{want.name or names}')"
        if want.name and want.name not in result.names:
            raise MismatchError(f"{label}: is called '{names}'")
        yield result, want, label


def load(path: Path) -> dict[str, Array]:
    """The arrays of an .npz file by name."""
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


@contextmanager
def _with_note(where: str) -> Iterator[None]:
    """Adds a note on where it occurred to an error of conversion or of OpenVINO (Python 3.10 has no notes)."""
    try:
        yield
    except Exception as error:
        if hasattr(error, "add_note"):
            error.add_note(where)
        raise


def _paddle_results(model_dir: Path, inputs: Mapping[str, Array]) -> list[Array]:
    """What Paddle computes from a saved model."""
    import paddle

    files = find_model(model_dir)
    was_dynamic = paddle.in_dynamic_mode()
    paddle.enable_static()
    legacy = files.format == "legacy" and hasattr(paddle, "pir_utils")  # Paddle 3 takes any program for PIR
    try:
        with paddle.pir_utils.OldIrGuard() if legacy else nullcontext():
            tensors = LoadedProgram(paddle, str(files.program.with_suffix(""))).run(dict(inputs))
            return [np.asarray(tensor) for tensor in tensors]
    finally:
        if was_dynamic:
            paddle.disable_static()


__all__ = [
    "Expected",
    "MismatchError",
    "Result",
    "check_case",
    "check_cases",
    "check_model",
    "check_network",
    "compare",
    "compare_rounded",
    "load",
]
