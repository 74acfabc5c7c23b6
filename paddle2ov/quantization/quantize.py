"""`quantize`: a Paddle model in integers, calibrated with data of yours."""

from __future__ import annotations

import io
import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

import openvino
from openvino import CompiledModel
from openvino.op import if_op

from paddle2ov.compilation.precision import capabilities, computes_in, is_compilable_in_f16
from paddle2ov.conversion import convert
from paddle2ov.errors import ConversionInputError, FailingAs, OpenVINORunError, Paddle2OVError
from paddle2ov.graph.core import compile_on, has_integer_kernels, with_error_reporting
from paddle2ov.graph.names import bodies_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes import run_rewrites
from paddle2ov.passes.workarounds.align_zero_points import align_zero_points
from paddle2ov.passes.workarounds.clamp_shared_convolutions import clamp_shared_convolutions
from paddle2ov.program import read_program
from paddle2ov.program.archives import taking_archives
from paddle2ov.program.model import AnyArray
from paddle2ov.program.settings import find_settings, read_settings
from paddle2ov.quantization.data import CalibrationData, Data, PathLike
from paddle2ov.quantization.exact import COMPARISONS, exact_nodes
from paddle2ov.quantization.layers import Layer, layers_of
from paddle2ov.report import ConversionReport
from paddle2ov.verification.inputs import Inputs
from paddle2ov.verification.measures import BOXES, Measure, Results, measure_for

Weights: TypeAlias = Literal["int8", "int4"]
_SUBSET = 300
_MAX_VALIDATED = 300
_RUNS = 5
_RECURRENT = ("GRUSequence", "LSTMSequence", "RNNSequence")
_NO_DATA = "Calibration dataset must not be empty"
"""NNCF's message for a branch that no item takes."""
_LONE_BRANCH = "none of the data takes one of its branches (if), which has no ranges then: give data that take both"
_CHECKED = 3
"""The number of items on which it is tested that OpenVINO computes a quantized model right."""
_MAX_LOST = 0.1
"""How much agreement may be lost there; a wrong model loses nearly all of it."""
_MAX_BOXES_LOST = 0.5
"""The same for boxes, where a small difference may choose others."""
_SLOWER = 1.1
"""From this ratio of times on, one model counts as slower than another."""
_MAX_FIRST = 4
_MAX_FIRST_SHARE = 0.1
"""The largest number, and share, of first convolutions that stay in floating point: see `_first_convolutions`."""


@dataclass(frozen=True, slots=True)
class MeasuredPrecision:
    """What one precision costs and gains on this machine.

    Attributes:
        name: "f32", "bf16", "f16" or "int8".
        agreement: with the results in float32, in the measure; 1 where they mean the same.
        milliseconds: for one item, the median over some.
    """

    name: str
    agreement: float
    milliseconds: float


@dataclass(slots=True)
class Quantized:
    """What `quantize` returns.

    Attributes:
        model: the quantized model.
        measure: what agreement is measured in: "labels", "text", "regions", "boxes" or "results".
        meaning: the same in words.
        precisions: those of this processor, float32 first, the quantized model last.
        layers: how this processor runs the layers of the quantized model.
        has_integer_kernels: whether this processor has fast ones (VNNI, AMX, or those of ARM); without, int8 is rarely
            worth it.
    """

    model: openvino.Model
    measure: str
    meaning: str
    precisions: list[MeasuredPrecision] = field(default_factory=list)
    layers: list[Layer] = field(default_factory=list)
    has_integer_kernels: bool = True

    @property
    def advice(self) -> str:
        """What to choose here, in a sentence."""
        last, others = self.precisions[-1], self.precisions[:-1]
        best = min(others, key=lambda one: one.milliseconds)
        if not self.has_integer_kernels:
            return f"this processor has no fast kernels for int8: take {best.name}, and int8 on one that has them"
        if last.milliseconds >= best.milliseconds:
            if last.milliseconds < _SLOWER * best.milliseconds:
                return f"{best.name} is as fast as int8 here, and nearer to float32: take {best.name}"
            times = f"{last.milliseconds:.3g} ms beside {best.milliseconds:.3g}"
            return f"int8 is slower than {best.name} here ({times}), as in small models: take {best.name}"
        faster = others[0].milliseconds / last.milliseconds
        lost = f"for {1 - last.agreement:.2%} less agreement with it"
        return f"int8 is {faster:.1f} times as fast as float32 here, {lost} ({self.meaning})"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON; without the model."""
        found = {name: getattr(self, name) for name in ("measure", "meaning", "has_integer_kernels", "advice")}
        return {
            **found,
            "precisions": [asdict(one) for one in self.precisions],
            "layers": [asdict(one) for one in self.layers],
        }


@taking_archives
def quantize(
    model: PathLike,
    data: Data,
    *,
    params: PathLike | None = None,
    max_drop: float | None = None,
    subset_size: int = _SUBSET,
    weights: Weights | None = None,
    transformer: bool | None = None,
    progress: bool = False,
    **options: Any,
) -> Quantized:
    """Converts a Paddle inference model and quantizes it with NNCF (`pip install 'paddle2ov[quantize]'`).

    Activations and weights become integers of 8 bits, with ranges that the data show; the first convolutions (four, and
    at most a tenth of all), comparisons, and what sorts, selects or computes boxes stay in floating point. Of more data
    than `subset_size`, what lies evenly among them is used, and accuracy is measured on others.

    Args:
        model: the model's folder or program file.
        data: what the model is to be used for, some hundred items: pictures, .npz files with an array for each input,
            folders of both, or mappings from input names to arrays. Pictures are prepared as the `inference.yml`
            beside the model says.
        params: the parameter file, where it does not lie beside the program under the usual name.
        max_drop: how much accuracy may be lost, such as 0.01: layers go back to floating point until the loss is
            below it, which takes a while. It is measured in what the model is for, as far as its settings tell: labels,
            characters, text regions, boxes; else in the results.
        subset_size: how many items to calibrate with.
        weights: "int8" or "int4" leaves activations in floating point and makes the weights of products that small,
            for models that read more memory than they compute.
        transformer: whether to quantize as fits transformers; by default, where the model has a Softmax of products.
        progress: whether NNCF shows its progress, on stderr.
        options: other arguments of `convert`.

    Raises:
        ModelReadError: the model cannot be found or read.
        UnsupportedOpsError, OpConversionError: it cannot be converted.
        ConversionInputError: NNCF is not installed, or the data or an argument do not fit.
        OpenVINORunError: OpenVINO or NNCF cannot run the model on the data, or cannot quantize it.
    """
    if subset_size < 1:
        raise ConversionInputError(f"subset_size: {subset_size} is less than 1")
    if max_drop is not None and not 0 < max_drop < 1:
        raise ConversionInputError(f"max_drop: {max_drop} is not between 0 and 1")
    if weights not in (None, "int8", "int4"):
        raise ConversionInputError(f"weights: '{weights}' is neither int8 nor int4")
    if weights is not None and max_drop is not None:
        raise ConversionInputError("max_drop: goes with the quantization of activations, not with that of weights")
    nncf = _nncf()
    path = Path(model)
    conversion = options.pop("report", None) or ConversionReport()
    # NNCF edits weights in place
    converted = convert(model, params, report=conversion, **{"share_weights": False, **options})
    folder = path if path.is_dir() else path.parent
    described = find_settings(folder)
    settings = read_settings(described) if described is not None else None
    items = CalibrationData(read_program(model, params), folder, converted, data)
    calibration, validation = _divided(len(items), subset_size)
    with _openvino_errors("the model does not run on the data"):
        floats = _compiled(converted, "f32")
        reference = {i: _run(floats, items.inputs(i)) for i in validation}
    measure = measure_for(settings, reference[validation[0]])
    _name_tensors_of_branches(converted)
    some = dict(list(reference.items())[:_CHECKED])
    floating_nodes = [*_first_convolutions(converted), *exact_nodes(converted, conversion)]

    def attempt(is_transformer: bool, floating: Sequence[str]) -> openvino.Model:
        """A copy quantized by NNCF, without nodes of the types `floating`, which OpenVINO computes as it should."""
        ignored = nncf.IgnoredScope(names=floating_nodes, types=[*COMPARISONS, *floating], validate=False)
        common = {"subset_size": len(calibration), "ignored_scope": ignored, **_settings(nncf, is_transformer)}
        dataset = nncf.Dataset(calibration, items.inputs)
        if weights is not None:
            made = nncf.compress_weights(converted.clone(), mode=_weights_mode(nncf, weights))
        elif max_drop is None:
            made = nncf.quantize(converted.clone(), dataset, advanced_parameters=_advanced(nncf), **common)
        else:
            others = nncf.Dataset(validation, items.inputs)
            judged = _validation(measure, items, reference)
            made = nncf.quantize_with_accuracy_control(
                converted.clone(),
                dataset,
                others,
                judged,
                max_drop=max_drop,
                advanced_quantization_parameters=_advanced(nncf),
                **common,
            )
        run_rewrites(made, (align_zero_points, clamp_shared_convolutions))
        _check_low_precision(made, items, some, measure)
        return cast(openvino.Model, made)

    has_attention = _has_attention(converted) if transformer is None else transformer
    kinds = [(True, ()), (False, ()), (False, _RECURRENT)]
    with _nncf_output(progress):
        quantized = _first_that_works(attempt, kinds if has_attention else kinds[1:])
    found = Quantized(quantized, measure.name, measure.meaning)
    with _openvino_errors("the quantized model does not run"):
        names = [name for name in ("f32", "bf16", "f16") if computes_in("CPU", name)]
        candidates = [(name, converted) for name in names if name != "f16" or is_compilable_in_f16(converted)]
        for name, candidate in [*candidates, ("int8" if weights is None else f"{weights} weights", quantized)]:
            compiled = floats if name == "f32" else _compiled(candidate, name if candidate is converted else None)
            found.precisions.append(_measured(name, compiled, items, reference, measure))
        found.layers = layers_of(compiled, quantized)
    found.has_integer_kernels = "INT8" in capabilities("CPU") and has_integer_kernels()
    return found


def _first_that_works(
    attempt: Callable[[bool, Sequence[str]], openvino.Model], settings: Sequence[tuple[bool, Sequence[str]]]
) -> openvino.Model:
    """The first attempt that does not fail; raises what the last one does."""
    for last, one in enumerate(settings, 1):
        try:
            return attempt(*one)
        except Paddle2OVError as error:
            if last == len(settings) or not isinstance(error, OpenVINORunError):
                raise
        except Exception as error:  # NNCF's own and OpenVINO's
            if _NO_DATA in str(error):
                raise OpenVINORunError(f"the model cannot be quantized: {_LONE_BRANCH}") from error
            if last == len(settings):
                raise OpenVINORunError(f"the model cannot be quantized: {error}") from error
    raise AssertionError("no settings")


def _check_low_precision(
    quantized: openvino.Model, items: CalibrationData, reference: Mapping[int, Results], measure: Measure
) -> None:
    """Compares what OpenVINO's transformations for low precision make of a model with what its graph says.

    OpenVINO 2026.4 gets some graphs wrong, such as a group norm of an int8 convolution that is added to what follows.

    Raises:
        OpenVINORunError: they lose much more than quantization does.
    """
    compiled = _compiled(quantized, "f32")
    plain = _compiled(quantized, "f32", {"LP_TRANSFORMS_MODE": "NO"})
    lost = 0.0
    for i, wanted in reference.items():
        inputs = items.inputs(i)
        lost += measure.agreement(_run(plain, inputs), wanted) - measure.agreement(_run(compiled, inputs), wanted)
    if lost > (_MAX_BOXES_LOST if measure is BOXES else _MAX_LOST) * len(reference):
        raise OpenVINORunError(
            "OpenVINO does not compute the quantized model right: its transformations for low precision lose more than "
            "quantization does"
        )


def _validation(
    measure: Measure, items: CalibrationData, reference: Mapping[int, Results]
) -> Callable[[CompiledModel, Iterable[int]], tuple[float, list[float]]]:
    """What NNCF calls to learn how accurate a model is on some of the items."""

    def validate(compiled: CompiledModel, chosen: Iterable[int]) -> tuple[float, list[float]]:
        values = [measure.agreement(_run(compiled, items.inputs(i)), reference[i]) for i in chosen]
        return sum(values) / len(values), values

    return validate


def _nncf() -> Any:
    try:
        import nncf
    except ImportError as error:
        raise ConversionInputError("quantization needs NNCF: pip install 'paddle2ov[quantize]'") from error
    return nncf


def _weights_mode(nncf: Any, weights: Weights) -> Any:
    return nncf.CompressWeightsMode.INT8_ASYM if weights == "int8" else nncf.CompressWeightsMode.INT4_SYM


@works_around("factors_behind_an_integer_convolution")
def _settings(nncf: Any, is_transformer: bool) -> dict[str, Any]:
    """Arguments of `nncf.quantize`; SmoothQuant of convolutions stays off."""
    kind = nncf.ModelType.TRANSFORMER if is_transformer else None
    return {"model_type": kind, "preset": nncf.QuantizationPreset.MIXED}


def _advanced(nncf: Any) -> Any:
    """Weights of 7 bits where the processor adds up products in 16 bits: of 8 bits they saturate."""
    fix = None if has_integer_kernels() else nncf.OverflowFix.ENABLE
    return nncf.AdvancedQuantizationParameters(overflow_fix=fix)


def _divided(count: int, subset_size: int) -> tuple[list[int], list[int]]:
    """The items to calibrate with, evenly spaced, and those to measure with: others, where there are others."""
    used = sorted({i * count // min(subset_size, count) for i in range(min(subset_size, count))})
    others = sorted(set(range(count)) - set(used)) or used
    step = max(1, len(others) // _MAX_VALIDATED)
    return used, others[::step][:_MAX_VALIDATED]


def _first_convolutions(model: openvino.Model) -> list[str]:
    """The names of those that read the picture, or nearly so.

    What they round reaches all that follows, and their few channels gain little in int8 (`benchmarks.int8_settings`).
    """
    found = [node.get_friendly_name() for node in model.get_ordered_ops() if "Convolution" in node.get_type_name()]
    return found[: min(_MAX_FIRST, int(_MAX_FIRST_SHARE * len(found)))]


def _has_attention(model: openvino.Model) -> bool:
    """Whether a Softmax reads, over a few nodes, a product of two computed matrices; that of a last layer does not."""
    return any(node.get_type_name() == "Softmax" and _is_of_product(node) for node in model.get_ops())


def _is_of_product(softmax: openvino.Node) -> bool:
    source = softmax.input_value(0).get_node()
    for _ in range(4):
        if source.get_type_name() == "MatMul":
            return all(value.get_node().get_type_name() != "Constant" for value in source.input_values())
        if not source.get_input_size():
            break
        source = source.input_value(0).get_node()
    return False


def _name_tensors_of_branches(model: openvino.Model) -> None:
    """Names what branches read and give, by which NNCF finds it."""
    for node in model.get_ops():
        values = [] if not isinstance(node, if_op) else list(node.input_values())
        for body in bodies_of(node):
            values += [one.output(0) for one in body.get_parameters()]
            values += [one.input_value(0) for one in body.get_results()]
            _name_tensors_of_branches(body)
        for value in values:
            if not value.get_names():
                value.set_names({f"{value.get_node().get_friendly_name()}:{value.get_index()}"})


def _compiled(model: openvino.Model, precision: str | None, config: Mapping[str, Any] | None = None) -> CompiledModel:
    hint = {} if precision is None else {"INFERENCE_PRECISION_HINT": precision}
    return compile_on("CPU", model, with_error_reporting({**hint, **(config or {})}, "CPU"))


def _run(compiled: CompiledModel, inputs: Inputs) -> list[AnyArray]:
    found = compiled(inputs)
    return [found[port] for port in compiled.outputs]


def _measured(
    name: str, compiled: CompiledModel, items: CalibrationData, reference: Mapping[int, Results], measure: Measure
) -> MeasuredPrecision:
    agreements, times = [], []
    for count, (i, wanted) in enumerate(reference.items()):
        inputs = items.inputs(i)
        agreements.append(measure.agreement(_run(compiled, inputs), wanted))
        if count < _RUNS:
            started = time.perf_counter()
            _run(compiled, inputs)
            times.append(time.perf_counter() - started)
    middle = sorted(times)[len(times) // 2]
    return MeasuredPrecision(name, float(sum(agreements)) / len(agreements), middle * 1e3)


def _openvino_errors(what: str) -> FailingAs:
    """Raises OpenVINO's errors as `OpenVINORunError`."""
    return FailingAs(lambda reason: OpenVINORunError(f"{what}: {reason}"), RuntimeError, str)


@contextmanager
def _nncf_output(shown: bool) -> Iterator[None]:
    """NNCF logs every step, and writes its progress to stdout."""
    logger = logging.getLogger("nncf")
    before = logger.level
    logger.setLevel(logging.WARNING)
    try:
        with redirect_stdout(sys.stderr if shown else io.StringIO()):
            yield
    finally:
        logger.setLevel(before)


__all__ = ["MeasuredPrecision", "Quantized", "quantize"]
