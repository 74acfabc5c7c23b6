"""Runs a model in Paddle and in OpenVINO on the same inputs and compares: `verify(model)`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Literal

import openvino
from msgspec import structs

from paddle2ov.arguments import MODEL_NAMES, called_here, check_callables, check_flags, check_timeout
from paddle2ov.comparison.deadline import Deadline, TimeUpError
from paddle2ov.comparison.paddle_process import PaddleProcess
from paddle2ov.compilation.precision import HINT, check_compilable, checked_precision, no_hardware
from paddle2ov.compilation.precision_names import PRECISIONS, PrecisionName
from paddle2ov.conversion import convert, warn_without_sequences
from paddle2ov.deployment.beside import known_settings
from paddle2ov.deployment.saving import case_folder
from paddle2ov.errors import ConversionInputError, OpenVINORunError, described
from paddle2ov.graph.node_names import LENGTHS_SUFFIX
from paddle2ov.graph.types import OV_TYPES
from paddle2ov.inputs.given_arrays import InputsArgument, given_inputs
from paddle2ov.inputs.pictures import image_inputs
from paddle2ov.inputs.random_inputs import RandomInputs
from paddle2ov.inputs.usual_sizes import shape_sets
from paddle2ov.program.archives import origin, taking_archives
from paddle2ov.program.files import find_model, model_path, parameter_file
from paddle2ov.program.model import Program
from paddle2ov.program.reading import read_program
from paddle2ov.program.sources import check_unchanged
from paddle2ov.progress import StageProgress
from paddle2ov.translation.extension import Extension
from paddle2ov.translation.input_spec import InputArgument, parse_output
from paddle2ov.translation.model_argument import ModelArgument, ParamsArgument
from paddle2ov.translation.model_builder import chosen_outputs
from paddle2ov.translation.registry import Registry
from paddle2ov.translation.saved_models import saving_models
from paddle2ov.verification.both_sides import Sides, Subject
from paddle2ov.verification.faults import compare_operators, locate_fault
from paddle2ov.verification.judgement import is_paddle_rounding
from paddle2ov.verification.precisions import compare_precisions, quantized_model
from paddle2ov.verification.results import Verification
from paddle2ov.verification.runs import run_all, unexplained
from paddle2ov.verification.where import Where

PrecisionArgument = PrecisionName | Literal["all"]
TOLERANCE = 1e-4
LOW_TOLERANCE = 5e-2
"""What rounding every value to 8 bits may add up to in a network, relative to a result's largest value."""
_ROUNDED = "This may be the rounding of narrow floats: compare in f32 to tell it from errors"


@called_here(
    **MODEL_NAMES,
    input="shapes",
    input_shape="shapes",
    shape="shapes",
    output="outputs",
    image="images",
    extensions="extension",
)
@saving_models
@taking_archives()
def verify(
    model: ModelArgument,
    params: ParamsArgument = None,
    *,
    inputs: InputsArgument = None,
    images: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    shapes: InputArgument | Sequence[InputArgument] = None,
    seed: int = 0,
    tolerance: float | None = None,
    precision: PrecisionArgument = "f32",
    device: str | None = None,
    outputs: str | Sequence[str] | None = None,
    operators: bool = False,
    case: str | os.PathLike[str] | None = None,
    extension: Extension = None,
    paddle_python: str | os.PathLike[str] | None = None,
    progress: StageProgress | None = None,
    on_run: Callable[[Verification], None] | None = None,
    timeout: float | None = 600,
    sequence_lengths: bool = False,
    converted: openvino.Model | None = None,
    quantized: str | os.PathLike[str] | openvino.Model | None = None,
) -> Verification:
    """Runs a model in Paddle and in OpenVINO on the same inputs and compares the results.

    Paddle runs in a process of its own. Where the results differ, the values inside the program are compared too: to
    find out whether only the order of equal scores differs (see `ties.py`), else the operator that is at fault. Paddle
    then computes in float64 as well, which shows whether the difference is its own rounding (see `judgement.py`).

    Args:
        model: what `convert` takes, but what `read_program` returns. A `paddle.nn.Layer` or a `paddle.static.Program`
            is saved for as long as it is verified.
        params: the parameter file, where it does not lie beside the program under the usual name; or its content.
        inputs: arrays by the names of the inputs, an `.npz` file of such, or several of these; default: random ones.
        images: a picture to run besides, or several, prepared as the `inference.yml` beside the model says.
        shapes: shapes of the random inputs, in the forms of `convert(input=...)`: one, or a list of strings or
            mappings. By default a model with dynamic shapes is run with several: those that the settings beside the
            model name, else some that are usual. Of a Layer they are its input spec, unless it has one, or `inputs`
            are an example of it.
        seed: of the random inputs.
        tolerance: of floats, relative to the largest value of each result; by default 1e-4 where OpenVINO computes in
            float32, else 0.05. Integers and bools must be equal.
        precision: what OpenVINO computes in: "f32", "bf16", "f16", "default" for what it takes on this processor unless
            told otherwise, or "all": in float32, and then accuracy and speed of each precision that this processor has
            hardware for, side by side, in `precisions`. Paddle computes in float32.
        device: OpenVINO's name of the device that the graph is made for, and runs on; default: that for any device, on
            the CPU.
        outputs: the names of the results to compare, where not all, as for `convert(output=...)`; of a
            `paddle.static.Program` the variables to fetch.
        operators: whether to compare the values inside the program even if the results agree.
        case: where to write the operator at fault: its inputs (`inputs.npz`), Paddle's and OpenVINO's results
            (`outputs.npz`, `openvino.npz`), what it is (`case.json`), the operator alone as IR (`model.xml`) and, where
            it can stand alone, as a Paddle model (`inference.*`).
        extension: converters of your own, as for `convert`.
        paddle_python: an interpreter that has Paddle; default: the environment variable PADDLE2OV_PADDLE_PYTHON, or
            this interpreter.
        progress: called with (what is done, steps done, steps in all).
        on_run: called with what is known as soon as the results of a set of inputs are compared, the last of `runs`.
        timeout: seconds after which nothing more is looked for; what is known by then is returned, and `unfinished`
            says what was being done. The conversion and the compilation are awaited. None: no limit.
        sequence_lengths: compare the model that `convert(..., sequence_lengths=True)` makes: inputs that hold sequences
            (LoD) hold several, whose lengths are inputs `NAME.lengths`. Default: where `inputs` have these.
        converted: what `convert` made of the model, with the same outputs, to compare that; its inputs must be the
            program's, whatever their shapes and types: both sides compute from values that these types hold, and
            results are compared in the types that follow. Default: it is converted anew.
        quantized: the same model in int8, such as `quantize` returns it or its IR, to stand beside the others of
            `precision="all"`.

    Raises:
        ModelReadError: the model cannot be found or read, or its files change meanwhile.
        UnsupportedOpsError, OpConversionError: it cannot be converted.
        ConversionInputError: the inputs or shapes do not fit the model, the tolerance is not a number of 0 or more, the
            precision is not known or not this processor's, the quantized model has other inputs or results, or the
            folder of the case cannot be written.
        OpenVINORunError: OpenVINO cannot compile the model.
        PaddleRunError: there is no Paddle, it dies, or it refuses all of the inputs.
    """
    if tolerance is not None and not (isinstance(tolerance, Real) and 0 <= tolerance < float("inf")):
        raise ConversionInputError(f"tolerance: {tolerance!s:.80} is not a number of 0 or more")
    check_timeout(timeout)
    folder = case_folder(case)
    check_flags(operators=operators, sequence_lengths=sequence_lengths)
    check_callables(progress=progress, on_run=on_run)
    if converted is not None and not isinstance(converted, openvino.Model):
        raise ConversionInputError(f"converted: an openvino.Model is expected, not {type(converted).__name__}")
    short = checked_precision(precision, (*PRECISIONS, "all"))
    if quantized is not None and short != "all":
        raise ConversionInputError(
            "quantized: a quantized model is compared beside the others, with precision='all' (--precision all)"
        )
    if short == "all" and device not in (None, "CPU"):
        raise ConversionInputError(f"precision: all of them are compared on the CPU, not on {device}")
    where = Where(device, "f32" if short == "all" else short)
    path, params = model_path(model), parameter_file(params)
    files = find_model(path, params)
    deadline = Deadline(timeout)
    program = whole = read_program(path, params, Registry(extension).signatures(), mapped=False)
    assert whole.source is not None
    if converted is not None:
        check_unchanged(converted)
    if outputs is not None:
        program = structs.replace(whole, outputs=chosen_outputs(whole, parse_output(outputs)))
    if sequence_lengths and converted is None:  # whose conversion has said so
        warn_without_sequences(program)
    settings = known_settings(files.program.parent)
    sets = given_inputs(program, inputs) + image_inputs(program, files.program.parent, images)
    sequence_lengths |= any(name.endswith(LENGTHS_SUFFIX) for item in sets for name in item)
    model = converted or convert(program, extension=extension, device=where.target, sequence_lengths=sequence_lengths)
    drawn = None if sets else RandomInputs(program, model, shape_sets(shapes), seed, settings, sequence_lengths)
    sets = sets if drawn is None else drawn.sets
    retyped = _retyped(model, program)
    in_int8 = quantized_model(quantized, model) if quantized is not None else None
    compiled, where = _compiled(model, where)
    lower = LOW_TOLERANCE if tolerance is None else tolerance
    tolerance = TOLERANCE if tolerance is None and where.precision == "f32" else lower
    say = _Progress(progress)
    say("starting Paddle", 0, len(sets))
    report = Verification(origin(files.program), program.format, "", openvino.__version__, tolerance, where.precision)
    with PaddleProcess(program.format, paddle_python, deadline) as second_paddle:
        try:
            with PaddleProcess(program.format, paddle_python, deadline) as process:
                subject = Subject(
                    paddle=process.load(files),
                    whole=whole,
                    program=program,
                    compiled=compiled,
                    tolerance=tolerance,
                    where=where,
                    extension=extension,
                    retyped=retyped,
                    second_paddle=second_paddle,
                )
                whole.source.check()  # that is what Paddle has read
                report.paddle = process.version
                sides = run_all(report, subject, sets, drawn, say, on_run or (lambda found: None))
                try:
                    _look_into(report, subject, sides, operators, folder, say)
                finally:  # what is known by then
                    report.runs = [side.run for side in sides]
                if short == "all":
                    report.precisions = compare_precisions(subject, sides, lower, model, in_int8, settings, say)
        except TimeUpError:
            report.unfinished = say.what
        except KeyboardInterrupt:  # `on_run` knows the report
            report.unfinished = say.what
            raise
    whole.source.check()
    if report.verdict == "differ" and where.precision != "f32":
        report.add_note(_ROUNDED)
    return report


def _retyped(model: openvino.Model, program: Program) -> dict[str, openvino.Type]:
    """The inputs of a converted model that have other types than the program's, with these types.

    Raises:
        ConversionInputError: the model has other inputs than the program.
    """
    variables = {input_.name: input_ for input_ in program.inputs}
    retyped = {}
    for port in model.inputs:
        if port.get_any_name().endswith(LENGTHS_SUFFIX):
            continue
        name = next((name for name in port.get_names() if name in variables), None)
        if name is None:
            raise ConversionInputError(
                f"the converted model has an input '{port.get_any_name()}' and the program, which Paddle runs, has "
                f"not: its inputs are {', '.join(variables) or 'none'}"
            )
        if OV_TYPES.get(variables[name].dtype or "float32") != port.get_element_type():
            retyped[name] = port.get_element_type()
    return retyped


class _Progress:
    """Remembers what is being done, and tells it."""

    def __init__(self, progress: StageProgress | None) -> None:
        self._progress = progress
        self.what = ""

    def __call__(self, what: str, done: int, total: int) -> None:
        self.what = f"{what}, {done} of {total}"
        if self._progress is not None:
            self._progress(what, done, total)


def _look_into(
    found: Verification,
    subject: Subject,
    sides: Sequence[Sides],
    operators: bool,
    case: Path | None,
    say: StageProgress,
) -> None:
    """Classifies differences: ties, Paddle's rounding, or an operator at fault."""
    differing = unexplained(found, subject, sides)
    for i, pair in enumerate(differing):
        say("looking for ties", i, len(differing))
        pair.look_for_ties(subject)
    differing = [item for item in differing if not item.run.explained]
    for i, pair in enumerate(differing):
        say("computing in float64", i, len(differing))
        pair.compute_in_float64(subject)
    if operators:
        chosen = next(side for side in (*differing, *sides) if not side.run.refused)
        compare_operators(found, subject, chosen, lambda done, total: say("comparing operators", done, total))
    clear = [item for item in differing if is_paddle_rounding(item.run.float64)]
    unclear = [item for item in differing if not is_paddle_rounding(item.run.float64)]
    # Where float64 shows Paddle's rounding everywhere, the operators that round are looked for on one of the sets.
    for pair in unclear or clear[:1]:
        locate_fault(found, subject, pair, case, lambda done, total: say("looking for the operator", done, total))
        if pair.run.verdict == "differ":
            return
    for pair in clear:
        pair.run = replace(pair.run, rounding=True)


def _compiled(model: openvino.Model, where: Where) -> tuple[openvino.CompiledModel, Where]:
    """The compiled model, and where it is, with the precision that OpenVINO computes in.

    Raises:
        ConversionInputError: that is another one than is asked for.
        OpenVINORunError: OpenVINO cannot compile the model.
    """
    check_compilable(model, where.name, {HINT: where.precision})
    try:
        compiled = where.compile(model)
    except RuntimeError as error:
        raise OpenVINORunError(f"OpenVINO cannot compile the model: {described(error)}") from error
    try:
        computes_in = compiled.get_property(HINT).get_type_name()
    except RuntimeError:  # several devices, such as AUTO
        computes_in = where.precision
        if computes_in == "default":
            raise ConversionInputError(f"precision: {where.name} does not tell what it takes; name one") from None
    if where.precision not in ("default", computes_in):
        raise ConversionInputError(no_hardware(where.name, where.precision))
    return compiled, Where(where.device, computes_in)
