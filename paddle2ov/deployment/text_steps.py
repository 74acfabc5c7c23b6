"""The steps of preprocessing that text detectors and recognisers have.

Semantics: `DetResizeForTest` in `ppocr/data/imaug/operators.py` (PaddleOCR), `OCRReisizeNormImg` in
`paddlex/inference/models/text_recognition/processors.py` (PaddleX).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from paddle2ov.deployment.resize_steps import Sampling
from paddle2ov.deployment.sizes import as_int, int_divmod, scale_exactly, to_multiple, up_to_multiple, whole
from paddle2ov.deployment.steps import (
    Size,
    Step,
    ToAnySize,
    ToSize,
    height_and_width,
    join,
    long_side,
    pad,
    short_side,
    spatial_shape,
)
from paddle2ov.graph.terms import Term, maximum, minimum, select

Kind: TypeAlias = Literal["max", "min", "resize_long", "long_alone"]
"""Which side has the limit."""

_SMALLEST, _SMALL_SUM = 32, 64  # DetResizeForTest pads images whose sides add up to less


@dataclass(frozen=True, slots=True)
class TextResize(ToAnySize):
    """DetResizeForTest by a limit of one side, to multiples of 32; "resize_long" alone: up to multiples of 128."""

    kind: Kind
    limit: int
    most: int

    def apply(self, value: Term) -> Term:
        value = _pad_small(value)
        old, limit = spatial_shape(value), whole([self.limit])
        side = short_side(old) if self.kind == "min" else long_side(old)
        new = scale_exactly(old, limit, side).floor()
        if self.kind == "long_alone":
            return Sampling().resize(value, up_to_multiple(new, 128))
        if self.kind in ("max", "min"):
            new = select(side <= limit if self.kind == "max" else side >= limit, old, new)
        if self.kind == "min" or self.limit > self.most:
            side = long_side(new)
            new = select(side <= self.most, new, scale_exactly(new, whole([self.most]), side).floor())
        return Sampling().resize(value, to_multiple(new, 32))

    def describe(self) -> str:
        how = {"max": "the long side at most", "min": "the short side at least"}.get(self.kind, "the long side")
        return f"resize ({how} {self.limit}, multiples of {128 if self.kind == 'long_alone' else 32})"


@dataclass(frozen=True, slots=True)
class TextHeight(Step):
    """DetResizeForTest to one height, the width in proportion up to a multiple of 32."""

    words = "resize to the height {0.height}, the width a multiple of 32"
    height: int

    def apply(self, value: Term) -> Term:
        value = _pad_small(value)
        height, width = height_and_width(spatial_shape(value))
        count, rest = int_divmod(width * self.height, height * 32)
        return Sampling().resize(value, join(whole([self.height]), (count + as_int(rest > 0)) * 32))

    def size(self, before: Size) -> Size:
        return self.height, None


@dataclass(frozen=True, slots=True)
class TextSize(ToSize):
    """DetResizeForTest to one size."""

    words = "resize to {0.to[0]} x {0.to[1]} (linear)"

    def apply(self, value: Term) -> Term:
        return Sampling().resize(_pad_small(value), whole(self.to))


@dataclass(frozen=True, slots=True)
class TextLine(Step):
    """RecResizeImg: one height, the width in proportion, from -1 to 1; what is narrower than `width` is padded by 0."""

    words = "resize to the height {0.height}, normalize, pad to a width of at least {0.width}"
    height: int
    width: int
    most: int = 3200

    def apply(self, value: Term) -> Term:
        height, width = height_and_width(spatial_shape(value))
        natural = scale_exactly(whole([self.height]), width, height)
        is_wide = width * self.height > height * self.width
        usual = whole([int(self.height * (self.width / self.height))])
        # What is wider than `most` is resized to it.
        full = minimum(select(is_wide, natural.floor(), usual), self.most)
        resized = minimum(natural.ceil(), full)
        line = Sampling().resize(value, join(whole([self.height]), resized))
        return pad((line / 255 - 0.5) / 0.5, join(whole([0]), full - resized))

    def size(self, before: Size) -> Size:
        return self.height, None


def _pad_small(value: Term) -> Term:
    old = spatial_shape(value)
    is_small = short_side(old) + long_side(old) < _SMALL_SUM
    return pad(value, select(is_small, maximum(_SMALLEST - old, 0), 0))
