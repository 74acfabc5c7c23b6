"""The steps of preprocessing that place an image on a canvas, as detectors, trackers and models of key points have.

Semantics: `deploy/python/preprocess.py` and `keypoint_preprocess.py` (PaddleDetection). Their affine transformations do
not rotate, so that rows and columns are interpolated one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from openvino import Node

from paddle2ov.deployment.resize_steps import Sampling
from paddle2ov.deployment.sizes import int_constant, round_scaled, scale_exactly, up_to_multiple
from paddle2ov.deployment.steps import Size, Step, ToAnySize, ToSize, Value, long_side, ratio, short_side, spatial_shape
from paddle2ov.deployment.taps import arange, blend_neighbours, pixels_in
from paddle2ov.graph.integers import Number, int_divmod
from paddle2ov.graph.opset import ops

MAX_WARPED_SIDE = 2**13 - 1
"""The largest side that is warped to: what its positions are computed from fits into 32 bits."""

_GRAY = 128.0  # what a byte becomes of LetterBoxResize's 127.5


@dataclass(frozen=True, slots=True)
class LetterBox(ToSize):
    """LetterBoxResize: as large as fits into one size (height, width) in proportion, gray around it."""

    words = "resize into {0.to[0]} x {0.to[1]} in proportion (area), gray around it"

    def apply(self, value: Value) -> Value:
        old, to = spatial_shape(value), int_constant(self.to)
        side, limit = self._side_and_limit(old)
        new = round_scaled(old, limit, side)
        more = ops.subtract(to, new)
        before, _ = int_divmod(more, int_constant(2))
        begin, end = (
            ops.concat([np.zeros(2, np.int32), amounts], 0) for amounts in (before, ops.subtract(more, before))
        )
        placed = ops.pad(Sampling("area").resize(value, new), begin, end, "constant", np.float32(_GRAY))
        return ops.reshape(placed, np.array([0, 0, *self.to]), True)  # the size is known

    def _side_and_limit(self, old: Number) -> tuple[Node, Node]:
        """The side that decides, and what becomes of it."""
        across = ops.multiply(old, int_constant(self.to[::-1]))  # height · target width, width · target height
        height, width = (ops.gather(across, np.array([axis]), np.array(0)) for axis in (0, 1))
        tall = ops.greater_equal(height, width)
        side = ops.gather(old, ops.select(tall, int_constant([0]), int_constant([1])), np.array(0))
        return side, ops.select(tall, int_constant([self.to[0]]), int_constant([self.to[1]]))

    def resized(self, before: Value, after: Value) -> tuple[Number, Number]:
        old = spatial_shape(before)
        side, limit = self._side_and_limit(old)
        return round_scaled(old, limit, side), ops.concat([ratio(limit, side)] * 2, 0)


@dataclass(frozen=True, slots=True)
class Warp(ToSize):
    """The middle of the image to the middle of one size (height, width), black around it.

    `by`: which side becomes the new width; "either" takes both to theirs, from the first pixel's middle to the last's
    (`use_udp`).
    """

    by: Literal["long", "width", "either"]
    reverses: bool = False

    def apply(self, value: Value) -> Value:
        old = spatial_shape(value)
        side = long_side(old) if self.by == "long" else ops.gather(old, np.array([1]), np.array(0))
        positions = {}
        for axis in (3, 2):
            count, length = self.to[axis - 2], ops.gather(old, np.array([axis - 2]), np.array(0))
            pixels = arange(int_constant(count))
            if self.by == "either":
                positions[axis] = pixels_in(ops.multiply(pixels, length), int_constant(count - 1))
            else:
                begin = ops.multiply(length, int_constant(self.to[1]))
                positions[axis] = _around(pixels, int_constant(count), side, begin, int_constant(2 * self.to[1]))
        value = blend_neighbours(value, positions, dark=True)
        return ops.gather(value, np.array([2, 1, 0]), np.array(1)) if self.reverses else value

    def describe(self) -> str:
        return f"warp to {self.to[0]} x {self.to[1]}" + (", channels reversed" if self.reverses else "")


@dataclass(frozen=True, slots=True)
class WarpShort(ToAnySize):
    """EvalAffine: the short side to a length, the other in proportion up to a multiple of 64, black around it."""

    words = "warp of the short side to {0.length}, the other up to a multiple of 64"
    length: int

    def apply(self, value: Value) -> Value:
        old, short = spatial_shape(value), short_side(spatial_shape(value))
        other = up_to_multiple(scale_exactly(long_side(old), int_constant([self.length]), short).ceil(), 64)
        height, width = (ops.gather(old, np.array([axis]), np.array(0)) for axis in (0, 1))
        is_tall = ops.less(width, height)
        length_wanted = int_constant([self.length])
        new = {2: ops.select(is_tall, other, length_wanted), 3: ops.select(is_tall, length_wanted, other)}
        positions = {}
        for axis, length in ((3, width), (2, height)):
            half, odd = int_divmod(length, int_constant(2))
            middle = ops.add(
                half, ops.multiply(odd, int_divmod(half, int_constant(2))[1])
            )  # np.round: of two the even one
            begin = ops.multiply(middle, int_constant(2 * self.length))
            count = ops.squeeze(new[axis], np.array([0]))
            pixels = arange(count)
            positions[axis] = _around(pixels, count, short, begin, int_constant(2 * self.length))
        return blend_neighbours(value, positions, dark=True)


@dataclass(frozen=True, slots=True)
class WarpKeepRes(Step):
    """WarpAffine with `keep_res`: the image in the middle of the next multiple of a step, channels reversed."""

    words = "pad around to multiples of {0.step}, channels reversed"
    step: int

    def apply(self, value: Value) -> Value:
        old = spatial_shape(value)
        new = up_to_multiple(ops.add(old, int_constant(1)), self.step)
        before = ops.subtract(int_divmod(new, int_constant(2))[0], int_divmod(old, int_constant(2))[0])
        after = ops.subtract(ops.subtract(new, old), before)
        begin, end = (ops.concat([np.zeros(2, np.int32), amounts], 0) for amounts in (before, after))
        placed = ops.pad(value, begin, end, "constant", np.float32(0))
        return ops.gather(placed, np.array([2, 1, 0]), np.array(1))

    def size(self, before: Size) -> Size:
        height, width = (size if size is None else (size // self.step + 1) * self.step for size in before)
        return height, width


def _around(pixels: Number, count: Number, side: Number, begin: Number, whole_pixel: Number) -> tuple[Number, Number]:
    """((2·pixel - count) · side + begin) / whole_pixel, which may be negative."""
    ahead = ops.add(int_divmod(ops.multiply(count, side), whole_pixel)[0], int_constant(1))
    moved = ops.add(ops.subtract(begin, ops.multiply(count, side)), ops.multiply(ahead, whole_pixel))
    first, part = pixels_in(ops.add(ops.multiply(ops.multiply(pixels, int_constant(2)), side), moved), whole_pixel)
    return ops.subtract(first, ahead), part
