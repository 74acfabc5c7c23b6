"""What a device computes floats in, as a choice: `precision=` of `compile_model`, of the predictor, of the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import openvino

from paddle2ov.compilation.precision_names import INT8, PRECISIONS, short_name
from paddle2ov.errors import ConversionInputError, OpenVINORunError
from paddle2ov.graph.bodies import bodies_of, walk
from paddle2ov.graph.core import missing_device, shared_core

HINT = "INFERENCE_PRECISION_HINT"
_CAPABILITIES = {"f32": "FP32", "bf16": "BF16", "f16": "FP16"}
_TYPES = {capability: precision for precision, capability in _CAPABILITIES.items()}


def with_precision(config: Mapping[str, Any], precision: str, device: str) -> dict[str, Any]:
    """OpenVINO's properties with the hint for a precision; "default" leaves the choice to the device.

    Raises:
        ConversionInputError: it is not such a precision, the device has no hardware for it, or the properties name
            another.
        OpenVINORunError: the device does not tell what it computes in.
    """
    precision = checked_precision(precision)
    if precision == "default":
        return dict(config)
    if HINT in config and (other := _name(config[HINT])) != precision:
        raise ConversionInputError(f"precision: {precision} is asked for, and {other} by {HINT}: give one of them")
    if not computes_in(device, precision):
        raise ConversionInputError(no_hardware(device, precision))
    return {**config, HINT: precision}


def checked_precision(precision: str, known: Sequence[str] = PRECISIONS) -> str:
    """The name of a precision as it is used here, see `short_name`, or another of those that are known.

    Raises:
        ConversionInputError: it is not one.
    """
    if isinstance(precision, str) and precision == "int8":
        raise ConversionInputError(f"precision: {INT8}")
    short = short_name(precision) if isinstance(precision, str) else precision
    if not isinstance(short, str) or short not in known:
        raise ConversionInputError(f"precision: {precision!r} is not one of {', '.join(known)}")
    return short


def computes_in(device: str, precision: str) -> bool:
    """Whether a device, or each of several ("AUTO:GPU,CPU"), has hardware for a precision.

    OpenVINO's CPU plugin takes the hint of bfloat16 also where a processor has AVX-512 without it, and computes it by
    conversions; only the capabilities tell.

    Raises:
        OpenVINORunError: the device does not tell.
    """
    return all(_CAPABILITIES[precision] in capabilities(single_device) for single_device in _devices(device))


def no_hardware(device: str, precision: str) -> str:
    """What is said of a precision that a device has no hardware for."""
    available = [known for known in _CAPABILITIES if known != precision and computes_in(device, known)]
    return (
        f"precision: this {device} has no hardware for {precision}, and would not be faster in it: use "
        f"{' or '.join(available) or 'default'}"
    )


def check_compilable(model: openvino.Model, device: str, config: Mapping[str, Any]) -> None:
    """Refuses a model that OpenVINO would never have compiled.

    Raises:
        ConversionInputError: it suppresses boxes in a loop, and is to be compiled in float16 for the CPU.
    """
    if _name(config.get(HINT, "")) == "f16" and "CPU" in _devices(device) and not is_compilable_in_f16(model):
        raise ConversionInputError(
            f"precision: {NEVER_COMPILED}: use f32, or bf16 where the processor has it; weights may be stored in "
            "f16 all the same (convert --precision f16)"
        )


NEVER_COMPILED = "OpenVINO 2026.4 never ends compiling the suppression of boxes in float16 for the CPU"


def is_compilable_in_f16(model: openvino.Model) -> bool:
    """Whether no NonMaxSuppression is in the body of a loop or a branch."""
    bodies = [body for node in model.get_ops() for body in bodies_of(node)]
    return not any(node.get_type_name() == "NonMaxSuppression" for body in bodies for node in walk(body))


def lower_precisions(model: openvino.Model) -> dict[str, str]:
    """Each precision below float32 -> why the CPU does not compute a model in it; "" where it does."""
    missing = "this processor has no hardware for it"
    reasons = {precision: "" if computes_in("CPU", precision) else missing for precision in ("bf16", "f16")}
    if not reasons["f16"] and not is_compilable_in_f16(model):
        reasons["f16"] = NEVER_COMPILED
    return reasons


def capabilities(device: str) -> list[str]:
    """What a device says that it is made for: "FP32", "BF16", "FP16", "INT8" and others.

    Raises:
        OpenVINORunError: it does not tell, or there is not one of this name.
    """
    try:
        return list(shared_core().get_property(device, "OPTIMIZATION_CAPABILITIES"))
    except RuntimeError as error:
        reason = missing_device(device, error) or error
        raise OpenVINORunError(f"precision: OpenVINO does not tell what {device} computes in: {reason}") from error


def _devices(device: str) -> list[str]:
    """The devices that a virtual one names, "AUTO:GPU(2),CPU"; itself where it names none."""
    listed = device.partition(":")[2]
    return [listed_device.partition("(")[0].strip() for listed_device in listed.split(",")] if listed else [device]


def _name(hint: object) -> str:
    """What a hint names, which OpenVINO takes as a type, or as "f32" or "FP32"."""
    text = str(hint.get_type_name()) if isinstance(hint, openvino.Type) else str(hint)
    return _TYPES.get(text, text)
