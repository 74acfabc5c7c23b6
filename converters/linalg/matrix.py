"""Square matrices: inverses, powers, linear systems.

Paddle: `inverse`, `matrix_power`, `solve`, `cholesky`, `cholesky_solve`, `triangular_solve`.
Semantics: `paddle/phi/kernels/impl/{inverse,matrix_power,solve,cholesky_solve}_kernel_impl.h`,
`paddle/phi/kernels/cpu/{cholesky,triangular_solve}_kernel.cc`.
A linear system is solved with the inverse, which OpenVINO has. Complex matrices of `solve`, `cholesky` and
`cholesky_solve` are refused: Paddle has no kernel for them. Elsewhere a complex matrix a + i · b is computed as
[[a, -b], [b, a]], which multiplies as it does, and has a real inverse.

A Cholesky factor takes one loop iteration per column, so that the size of the matrix may be dynamic.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from openvino import Output

from paddle2ov.converters.graph.common import Tensor, cast_to, const_like
from paddle2ov.converters.graph.dims import dim_of, index_range, rank_of
from paddle2ov.converters.graph.exact import constant_power
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.converters.graph.spatial import ranked_dims
from paddle2ov.converters.linalg.parts import (
    batched_eye,
    from_block_matrix,
    joined,
    matrix_transpose,
    parts_of,
    real_block_matrix,
    row_indices,
    solve as solve_parts,
    triangle,
)
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.values import ConstantValue
from paddle2ov.translation.folding import MAX_DOUBLES
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def _function_of_matrix(node: NodeContext, function: Callable[[Output], Tensor]) -> NamedOutputs:
    """out = a function of x, of each matrix."""
    x = parts_of(node, "x")
    if len(x) == 1:
        return {"out": function(x[0])}
    size = dim_of(x[0], -1)
    return {"out": from_block_matrix(function(real_block_matrix(x)), size, size)}


def inverse(node: NodeContext) -> NamedOutputs:
    """out = x^-1, of each matrix."""
    known = None if node.is_complex("x") else node.get_known("x")
    # `paddle2ov.translation.folding` says why.
    if known is not None and known.dtype == np.float64 and 0 < known.size <= MAX_DOUBLES:
        try:
            return {"out": ConstantValue(np.linalg.inv(known))}
        except np.linalg.LinAlgError:
            node.refuse("a constant matrix has no inverse")
    return _function_of_matrix(node, lambda x: ops.inverse(x, adjoint=False))


def matrix_power(node: NodeContext) -> NamedOutputs:
    """out = x^n; a negative n takes the power of the inverse, 0 gives identities."""
    n = node.get_int("n")

    def power(x: Output) -> Tensor:
        if n == 0:
            return batched_eye(x, dim_of(x, -1))
        base: Tensor = ops.inverse(x, adjoint=False) if n < 0 else x
        return constant_power(base, abs(n), lambda a, b: ops.matmul(a, b, False, False))

    return _function_of_matrix(node, power)


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
    x, upper = parts_of(node, "x"), node.get_bool("upper", True)
    rank, size = rank_of(node, x[0]), dim_of(x[0], -1)
    factor: list[Tensor] = [triangle(part, rank, upper) for part in x]
    if node.get_bool("unitriangular", False):
        diagonal = ops.equal(row_indices(size), index_range(size))
        ones = (const_like(value, x[0]) for value in (1, 0))
        factor = [ops.select(diagonal, one, part) for one, part in zip(ones, factor, strict=False)]
    if node.get_bool("transpose", False):
        factor = [matrix_transpose(part, rank) for part in factor]
    return {"out": joined(solve_parts(factor, parts_of(node, "y")))}


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
