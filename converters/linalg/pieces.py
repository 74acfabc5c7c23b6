"""Helpers for batches of matrices (the last two axes of a tensor), whose sizes may be dynamic."""

from __future__ import annotations

from openvino import Node, Output

from paddle2ov.converters.graph.common import Tensor, const_like, dim_of, dim_range, index_range, shape_of
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops


def row_indices(rows: Tensor) -> Node:
    """The row indices 0 ... m - 1 as a column, [m, 1]."""
    return ops.unsqueeze(index_range(rows), ints([1]))


def column_sums(x: Tensor, rank: int) -> Node:
    """The sum of each column, [..., 1, n]."""
    return ops.reduce_sum(x, ints([rank - 2]), True)


def matrix_transpose(x: Tensor, rank: int) -> Node:
    """The matrices with their last two axes swapped."""
    return ops.transpose(x, ints([*range(rank - 2), rank - 1, rank - 2]))


def triangle(x: Tensor, rank: int, upper: bool) -> Node:
    """The upper or the lower triangle of each matrix, zeros elsewhere."""
    down, across = row_indices(dim_of(x, rank - 2)), index_range(dim_of(x, rank - 1))
    kept = ops.less_equal(down, across) if upper else ops.greater_equal(down, across)
    return ops.select(kept, x, const_like(0, x))


def batched_eye(x: Output, size: Tensor) -> Node:
    """An identity matrix of the given size for each matrix in x."""
    eye = ops.eye(size, size, ints(0), x.get_element_type().get_type_name())
    outer = dim_range(x, 0, -2)
    return ops.broadcast(eye, ops.concat([outer, shape_of(eye)], 0))
