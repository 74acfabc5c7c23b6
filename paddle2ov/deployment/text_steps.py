"""The steps of preprocessing that text detectors and recognisers have.

Semantics: `DetResizeForTest` in `ppocr/data/imaug/operators.py` (PaddleOCR), `OCRReisizeNormImg` in
`paddlex/inference/models/text_recognition/processors.py` (PaddleX).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from openvino import Type

from paddle2ov.deployment.resize_steps import Sampling
from paddle2ov.deployment.sizes import int_constant, scale_exactly, to_multiple, up_to_multiple
from paddle2ov.deployment.steps import (
    Size,
    Step,
    ToAnySize,
    ToSize,
    Value,
    long_side,
    pad_zeros,
    short_side,
    spatial_shape,
)
from paddle2ov.graph.integers import Number, int_divmod
from paddle2ov.graph.opset import ops

Kind: TypeAlias = Literal["max", "min", "resize_long", "long_alone"]
"""Which side has the limit."""

_SMALLEST, _SMALL_SUM = 32, 64  # DetResizeForTest pads images whose sides add up to less


@dataclass(frozen=True, slots=True)
class TextResize(ToAnySize):
    """DetResizeForTest by a limit of one side, to multiples of 32; "resize_long" alone: up to multiples of 128."""

    kind: Kind
    limit: int
    most: int

    def apply(self, value: Value) -> Value:
        value = _pad_small(value)
        old, limit = spatial_shape(value), int_constant([self.limit])
        side = short_side(old) if self.kind == "min" else long_side(old)
        new: Number = scale_exactly(old, limit, side).floor()
        if self.kind == "long_alone":
            return Sampling().resize(value, up_to_multiple(new, 128))
        if self.kind in ("max", "min"):
            kept = (ops.less_equal if self.kind == "max" else ops.greater_equal)(side, limit)
            new = ops.select(kept, old, new)
        if self.kind == "min" or self.limit > self.most:
            side = long_side(new)
            fits = ops.less_equal(side, int_constant(self.most))
            new = ops.select(fits, new, scale_exactly(new, int_constant([self.most]), side).floor())
        return Sampling().resize(value, to_multiple(new, 32))

    def describe(self) -> str:
        how = {
            "max": f"the long side at most {self.limit}",
            "min": f"the short side at least {self.limit}",
            "resize_long": f"the long side {self.limit}",
            "long_alone": f"the long side {self.limit}",
        }
        multiple = 128 if self.kind == "long_alone" else 32
        return f"resize ({how[self.kind]}, multiples of {multiple})"


@dataclass(frozen=True, slots=True)
class TextHeight(Step):
    """DetResizeForTest to one height, the width in proportion up to a multiple of 32."""

    words = "resize to the height {0.height}, the width a multiple of 32"
    height: int

    def apply(self, value: Value) -> Value:
        value = _pad_small(value)
        height, width = ops.split(spatial_shape(value), np.array(0), 2).outputs()
        count, rest = int_divmod(ops.multiply(width, int_constant(self.height)), ops.multiply(height, int_constant(32)))
        count = ops.add(count, ops.convert(ops.greater(rest, int_constant(0)), Type.i32))
        return Sampling().resize(
            value, ops.concat([int_constant([self.height]), ops.multiply(count, int_constant(32))], 0)
        )

    def size(self, before: Size) -> Size:
        return self.height, None


@dataclass(frozen=True, slots=True)
class TextSize(ToSize):
    """DetResizeForTest to one size."""

    words = "resize to {0.to[0]} x {0.to[1]} (linear)"

    def apply(self, value: Value) -> Value:
        return Sampling().resize(_pad_small(value), int_constant(self.to))


@dataclass(frozen=True, slots=True)
class TextLine(Step):
    """RecResizeImg: one height, the width in proportion, from -1 to 1; what is narrower than `width` is padded by 0."""

    words = "resize to the height {0.height}, normalize, pad to a width of at least {0.width}"
    height: int
    width: int
    most: int = 3200

    def apply(self, value: Value) -> Value:
        height, width = ops.split(spatial_shape(value), np.array(0), 2).outputs()
        natural = scale_exactly(int_constant([self.height]), width, height)
        is_wide = ops.greater(
            ops.multiply(width, int_constant(self.height)), ops.multiply(height, int_constant(self.width))
        )
        usual = int(self.height * (self.width / self.height))
        # What is wider than `most` is resized to it.
        full = ops.minimum(ops.select(is_wide, natural.floor(), int_constant([usual])), int_constant(self.most))
        resized = ops.minimum(natural.ceil(), full)
        line = Sampling().resize(value, ops.concat([int_constant([self.height]), resized], 0))
        line = ops.divide(line, np.float32(255))
        line = ops.divide(ops.subtract(line, np.float32(0.5)), np.float32(0.5))
        return pad_zeros(line, ops.concat([int_constant([0]), ops.subtract(full, resized)], 0))

    def size(self, before: Size) -> Size:
        return self.height, None


def _pad_small(value: Value) -> Value:
    old = spatial_shape(value)
    small = ops.less(ops.reduce_sum(old, np.array([0]), True), int_constant(_SMALL_SUM))
    more = ops.maximum(ops.subtract(int_constant(_SMALLEST), old), int_constant(0))
    return pad_zeros(value, ops.select(small, more, int_constant(0)))
