"""Resizes of which only the run knows the ratios: elements picked by indices, and mixed by weights, of the graph.

Semantics: `paddle/phi/kernels/cpu/interpolate_kernel.cc`, `paddle/phi/kernels/funcs/interpolate_function.h`.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.common import Tensor, cast_to, const, exact_divide, halves, ints, shape_of
from paddle2ov.converters.interpolation_exact import Resize, inverse, nearest, sizes_later
from paddle2ov.opset import ops
from paddle2ov.whole_numbers import divided


def scaled_by(x: Output, scales: Output) -> Node:
    """floor(dim * scale) of the spatial dimensions, of the exact product, by computed scales (float32)."""
    dims = ops.convert(_spatial(x, scales.get_partial_shape()[0].get_length()), Type.f32)
    size = ops.floor(ops.multiply(dims, scales))
    rest: Node = size  # of the product: it is below the whole number that it was rounded up to
    for dim in halves(dims):
        for scale in halves(scales):
            rest = ops.subtract(rest, ops.multiply(dim, scale))
    rounded_up = ops.convert(ops.greater(rest, _number(0)), Type.i64)
    return ops.subtract(ops.convert(size, Type.i64), rounded_up)


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
    """A resize with the ratio 1 / scale, whatever the sizes are."""
    if plan.mode == "nearest" and plan.scales is not None:
        return nearest(x, plan)
    before, after = _spatial(x, plan.rank - 2), _sizes(x, plan)
    same = ops.reduce_logical_and(ops.equal(before, after), ints([0]), False)
    out: Tensor = x if plan.mode == "nearest" else cast_to(x, Type.f32)
    for i in range(plan.rank - 2):
        last = ops.subtract(ops.gather(before, ints(i), ints(0)), ints(1))
        size = ops.gather(after, ints(i), ints(0))
        place, part = (_places if plan.scales is not None else _places_of_floats)(plan, i, size, same)
        if plan.mode == "nearest":
            out = ops.gather(out, _within(place, last), ints(2 + i))
        else:
            out = _mixed(out, plan, 2 + i, last, place, part)
    return cast_to(out, x.get_element_type())


def _spatial(x: Output, count: int) -> Node:
    return ops.slice(shape_of(x), ints([2]), ints([2 + count]), ints([1]))


def _sizes(x: Output, plan: Resize) -> Tensor:
    if plan.given or plan.scale_tensor is None:
        return sizes_later(x, plan)
    return scaled_by(x, plan.scale_tensor)


def _places(plan: Resize, i: int, size: Node, same: Node) -> tuple[Node, Node]:
    """The element at or before each result (int64), and how far behind it the result is (float32).

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
    place, rest = divided(ops.convert(top, Type.i32), ops.constant(np.int32(bottom)))
    part = ops.divide(ops.convert(rest, Type.f32), _number(bottom))
    return ops.subtract(ops.convert(place, Type.i64), ints(1)), part


def _places_of_floats(plan: Resize, i: int, size: Node, same: Node) -> tuple[Node, Node]:
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
    return ops.convert(place, Type.i64), ops.subtract(source, place)


def _mixed(x: Tensor, plan: Resize, axis: int, last: Node, place: Node, part: Node) -> Node:
    """Elements around each place, weighted; those beyond the first and the last one are these."""
    if plan.mode == "linear":
        part = ops.select(ops.less(place, ints(0)), _number(0), part)
        place = ops.maximum(place, ints(0))
        weights, first = [ops.subtract(_number(1), part), part], 0
    else:
        weights, first = _cubic(part), -1
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


def _cubic(t: Node) -> list[Node]:
    """The weights of the four elements around a place, t behind the second one."""

    def polynomial(x: Node, *factors: float) -> Node:
        total = _number(factors[0])
        for factor in factors[1:]:
            total = ops.add(ops.multiply(total, x), _number(factor))
        return total

    def near(x: Node) -> Node:
        return polynomial(x, 1.25, -2.25, 0, 1)

    def far(x: Node) -> Node:
        return polynomial(ops.add(x, _number(1)), -0.75, 3.75, -6, 3)

    rest = ops.subtract(_number(1), t)
    return [far(t), near(t), near(rest), far(rest)]


def _number(value: float) -> Node:
    return const(value, Type.f32)
