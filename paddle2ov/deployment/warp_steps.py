"""The steps of preprocessing that place an image on a canvas, as detectors, trackers and models of key points have.

Semantics: `deploy/python/preprocess.py` and `keypoint_preprocess.py` (PaddleDetection). Their affine transformations do
not rotate, so that rows and columns are interpolated one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from paddle2ov.deployment.resize_steps import Sampling
from paddle2ov.deployment.sizes import int_divmod, round_scaled, scale_exactly, up_to_multiple, whole
from paddle2ov.deployment.steps import (
    Size,
    Step,
    ToAnySize,
    ToSize,
    height_and_width,
    join,
    long_side,
    of_size,
    pad,
    ratio,
    reversed_channels,
    short_side,
    side_of,
    spatial_shape,
)
from paddle2ov.deployment.taps import arange, blend_neighbours, pixels_in
from paddle2ov.graph.terms import Term, select

MAX_WARPED_SIDE = 2**13 - 1
"""The largest side that is warped to: what its positions are computed from fits into 32 bits."""

_GRAY = 128.0  # what a byte becomes of LetterBoxResize's 127.5


@dataclass(frozen=True, slots=True)
class LetterBox(ToSize):
    """LetterBoxResize: as large as fits into one size (height, width) in proportion, gray around it."""

    words = "resize into {0.to[0]} x {0.to[1]} in proportion (area), gray around it"

    def apply(self, value: Term) -> Term:
        old = spatial_shape(value)
        side, limit = self._side_and_limit(old)
        new = round_scaled(old, limit, side)
        more = whole(self.to) - new
        before, _ = int_divmod(more, 2)
        return of_size(pad(Sampling("area").resize(value, new), more - before, before, _GRAY), self.to)

    def _side_and_limit(self, old: Term) -> tuple[Term, Term]:
        """The side that decides, and what becomes of it."""
        height, width = height_and_width(old)
        is_tall = height * self.to[1] >= width * self.to[0]
        return select(is_tall, height, width), select(is_tall, whole([self.to[0]]), whole([self.to[1]]))

    def resized(self, before: Term, after: Term) -> tuple[Term, Term]:
        old = spatial_shape(before)
        side, limit = self._side_and_limit(old)
        scale = ratio(limit, side)
        return round_scaled(old, limit, side), join(scale, scale)


@dataclass(frozen=True, slots=True)
class Warp(ToSize):
    """The middle of the image to the middle of one size (height, width), black around it.

    `by`: which side becomes the new width; "either" takes both to theirs, from the first pixel's middle to the last's
    (`use_udp`).
    """

    by: Literal["long", "width", "either"]
    reverses: bool = False

    def apply(self, value: Term) -> Term:
        old = spatial_shape(value)
        side = long_side(old) if self.by == "long" else height_and_width(old)[1]
        positions = {}
        for axis in (3, 2):
            count, length = whole(self.to[axis - 2]), side_of(old, axis)
            if self.by == "either":
                positions[axis] = pixels_in(arange(count) * length, count - 1)
            else:
                positions[axis] = _around(count, side, length * self.to[1], 2 * self.to[1])
        value = blend_neighbours(value, positions, dark=True)
        return reversed_channels(value) if self.reverses else value

    def describe(self) -> str:
        return f"warp to {self.to[0]} x {self.to[1]}" + (", channels reversed" if self.reverses else "")


@dataclass(frozen=True, slots=True)
class WarpShort(ToAnySize):
    """EvalAffine: the short side to a length, the other in proportion up to a multiple of 64, black around it."""

    words = "warp of the short side to {0.length}, the other up to a multiple of 64"
    length: int

    def apply(self, value: Term) -> Term:
        old, length = spatial_shape(value), whole([self.length])
        short = short_side(old)
        other = up_to_multiple(scale_exactly(long_side(old), length, short).ceil(), 64)
        height, width = height_and_width(old)
        is_tall = width < height
        new = join(select(is_tall, other, length), select(is_tall, length, other))
        positions = {}
        for axis in (3, 2):
            half, odd = int_divmod(side_of(old, axis), 2)
            middle = half + odd * int_divmod(half, 2)[1]  # np.round: of two the even one
            positions[axis] = _around(side_of(new, axis), short, middle * (2 * self.length), 2 * self.length)
        return blend_neighbours(value, positions, dark=True)


@dataclass(frozen=True, slots=True)
class WarpKeepRes(Step):
    """WarpAffine with `keep_res`: the image in the middle of the next multiple of a step, channels reversed."""

    words = "pad around to multiples of {0.step}, channels reversed"
    step: int

    def apply(self, value: Term) -> Term:
        old = spatial_shape(value)
        new = up_to_multiple(old + 1, self.step)
        before = int_divmod(new, 2)[0] - int_divmod(old, 2)[0]
        return reversed_channels(pad(value, new - old - before, before))

    def size(self, before: Size) -> Size:
        height, width = (size if size is None else (size // self.step + 1) * self.step for size in before)
        return height, width


def _around(count: Term, side: Term, begin: Term, whole_pixel: int) -> tuple[Term, Term]:
    """((2·pixel - count) · side + begin) / whole_pixel for each of `count` pixels, which may be negative."""
    ahead = int_divmod(count * side, whole_pixel)[0] + 1
    moved = begin - count * side + ahead * whole_pixel
    first, part = pixels_in(arange(count) * 2 * side + moved, whole(whole_pixel))
    return first - ahead, part
