"""The steps of preprocessing that resize images; semantics as in `steps.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from openvino import Type

from paddle2ov.deployment.sizes import round_scaled, up_to_multiple, whole
from paddle2ov.deployment.steps import ToAnySize, ToSize, join, long_side, ratio, short_side, side_of, spatial_shape
from paddle2ov.deployment.taps import arange, area, blend_neighbours, pillow, pixels_in
from paddle2ov.graph.opset import ops
from paddle2ov.graph.terms import Term, maximum, minimum, select


@dataclass(frozen=True, slots=True)
class Sampling:
    """How an image is resized: the interpolation, and whether OpenCV has bytes and gives bytes."""

    interpolation: str = "linear"
    levels: bool = True

    def resize(self, value: Term, size: Term) -> Term:
        """OpenCV's resize: half-pixel centres (nearest: asymmetric), cubic with a = -0.75, rounded to integers."""
        if self.interpolation == "area":
            return area(value, size, self.levels)
        nearest = self.interpolation == "nearest"
        resized = ops.interpolate(
            value.value,
            ops.convert(size.value, Type.i64),
            {"nearest": "nearest", "linear": "linear_onnx", "cubic": "cubic"}[self.interpolation],
            "sizes",
            axes=np.array([2, 3]),
            coordinate_transformation_mode="asymmetric" if nearest else "half_pixel",
            nearest_mode="floor",
            cube_coeff=-0.75,
        )
        if self.levels and not nearest:
            resized = ops.clamp(ops.floor(ops.add(resized, np.float32(0.5))), 0.0, 255.0)
        return Term(resized)

    def resize_by(self, value: Term, size: Term, side: Term, length: Term) -> Term:
        """As `resize`, linear or cubic, by the scale length / side, whatever the quotient of the sizes is."""
        positions = {}
        for axis in (2, 3):
            # ((2 · pixel + 1) · side - length) / (2 · length), one more so that it is not negative.
            first, part = pixels_in((arange(side_of(size, axis)) * 2 + 1) * side + length, length * 2)
            positions[axis] = first - 1, part
        return blend_neighbours(value, positions, self.interpolation)


@dataclass(frozen=True, slots=True)
class Pillow(Sampling):
    """As Pillow resizes images: the interpolation is one of `taps.FILTERS`."""

    def resize(self, value: Term, size: Term) -> Term:
        return pillow(value, size, self.interpolation)


@dataclass(frozen=True, slots=True)
class Resize(ToSize):
    """To one size (height, width)."""

    words = "resize to {0.to[0]} x {0.to[1]} ({0.sampling.interpolation})"
    sampling: Sampling

    def apply(self, value: Term) -> Term:
        return self.sampling.resize(value, whole(self.to))

    def resized(self, before: Term, after: Term) -> tuple[Term, Term]:
        new = spatial_shape(after)
        return new, ratio(new, spatial_shape(before))


@dataclass(frozen=True, slots=True)
class ResizeKeepRatio(ToAnySize):
    """As large as fits into `short` x `long` in either direction, in proportion.

    Two ways to interpolate: by the ratio of the sizes, which are rounded, or by the factor itself, as PaddleDetection
    lets OpenCV do.
    """

    words = "resize into {0.short} x {0.long} in proportion ({0.sampling.interpolation})"
    short: int
    long: int
    sampling: Sampling
    divisor: int = 1
    by_factor: bool = False

    def apply(self, value: Term) -> Term:
        old = spatial_shape(value)
        side, length = self._side_and_length(old)
        new = round_scaled(old, length, side)
        if not self.by_factor:
            return self.sampling.resize(value, up_to_multiple(new, self.divisor) if self.divisor > 1 else new)
        return self.sampling.resize_by(value, new, side, length)

    def _side_and_length(self, old: Term) -> tuple[Term, Term]:
        """The side that decides, and what becomes of it."""
        short, long = whole([self.short]), whole([self.long])
        if self.by_factor:
            long_decides = round_scaled(long_side(old), short, short_side(old)) > long
        else:
            long_decides = long_side(old) * self.short > short_side(old) * self.long
        return select(long_decides, long_side(old), short_side(old)), select(long_decides, long, short)

    def resized(self, before: Term, after: Term) -> tuple[Term, Term]:
        old, new = spatial_shape(before), spatial_shape(after)
        if not self.by_factor:
            return new, ratio(new, old)
        side, length = self._side_and_length(old)
        scale = ratio(length, side)
        return new, join(scale, scale)


@dataclass(frozen=True, slots=True)
class ResizeSide(ToAnySize):
    """One side to a length, the other in proportion, both rounded; then up to multiples of `divisor`."""

    words = "resize of the {0.side} side to {0.length} ({0.sampling.interpolation})"
    side: Literal["short", "long"]
    length: int
    sampling: Sampling
    divisor: int = 1

    def apply(self, value: Term) -> Term:
        old = spatial_shape(value)
        side = short_side(old) if self.side == "short" else long_side(old)
        new = round_scaled(old, whole([self.length]), side)
        return self.sampling.resize(value, up_to_multiple(new, self.divisor) if self.divisor > 1 else new)


@dataclass(frozen=True, slots=True)
class LimitLong(ToAnySize):
    """The long side to the nearest length between the limits, the other in proportion, rounded."""

    words = "resize of the long side into {0.least} to {0.most}"
    least: int
    most: int
    sampling: Sampling

    def apply(self, value: Term) -> Term:
        old = spatial_shape(value)
        side = long_side(old)
        length = minimum(maximum(side, self.least), self.most)
        return self.sampling.resize(value, round_scaled(old, length, side))
