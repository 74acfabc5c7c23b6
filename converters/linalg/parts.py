"""Helpers for batches of matrices (the last two axes of a tensor), whose sizes may be dynamic.

As lists of parts, [real] or [real, imaginary], real and complex matrices share one factorization.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from openvino import Node, Output

from paddle2ov.converters.complex.elementary import multiply_pairs
from paddle2ov.converters.graph.common import Tensor, const_like
from paddle2ov.converters.graph.dims import dim_of, dim_range, index_range, shape_of
from paddle2ov.graph.complex_pairs import make_complex, real_imag
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.translation.node_context import NodeContext


def parts_of(node: NodeContext, name: str) -> list[Output]:
    """The parts of an input."""
    x = node.get_input(name)
    return [*real_imag(x)] if node.is_complex(name) else [x]


def joined(parts: Sequence[Tensor]) -> Tensor:
    """The tensor of these parts."""
    return make_complex(*parts) if len(parts) == 2 else parts[0]


def multiply(x: Sequence[Tensor], y: Sequence[Tensor]) -> list[Tensor]:
    """x · y, of each element."""
    if len(x) == 1:
        return [ops.multiply(x[0], y[0])]
    return [*multiply_pairs((x[0], x[1]), (y[0], y[1]))]


def squares(x: Sequence[Tensor]) -> Node:
    """|x|², of each element."""
    return reduce(ops.add, [ops.multiply(part, part) for part in x])


def divide(x: Sequence[Tensor], y: Sequence[Tensor]) -> list[Tensor]:
    """x / y, of each element."""
    if len(x) == 1:
        return [ops.divide(x[0], y[0])]
    (a, b), (c, d), size = x, y, squares(y)
    real = ops.divide(ops.add(ops.multiply(a, c), ops.multiply(b, d)), size)
    return [real, ops.divide(ops.subtract(ops.multiply(b, c), ops.multiply(a, d)), size)]


def subtract(x: Sequence[Tensor], y: Sequence[Tensor]) -> list[Tensor]:
    """x - y."""
    return [ops.subtract(a, b) for a, b in zip(x, y, strict=True)]


def adjoint_product(x: Sequence[Tensor], y: Sequence[Tensor]) -> list[Tensor]:
    """The conjugate transpose of x, times y."""
    if len(x) == 1:
        return [ops.matmul(x[0], y[0], True, False)]
    (a, b), (c, d) = x, y
    real = ops.add(ops.matmul(a, c, True, False), ops.matmul(b, d, True, False))
    return [real, ops.subtract(ops.matmul(a, d, True, False), ops.matmul(b, c, True, False))]


def real_block_matrix(matrix: Sequence[Tensor]) -> Output:
    """[[a, -b], [b, a]] of a + i · b."""
    a, b = matrix
    rows = [ops.concat([a, ops.negative(b)], -1), ops.concat([b, a], -1)]
    return ops.concat(rows, -2).output(0)


def from_block_matrix(found: Tensor, rows: Tensor, columns: Tensor) -> Node:
    """The complex rows x columns matrix of a real block matrix [[a, -b], [b, a]]."""
    left = slice_along(found, ints([0]), ops.unsqueeze(columns, ints([0])), -1)
    down = ops.unsqueeze(rows, ints([0]))
    a = slice_along(left, ints([0]), down, -2)
    return make_complex(a, slice_along(left, down, ints([OPEN_END]), -2))


def solve(matrix: Sequence[Tensor], y: Sequence[Tensor]) -> list[Tensor]:
    """matrix^-1 @ y."""
    if len(matrix) == 1:
        return [ops.matmul(ops.inverse(matrix[0], adjoint=False), y[0], False, False)]
    inverse = ops.inverse(real_block_matrix(matrix), adjoint=False)
    solution = ops.matmul(inverse, ops.concat(list(y), -2), False, False)
    return [*real_imag(from_block_matrix(solution, dim_of(matrix[0], -1), ints(OPEN_END)))]


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
