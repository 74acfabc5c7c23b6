"""Sums, maxima and minima over axes that are exact for integers of 32 bits."""

from __future__ import annotations

from openvino import Node

from paddle2ov.converters.graph.common import Tensor, const_like, dim_range
from paddle2ov.converters.graph.comparing import may_have_many_bits
from paddle2ov.converters.graph.integer_halves import BEYOND_LOWER, join_halves, split_halves
from paddle2ov.graph.constants import ints, ints_of
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of, output_of
from paddle2ov.graph.workarounds import works_around


@works_around("integers_reduced_in_float32")
def exact_reduce_sum(x: Tensor, axes: Node, keepdims: bool) -> Node:
    """The sum over axes: the last one of the cumulative sums, which OpenVINO computes in integers."""
    reduced = ints_of(axes.output(0))
    if not may_have_many_bits(output_of(x)) or not reduced:
        return ops.reduce_sum(x, axes, keepdims)
    for axis in reduced:
        dims = dims_of(x)
        if dims is None or not dims[axis]:  # a zero is the sum of no elements
            size = ops.concat([dim_range(x, 0, axis), ints([1]), dim_range(x, axis + 1)], 0)
            x = ops.concat([ops.broadcast(const_like(0, x), size), x], axis)
        x = ops.gather(ops.cum_sum(x, ints(axis)), ints([-1]), ints(axis))
    return output_of(x).get_node() if keepdims else ops.squeeze(x, axes)


def exact_reduce_max(x: Tensor, axes: Node, keepdims: bool) -> Node:
    """The maximum over axes."""
    if not may_have_many_bits(output_of(x)):
        return ops.reduce_max(x, axes, keepdims)
    return _of_halves(x, axes, keepdims, largest=True)


def exact_reduce_min(x: Tensor, axes: Node, keepdims: bool) -> Node:
    """The minimum over axes."""
    if not may_have_many_bits(output_of(x)):
        return ops.reduce_min(x, axes, keepdims)
    return _of_halves(x, axes, keepdims, largest=False)


@works_around("integers_reduced_in_float32")
def _of_halves(x: Tensor, axes: Node, keepdims: bool, largest: bool) -> Node:
    """The extreme of the upper halves, and of the lower ones of those that have it.

    OpenVINO's CPU plugin (2026.4) reduces integers as float32: those beyond 24 bits are rounded, and the greatest one,
    which stands for nothing found, becomes the least one.
    """
    reduce = ops.reduce_max if largest else ops.reduce_min
    upper, lower = split_halves(x)
    extreme = reduce(upper, axes, True)
    left = ops.select(ops.equal(upper, extreme), lower, const_like(-1 if largest else BEYOND_LOWER, x))
    out = join_halves(extreme, reduce(left, axes, True))
    return out if keepdims else ops.squeeze(out, axes)
