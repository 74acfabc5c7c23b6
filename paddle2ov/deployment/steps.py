"""The steps of preprocessing that can be built into a model, on float32 images [N, 3, H, W].

Semantics: `deploy/python/preprocess.py` (PaddleDetection), `paddlex/inference/models/*/processors.py` (PaddleX),
`paddleseg/transforms/transforms.py` (PaddleSeg).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from openvino import Type

from paddle2ov.deployment.sizes import int_divmod, up_to_multiple, whole
from paddle2ov.graph.opset import ops
from paddle2ov.graph.terms import Term

Size: TypeAlias = tuple[int | None, int | None]
"""Height and width, as far as they are known when the model is converted."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `name` is the transform's in the settings; `words` say what it does, if that is to be reported."""

    words: ClassVar[str] = ""
    name: str

    def apply(self, value: Term) -> Term:
        """The image after it."""
        return value

    def size(self, before: Size) -> Size:
        """The image's size after it."""
        return before

    def resized(self, before: Term, after: Term) -> tuple[Term, Term] | None:
        """The size [height, width] that it resizes the image to, without any padding, and the scales of the sides.

        None for a step that does not resize; `before` and `after` are the images before and after it.
        """
        return None

    def describe(self) -> str:
        """What it does, in words; "" if that need not be reported."""
        return self.words.format(self)


@dataclass(frozen=True, slots=True)
class ToSize(Step):
    """A step whose result has one size (height, width)."""

    to: tuple[int, int]

    def size(self, before: Size) -> Size:
        return self.to


@dataclass(frozen=True, slots=True)
class ToAnySize(Step):
    """A step whose result has a size that depends on the image's."""

    def size(self, before: Size) -> Size:
        return None, None


@dataclass(frozen=True, slots=True)
class Crop(ToSize):
    """The middle of an image that is at least as large."""

    words = "crop the middle, {0.to[0]} x {0.to[1]}"

    def apply(self, value: Term) -> Term:
        first, _ = int_divmod(spatial_shape(value) - whole(self.to), 2)
        last = first + whole(self.to)
        cut = ops.slice(value.value, first.value, last.value, np.array([1, 1], np.int32), np.array([2, 3]))
        return of_size(Term(cut), self.to)


@dataclass(frozen=True, slots=True)
class Pad(ToSize):
    """Pads an image that is at most as large with one color, below and to the right."""

    words = "pad to {0.to[0]} x {0.to[1]}"
    fill: tuple[float, ...]

    def apply(self, value: Term) -> Term:
        more = whole(self.to) - spatial_shape(value)
        return pad(value - _channels(self.fill), more) + _channels(self.fill)


@dataclass(frozen=True, slots=True)
class PadStride(Step):
    """Zeros below and to the right, up to multiples of a stride."""

    words = "pad to multiples of {0.stride}"
    stride: int

    def apply(self, value: Term) -> Term:
        old = spatial_shape(value)
        return pad(value, up_to_multiple(old, self.stride) - old)

    def size(self, before: Size) -> Size:
        height, width = (size if size is None else math.ceil(size / self.stride) * self.stride for size in before)
        return height, width


@dataclass(frozen=True, slots=True)
class Normalize(Step):
    """(x · scale - mean) / std, rounded after each operation in that order."""

    words = "normalize"
    scale: float
    mean: tuple[float, ...]
    std: tuple[float, ...]
    by_255: bool = False  # divided by 255, not multiplied by the scale

    def apply(self, value: Term) -> Term:
        value = value / 255 if self.by_255 else value * self.scale
        return (value - _channels(self.mean)) / _channels(self.std)


@dataclass(frozen=True, slots=True)
class Affine(Step):
    """x · factor + shift."""

    words = "normalize"
    factors: tuple[float, ...]
    shifts: tuple[float, ...]

    def apply(self, value: Term) -> Term:
        return value * _channels(self.factors) + _channels(self.shifts)


def size_after(steps: Sequence[Step]) -> Size:
    """The size of the images after some steps, as far as it does not depend on theirs."""
    size: Size = (None, None)
    for step in steps:
        size = step.size(size)
    return size


def spatial_shape(value: Term) -> Term:
    """[height, width], computed at run time."""
    return Term(ops.gather(ops.shape_of(value.value, Type.i32), np.array([2, 3]), np.array(0)))


def side_of(size: Term, axis: int) -> Term:
    """The side of [height, width] along an axis of the image, 2 or 3, as a scalar."""
    return Term(ops.gather(size.value, np.array(axis - 2), np.array(0)))


def height_and_width(size: Term) -> tuple[Term, Term]:
    """The two sides, each with one element."""
    height, width = ops.split(size.value, np.array(0), 2).outputs()
    return Term(height), Term(width)


def short_side(size: Term) -> Term:
    """The shorter one of [height, width], with one element."""
    return Term(ops.reduce_min(size.value, np.array([0]), True))


def long_side(size: Term) -> Term:
    """The longer one of [height, width], with one element."""
    return Term(ops.reduce_max(size.value, np.array([0]), True))


def ratio(above: Term, below: Term) -> Term:
    """One integer over another, in float32."""
    return as_float(above) / as_float(below)


def as_float(x: Term) -> Term:
    """An integer in float32."""
    return Term(ops.convert(x.value, np.float32))


def join(*parts: Term) -> Term:
    """Vectors, one after the other."""
    return Term(ops.concat([part.value for part in parts], 0))


def pad(value: Term, after: Term, before: Term | None = None, fill: float = 0.0) -> Term:
    """The image with [rows, columns] of one number after it and, if need be, before."""
    begin = np.zeros(4, np.int32) if before is None else join(whole([0, 0]), before).value
    return Term(ops.pad(value.value, begin, join(whole([0, 0]), after).value, "constant", np.float32(fill)))


def of_size(value: Term, size: tuple[int, int]) -> Term:
    """The image, whose size is known."""
    return Term(ops.reshape(value.value, np.array([0, 0, *size]), True))


def reversed_channels(value: Term) -> Term:
    """The image with its channels in the other order."""
    return Term(ops.gather(value.value, np.array([2, 1, 0]), np.array(1)))


def _channels(values: tuple[float, ...]) -> Term:
    return Term(ops.constant(np.array(values, np.float32).reshape(1, -1, 1, 1)))
