"""`quantize`: a Paddle model in integers, calibrated with data of yours."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from numbers import Real
from typing import Any

from paddle2ov.arguments import called_here, check_flags, check_options
from paddle2ov.compilation.precision import capabilities, lower_precisions
from paddle2ov.conversion import convert
from paddle2ov.errors import ConversionInputError, ConversionWarning, FailingAs, OpenVINORunError, some_of, warn
from paddle2ov.graph.core import has_integer_kernels
from paddle2ov.program.archives import taking_archives
from paddle2ov.program.files import find_model, model_path, parameter_file
from paddle2ov.program.reading import read_program
from paddle2ov.program.settings import settings_in
from paddle2ov.progress import rough_time
from paddle2ov.quantization.agreement import Reference, compiled_in
from paddle2ov.quantization.calibration import CalibrationData, Data
from paddle2ov.quantization.layers import is_quantized, layers_of
from paddle2ov.quantization.nncf_calls import (
    Quantizer,
    Weights,
    has_attention,
    load_nncf,
    name_tensors_of_branches,
    nncf_output,
)
from paddle2ov.quantization.results import Quantized
from paddle2ov.report import ConversionReport
from paddle2ov.translation.model_argument import ModelArgument, ParamsArgument
from paddle2ov.translation.saved_models import saving_models

_SUBSET = 300
_MAX_VALIDATED = 300
_MOST_ROUNDS = 10
"""How many times as long as in float32 the layers may take: a quantized model compiles longer, and rounds follow."""
_MIN_HELD_BACK = 50
"""From this number of items on, a fifth is not calibrated with where `subset_size` would take all."""


@called_here()
@saving_models
@taking_archives()
def quantize(
    model: ModelArgument,
    data: Data,
    *,
    params: ParamsArgument = None,
    max_drop: float | None = None,
    subset_size: int = _SUBSET,
    weights: Weights | None = None,
    transformer: bool | None = None,
    progress: bool = False,
    **options: Any,
) -> Quantized:
    """Converts a Paddle inference model and quantizes it with NNCF (the extra `quantize`).

    Activations and weights become integers of 8 bits, with ranges that the data show; the first convolutions (four, and
    at most a tenth of all), comparisons, and what sorts, selects or computes boxes stay in floating point. Of more data
    than `subset_size`, what lies evenly among them is used, and accuracy is measured on others; of 50 items or more, a
    fifth at least is kept back for that.

    Args:
        model: what `convert` takes, but what `read_program` returns; a live one is saved for as long as that takes.
        data: what the model is to be used for, some hundred items: pictures, .npz files with an array for each input,
            folders of both, or mappings from input names to arrays. Pictures are prepared as the `inference.yml`
            beside the model says; those that cannot be read are left out, with a warning.
        params: the parameter file, where it does not lie beside the program under the usual name; or its content.
        max_drop: how much accuracy may be lost, such as 0.01: layers go back to floating point until the loss is
            below it. Where more is lost, each layer is tried in turn, in one round or several: the model is compiled
            once for each, and run on all that it is measured on, two items at least. `Quantized.loses_too_much` says
            whether that was not reached. It is measured in what the model is for, as far as its settings tell: labels,
            characters, text regions, boxes; else in the results.
        subset_size: how many items to calibrate with.
        weights: "int8" or "int4" leaves activations in floating point and makes the weights of products that small,
            for models that read more memory than they compute.
        transformer: whether to quantize as fits transformers; by default, where the model has a Softmax of products.
        progress: whether to show the progress on stderr, and with `max_drop` what it may cost before.
        options: other arguments of `convert`; a `device` other than the CPU is none of them, as the data runs there.

    Raises:
        ModelReadError: the model cannot be found or read.
        UnsupportedOpsError, OpConversionError: it cannot be converted.
        ConversionInputError: NNCF is not installed, the data or an argument do not fit, or no picture can be read.
        OpenVINORunError: OpenVINO or NNCF cannot run the model on the data, or cannot quantize it.
    """
    check_options("quantize", convert, options)
    _check(subset_size, max_drop, weights)
    check_flags(progress=progress, **({} if transformer is None else {"transformer": transformer}))
    if options.get("device") not in (None, "CPU"):
        raise ConversionInputError(
            "device: the data runs on the CPU; leave it out, and the graph is right on any device"
        )
    load_nncf()  # which may be missing, before the model is converted
    model, params = model_path(model), parameter_file(params)
    folder = find_model(model, params).program.parent
    # NNCF edits weights in place; with a report, nodes have the names of their operators
    converted = convert(model, params, **{"share_weights": False, "report": ConversionReport(), **options})
    settings = settings_in(folder)
    items = CalibrationData(read_program(model, params), folder, converted, data)
    calibration, validation = _readable(items, *_divided(len(items), subset_size))
    if max_drop is not None and len(validation) == 1:
        raise ConversionInputError(
            "max_drop: one item does not show how much is lost: give some hundred, or leave it out"
        )
    started = time.perf_counter()
    with _openvino_errors("the model does not run on the data"):
        floats = compiled_in(converted, "f32")
        reference = Reference(floats, items, validation, settings)
        layers = len(layers_of(floats, converted)) if max_drop is not None and progress else 0
        if layers:
            seconds = layers * (time.perf_counter() - started)
            sys.stderr.write(
                f"If more than {max_drop:g} is lost, {layers} layers are tried one by one on {len(validation)} items. "
                f"Further rounds may follow: allow {rough_time(seconds)} to {rough_time(_MOST_ROUNDS * seconds)}, more "
                "where the machine is busy.\n"
            )
    name_tensors_of_branches(converted)
    quantizer = Quantizer(items, calibration, reference, weights, max_drop, layers)
    with nncf_output(progress):
        quantized = quantizer.quantized(converted, has_attention(converted) if transformer is None else transformer)
    result = Quantized(quantized, reference.measure.name, reference.measure.meaning, max_drop)
    result.unreadable = items.unreadable
    result.was_quantized = is_quantized(converted)
    result.calibrated_with = len(calibration) if weights is None else None
    result.is_measured_on_calibration = not set(validation) - set(calibration)
    with _openvino_errors("the quantized model does not run"):
        models = {"f32": floats}
        for name in [name for name, reason in lower_precisions(converted).items() if not reason]:
            models[name] = compiled_in(converted, name)
        compiled = compiled_in(quantized, None)
        models["int8" if weights is None else f"{weights} weights"] = compiled
        result.precisions = reference.measured(models)
        result.layers = layers_of(compiled, quantized)
    result.has_integer_kernels = "INT8" in capabilities("CPU") and has_integer_kernels()
    return result


def _check(subset_size: int, max_drop: float | None, weights: Weights | None) -> None:
    if not isinstance(subset_size, int) or subset_size < 1:
        raise ConversionInputError(f"subset_size: {subset_size!r} is not a number of items")
    if max_drop is not None and not (isinstance(max_drop, Real) and 0 < max_drop < 1):
        raise ConversionInputError(f"max_drop: {max_drop!s:.80} is not between 0 and 1")
    if weights is not None and not (isinstance(weights, str) and weights in ("int8", "int4")):
        raise ConversionInputError(f"weights: '{weights}' is neither int8 nor int4")
    if weights is not None and max_drop is not None:
        raise ConversionInputError("max_drop: goes with the quantization of activations, not with that of weights")


def _readable(items: CalibrationData, calibration: list[int], validation: list[int]) -> tuple[list[int], list[int]]:
    """What can be read of the items to calibrate with and to measure with; each stands in for the other.

    Raises:
        ConversionInputError: there is nothing.
    """
    measured = items.readable(validation)  # first: these are run again and again, and what comes first is kept
    calibrated = items.readable(calibration)
    if items.unreadable:
        names = list(items.unreadable)
        text = f"data: {len(names)} of {len(items)} cannot be read: {some_of(names)}"
        if not (measured or calibrated):
            raise ConversionInputError(f"{text}; nothing is left: {items.unreadable[names[0]]}")
        warn(f"{text}; left out", ConversionWarning)
    return calibrated or measured, measured or calibrated


def _divided(count: int, subset_size: int) -> tuple[list[int], list[int]]:
    """The items to calibrate with, evenly spaced, and those to measure with: others, where there are enough."""
    if _MIN_HELD_BACK <= count <= subset_size:
        subset_size = count - count // 5
    used = _evenly(range(count), subset_size)
    others = sorted(set(range(count)) - set(used)) or used
    return used, _evenly(others, _MAX_VALIDATED)


def _evenly(items: Sequence[int], most: int) -> list[int]:
    number = min(most, len(items))
    return [items[i * len(items) // number] for i in range(number)]


def _openvino_errors(what: str) -> FailingAs:
    """Raises OpenVINO's errors as `OpenVINORunError`."""
    return FailingAs(lambda reason: OpenVINORunError(f"{what}: {reason}"), RuntimeError, str)
