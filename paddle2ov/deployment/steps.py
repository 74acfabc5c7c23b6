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
from openvino import Node, Output, Type

from paddle2ov.deployment.sizes import int_constant, up_to_multiple
from paddle2ov.graph.integers import Number, int_divmod
from paddle2ov.graph.opset import ops

Value: TypeAlias = Output | Node
Size: TypeAlias = tuple[int | None, int | None]
"""Height and width, as far as they are known when the model is converted."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `name` is the transform's in the settings; `words` say what it does, if that is to be reported."""

    words: ClassVar[str] = ""
    name: str

    def apply(self, value: Value) -> Value:
        """The image after it."""
        return value

    def size(self, before: Size) -> Size:
        """The image's size after it."""
        return before

    def resized(self, before: Value, after: Value) -> tuple[Number, Number] | None:
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

    def apply(self, value: Value) -> Value:
        first, _ = int_divmod(ops.subtract(spatial_shape(value), int_constant(self.to)), int_constant(2))
        last = ops.add(first, int_constant(self.to))
        cut = ops.slice(value, first, last, np.array([1, 1], np.int32), np.array([2, 3]))
        return ops.reshape(cut, np.array([0, 0, *self.to]), True)  # the size is known


@dataclass(frozen=True, slots=True)
class Pad(ToSize):
    """Pads an image that is at most as large with one color, below and to the right."""

    words = "pad to {0.to[0]} x {0.to[1]}"
    fill: tuple[float, ...]

    def apply(self, value: Value) -> Value:
        more = ops.subtract(int_constant(self.to), spatial_shape(value))
        return ops.add(pad_zeros(ops.subtract(value, _channels(self.fill)), more), _channels(self.fill))


@dataclass(frozen=True, slots=True)
class PadStride(Step):
    """Zeros below and to the right, up to multiples of a stride."""

    words = "pad to multiples of {0.stride}"
    stride: int

    def apply(self, value: Value) -> Value:
        old = spatial_shape(value)
        return pad_zeros(value, ops.subtract(up_to_multiple(old, self.stride), old))

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

    def apply(self, value: Value) -> Value:
        value = ops.divide(value, np.float32(255)) if self.by_255 else ops.multiply(value, np.float32(self.scale))
        return ops.divide(ops.subtract(value, _channels(self.mean)), _channels(self.std))


@dataclass(frozen=True, slots=True)
class Affine(Step):
    """x · factor + shift."""

    words = "normalize"
    factors: tuple[float, ...]
    shifts: tuple[float, ...]

    def apply(self, value: Value) -> Value:
        return ops.add(ops.multiply(value, _channels(self.factors)), _channels(self.shifts))


def size_after(steps: Sequence[Step]) -> Size:
    """The size of the images after some steps, as far as it does not depend on theirs."""
    size: Size = (None, None)
    for step in steps:
        size = step.size(size)
    return size


def spatial_shape(value: Value) -> Number:
    """[height, width], computed at run time."""
    return ops.gather(ops.shape_of(value, Type.i32), np.array([2, 3]), np.array(0))


def short_side(size: Number) -> Number:
    """The shorter one of [height, width], with one element."""
    return ops.reduce_min(size, np.array([0]), True)


def long_side(size: Number) -> Number:
    """The longer one of [height, width], with one element."""
    return ops.reduce_max(size, np.array([0]), True)


def ratio(above: Number, below: Number) -> Node:
    """One integer over another, in float32."""
    return ops.divide(ops.convert(above, np.float32), ops.convert(below, np.float32))


def pad_zeros(value: Value, more: Number) -> Value:
    """The image padded below and to the right with [rows, columns] of zeros."""
    ends = ops.concat([np.zeros(2, np.int32), more], 0)
    return ops.pad(value, np.zeros(4, np.int32), ends, "constant", np.float32(0))


def _channels(values: tuple[float, ...]) -> Node:
    return ops.constant(np.array(values, np.float32).reshape(1, -1, 1, 1))
