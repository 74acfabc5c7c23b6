"""Runs a model in Paddle and in OpenVINO on the same inputs and compares: `verify(model)`."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import openvino

from paddle2ov.arguments import InputArgument
from paddle2ov.conversion import convert
from paddle2ov.errors import ConversionInputError, OpenVINORunError, PaddleRunError
from paddle2ov.extension import Extension
from paddle2ov.plain import plain
from paddle2ov.program import ModelFiles, find_model, read_program
from paddle2ov.program.model import Program
from paddle2ov.registry import Registry
from paddle2ov.saving import save_model, write_text
from paddle2ov.testing import Expected, Result, compile_model, infer
from paddle2ov.verification.comparison import compare_results
from paddle2ov.verification.descent import Descent, Inside
from paddle2ov.verification.extract import extract
from paddle2ov.verification.images import image_inputs
from paddle2ov.verification.inputs import Inputs, InputsArgument, given_inputs, random_inputs
from paddle2ov.verification.localisation import Localisation, Localiser, OperatorComparison
from paddle2ov.verification.paddle_process import PaddleProcess, save_arrays
from paddle2ov.verification.results import ComparedOperator, Culprit, Run, Verification
from paddle2ov.verification.ties import Tie, TieFinder
from paddle2ov.verification.values import Values

TOLERANCE = 1e-4
Progress = Callable[[str, int, int], None]


def verify(
    model: str | os.PathLike[str],
    params: str | os.PathLike[str] | None = None,
    *,
    inputs: InputsArgument = None,
    images: Iterable[str | os.PathLike[str]] = (),
    shapes: InputArgument | Sequence[InputArgument] = None,
    seed: int = 0,
    tolerance: float = TOLERANCE,
    operators: bool = False,
    case: str | os.PathLike[str] | None = None,
    extension: Extension = None,
    paddle_python: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Runs a model in Paddle and in OpenVINO on the same inputs and compares the results.

    Paddle runs in a process of its own. Where the results differ, the values inside the program are compared too: to
    find out whether only the order of equal scores differs (see `ties.py`), else the first operator whose results
    differ although its inputs agree.

    Args:
        model: a model folder, a program file or a path prefix, as for `convert`.
        params: the parameter file, where it does not lie beside the program under the usual name.
        inputs: arrays by the names of the inputs, an `.npz` file of such, or several of these; default: random ones.
        images: pictures to run besides, prepared as the `inference.yml` beside the model says; see `images.py`.
        shapes: shapes of the random inputs, in the forms of `convert(input=...)`: one, or a list of strings or
            mappings. By default a model with dynamic shapes is run with three.
        seed: of the random inputs.
        tolerance: of floats, relative to the largest value of each result. Integers and bools must be equal.
        operators: whether to compare the values inside the program even if the results agree.
        case: where to write the operator at fault: its inputs (`inputs.npz`), Paddle's and OpenVINO's results
            (`outputs.npz`, `openvino.npz`), what it is (`case.json`), the operator alone as IR (`model.xml`) and, where
            it can stand alone, as a Paddle model (`inference.*`).
        extension: converters of your own, as for `convert`.
        paddle_python: an interpreter that has Paddle; default: the environment variable PADDLE2OV_PADDLE_PYTHON, or
            this interpreter.
        progress: called with (what is done, steps done, steps in all).

    Raises:
        ModelReadError: the model cannot be found or read.
        UnsupportedOpsError, OpConversionError: it cannot be converted.
        ConversionInputError: the inputs or shapes do not fit the model, the tolerance is no number of 0 or more, or the
            folder of the case cannot be written.
        OpenVINORunError: OpenVINO cannot compile the model.
        PaddleRunError: there is no Paddle, it dies, or it refuses all of the inputs.
    """
    if not 0 <= tolerance < float("inf"):
        raise ConversionInputError(f"tolerance: {tolerance} is no number of 0 or more")
    if case is not None:
        _check_folder(Path(case))
    signatures = [one for item in Registry(extension).extensions() if (one := item.parsed_signature()) is not None]
    files = find_model(model, params)
    program = read_program(model, params, signatures)
    sets = given_inputs(program, inputs) + image_inputs(program, files.program.parent, images)
    sets = sets or random_inputs(program, _listed(shapes), seed)
    compiled = _compiled(convert(program, extension=extension))
    say = progress or (lambda what, done, total: None)
    say("starting Paddle", 0, len(sets))
    with PaddleProcess(files, paddle_python) as paddle:
        found = Verification(files.program, program.format, paddle.version, openvino.__version__, tolerance)
        kept: list[tuple[list[Result], list[Expected]]] = []
        for i, arrays in enumerate(sets):
            say("running", i, len(sets))
            run, results, expected = _run(paddle, compiled, arrays, tolerance)
            found.runs.append(run)
            kept.append((results, expected))
        if all(run.refused for run in found.runs):
            raise PaddleRunError(f"Paddle takes none of the inputs; for the first it says: {found.runs[0].refused}")
        values = [Values(program, paddle, arrays, extension) for arrays in sets]
        for i, run in enumerate(found.runs):
            if not run.ok:
                say("looking for ties", i, len(sets))
                ties = TieFinder(values[i], files, tolerance, paddle_python).run(kept[i][0])
                found.runs[i] = replace(run, ties=tuple(ties.found), explained=ties.explain)
        chosen = next((i for i, run in enumerate(found.runs) if not (run.ok or run.explained)), None)
        if chosen is None and operators:
            chosen = next(i for i, run in enumerate(found.runs) if not run.refused)
        if chosen is not None:
            localiser = Localiser(values[chosen], tolerance)
            location = localiser.run(lambda done, total: say("comparing operators", done, total))
            found.operators = [_compared(one) for one in location.operators]
            if found.verdict == "differ":
                with Descent(tolerance, extension, paddle_python) as descent:
                    inside = _inside(values[chosen], files, location, descent)
                    _explain(found, inside, case)
                if location.culprit is None:
                    found.note = _blame(program, extension, sets[chosen], kept[chosen][1], tolerance)
    return found


def _run(
    paddle: PaddleProcess, compiled: openvino.CompiledModel, arrays: Inputs, tolerance: float
) -> tuple[Run, list[Result], list[Expected]]:
    """The run, and the results of OpenVINO and of Paddle."""
    shapes = {name: tuple(array.shape) for name, array in arrays.items()}
    try:
        expected = paddle.run(arrays)
    except PaddleRunError as error:
        if not paddle.is_alive():
            raise
        return Run(shapes, refused=str(error)), [], []
    results = _infer(compiled, arrays)
    return Run(shapes, compare_results(results, expected, tolerance)), results, expected


def _compiled(model: openvino.Model) -> openvino.CompiledModel:
    try:
        return compile_model(model)
    except RuntimeError as error:
        raise OpenVINORunError(f"OpenVINO cannot compile the model: {error}") from error


def _check_folder(folder: Path) -> None:
    """Refuses a folder that cannot be made or written, before any work is done."""
    there = next((one for one in (folder, *folder.absolute().parents) if one.exists()), folder)
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise ConversionInputError(f"case: {folder} cannot be written")


def _infer(compiled: openvino.CompiledModel, arrays: Inputs) -> list[Result]:
    """OpenVINO's results; none where it refuses the inputs, which then differ from Paddle's."""
    try:
        return infer(compiled, arrays)
    except RuntimeError:
        return []


def _inside(values: Values, files: ModelFiles, location: Localisation, descent: Descent) -> Inside | None:
    """The operator at fault, inside of a body if it can be found there."""
    if location.culprit is None:
        return None
    operator = location.culprit.operator
    found = None
    if operator.blocks and not location.amplifies:
        found = descent.run(values, files, operator, operator)
    return found or Inside(location, operator, files, values.program)


def _explain(found: Verification, inside: Inside | None, case: str | os.PathLike[str] | None) -> None:
    if inside is None or (one := inside.location.culprit) is None:
        return
    location, place = inside.location, inside.operator.place
    folder = None
    if case is not None and location.isolated is not None:
        folder = _save_case(Path(case), found, inside)
        inputs, results = location.isolated.inputs.keys(), list(location.isolated.expected)
        extract(folder, inside.files, inside.program, one.operator, inputs, results)
    found.culprit = Culprit(
        place.op_type,
        place.index,
        place.block,
        str(place),
        one.outputs,
        one.isolated,
        location.amplifies,
        folder,
        tuple(inside.within),
    )
    if location.amplifies:
        found.note = (
            "Every operator agrees with Paddle when it gets Paddle's inputs: the difference is rounding that the "
            "network magnifies"
        )
    elif one.operator.blocks:
        found.note = (
            "No operator inside of it is at fault, as far as they can be run alone: its own conversion is, or an "
            "operator over tensor arrays"
        )


def _blame(
    program: Program, extension: Extension, inputs: Inputs, expected: Sequence[Expected], tolerance: float
) -> str:
    """What is at fault where all operators agree: the rewrites, OpenVINO's, or a place that cannot be looked into."""
    plain = _infer(compile_model(convert(program, extension=extension, rewrite=False)), inputs)
    if all(one.ok for one in compare_results(plain, expected, tolerance)):
        return (
            "All operators agree; without paddle2ov's rewrites (paddle2ov/passes) the results agree too: one is wrong"
        )
    return (
        "All operators that can be compared agree, yet the whole model differs: rounding that tips a near tie (boxes "
        "sorted by score), an optimisation of OpenVINO, or an operator whose results cannot be fetched (tensor arrays)"
    )


def _save_case(folder: Path, found: Verification, inside: Inside) -> Path:
    location = inside.location
    assert location.culprit is not None
    assert location.isolated is not None
    operator, isolated = location.culprit.operator, location.isolated
    folder.mkdir(parents=True, exist_ok=True)
    save_arrays(folder / "inputs.npz", {name: one.array for name, one in isolated.inputs.items()})
    save_arrays(folder / "outputs.npz", {name: one.array for name, one in isolated.expected.items()})
    save_arrays(folder / "openvino.npz", {name: one.array for name, one in isolated.results.items()})
    save_model(isolated.model, folder / "model.xml", fp16=False)
    record = {
        "operator": operator.type,
        "place": str(inside.operator.place),
        "within": inside.within,
        "inputs": operator.inputs,
        "outputs": operator.outputs,
        "attributes": operator.attributes,
        "dtypes": {name: one.dtype for name, one in (isolated.inputs | isolated.expected).items()},
        "model": str(found.model),
        "format": found.format,
        "paddle": found.paddle,
        "openvino": found.openvino,
        "differences": [dataclasses.asdict(one) for one in location.culprit.isolated or ()],
    }
    write_text(folder / "case.json", json.dumps(plain(record), indent=1, default=str) + "\n")
    return folder


def _compared(one: OperatorComparison) -> ComparedOperator:
    place = one.operator.place
    return ComparedOperator(place.op_type, place.index, str(place).splitlines()[0], one.outputs, one.inputs_agree)


def _listed(shapes: Any) -> list[InputArgument]:
    if shapes is None:
        return []
    several = isinstance(shapes, list | tuple) and all(isinstance(one, str | dict) for one in shapes)
    return list(shapes) if several else [shapes]


__all__ = ["ComparedOperator", "Culprit", "Run", "Tie", "Verification", "verify"]
