"""Resizes of which only the run knows the ratios: elements picked by indices, and mixed by weights, of the graph.

Semantics: `paddle/phi/kernels/cpu/interpolate_kernel.cc`, `paddle/phi/kernels/funcs/interpolate_function.h`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const, exact_divide, halves, ints, shape_of, size_of
from paddle2ov.converters.resize.exact import Resize, any_resized, inverse, nearest, sizes_later
from paddle2ov.graph.integers import int_divmod
from paddle2ov.graph.opset import ops


def scaled_by(x: Output, scales: Output) -> Node:
    """floor(dim * scale) of the spatial dimensions, of the exact product, by computed scales (float32).

    Interpolate's own sizes, as floats of the graph may be rounded to bfloat16; it adds a millionth to the scales, which
    is undone where floats have the digits to show it.
    """
    count = scales.get_partial_shape()[0].get_length()
    axes = list(range(2, 2 + count))
    pixels = ops.convert(ops.slice(x, ints([0, 0]), ints([1, 1]), ints([1, 1]), ints([0, 1])), Type.f32)
    sizes = _spatial(
        ops.interpolate(
            pixels,
            scales,
            "nearest",
            "scales",
            coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
            axes=ints(axes),
        ).output(0),
        count,
    )
    rest: Node = ops.convert(sizes, Type.f32)
    for dim in halves(ops.convert(_spatial(x, count), Type.f32)):
        for scale in halves(scales):
            rest = ops.subtract(rest, ops.multiply(dim, scale))
    too_many = ops.logical_and(ops.less(_number(0), rest), ops.less(rest, _number(2**-6)))
    return ops.subtract(sizes, ops.convert(ops.logical_and(too_many, _in_full(scales)), Type.i64))


def _in_full(x: Output) -> Node:
    """Whether numbers that have more than 8 bits are computed with as more: not in bfloat16.

    A product with whole numbers of those with fewer bits is no less than a millionth below a whole number.
    """
    sums = ops.subtract(ops.multiply(x, _number(4097)), ops.multiply(x, _number(4096)))
    digits = ops.less(ops.abs(ops.subtract(sums, x)), _times(2**-9, x))
    wide = ops.multiply(x, _number(2**16 + 1))
    eight = ops.subtract(wide, ops.subtract(wide, x))
    return ops.logical_and(digits, ops.not_equal(eight, x))


def lines_of_single(x: Output, plan: Resize, sizes: Node, axes: Sequence[int]) -> Output:
    """x with what a dimension that becomes 1 has as its result (a ratio of 0) all along it; others are as they were."""
    for i in axes:
        single = ops.convert(ops.equal(ops.gather(sizes, ints(i), ints(0)), ints(1)), Type.i64)
        length = size_of(x, 2 + i)
        places = ops.range(ints(0), length, ints(1), Type.i64)
        first = ops.multiply(places, ops.subtract(ints(1), single))
        out = ops.gather(x, first, ints(2 + i))
        if plan.mode == "cubic":  # at -0.5, where the weights of the first element and the second are these
            second = ops.minimum(ops.add(first, single), ops.subtract(length, ints(1)))
            beyond = ops.subtract(out, ops.gather(x, second, ints(2 + i)))
            out = ops.add(out, ops.multiply(beyond, const(0.09375, x.get_element_type())))
        x = out.output(0)
    return x


def lengthened_by(x: Output, plan: Resize, sizes: Node) -> Output:
    """x with its last elements repeated so often that each dimension grows that a computed scale is to stretch.

    As `_lengthened` does for known scales; no more than 2^15 elements, of a scale that is next to 1.
    """
    assert plan.scale_tensor is not None
    over = ops.subtract(plan.scale_tensor, _number(1))
    grows = ops.logical_and(ops.greater(over, _number(0)), ops.less(over, _number(0.5)))
    wanted = ops.minimum(ops.ceiling(ops.divide(_number(2), ops.select(grows, over, _number(1)))), _number(2**15))
    more = ops.multiply(ops.convert(wanted, Type.i64), ops.convert(grows, Type.i64))
    more = ops.multiply(more, ops.convert(any_resized(x, sizes), Type.i64))
    return ops.pad(x, ints([0] * plan.rank), ops.concat([ints([0, 0]), more], 0), "edge").output(0)


def with_single(x: Output, plan: Resize, single: Node) -> Output:
    """x to be resized to sizes, where a dimension that becomes 1 (`single`, a bool for each) has the ratio 0.

    Linear interpolation takes the first element then. Cubic interpolation takes Paddle's -0.5, which is the middle of
    the first element three times and the second one.
    """
    count = plan.rank - 2
    left = 1 if plan.mode == "linear" else 2
    dims = _spatial(x, count)  # a Select on CPU is exact to 24 bits only: no number that stands for the end
    stops = ops.select(single, ops.minimum(dims, ints(left)), dims)
    x = ops.slice(x, ints([0] * count), stops, ints([1] * count), ints(list(range(2, plan.rank)))).output(0)
    if plan.mode == "linear":
        return x
    begin = ops.concat([ints([0, 0]), ops.select(single, ints(2), ints(0))], 0)
    return ops.pad(x, begin, ints([0] * plan.rank), "edge").output(0)


def by_indices(x: Output, plan: Resize) -> Tensor:
    """A resize to given sizes, or those that follow from known scales, with the ratio 1 / scale."""
    if plan.mode == "nearest" and plan.scales is not None:
        return nearest(x, plan)
    before, after = _spatial(x, plan.rank - 2), sizes_later(x, plan)
    same = ops.reduce_logical_and(ops.equal(before, after), ints([0]), False)
    out: Tensor = x if plan.mode == "nearest" else cast_to(x, Type.f32)
    for i in range(plan.rank - 2):
        last = ops.subtract(ops.gather(before, ints(i), ints(0)), ints(1))
        size = ops.gather(after, ints(i), ints(0))
        place, part, rest = (_places if plan.scales is not None else _places_of_floats)(plan, i, size, same)
        if plan.mode == "nearest":
            out = ops.gather(out, _within(place, last), ints(2 + i))
        else:
            out = _mixed(out, plan, 2 + i, last, place, part, rest)
    return cast_to(out, x.get_element_type())


def _spatial(x: Output, count: int) -> Node:
    return ops.slice(shape_of(x), ints([2]), ints([2 + count]), ints([1]))


def _places(plan: Resize, i: int, size: Node, same: Node) -> tuple[Node, Node, Node]:
    """The element at or before each result (int64), how far behind it the result is (float32), and what is left to 1.

    In whole numbers, as floats may be rounded to bfloat16.
    """
    assert plan.scales is not None
    one = inverse(plan.scales[i])
    above: Node = ints(one.numerator)
    if plan.first:
        above = ops.multiply(above, ops.convert(ops.not_equal(size, ints(1)), Type.i64))
    above = ops.select(same, ints(one.denominator), above)
    twice = ops.multiply(ops.range(ints(0), size, ints(1), Type.i64), ints(2))
    # One element is added, so that nothing is below 0.
    if plan.half_pixel:
        top = ops.add(ops.multiply(ops.add(twice, ints(1)), above), ints(one.denominator))
    else:
        top = ops.add(ops.multiply(twice, above), ints(2 * one.denominator))
    bottom = 2 * one.denominator
    place, rest = int_divmod(ops.convert(top, Type.i32), ops.constant(np.int32(bottom)))
    left = ops.subtract(ops.constant(np.int32(bottom)), rest)
    part, left = (ops.divide(ops.convert(each, Type.f32), _number(bottom)) for each in (rest, left))
    return ops.subtract(ops.convert(place, Type.i64), ints(1)), part, left


def _places_of_floats(plan: Resize, i: int, size: Node, same: Node) -> tuple[Node, Node, Node]:
    """The same for scales that the program computes."""
    assert plan.scale_tensor is not None
    ratio: Node = exact_divide(_number(1), ops.gather(plan.scale_tensor, ints(i), ints(0)))
    if plan.first:
        ratio = ops.multiply(ratio, ops.convert(ops.not_equal(size, ints(1)), Type.f32))
    ratio = ops.select(same, _number(1), ratio)
    k = ops.convert(ops.range(ints(0), size, ints(1), Type.i64), Type.f32)
    if plan.half_pixel:
        source = ops.subtract(ops.multiply(ops.add(k, _number(0.5)), ratio), _number(0.5))
    else:
        source = ops.multiply(k, ratio)
    place = ops.floor(source)
    part = ops.subtract(source, place)
    return ops.convert(place, Type.i64), part, ops.subtract(_number(1), part)


def _mixed(x: Tensor, plan: Resize, axis: int, last: Node, place: Node, part: Node, rest: Node) -> Node:
    """Elements around each place, weighted; those beyond the first and the last one are these."""
    if plan.mode == "linear":
        before = ops.less(place, ints(0))
        part, rest = ops.select(before, _number(0), part), ops.select(before, _number(1), rest)
        place = ops.maximum(place, ints(0))
        weights, first = [rest, part], 0
    else:
        weights, first = _cubic(part, rest), -1
    along = ints([-1] + [1] * (plan.rank - axis - 1))
    out: Node | None = None
    for offset, weight in enumerate(weights, first):
        elements = ops.gather(x, _within(ops.add(place, ints(offset)), last), ints(axis))
        share = ops.multiply(elements, ops.reshape(weight, along, False))
        out = share if out is None else ops.add(out, share)
    assert out is not None
    return out


def _within(place: Node, last: Node) -> Node:
    return ops.minimum(ops.maximum(place, ints(0)), last)


def _cubic(t: Node, rest: Node) -> list[Node]:
    """The weights of the four elements around a place, t behind the second one and `rest` before the third.

    As products of what is not below 0: nothing cancels out in bfloat16.
    """

    def near(t: Node, rest: Node) -> Node:  # 1.25 t^3 - 2.25 t^2 + 1
        return ops.multiply(rest, ops.add(_number(1), ops.multiply(t, ops.subtract(_number(1), _times(1.25, t)))))

    def far(t: Node, rest: Node) -> Node:
        return _times(-0.75, ops.multiply(t, ops.multiply(rest, rest)))

    return [far(t, rest), near(t, rest), near(rest, t), far(rest, t)]


def _times(factor: float, x: Tensor) -> Node:
    return ops.multiply(x, _number(factor))


def _number(value: float) -> Node:
    return const(value, Type.f32)
