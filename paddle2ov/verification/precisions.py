"""Accuracy and speed of each precision that this processor computes in, side by side; see `verify(precision="all")`."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import openvino

from paddle2ov.comparison.differences import Expected, as_openvino_array, compare_results
from paddle2ov.compilation.precision import lower_precisions
from paddle2ov.compilation.running import compile_on_cpu, infer
from paddle2ov.errors import ConversionInputError, FailingAs, OpenVINORunError, described
from paddle2ov.graph.core import shared_core
from paddle2ov.inputs.given_arrays import Inputs, cast_inputs
from paddle2ov.program.settings import Settings
from paddle2ov.progress import StageProgress
from paddle2ov.typing import AnyArray
from paddle2ov.verification.both_sides import Sides, Subject, run_both, run_openvino
from paddle2ov.verification.judgement import is_paddle_rounding
from paddle2ov.verification.measures import BOXES, Measure, measure_for
from paddle2ov.verification.results import ComparedPrecision, PrecisionTable, Run, Verdict
from paddle2ov.verification.where import Where

_ROUNDS = 15
_SECONDS = 6.0
"""How long is measured; every precision is run three times all the same."""
_LEAST_GAIN = 1.05
"""Below, another precision is not worth the rounding."""
_VERDICTS: tuple[Verdict, ...] = ("differ", "rounding", "ties", "agree")  # the worst first


def compare_precisions(
    subject: Subject,
    sides: Sequence[Sides],
    tolerance: float,
    model: openvino.Model,
    quantized: openvino.Model | None,
    settings: Settings | None,
    say: StageProgress,
) -> PrecisionTable:
    """Compares each precision with Paddle on inputs that were compared in float32, and measures it.

    The tolerance is that of the other precisions; `quantized` is the model in int8.

    Raises:
        OpenVINORunError: OpenVINO cannot compile the model in one of them.
        PaddleRunError: Paddle dies.
    """
    ran = [side for side in sides if not side.run.refused]
    measure = measure_for(settings, _arrays(ran[0].expected))
    missing = lower_precisions(model)
    here = [name for name, reason in missing.items() if not reason]
    compiled, compared = {"f32": subject.compiled}, {"f32": ran}
    for i, name in enumerate(here):
        say("comparing precisions", i, len(here))
        del missing[name]
        compiled[name] = _compiled(model, name)
        lower = replace(subject, compiled=compiled[name], tolerance=tolerance, where=Where(precision=name))
        compared[name] = [_judged(lower, side) for side in ran]
    if quantized is None:
        missing["int8"] = "needs data: `paddle2ov quantize` makes a model of it, which --quantized compares"
    else:
        compiled["int8"] = _compiled(quantized, "default")
        compared["int8"] = [_quantized(compiled["int8"], side, tolerance) for side in ran]
    rows = [_row(name, judged, measure) for name, judged in compared.items()]
    say("measuring precisions", 0, 1)
    taken = [side.values.inputs for i, side in enumerate(ran) if all(judged[i].results for judged in compared.values())]
    if taken:  # OpenVINO takes these inputs
        times = _times(compiled, taken[0])
        rows = [_timed(row, times) for row in rows]
    return PrecisionTable(measure.name, measure.meaning, tuple(rows), missing, advice(rows))


def quantized_model(given: str | os.PathLike[str] | openvino.Model, model: openvino.Model) -> openvino.Model:
    """A quantized model, read from its IR where it is a path.

    Raises:
        ConversionInputError: it is not an IR, or has other inputs or results than the model, by name, type or shape.
    """
    try:
        in_int8 = given if isinstance(given, openvino.Model) else shared_core().read_model(given)
    except RuntimeError as error:
        raise ConversionInputError(f"quantized: {given} is not an OpenVINO IR: {described(error)}") from None
    for what, ports, others in (("inputs", in_int8.inputs, model.inputs), ("results", in_int8.outputs, model.outputs)):
        if [port.get_names() for port in ports] != [item.get_names() for item in others]:
            mine, theirs = (", ".join(item.get_any_name() for item in both) or "none" for both in (ports, others))
            raise ConversionInputError(f"quantized: its {what} are {mine}, those of the model {theirs}")
        for port, other in zip(ports, others, strict=True):
            (kind, shape), (wanted, asked) = ((p.get_element_type(), p.get_partial_shape()) for p in (port, other))
            if kind != wanted or not shape.compatible(asked):
                raise ConversionInputError(
                    f"quantized: its '{port.get_any_name()}' is {kind.get_type_name()} {shape}, that of the model "
                    f"{wanted.get_type_name()} {asked}"
                )
    return in_int8


def advice(rows: Sequence[ComparedPrecision]) -> str:
    """What to choose, and why, in a sentence; the first row is float32's."""
    if rows[0].verdict == "differ":
        return "The results differ from Paddle's in f32 already: find out why before a precision is chosen"
    best = max((row for row in rows if row.verdict != "differ"), key=lambda row: row.times)
    faster = max(rows, key=lambda row: row.times)
    if best.times < _LEAST_GAIN:
        best = rows[0]
        chosen = "Take f32: nothing that agrees with Paddle is faster here"
    else:
        chosen = (
            f"Take {best.name}: {best.times:.1f} times as fast as f32 here, and its results agree with Paddle's within "
            f"the tolerance (largest difference {best.largest:.2g})"
        )
    if faster.times > best.times * _LEAST_GAIN:
        chosen += (
            f"; {faster.name} is {faster.times:.1f} times as fast, but its results differ beyond the tolerance: "
            f"that is for you to judge, on data of yours"
        )
    return chosen


def _compiled(model: openvino.Model, precision: str) -> openvino.CompiledModel:
    failing = f"OpenVINO cannot compile the model in {precision}"
    with FailingAs(lambda reason: OpenVINORunError(f"{failing}: {reason}"), RuntimeError, str):
        return compile_on_cpu(model, precision)


def _judged(subject: Subject, side: Sides) -> Sides:
    """A set of inputs in another precision, judged as in float32; no operator is looked for."""
    judged = run_both(subject, side.values.inputs, side.expected)
    if not judged.run.ok:
        judged.look_for_ties(subject)
    if not judged.run.ok and not judged.run.explained:
        judged.compute_in_float64(subject)
        judged.run = replace(judged.run, rounding=is_paddle_rounding(judged.run.float64))
    return judged


def _quantized(compiled: openvino.CompiledModel, side: Sides, tolerance: float) -> Sides:
    """A set of inputs in the quantized model, whose inner values are not those of the program."""
    results, error = run_openvino(compiled, side.values.inputs)
    run = Run(side.run.inputs, compare_results(results, side.expected, tolerance, error), error=error)
    return Sides(side.values, run, results, side.expected)


def _row(name: str, sides: Sequence[Sides], measure: Measure) -> ComparedPrecision:
    verdict = min((side.run.verdict for side in sides), key=_VERDICTS.index)
    outputs = [entry for side in sides for entry in side.run.outputs]
    largest = max((entry.relative for entry in outputs), default=0.0)
    reason = next((f"{entry.name}: {entry.reason}" for entry in outputs if not entry.comparable), "")
    agreement = statistics.fmean(_agreement(side, measure) for side in sides)
    return ComparedPrecision(name, verdict, agreement, largest, reason=reason)


def _agreement(side: Sides, measure: Measure) -> float:
    arrays, wanted = [result.array for result in side.results], _arrays(side.expected)
    if [item.ndim for item in arrays] != [item.ndim for item in wanted]:
        return 0.0
    if measure is not BOXES and [item.shape for item in arrays] != [item.shape for item in wanted]:
        return 0.0
    return measure.agreement(arrays, wanted)


def _arrays(expected: Sequence[Expected]) -> list[AnyArray]:
    return [as_openvino_array(item) for item in expected]


def _timed(row: ComparedPrecision, times: Mapping[str, Sequence[float]]) -> ComparedPrecision:
    seconds = statistics.median(times[row.name])
    return replace(row, milliseconds=seconds * 1e3, times=statistics.median(times["f32"]) / seconds)


def _times(compiled: Mapping[str, openvino.CompiledModel], inputs: Inputs) -> dict[str, list[float]]:
    """Processor time (s) of runs in turn, of one thread each."""
    requests = {}
    for name, value in compiled.items():
        requests[name] = value.create_infer_request()
        infer(value, cast_inputs(inputs, value.inputs), requests[name])  # whose inputs it keeps
    times: dict[str, list[float]] = {name: [] for name in compiled}
    until = time.monotonic() + _SECONDS
    for i in range(_ROUNDS):
        if i >= 3 and time.monotonic() > until:
            break
        for name, request in requests.items():
            started = time.process_time()
            request.infer()
            times[name].append(max(time.process_time() - started, float(np.finfo(np.float32).tiny)))
    return times
