"""Square matrices: inverses, determinants, linear systems.

Paddle: `inverse`, `matrix_power`, `determinant` (PIR `det`), `slogdeterminant` (PIR `slogdet`), `slogdet_v2`, `solve`,
`cholesky`, `cholesky_solve`, `triangular_solve`.
Semantics: `paddle/phi/kernels/impl/{inverse,matrix_power,determinant,solve,cholesky_solve}_kernel_impl.h`,
`paddle/phi/kernels/cpu/{cholesky,triangular_solve}_kernel.cc`.
A linear system is solved with the inverse, which OpenVINO has. Complex matrices are in
`complex/matrices.py` and `complex/determinants.py`; those of `solve`, `cholesky` and `cholesky_solve` are refused:
Paddle has no kernel for them.

Determinant and Cholesky factor take one loop iteration per column, so that the size of the matrix may be dynamic.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const_like, dim_of, index_range, rank_of, shape_of
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.converters.graph.spatial import ranked_dims
from paddle2ov.converters.linalg.pieces import matrix_transpose, triangle
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.slices import slice_along
from paddle2ov.graph.values import ConstantValue
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def inverse(node: NodeContext) -> NamedOutputs:
    """out = x^-1, of each matrix."""
    known = node.get_known("x")
    if known is not None and known.dtype == np.float64 and known.size:  # see `paddle2ov.translation.folding`
        try:
            return {"out": ConstantValue(np.linalg.inv(known))}
        except np.linalg.LinAlgError:
            node.refuse("a constant matrix has no inverse")
    return {"out": ops.inverse(node.get_input("x"), adjoint=False)}


def matrix_power(node: NodeContext) -> NamedOutputs:
    """out = x^n; a negative n takes the power of the inverse, 0 gives identities."""
    x, n = node.get_input("x"), node.get_int("n")
    if n == 0:
        return {"out": ops.broadcast(_eye(x, rank_of(node, x)), shape_of(x))}
    square: Tensor = ops.inverse(x, adjoint=False) if n < 0 else x
    out: Tensor | None = None
    left = abs(n)
    while left:
        if left % 2:
            out = square if out is None else ops.matmul(out, square, False, False)
        left //= 2
        if left:
            square = ops.matmul(square, square, False, False)
    assert out is not None
    return {"out": out}


def solve(node: NodeContext) -> NamedOutputs:
    """out = x^-1 @ y; y may hold vectors, of one rank less than x."""
    x, y = node.get_input("x"), node.get_input("y")
    vectors = _are_vectors(node, x, y)
    right = ops.unsqueeze(y, ints([-1])) if vectors else y
    out = ops.matmul(ops.inverse(x, adjoint=False), right, False, False)
    return {"out": ops.squeeze(out, ints([-1])) if vectors else out}


def _are_vectors(node: NodeContext, x: Output, y: Output) -> bool:
    # As the kernel has it (the declared shape may differ): y has the shape of x without its last axis.
    rank = rank_of(node, y)
    if rank == 1 or rank != rank_of(node, x) - 1:
        return rank == 1
    pairs = list(zip(ranked_dims(x)[:-1], ranked_dims(y), strict=True))
    if any(a is not None and b is not None and a != b for a, b in pairs):
        return False
    certain = all(a is not None and b is not None for a, b in pairs)
    node.require(certain, "dynamic sizes leave open whether y holds vectors or matrices", y=y.get_partial_shape())
    return True


def cholesky_solve(node: NodeContext) -> NamedOutputs:
    """out = (u u^T)^-1 @ x for the lower factor u = y, (u^T u)^-1 @ x for the upper one."""
    b, factor = node.get_input("x"), node.get_input("y")
    upper = node.get_bool("upper", False)
    left = ops.inverse(triangle(factor, rank_of(node, factor), upper), adjoint=False)
    return {"out": ops.matmul(left, ops.matmul(left, b, upper, False), not upper, False)}


def triangular_solve(node: NodeContext) -> NamedOutputs:
    """out = x^-1 @ y (or x^-T @ y) for the upper or lower triangle of x, with ones on its diagonal if unitriangular."""
    x, y = node.get_input("x"), node.get_input("y")
    upper, transpose = node.get_bool("upper", True), node.get_bool("transpose", False)
    rank = rank_of(node, x)
    factor = triangle(x, rank, upper)
    if node.get_bool("unitriangular", False):
        eye = _eye(x, rank)
        factor = ops.select(ops.equal(eye, const_like(1, eye)), eye, factor)
    return {"out": ops.matmul(ops.inverse(factor, adjoint=False), y, transpose, False)}


def determinant(node: NodeContext) -> NamedOutputs:
    """out = det(x), of each matrix."""
    return {"out": _determinant(node, node.get_input("x"))}


def slogdeterminant(node: NodeContext) -> NamedOutputs:
    """out = [sign(det(x)), log|det(x)|]."""
    parts = slogdet_v2(node)
    return {"out": ops.concat([ops.unsqueeze(parts[name], ints([0])) for name in ("sign", "logdet")], 0)}


def slogdet_v2(node: NodeContext) -> dict[str, Node]:
    """sign, logdet = the sign of det(x), and log|det(x)|."""
    found = _determinant(node, node.get_input("x"))
    return {"sign": ops.sign(found), "logdet": ops.log(ops.abs(found))}


def cholesky(node: NodeContext) -> NamedOutputs:
    """out = the lower triangular L with L L^T = x, or the upper one U with U^T U = x."""
    x, upper = node.get_input("x"), node.get_bool("upper", False)
    rank = rank_of(node, x)
    size = dim_of(x, rank - 1)
    symmetric = matrix_transpose(x, rank) if upper else x

    def column(k: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], None]:
        (factor,), (matrix, rows) = state, invariants
        here = cast_to(ops.equal(rows, k), factor.get_element_type())  # 1 at k, of shape [n]
        at = ops.unsqueeze(here, ints([1]))
        # The remainder of column k: x[:, k] - L @ L[k, :]^T.
        row = ops.matmul(ops.unsqueeze(here, ints([0])), factor, False, False)
        rest = ops.subtract(ops.matmul(matrix, at, False, False), ops.matmul(factor, row, False, True))
        pivot = ops.sqrt(ops.reduce_sum(ops.multiply(rest, at), ints([-2]), True))
        below = cast_to(ops.greater_equal(ops.unsqueeze(rows, ints([1])), k), factor.get_element_type())
        new = ops.multiply(ops.divide(rest, pivot), below)
        return [ops.add(factor, ops.multiply(new, here))], None

    start = ops.multiply(symmetric, const_like(0, x))
    (lower,) = loop(size, [start], [symmetric, index_range(size)], column)
    return {"out": matrix_transpose(lower, rank) if upper else lower}


def _determinant(node: NodeContext, x: Output) -> Tensor:
    """By elimination: each iteration takes the largest pivot of a column among the rows not used yet."""
    rank = rank_of(node, x)
    size = dim_of(x, rank - 1)
    dtype = x.get_element_type()
    column_of_x = slice_along(x, ints([0]), ints([1]), rank - 1)
    zeros = ops.multiply(column_of_x, const_like(0, x))  # [..., n, 1]
    corner = slice_along(zeros, ints([0]), ints([1]), rank - 2)  # [..., 1, 1]

    def column(k: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], None]:
        (matrix, free, product), (rows,) = state, invariants
        values = ops.gather(matrix, ops.unsqueeze(k, ints([0])), ints(rank - 1))
        magnitude = ops.subtract(
            ops.multiply(ops.add(ops.abs(values), const_like(1, matrix)), free), const_like(1, matrix)
        )
        best = ops.topk(magnitude, ints(1), rank - 2, "max", "none", index_element_type=Type.i64).output(1)
        rows_down = ops.unsqueeze(rows, ints([1]))
        chosen = cast_to(ops.equal(rows_down, best), dtype)
        pivot = ops.reduce_sum(ops.multiply(values, chosen), ints([rank - 2]), True)
        # The row moves to the top of the remaining rows: one change of sign for each free row above it.
        above = ops.multiply(cast_to(ops.less(rows_down, best), dtype), free)
        moves = ops.reduce_sum(above, ints([rank - 2]), True)
        sign = ops.subtract(
            const_like(1, matrix), ops.multiply(const_like(2, matrix), ops.mod(moves, const_like(2, matrix)))
        )
        free_now = ops.subtract(free, chosen)
        row = ops.reduce_sum(ops.multiply(matrix, chosen), ints([rank - 2]), True)
        safe = ops.select(ops.equal(pivot, const_like(0, matrix)), const_like(1, matrix), pivot)
        rest = ops.subtract(matrix, ops.multiply(ops.divide(ops.multiply(values, free_now), safe), row))
        return [rest, free_now, ops.multiply(product, ops.multiply(pivot, sign))], None

    start: list[Tensor] = [x, ops.add(zeros, const_like(1, x)), ops.add(corner, const_like(1, x))]
    product = loop(size, start, [index_range(size)], column)[2]
    return ops.squeeze(product, ints([rank - 2, rank - 1]))


def _eye(x: Output, rank: int) -> Node:
    size = dim_of(x, rank - 1)
    return ops.eye(size, size, ints(0), x.get_element_type().get_type_name())
