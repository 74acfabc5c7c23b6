"""Pictures as weighted sums of their pixels, row by row and column by column, for what `Interpolate` does not have.

Which pixels are taken is computed with whole numbers, so that no rounding moves a place; the weights are float32.
Semantics: `resizeArea_` and `resize` in `modules/imgproc/src/resize.cpp`, `warpAffine` (OpenCV); `Resample.c` (Pillow).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from openvino import Node, Type

from paddle2ov.deployment.sizes import Number, divided, whole
from paddle2ov.deployment.steps import Value, sides
from paddle2ov.opset import ops

_LEAST_PART = 1e-3  # OpenCV leaves out smaller parts of pixels


def area(value: Value, size: Number, levels: bool) -> Value:
    """OpenCV's INTER_AREA: the mean of what a pixel covers; enlarged in either direction, blends of two neighbours.

    `levels`: whether it has bytes and gives bytes.
    """
    old = sides(value)
    smaller = ops.reduce_logical_and(ops.greater_equal(old, size), np.array([0]), False)
    share = ops.constant(np.float32(1))
    for axis in (2, 3):  # whole rows are taken fast: the sooner there are few, the better
        length, count = _side(old, axis), _side(size, axis)
        first, rest = divided(ops.multiply(_count(count), length), count)
        steps = _count(ops.add(divided(length, count)[0], whole(2)))
        # In parts of a pixel, `count` to each: where the pixels of the picture and of the result begin and end.
        begin = ops.subtract(ops.multiply(steps, count), _column(rest))
        covered = ops.subtract(ops.minimum(ops.add(begin, count), length), ops.maximum(begin, whole(0)))
        parts = ops.divide(_real(ops.maximum(covered, whole(0))), _real(count))
        parts = ops.multiply(parts, _real(ops.greater(parts, np.float32(_LEAST_PART))))
        blend = ops.maximum(ops.subtract(ops.add(rest, length), count), whole(0))
        second = _column(ops.divide(_real(blend), _real(length)))
        pair = ops.select(ops.equal(steps, whole(0)), ops.subtract(np.float32(1), second), second)
        pair = ops.multiply(pair, _real(ops.less(steps, whole(2))))
        places = ops.add(_column(first), steps)
        value = _summed(value, axis, places, length, ops.select(smaller, parts, pair))
        share = ops.multiply(share, ops.divide(_real(length), _real(count)))
    value = ops.select(smaller, ops.multiply(value, ops.divide(np.float32(1), share)), value)
    if not levels:
        return value
    # Means of four pixels round a half up, others to the even level.
    halved = ops.reduce_logical_and(ops.equal(old, ops.multiply(size, whole(2))), np.array([0]), False)
    up = ops.logical_or(halved, ops.logical_not(smaller))
    rounded = ops.select(up, ops.floor(ops.add(value, np.float32(0.5))), ops.round(value, "half_to_even"))
    return ops.clamp(rounded, 0.0, 255.0)


def pillow(value: Value, size: Number, name: str) -> Value:
    """Pillow's resize of bytes: a filter as wide as the pixel it makes; whole levels after each direction."""
    reach, weigh = FILTERS[name]
    old = sides(value)
    for axis in (3, 2):
        length, count = _side(old, axis), _side(size, axis)
        twice = ops.multiply(count, whole(2))
        middle = ops.multiply(ops.add(ops.multiply(_count(count), whole(2)), whole(1)), length)
        first, rest = divided(middle, twice)
        more = ops.subtract(ops.add(ops.multiply(length, whole(reach)), count), whole(1))
        around = ops.maximum(divided(more, count)[0], whole(reach))
        steps = ops.subtract(_count(ops.add(ops.multiply(around, whole(2)), whole(1))), around)
        away = ops.subtract(_real(steps), _column(ops.divide(_real(rest), _real(twice))))
        narrow = ops.minimum(ops.divide(_real(count), _real(length)), np.float32(1))
        away = ops.multiply(ops.add(away, np.float32(0.5)), narrow)
        places = ops.add(_column(first), steps)
        weights = ops.select(ops.less(ops.absolute(away), np.float32(reach)), weigh(away), np.float32(0))
        weights = ops.multiply(weights, _inside(places, length))
        weights = ops.divide(weights, ops.reduce_sum(weights, np.array([1]), True))
        value = _summed(value, axis, places, length, weights)
        value = ops.clamp(ops.floor(ops.add(value, np.float32(0.5))), 0.0, 255.0)
    return value


def warped(value: Value, places: Mapping[int, tuple[Number, Number]]) -> Value:
    """OpenCV's warpAffine of bytes without a rotation: blends of two neighbours, black outside.

    `places`: by axis, the numbers of whole pixels and the parts of one (float32) at which each pixel lies.
    """
    for axis, (first, part) in places.items():
        length = _side(sides(value), axis)
        steps = ops.constant(np.array([0, 1], np.int32))
        second = _column(part)
        at = ops.add(_column(first), steps)
        weights = ops.concat([ops.subtract(np.float32(1), second), second], 1)
        value = _summed(value, axis, at, length, ops.multiply(weights, _inside(at, length)))
    return ops.clamp(ops.floor(ops.add(value, np.float32(0.5))), 0.0, 255.0)


def _bilinear(x: Node) -> Node:
    return ops.subtract(np.float32(1), ops.absolute(x))


def _bicubic(x: Node) -> Node:
    """With a = -0.5."""
    x = ops.absolute(x)
    square = ops.multiply(x, x)
    cube = ops.multiply(square, x)
    near = ops.add(
        ops.subtract(ops.multiply(cube, np.float32(1.5)), ops.multiply(square, np.float32(2.5))), np.float32(1)
    )
    far = ops.subtract(ops.multiply(square, np.float32(2.5)), ops.multiply(cube, np.float32(0.5)))
    far = ops.add(ops.subtract(far, ops.multiply(x, np.float32(4))), np.float32(2))
    return ops.select(ops.less(x, np.float32(1)), near, far)


def _hamming(x: Node) -> Node:
    wave = ops.cos(ops.multiply(x, np.float32(math.pi)))
    return ops.multiply(_sinc(x), ops.add(ops.multiply(wave, np.float32(0.46)), np.float32(0.54)))


def _lanczos(x: Node) -> Node:
    return ops.multiply(_sinc(x), _sinc(ops.divide(x, np.float32(3))))


def _sinc(x: Node) -> Node:
    x = ops.multiply(x, np.float32(math.pi))
    zero = ops.equal(x, np.float32(0))
    return ops.select(zero, np.float32(1), ops.divide(ops.sin(x), ops.select(zero, np.float32(1), x)))


FILTERS: Mapping[str, tuple[int, Callable[[Node], Node]]] = MappingProxyType(
    {"bilinear": (1, _bilinear), "bicubic": (2, _bicubic), "hamming": (1, _hamming), "lanczos": (3, _lanczos)}
)
"""Pillow's filters: how far they reach, and their weights there."""


def _summed(value: Value, axis: int, places: Number, length: Number, weights: Value) -> Value:
    """The sums over k of weights[i, k] · value[places[i, k]] along an axis; places beyond an edge mean the edge."""
    places = ops.maximum(ops.minimum(places, ops.subtract(length, whole(1))), whole(0))
    taken = ops.gather(value, places, np.array(axis))
    if axis == 2:
        weights = ops.unsqueeze(weights, np.array([2]))
    return ops.reduce_sum(ops.multiply(taken, weights), np.array([axis + 1]), False)


def _inside(places: Number, length: Number) -> Node:
    """1 for places in the picture, 0 beyond it."""
    return _real(ops.logical_and(ops.greater_equal(places, whole(0)), ops.less(places, length)))


def _side(size: Number, axis: int) -> Node:
    return ops.gather(size, np.array(axis - 2), np.array(0))


def _count(number: Number) -> Node:
    """0, 1, ... below a number."""
    return ops.range(whole(0), number, whole(1), Type.i32)


def _column(row: Value) -> Node:
    return ops.unsqueeze(row, np.array([1]))


def _real(x: Number) -> Node:
    return ops.convert(x, Type.f32)


__all__ = ["FILTERS", "area", "pillow", "warped"]
