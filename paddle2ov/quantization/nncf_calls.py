"""Calls NNCF: what it is told, the settings that are tried one after the other, and a check of what it made."""

from __future__ import annotations

import io
import logging
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from types import ModuleType
from typing import Any, Literal, TypeAlias, cast

import openvino
from openvino import CompiledModel
from openvino.op import if_op

from paddle2ov import workarounds
from paddle2ov.errors import ConversionInputError, OpenVINORunError, Paddle2OVError, install_command
from paddle2ov.graph.bodies import bodies_of
from paddle2ov.graph.core import has_integer_kernels
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes import run_rewrites
from paddle2ov.progress import rough_time
from paddle2ov.quantization.agreement import Reference, compiled_in
from paddle2ov.quantization.calibration import CalibrationData
from paddle2ov.quantization.floating_nodes import COMPARISONS, first_convolutions, floating_nodes
from paddle2ov.verification.measures import BOXES
from paddle2ov.workarounds.table import AFTER_CALIBRATION

Weights: TypeAlias = Literal["int8", "int4"]
RECURRENT = ("GRUSequence", "LSTMSequence", "RNNSequence")
_NO_DATA = "Calibration dataset must not be empty"
"""NNCF's message for a branch that no item takes."""
_LONE_BRANCH = "none of the data takes one of its branches (if), which has no ranges then: give data that take both"
_CHECKED = 3
"""The number of items on which it is tested that OpenVINO computes a quantized model right."""
_MAX_LOST = 0.1
"""How much agreement may be lost there; a wrong model loses nearly all of it."""
_SECONDS_BETWEEN_LINES = 15.0
_MAX_BOXES_LOST = 0.5
"""The same for boxes, where a small difference may choose others."""


class Quantizer:
    """Quantizes a converted model with NNCF, in the first of several settings that OpenVINO computes as it should.

    It calibrates with some of the items, by their index, and compares with the reference. `weights`: to quantize these
    only. `max_drop`: how much accuracy may be lost, where that is to be controlled; with the number of `layers`, stderr
    is told meanwhile, where it is no terminal, how many models were measured for that, and how long the rest takes.

    Raises:
        ConversionInputError: NNCF is not installed.
    """

    def __init__(
        self,
        items: CalibrationData,
        calibration: Sequence[int],
        reference: Reference,
        weights: Weights | None,
        max_drop: float | None,
        layers: int = 0,
    ) -> None:
        self._nncf = load_nncf()
        self._layers = 0 if sys.stderr.isatty() else layers  # where NNCF draws bars
        self._started = self._last_said = time.perf_counter()
        self._measured = 0
        self._items, self._calibration, self._reference = items, calibration, reference
        self._weights, self._max_drop = weights, max_drop

    def quantized(self, model: openvino.Model, is_transformer: bool) -> openvino.Model:
        """A quantized copy of a model.

        Raises:
            OpenVINORunError: NNCF fails in all settings, or OpenVINO does not compute right what it made.
        """
        settings: list[tuple[bool, Sequence[str]]] = [(False, ()), (False, RECURRENT)]
        if is_transformer:
            settings.insert(0, (True, ()))
        for tried, setting in enumerate(settings, 1):
            try:
                return self._attempt(model, *setting)
            except Paddle2OVError as error:
                if tried == len(settings) or not isinstance(error, OpenVINORunError):
                    raise
            except Exception as error:  # NNCF's own and OpenVINO's
                if _NO_DATA in str(error):
                    raise OpenVINORunError(f"the model cannot be quantized: {_LONE_BRANCH}") from error
                if tried == len(settings):
                    reason = self._items.unusual(self._calibration) or error
                    raise OpenVINORunError(f"the model cannot be quantized: {reason}") from error
        raise AssertionError("no settings")

    def _attempt(self, model: openvino.Model, is_transformer: bool, floating: Sequence[str]) -> openvino.Model:
        """A copy quantized in one setting, without nodes of the types `floating`.

        Raises:
            OpenVINORunError: OpenVINO does not compute it right.
        """
        nncf, copy = self._nncf, model.clone()
        ignored = ignored_scope(copy, floating)
        common = {"subset_size": len(self._calibration), "ignored_scope": ignored, **_settings(nncf, is_transformer)}
        dataset = nncf.Dataset(self._calibration, self._items.inputs)
        if self._weights is not None:
            modes = nncf.CompressWeightsMode
            made = nncf.compress_weights(copy, mode=modes.INT8_ASYM if self._weights == "int8" else modes.INT4_SYM)
        elif self._max_drop is None:
            made = nncf.quantize(copy, dataset, advanced_parameters=_advanced(nncf), **common)
        else:
            made = nncf.quantize_with_accuracy_control(
                copy,
                dataset,
                nncf.Dataset(self._reference.chosen, self._items.inputs),
                self._validate,
                max_drop=self._max_drop,
                advanced_quantization_parameters=_advanced(nncf),
                **common,
            )
        run_rewrites(made, AFTER_CALIBRATION)
        workarounds.apply(made, workarounds.made_for(model))
        _check_low_precision(made, self._reference)
        return cast(openvino.Model, made)

    def _validate(self, compiled: CompiledModel, chosen: Iterable[int]) -> tuple[float, list[float]]:
        """What NNCF calls to learn how accurate a model is on some of the items."""
        values = [self._reference.agreement(compiled, item) for item in chosen]
        self._measured += 1
        now = time.perf_counter()
        if self._measured == 1:  # what was done before was calibration
            self._started = now
        if self._layers and now - self._last_said >= _SECONDS_BETWEEN_LINES:
            left = max(0, self._layers - self._measured)
            mean = (now - self._started) / max(1, self._measured - 1)
            rest = f"; the rest of {self._layers} layers takes about {rough_time(left * mean)}" if left and mean else ""
            sys.stderr.write(f"models measured: {self._measured} in {now - self._started:.0f} s{rest}\n")
            self._last_said = now
        return sum(values) / len(values), values


def _check_low_precision(quantized: openvino.Model, reference: Reference) -> None:
    """Compares what OpenVINO's transformations for low precision make of a model with what its graph says.

    OpenVINO 2026.4 gets some graphs wrong, such as a group norm of an int8 convolution that is added to what follows.

    Raises:
        OpenVINORunError: they lose much more than quantization does.
    """
    compiled = compiled_in(quantized, "f32")
    plain = compiled_in(quantized, "f32", {"LP_TRANSFORMS_MODE": "NO"})
    items = reference.chosen[:_CHECKED]
    lost = sum(reference.agreement(plain, item) - reference.agreement(compiled, item) for item in items)
    if lost > (_MAX_BOXES_LOST if reference.measure is BOXES else _MAX_LOST) * len(items):
        raise OpenVINORunError(
            "OpenVINO does not compute the quantized model right: its transformations for low precision lose more than "
            "quantization does"
        )


def ignored_scope(model: openvino.Model, types: Iterable[str] = RECURRENT) -> Any:
    """What NNCF should leave in floating point: `nncf.quantize(model, data, ignored_scope=ignored_scope(model))`.

    Args:
        model: what `convert` returned, or the IR that was saved of it.
        types: types of nodes that stay in floating point, too; by default recurrent layers, of which OpenVINO computes
            garbage on some processors. (`quantize` quantizes them, and looks what becomes of it.)

    Returns:
        An `nncf.IgnoredScope` of the first convolutions, comparisons, and what sorts, selects or computes boxes.

    Raises:
        ConversionInputError: NNCF is not installed.
    """
    names = [*first_convolutions(model), *floating_nodes(model)]
    return load_nncf().IgnoredScope(names=names, types=[*COMPARISONS, *types], validate=False)


def load_nncf() -> ModuleType:
    """NNCF, which takes seconds to import.

    Raises:
        ConversionInputError: it is not installed.
    """
    try:
        return import_module("nncf")
    except ImportError as error:
        raise ConversionInputError(f"quantization needs NNCF: {install_command('quantize')}") from error


@works_around("factors_behind_an_integer_convolution")
def _settings(nncf: ModuleType, is_transformer: bool) -> dict[str, Any]:
    """Arguments of `nncf.quantize`; SmoothQuant of convolutions stays off."""
    kind = nncf.ModelType.TRANSFORMER if is_transformer else None
    return {"model_type": kind, "preset": nncf.QuantizationPreset.MIXED}


def _advanced(nncf: ModuleType) -> Any:
    """Weights of 7 bits where the processor adds up products in 16 bits: of 8 bits they saturate."""
    fix = None if has_integer_kernels() else nncf.OverflowFix.ENABLE
    return nncf.AdvancedQuantizationParameters(overflow_fix=fix)


def has_attention(model: openvino.Model) -> bool:
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


def name_tensors_of_branches(model: openvino.Model) -> None:
    """Names what branches read and give, by which NNCF finds it."""
    for node in model.get_ops():
        values = [] if not isinstance(node, if_op) else list(node.input_values())
        for body in bodies_of(node):
            values += [parameter.output(0) for parameter in body.get_parameters()]
            values += [result.input_value(0) for result in body.get_results()]
            name_tensors_of_branches(body)
        for value in values:
            if not value.get_names():
                value.set_names({f"{value.get_node().get_friendly_name()}:{value.get_index()}"})


@contextmanager
def nncf_output(shown: bool) -> Iterator[None]:
    """Within, NNCF does not log every step; its progress, which it writes to stdout, goes to stderr or nowhere."""
    logger = logging.getLogger("nncf")
    before = logger.level
    logger.setLevel(logging.WARNING)
    try:
        with redirect_stdout(sys.stderr if shown else io.StringIO()):
            yield
    finally:
        logger.setLevel(before)
