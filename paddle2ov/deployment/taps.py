"""Separable resampling by weighted sums (taps) along rows, then columns, for modes that `Interpolate` does not have.

All of it is integers: which pixels are taken, their weights and, where an image is bytes, the sums. No rounding
moves a position, and where a model is compiled for bfloat16 nothing of it is rounded to that.
Semantics: `resizeArea_` and `resize` in `modules/imgproc/src/resize.cpp`, `warpAffine` (OpenCV); `Resample.c` (Pillow).
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from openvino import Type

from paddle2ov.deployment.sizes import as_int, int_divmod, whole
from paddle2ov.deployment.steps import as_float, side_of, spatial_shape
from paddle2ov.graph.cubic import cubic_weights
from paddle2ov.graph.opset import ops
from paddle2ov.graph.terms import Term, abs_, maximum, minimum, select

Floats: TypeAlias = NDArray[np.float64]

_MIN_PART = 1000  # OpenCV leaves out parts of a pixel below 1 / 1000
_FRACTION = 2**7  # of levels between the directions of `area`: 255 · 2^7 times a side are below 2^31
_PART = 2**11  # of a pixel, as OpenCV's: 255 · _PART^2 times the weights of a cubic are below 2^31
_FINE, _WEIGHT = 2**10, 2**20  # of the filters' tables: steps in a pixel, and what stands for 1


def area(value: Term, size: Term, levels: bool) -> Term:
    """OpenCV's INTER_AREA: the mean of what a pixel covers; enlarged in either direction, blends of two neighbours.

    `levels`: whether it has bytes and gives bytes.
    """
    old = spatial_shape(value)
    smaller = Term(ops.reduce_logical_and((old >= size).value, np.array([0]), False))
    value = _bytes(value) if levels else value
    for axis in (2, 3):  # whole rows are taken fast: the sooner there are few, the better
        length, count = side_of(old, axis), side_of(size, axis)
        first, rest = int_divmod(arange(count) * length, count)
        steps = arange(int_divmod(length, count)[0] + 2)
        # In parts of a pixel, `count` to each: where the pixels of the image and of the result begin and end. What a
        # pixel covers, or two neighbours have of it, is `length` such parts.
        begin = steps * count - _column(rest)
        covered = minimum(begin + count, length) - maximum(begin, 0)
        parts = select(covered * _MIN_PART > count, covered, 0)
        second = _column(maximum(rest + length - count, 0))
        pair = select(steps < 2, select(steps.equals(0), length - second, second), 0)
        weights = select(smaller, parts, pair)
        if not levels:
            weights = as_float(weights) / as_float(length)
        value = _weighted_sum(value, axis, _column(first) + steps, length, weights)
        if levels and axis == 2:
            value = _divide_half_up(value * _FRACTION, length)
    if not levels:
        return value
    # Means of four pixels and blends round a half up, other means to the even level.
    halved = Term(ops.reduce_logical_and(old.equals(size * 2).value, np.array([0]), False))
    unit = side_of(old, 3) * _FRACTION
    level, rest = int_divmod(value, unit)
    half = (rest * 2).equals(unit) & (halved | ~smaller | int_divmod(level, 2)[1].equals(1))
    return as_float(level + as_int((rest * 2 > unit) | half))


def pillow(value: Term, size: Term, name: str) -> Term:
    """Pillow's resize of bytes: a filter as wide as the pixel it makes; whole levels after each direction."""
    reach, weigh = FILTERS[name]
    # The weights at every place in the filter, twice 0 beyond it.
    apart = np.arange(reach * _FINE + 2) / _FINE
    table = ops.constant(np.rint(np.where(apart < reach, weigh(apart), 0) * _WEIGHT).astype(np.int32))
    old = spatial_shape(value)
    value = _bytes(value)
    for axis in (3, 2):
        length, count = side_of(old, axis), side_of(size, axis)
        first, rest = int_divmod((arange(count) * 2 + 1) * length, count * 2)
        around = maximum(int_divmod(length * reach + count - 1, count)[0], reach)
        steps = arange(around * 2 + 1) - around
        # The middle of a pixel is that far from the middle of the result's, in pixels of whichever is larger.
        pixel = maximum(length, count) * 2
        away = minimum(abs_((steps * 2 + 1) * count - _column(rest)), pixel * reach)
        at, rest = int_divmod(away * _FINE, pixel)
        part, _ = int_divmod(rest * _FINE, pixel)
        before, after = (Term(ops.gather(table, place.value, np.array(0))) for place in (at, at + 1))
        weights = before * (_FINE - part) + after * part
        # As many as pixels are taken for one, so that their sum is always about _WEIGHT.
        shares = int_divmod(length - 1, count)[0] + 1
        positions = _column(first) + steps
        weights = select(_is_inside(positions, length), weights / (shares * _FINE), 0)
        unit = Term(ops.reduce_sum(weights.value, np.array([1]), axis == 2))  # of columns, or of rows
        value = _to_byte(_weighted_sum(value, axis, positions, length, weights), unit)
    return as_float(value)


def pixels_in(number: Term, pixel: Term) -> tuple[Term, Term]:
    """The whole pixels and the part of one in a number that is not negative, `pixel` to each: below 2^19."""
    first, rest = int_divmod(number, pixel)
    return first, _divide_half_up(rest * _PART, pixel)


def blend_neighbours(
    value: Term,
    positions: Mapping[int, tuple[Term, Term]],
    interpolation: str = "linear",
    dark: bool = False,
) -> Term:
    """OpenCV's blends of neighbours, of bytes; beyond the edges are the edges' pixels, or black.

    `positions`: by axis, 2 and 3, where each pixel lies, as `pixels_in` gives it.
    """
    kernel = _KERNELS[interpolation]
    old = spatial_shape(value)
    value = _bytes(value)
    for axis, (first, part) in positions.items():
        length, parts = side_of(old, axis), []
        for tap, weights in enumerate(kernel.T):
            at = first + (tap - len(kernel.T) // 2 + 1)
            weight = Term(ops.gather(ops.constant(weights), part.value, np.array(0)))
            weight = select(_is_inside(at, length), weight, 0) if dark else weight
            parts.append(_pixels(value, axis, at, length) * (_column(weight) if axis == 2 else weight))
        value = functools.reduce(operator.add, parts)
    return as_float(_to_byte(value, whole(_PART**2)))


def _kernel(weigh: Callable[[Floats], Sequence[Floats]]) -> NDArray[np.int32]:
    """The weights of the neighbours for every part of a pixel; they add up to _PART."""
    weights = np.rint(np.stack(weigh(np.arange(_PART + 1) / _PART), 1) * _PART).astype(np.int32)
    weights[:, weights.shape[1] // 2] += _PART - weights.sum(1)
    return weights


_KERNELS: Mapping[str, NDArray[np.int32]] = MappingProxyType(
    {"linear": _kernel(lambda x: [1 - x, x]), "cubic": _kernel(cubic_weights)}
)


def _bicubic(x: Floats) -> Floats:
    """With a = -0.5."""
    return np.where(x < 1, (1.5 * x - 2.5) * x * x + 1, ((-0.5 * x + 2.5) * x - 4) * x + 2)


FILTERS: Mapping[str, tuple[int, Callable[[Floats], Floats]]] = MappingProxyType(
    {
        "bilinear": (1, lambda x: 1 - x),
        "bicubic": (2, _bicubic),
        "hamming": (1, lambda x: np.sinc(x) * (0.54 + 0.46 * np.cos(np.pi * x))),
        "lanczos": (3, lambda x: np.sinc(x) * np.sinc(x / 3)),
    }
)
"""Pillow's filters: how far they reach, and their weights there."""


def _weighted_sum(value: Term, axis: int, positions: Term, length: Term, weights: Term) -> Term:
    """The sums over k of weights[i, k] · value[positions[i, k]] along an axis, with positions clamped."""
    weights = Term(ops.unsqueeze(weights.value, np.array([2]))) if axis == 2 else weights
    products = _pixels(value, axis, positions, length) * weights
    return Term(ops.reduce_sum(products.value, np.array([axis + 1]), False))


def _pixels(value: Term, axis: int, positions: Term, length: Term) -> Term:
    """What stands at positions along an axis; beyond an edge, what stands there."""
    clamped = maximum(minimum(positions, length - 1), 0)
    return Term(ops.gather(value.value, clamped.value, np.array(axis)))


def _is_inside(positions: Term, length: Term) -> Term:
    """Whether positions are in the image."""
    return (positions >= 0) & (positions < length)


def _divide_half_up(number: Term, unit: Term) -> Term:
    """number / unit, rounded: halves up."""
    return int_divmod(number + int_divmod(unit, 2)[0], unit)[0]


def _to_byte(number: Term, unit: Term) -> Term:
    """number / unit as a byte, rounded: halves up."""
    return minimum(_divide_half_up(maximum(number, 0), unit), 255)


def arange(number: Term) -> Term:
    """0, 1, ... below a number."""
    return Term(ops.range(whole(0).value, number.value, whole(1).value, Type.i32))


def _column(row: Term) -> Term:
    return Term(ops.unsqueeze(row.value, np.array([1])))


def _bytes(value: Term) -> Term:
    """The levels of an image as integers, straight from its bytes where it has just come from them."""
    node = value.value.get_node()
    return Term(ops.convert(node.input_value(0) if node.get_type_name() == "Convert" else value.value, Type.i32))
