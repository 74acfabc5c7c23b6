"""The names of precisions, OpenVINO's among them."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Precision = Literal["f32", "bf16", "f16", "default"]
PRECISIONS: tuple[str, ...] = get_args(Precision)
PrecisionName: TypeAlias = Precision | Literal["fp32", "fp16", "FP32", "BF16", "FP16"]
"""What a precision may be called; see `short_name`."""
INT8 = "int8 needs data: `paddle2ov quantize` (paddle2ov.quantize) makes a model of it, to be compiled as any other"
_OTHER_NAMES = {"fp32": "f32", "fp16": "f16"}


def short_name(name: str) -> str:
    """The name that is used here: "f16" for "fp16" or "FP16"; unknown names stay as they are."""
    lower = name.lower()
    short = _OTHER_NAMES.get(lower, lower)
    return short if short in PRECISIONS else name
