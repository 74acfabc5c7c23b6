"""Pieces of graphs over matrices, which are the last two axes of a tensor; their sizes may be dynamic."""

from __future__ import annotations

from openvino import Node, Output

from paddle2ov.converters.graph.common import Tensor, const_like, dim_of, ints, shape_of
from paddle2ov.graph.opset import ops


def range_to(size: Tensor) -> Node:
    """0 ... size - 1."""
    return ops.range(ints(0), size, ints(1), "i64")


def places_of(rows: Tensor) -> Node:
    """The numbers of the rows, [m, 1]."""
    return ops.unsqueeze(range_to(rows), ints([1]))


def column_sums(x: Tensor, rank: int) -> Node:
    """The sum of each column, [..., 1, n]."""
    return ops.reduce_sum(x, ints([rank - 2]), True)


def swapped(x: Tensor, rank: int) -> Node:
    """The matrices with their last two axes swapped."""
    return ops.transpose(x, ints([*range(rank - 2), rank - 1, rank - 2]))


def triangle(x: Tensor, rank: int, upper: bool) -> Node:
    """The upper or the lower triangle of each matrix, zeros in the other one."""
    down, across = places_of(dim_of(x, rank - 2)), range_to(dim_of(x, rank - 1))
    kept = ops.less_equal(down, across) if upper else ops.greater_equal(down, across)
    return ops.select(kept, x, const_like(0, x))


def identities(x: Output, size: Tensor) -> Node:
    """As many identities as there are matrices in x, of the given size."""
    eye = ops.eye(size, size, ints(0), x.get_element_type().get_type_name())
    outer = ops.slice(shape_of(x), ints([0]), ints([-2]), ints([1]))
    return ops.broadcast(eye, ops.concat([outer, shape_of(eye)], 0))
