"""Runs a model in Paddle and in OpenVINO on the same inputs and compares: `verify(model)`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args

import openvino

from paddle2ov.conversion import convert
from paddle2ov.errors import ConversionInputError, OpenVINORunError, PaddleRunError
from paddle2ov.program import find_model, read_program
from paddle2ov.program.sources import check_unchanged
from paddle2ov.testing import compile_model
from paddle2ov.translation.extension import Extension
from paddle2ov.translation.input_spec import InputArgument, parse_output
from paddle2ov.translation.model_builder import chosen_outputs
from paddle2ov.translation.registry import Registry
from paddle2ov.verification.both_sides import Subject, run_both
from paddle2ov.verification.faults import locate_fault
from paddle2ov.verification.images import image_inputs
from paddle2ov.verification.inputs import InputsArgument, given_inputs, random_inputs
from paddle2ov.verification.paddle_process import PaddleProcess
from paddle2ov.verification.results import ComparedOperator, Culprit, Run, Verification
from paddle2ov.verification.ties import Tie

Precision = Literal["f32", "bf16", "default"]
TOLERANCE = 1e-4
LOW_TOLERANCE = 5e-2
"""What rounding every value to 8 bits may add up to in a network, relative to a result's largest value."""
_ROUNDED = "This may be the rounding of narrow floats: compare in f32 to tell it from errors"
Progress = Callable[[str, int, int], None]


def verify(
    model: str | os.PathLike[str],
    params: str | os.PathLike[str] | None = None,
    *,
    inputs: InputsArgument = None,
    images: Iterable[str | os.PathLike[str]] = (),
    shapes: InputArgument | Sequence[InputArgument] = None,
    seed: int = 0,
    tolerance: float | None = None,
    precision: Precision = "f32",
    outputs: str | Sequence[str] | None = None,
    operators: bool = False,
    case: str | os.PathLike[str] | None = None,
    extension: Extension = None,
    paddle_python: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    converted: openvino.Model | None = None,
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
        tolerance: of floats, relative to the largest value of each result; by default 1e-4 where OpenVINO computes in
            float32, else 0.05. Integers and bools must be equal.
        precision: what OpenVINO computes in: "f32", "bf16", or "default" for what it takes on this processor unless
            told otherwise. Paddle computes in float32.
        outputs: the names of the results to compare, where not all, as for `convert(output=...)`.
        operators: whether to compare the values inside the program even if the results agree.
        case: where to write the operator at fault: its inputs (`inputs.npz`), Paddle's and OpenVINO's results
            (`outputs.npz`, `openvino.npz`), what it is (`case.json`), the operator alone as IR (`model.xml`) and, where
            it can stand alone, as a Paddle model (`inference.*`).
        extension: converters of your own, as for `convert`.
        paddle_python: an interpreter that has Paddle; default: the environment variable PADDLE2OV_PADDLE_PYTHON, or
            this interpreter.
        progress: called with (what is done, steps done, steps in all).
        converted: what `convert` made of the model, with the same outputs, to compare that; its inputs must be the
            program's, whatever their shapes. Default: it is converted anew.

    Raises:
        ModelReadError: the model cannot be found or read, or its files change meanwhile.
        UnsupportedOpsError, OpConversionError: it cannot be converted.
        ConversionInputError: the inputs or shapes do not fit the model, the tolerance is no number of 0 or more, the
            precision is not known or not this processor's, or the folder of the case cannot be written.
        OpenVINORunError: OpenVINO cannot compile the model.
        PaddleRunError: there is no Paddle, it dies, or it refuses all of the inputs.
    """
    _check(tolerance, precision, case)
    files = find_model(model, params)
    program = whole = read_program(model, params, Registry(extension).signatures(), mapped=False)
    source = whole.source
    assert source is not None
    if converted is not None:
        check_unchanged(converted)
    if outputs is not None:
        program = replace(whole, outputs=chosen_outputs(whole, parse_output(outputs)))
    sets = given_inputs(program, inputs) + image_inputs(program, files.program.parent, images)
    sets = sets or random_inputs(program, _as_list(shapes), seed)
    compiled = _compiled(converted or convert(program, extension=extension), precision)
    computes_in = compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name()
    if precision not in ("default", computes_in):
        raise ConversionInputError(f"precision: OpenVINO computes in {computes_in} here where {precision} is asked for")
    if tolerance is None:
        tolerance = TOLERANCE if computes_in == "f32" else LOW_TOLERANCE
    is_random = not (inputs or images)
    subject = Subject(files, whole, program, compiled, tolerance, computes_in, extension, paddle_python, is_random)
    say = progress or (lambda what, done, total: None)
    say("starting Paddle", 0, len(sets))
    with PaddleProcess(files, paddle_python) as paddle:
        source.check()  # that is what Paddle has read
        found = Verification(
            files.program, program.format, paddle.version, openvino.__version__, tolerance, computes_in
        )
        sides = []
        for i, arrays in enumerate(sets):
            say("running", i, len(sets))
            sides.append(run_both(subject, paddle, arrays))
        if all(one.run.refused for one in sides):
            raise PaddleRunError(f"Paddle takes none of the inputs; for the first it says: {sides[0].run.refused}")
        for i, one in enumerate(sides):
            if not one.run.ok:
                say("looking for ties", i, len(sets))
                one.look_for_ties(subject)
        found.runs = [one.run for one in sides]
        if drawn := dict.fromkeys(name for one in sides for name in one.drawn):
            found.add_note(f"Random numbers are Paddle's: {', '.join(drawn)}")
        chosen = next((one for one in sides if not (one.run.ok or one.run.explained)), None)
        if chosen is None and operators:
            chosen = next(one for one in sides if not one.run.refused)
        if chosen is not None:
            locate_fault(found, subject, chosen, case, lambda done, total: say("comparing operators", done, total))
    source.check()
    if found.verdict == "differ" and computes_in != "f32":
        found.add_note(_ROUNDED)
    return found


def _check(tolerance: float | None, precision: str, case: str | os.PathLike[str] | None) -> None:
    if tolerance is not None and not 0 <= tolerance < float("inf"):
        raise ConversionInputError(f"tolerance: {tolerance} is no number of 0 or more")
    if precision not in get_args(Precision):
        raise ConversionInputError(f"precision: {precision!r} is none of {', '.join(get_args(Precision))}")
    if case is not None:
        _check_folder(Path(case))


def _check_folder(folder: Path) -> None:
    """Refuses a folder that cannot be made or written, before any work is done."""
    there = next((one for one in (folder, *folder.absolute().parents) if one.exists()), folder)
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise ConversionInputError(f"case: {folder} cannot be written")


def _compiled(model: openvino.Model, precision: str) -> openvino.CompiledModel:
    try:
        return compile_model(model, precision)
    except RuntimeError as error:
        raise OpenVINORunError(f"OpenVINO cannot compile the model: {error}") from error


def _as_list(shapes: Any) -> list[InputArgument]:
    if shapes is None:
        return []
    several = isinstance(shapes, list | tuple) and all(isinstance(one, str | dict) for one in shapes)
    return list(shapes) if several else [shapes]


__all__ = ["ComparedOperator", "Culprit", "Run", "Tie", "Verification", "verify"]
