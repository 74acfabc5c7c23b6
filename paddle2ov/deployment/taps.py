"""Separable resampling by weighted sums (taps) along rows, then columns, for modes that `Interpolate` does not have.

All of it is integers: which pixels are taken, their weights and, where an image is bytes, the sums. No rounding
moves a position, and where a model is compiled for bfloat16 nothing of it is rounded to that.
Semantics: `resizeArea_` and `resize` in `modules/imgproc/src/resize.cpp`, `warpAffine` (OpenCV); `Resample.c` (Pillow).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from openvino import Node, Type

from paddle2ov.deployment.sizes import int_constant
from paddle2ov.deployment.steps import Value, spatial_shape
from paddle2ov.graph.cubic import cubic_weights
from paddle2ov.graph.integers import Number, int_divmod
from paddle2ov.graph.opset import ops

Floats: TypeAlias = NDArray[np.float64]

_MIN_PART = 1000  # OpenCV leaves out parts of a pixel below 1 / 1000
_FRACTION = 2**7  # of levels between the directions of `area`: 255 · 2^7 times a side are below 2^31
_PART = 2**11  # of a pixel, as OpenCV's: 255 · _PART^2 times the weights of a cubic are below 2^31
_FINE, _WEIGHT = 2**10, 2**20  # of the filters' tables: steps in a pixel, and what stands for 1


def area(value: Value, size: Number, levels: bool) -> Value:
    """OpenCV's INTER_AREA: the mean of what a pixel covers; enlarged in either direction, blends of two neighbours.

    `levels`: whether it has bytes and gives bytes.
    """
    old = spatial_shape(value)
    smaller = ops.reduce_logical_and(ops.greater_equal(old, size), np.array([0]), False)
    value = _bytes(value) if levels else value
    for axis in (2, 3):  # whole rows are taken fast: the sooner there are few, the better
        length, count = _side(old, axis), _side(size, axis)
        first, rest = int_divmod(ops.multiply(arange(count), length), count)
        steps = arange(ops.add(int_divmod(length, count)[0], int_constant(2)))
        # In parts of a pixel, `count` to each: where the pixels of the image and of the result begin and end. What a
        # pixel covers, or two neighbours have of it, is `length` such parts.
        begin = ops.subtract(ops.multiply(steps, count), _column(rest))
        covered = ops.subtract(ops.minimum(ops.add(begin, count), length), ops.maximum(begin, int_constant(0)))
        is_part = ops.greater(ops.multiply(covered, int_constant(_MIN_PART)), count)
        parts = ops.select(is_part, covered, int_constant(0))
        second = _column(ops.maximum(ops.subtract(ops.add(rest, length), count), int_constant(0)))
        pair = ops.select(ops.equal(steps, int_constant(0)), ops.subtract(length, second), second)
        pair = ops.select(ops.less(steps, int_constant(2)), pair, int_constant(0))
        positions = ops.add(_column(first), steps)
        weights = ops.select(smaller, parts, pair)
        if not levels:
            value = _weighted_sum(value, axis, positions, length, ops.divide(_as_float(weights), _as_float(length)))
            continue
        value = _weighted_sum(value, axis, positions, length, weights)
        if axis == 2:
            value = _divide_half_up(ops.multiply(value, int_constant(_FRACTION)), length)
    if not levels:
        return value
    # Means of four pixels and blends round a half up, other means to the even level.
    halved = ops.reduce_logical_and(ops.equal(old, ops.multiply(size, int_constant(2))), np.array([0]), False)
    up = ops.logical_or(halved, ops.logical_not(smaller))
    unit = ops.multiply(_side(old, 3), int_constant(_FRACTION))
    level, rest = int_divmod(value, unit)
    twice = ops.multiply(rest, int_constant(2))
    is_odd = ops.equal(int_divmod(level, int_constant(2))[1], int_constant(1))
    half = ops.logical_and(ops.equal(twice, unit), ops.logical_or(up, is_odd))
    return _as_float(ops.add(level, ops.convert(ops.logical_or(ops.greater(twice, unit), half), Type.i32)))


def pillow(value: Value, size: Number, name: str) -> Value:
    """Pillow's resize of bytes: a filter as wide as the pixel it makes; whole levels after each direction."""
    reach, weigh = FILTERS[name]
    # The weights at every place in the filter, twice 0 beyond it.
    apart = np.arange(reach * _FINE + 2) / _FINE
    table = ops.constant(np.rint(np.where(apart < reach, weigh(apart), 0) * _WEIGHT).astype(np.int32))
    old = spatial_shape(value)
    value = _bytes(value)
    for axis in (3, 2):
        length, count = _side(old, axis), _side(size, axis)
        twice = ops.multiply(count, int_constant(2))
        middle = ops.multiply(ops.add(ops.multiply(arange(count), int_constant(2)), int_constant(1)), length)
        first, rest = int_divmod(middle, twice)
        more = ops.subtract(ops.add(ops.multiply(length, int_constant(reach)), count), int_constant(1))
        around = ops.maximum(int_divmod(more, count)[0], int_constant(reach))
        steps = ops.subtract(arange(ops.add(ops.multiply(around, int_constant(2)), int_constant(1))), around)
        # The middle of a pixel is that far from the middle of the result's, in pixels of whichever is larger.
        odd = ops.add(ops.multiply(steps, int_constant(2)), int_constant(1))
        away = ops.absolute(ops.subtract(ops.multiply(odd, count), _column(rest)))
        pixel = ops.multiply(ops.maximum(length, count), int_constant(2))
        away = ops.minimum(away, ops.multiply(pixel, int_constant(reach)))
        at, rest = int_divmod(ops.multiply(away, int_constant(_FINE)), pixel)
        part, _ = int_divmod(ops.multiply(rest, int_constant(_FINE)), pixel)
        before, after = (ops.gather(table, ops.add(at, int_constant(offset)), np.array(0)) for offset in (0, 1))
        weights = ops.multiply(before, ops.subtract(int_constant(_FINE), part))
        weights = ops.add(weights, ops.multiply(after, part))
        # As many as pixels are taken for one, so that their sum is always about _WEIGHT.
        shares = ops.add(int_divmod(ops.subtract(length, int_constant(1)), count)[0], int_constant(1))
        weights = ops.divide(weights, ops.multiply(shares, int_constant(_FINE)))
        positions = ops.add(_column(first), steps)
        weights = ops.select(_is_inside(positions, length), weights, int_constant(0))
        unit = ops.reduce_sum(weights, np.array([1]), axis == 2)  # of columns, or of rows
        value = _to_byte(_weighted_sum(value, axis, positions, length, weights), unit)
    return _as_float(value)


def pixels_in(number: Number, pixel: Number) -> tuple[Number, Number]:
    """The whole pixels and the part of one in a number that is not negative, `pixel` to each: below 2^19."""
    first, rest = int_divmod(number, pixel)
    return first, _divide_half_up(ops.multiply(rest, int_constant(_PART)), pixel)


def blend_neighbours(
    value: Value,
    positions: Mapping[int, tuple[Number, Number]],
    interpolation: str = "linear",
    dark: bool = False,
) -> Value:
    """OpenCV's blends of neighbours, of bytes; beyond the edges are the edges' pixels, or black.

    `positions`: by axis, 2 and 3, where each pixel lies, as `pixels_in` gives it.
    """
    kernel = _KERNELS[interpolation]
    old = spatial_shape(value)
    value = _bytes(value)
    for axis, (first, part) in positions.items():
        length, parts = _side(old, axis), []
        for tap, weights in enumerate(kernel.T):
            at = ops.add(first, int_constant(tap - len(kernel.T) // 2 + 1))
            weight = ops.gather(ops.constant(weights), part, np.array(0))
            weight = ops.select(_is_inside(at, length), weight, int_constant(0)) if dark else weight
            taken = ops.gather(value, _clamp(at, length), np.array(axis))
            parts.append(ops.multiply(taken, _column(weight) if axis == 2 else weight))
        value = functools.reduce(ops.add, parts)
    return _as_float(_to_byte(value, int_constant(_PART**2)))


def _linear(x: Floats) -> list[Floats]:
    return [1 - x, x]


def _kernel(weigh: Callable[[Floats], Sequence[Floats]]) -> NDArray[np.int32]:
    """The weights of the neighbours for every part of a pixel; they add up to _PART."""
    weights = np.rint(np.stack(weigh(np.arange(_PART + 1) / _PART), 1) * _PART).astype(np.int32)
    weights[:, weights.shape[1] // 2] += _PART - weights.sum(1)
    return weights


_KERNELS: Mapping[str, NDArray[np.int32]] = MappingProxyType(
    {"linear": _kernel(_linear), "cubic": _kernel(cubic_weights)}
)


def _bilinear(x: Floats) -> Floats:
    return 1 - x


def _bicubic(x: Floats) -> Floats:
    """With a = -0.5."""
    return np.where(x < 1, (1.5 * x - 2.5) * x * x + 1, ((-0.5 * x + 2.5) * x - 4) * x + 2)


def _hamming(x: Floats) -> Floats:
    return np.sinc(x) * (0.54 + 0.46 * np.cos(np.pi * x))


def _lanczos(x: Floats) -> Floats:
    return np.sinc(x) * np.sinc(x / 3)


FILTERS: Mapping[str, tuple[int, Callable[[Floats], Floats]]] = MappingProxyType(
    {"bilinear": (1, _bilinear), "bicubic": (2, _bicubic), "hamming": (1, _hamming), "lanczos": (3, _lanczos)}
)
"""Pillow's filters: how far they reach, and their weights there."""


def _weighted_sum(value: Value, axis: int, positions: Number, length: Number, weights: Value) -> Value:
    """The sums over k of weights[i, k] · value[positions[i, k]] along an axis, with positions clamped."""
    taken = ops.gather(value, _clamp(positions, length), np.array(axis))
    if axis == 2:
        weights = ops.unsqueeze(weights, np.array([2]))
    return ops.reduce_sum(ops.multiply(taken, weights), np.array([axis + 1]), False)


def _clamp(positions: Number, length: Number) -> Node:
    """The positions, those beyond an edge at the edge."""
    return ops.maximum(ops.minimum(positions, ops.subtract(length, int_constant(1))), int_constant(0))


def _is_inside(positions: Number, length: Number) -> Node:
    """Whether positions are in the image."""
    return ops.logical_and(ops.greater_equal(positions, int_constant(0)), ops.less(positions, length))


def _divide_half_up(number: Number, unit: Number) -> Number:
    """number / one, rounded: halves up."""
    half, _ = int_divmod(unit, int_constant(2))
    return int_divmod(ops.add(number, half), unit)[0]


def _to_byte(number: Number, unit: Number) -> Number:
    """number / one as a byte, rounded: halves up."""
    return ops.minimum(_divide_half_up(ops.maximum(number, int_constant(0)), unit), int_constant(255))


def _side(size: Number, axis: int) -> Node:
    return ops.gather(size, np.array(axis - 2), np.array(0))


def arange(number: Number) -> Node:
    """0, 1, ... below a number."""
    return ops.range(int_constant(0), number, int_constant(1), Type.i32)


def _column(row: Value) -> Node:
    return ops.unsqueeze(row, np.array([1]))


def _bytes(value: Value) -> Node:
    """The levels of an image as integers, straight from its bytes where it has just come from them."""
    node = value if isinstance(value, Node) else value.get_node()
    return ops.convert(node.input_value(0) if node.get_type_name() == "Convert" else value, Type.i32)


def _as_float(x: Number) -> Node:
    return ops.convert(x, Type.f32)
