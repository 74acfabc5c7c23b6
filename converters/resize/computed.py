"""Resizes whose ratio is not that of their sizes: elements are gathered and weighted as the graph computes.

Semantics: `paddle/phi/kernels/cpu/interpolate_kernel.cc`, `paddle/phi/kernels/funcs/interpolate_function.h`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const, exact_divide, split_mantissa
from paddle2ov.converters.graph.dims import dim_of, dim_range, index_range
from paddle2ov.converters.resize.nearest import nearest, rational_reciprocal
from paddle2ov.converters.resize.scaled_sizes import ResizeParameters, any_resized, dynamic_sizes
from paddle2ov.graph.integers import int_divmod
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.terms import Term, floor
from paddle2ov.graph.workarounds import works_around


def computed_scale_sizes(x: Output, scales: Output, single: bool) -> Node:
    """floor(dim * scale) of the spatial dimensions by scales known at run time (float32).

    The product is exact or, if `single`, rounded to float32. They are the sizes that Interpolate gives, as floats of
    the graph may be rounded to bfloat16. It adds 1e-6 to the scales, which is undone where floats have the precision to
    show it.
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
    dims = ops.convert(_spatial(x, count), Type.f32)
    if single:
        too_many = ops.less(ops.multiply(dims, scales), rest)  # no difference, which would not round the product
    else:
        for dim in split_mantissa(dims):
            for scale in split_mantissa(scales):
                rest = ops.subtract(rest, ops.multiply(dim, scale))
        too_many = ops.logical_and(ops.less(number(0), rest), ops.less(rest, number(2**-6)))
    return ops.subtract(sizes, ops.convert(ops.logical_and(too_many, _has_float32_digits(scales)), Type.i64))


def _has_float32_digits(x: Output) -> Node:
    """Whether numbers of more than 8 bits are computed in full precision, not in bfloat16.

    The product of an integer and a number of fewer bits is never just below an integer (by less than 1e-6).
    """
    sums = ops.subtract(ops.multiply(x, number(4097)), ops.multiply(x, number(4096)))
    digits = ops.less(ops.abs(ops.subtract(sums, x)), ops.multiply(x, number(2**-9)))
    wide = ops.multiply(x, number(2**16 + 1))
    eight = ops.subtract(wide, ops.subtract(wide, x))
    return ops.logical_and(digits, ops.not_equal(eight, x))


def broadcast_single(x: Output, plan: ResizeParameters, sizes: Tensor, axes: Sequence[int]) -> Output:
    """x with each dimension that becomes 1 filled with its result (its ratio is 0); the others are unchanged."""
    for i in axes:
        single = ops.convert(ops.equal(ops.gather(sizes, ints(i), ints(0)), ints(1)), Type.i64)
        length = dim_of(x, 2 + i)
        indices = index_range(length)
        first = ops.multiply(indices, ops.subtract(ints(1), single))
        out = ops.gather(x, first, ints(2 + i))
        if plan.mode == "cubic":  # at -0.5, where the weights of the first element and the second are these
            second = ops.minimum(ops.add(first, single), ops.subtract(length, ints(1)))
            beyond = ops.subtract(out, ops.gather(x, second, ints(2 + i)))
            out = ops.add(out, ops.multiply(beyond, const(0.09375, x.get_element_type())))
        x = out.output(0)
    return x


@works_around("resize_of_kept_size")
def pad_for_computed_scales(x: Output, plan: ResizeParameters, sizes: Node) -> Output:
    """x padded at its end so that each dimension that a scale known at run time is to stretch does grow.

    OpenVINO's CPU plugin leaves one that keeps its size as it is. At most 2^15 elements are added, for scales near 1.
    """
    assert plan.scale_tensor is not None
    over = ops.subtract(plan.scale_tensor, number(1))
    grows = ops.logical_and(ops.greater(over, number(0)), ops.less(over, number(0.5)))
    wanted = ops.minimum(ops.ceiling(ops.divide(number(2), ops.select(grows, over, number(1)))), number(2**15))
    more = ops.multiply(ops.convert(wanted, Type.i64), ops.convert(grows, Type.i64))
    more = ops.multiply(more, ops.convert(any_resized(x, sizes), Type.i64))
    return ops.pad(x, ints([0] * plan.rank), ops.concat([ints([0, 0]), more], 0), "edge").output(0)


def crop_single(x: Output, plan: ResizeParameters, single: Node) -> Output:
    """x cropped so that a resize to sizes gives the ratio 0 to a dimension that becomes 1 (`single`, a bool for each).

    Linear interpolation then takes the first element. Cubic interpolation takes Paddle's coordinate -0.5, which is the
    middle of the first element three times and the second one.
    """
    count = plan.rank - 2
    left = 1 if plan.mode == "linear" else 2
    dims = _spatial(x, count)  # a Select on CPU is exact to 24 bits only: the end is no huge number
    stops = ops.select(single, ops.minimum(dims, ints(left)), dims)
    x = ops.slice(x, ints([0] * count), stops, ints([1] * count), ints(list(range(2, plan.rank)))).output(0)
    if plan.mode == "linear":
        return x
    begin = ops.concat([ints([0, 0]), ops.select(single, ints(2), ints(0))], 0)
    return ops.pad(x, begin, ints([0] * plan.rank), "edge").output(0)


def by_indices(x: Output, plan: ResizeParameters) -> Tensor:
    """A resize to given sizes, or to the sizes that known scales give, with the ratio 1 / scale."""
    if plan.mode == "nearest" and plan.scales is not None:
        return nearest(x, plan)
    before, after = _spatial(x, plan.rank - 2), dynamic_sizes(x, plan)
    same = ops.reduce_logical_and(ops.equal(before, after), ints([0]), False)
    out: Tensor = x if plan.mode == "nearest" else cast_to(x, Type.f32)
    for i in range(plan.rank - 2):
        last = ops.subtract(ops.gather(before, ints(i), ints(0)), ints(1))
        size = ops.gather(after, ints(i), ints(0))
        index, fraction, rest = (_source_indices if plan.scales is not None else _source_indices_of_floats)(
            plan, i, size, same
        )
        if plan.mode == "nearest":
            out = ops.gather(out, _clip_index(index, last), ints(2 + i))
        else:
            out = _weighted_sum(out, plan, 2 + i, last, index, fraction, rest)
    return cast_to(out, x.get_element_type())


def _spatial(x: Output, count: int) -> Node:
    return dim_range(x, 2, 2 + count)


def _source_indices(plan: ResizeParameters, i: int, size: Node, same: Node) -> tuple[Node, Tensor, Tensor]:
    """floor(source coordinate) of each result (int64), its fraction (float32), and 1 - fraction.

    In integers, as floats may be rounded to bfloat16.
    """
    assert plan.scales is not None
    ratio = rational_reciprocal(plan.scales[i])
    above: Node = ints(ratio.numerator)
    if plan.first:
        above = ops.multiply(above, ops.convert(ops.not_equal(size, ints(1)), Type.i64))
    above = ops.select(same, ints(ratio.denominator), above)
    twice = ops.multiply(index_range(size), ints(2))
    # Shifted by one element, so that nothing is negative.
    if plan.half_pixel:
        top = ops.add(ops.multiply(ops.add(twice, ints(1)), above), ints(ratio.denominator))
    else:
        top = ops.add(ops.multiply(twice, above), ints(2 * ratio.denominator))
    bottom = 2 * ratio.denominator
    index, remainder = int_divmod(ops.convert(top, Type.i32), ops.constant(np.int32(bottom)))
    left = ops.subtract(ops.constant(np.int32(bottom)), remainder)
    fraction, complement = (ops.divide(ops.convert(each, Type.f32), number(bottom)) for each in (remainder, left))
    return ops.subtract(ops.convert(index, Type.i64), ints(1)), fraction, complement


def _source_indices_of_floats(plan: ResizeParameters, i: int, size: Node, same: Node) -> tuple[Node, Tensor, Tensor]:
    """The same for scales known at run time."""
    assert plan.scale_tensor is not None
    ratio: Node = exact_divide(number(1), ops.gather(plan.scale_tensor, ints(i), ints(0)))
    if plan.first:
        ratio = ops.multiply(ratio, ops.convert(ops.not_equal(size, ints(1)), Type.f32))
    ratio = ops.select(same, number(1), ratio)
    k = Term(ops.convert(index_range(size), Type.f32))
    source = (k + 0.5) * Term(ratio) - 0.5 if plan.half_pixel else k * Term(ratio)
    index = floor(source)
    fraction = source - index
    return ops.convert(index.value, Type.i64), fraction.value, (1 - fraction).value


def _weighted_sum(
    x: Tensor, plan: ResizeParameters, axis: int, last: Node, index: Node, fraction: Tensor, complement: Tensor
) -> Node:
    """The weighted sum of the elements around each coordinate; indices are clamped to the edges."""
    if plan.mode == "linear":
        before = ops.less(index, ints(0))
        fraction, complement = ops.select(before, number(0), fraction), ops.select(before, number(1), complement)
        index = ops.maximum(index, ints(0))
        weights, first = [output_of(complement), output_of(fraction)], 0
    else:
        weights, first = [weight.value for weight in _cubic(Term(fraction), Term(complement))], -1
    along = ints([-1] + [1] * (plan.rank - axis - 1))
    shares: list[Node] = []
    for offset, weight in enumerate(weights, first):
        elements = ops.gather(x, _clip_index(ops.add(index, ints(offset)), last), ints(axis))
        shares.append(ops.multiply(elements, ops.reshape(weight, along, False)))
    return reduce(ops.add, shares)


def _clip_index(index: Node, last: Node) -> Node:
    return ops.minimum(ops.maximum(index, ints(0)), last)


def _cubic(t: Term, complement: Term) -> list[Term]:
    """The weights of the four elements around a coordinate: t after the second one, `complement` before the third.

    As products of non-negative factors: nothing cancels out in bfloat16.
    """

    def near(t: Term, complement: Term) -> Term:  # 1.25 t^3 - 2.25 t^2 + 1
        return complement * (t * (1 - t * 1.25) + 1)

    def far(t: Term, complement: Term) -> Term:
        return t * (complement * complement) * -0.75

    return [far(t, complement), near(t, complement), near(complement, t), far(complement, t)]


def number(value: float) -> Node:
    """A constant of float32, in which coordinates are computed."""
    return const(value, Type.f32)
