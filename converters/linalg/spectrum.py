"""Eigenvalues of symmetric matrices, singular values, and their vectors, by Jacobi rotations.

Paddle: `eigvalsh`, `eigh`, `svd`, `svdvals`, `matrix_rank`, `matrix_rank_tol`, `matrix_rank_atol_rtol`.
Semantics: `paddle/phi/kernels/impl/{eigvalsh,eigh}_kernel_impl.h`, `paddle/phi/kernels/cpu/svd_kernel.cc`,
`paddle/phi/kernels/cpu/matrix_rank*_kernel.cc`.
The signs of vectors (and, of equal values, their directions) depend on the algorithm: they differ from LAPACK's, of
which the conversion warns. Refused: the vectors of complex matrices. The values of a complex matrix a + i · b are those
of [[a, -b], [b, a]], which has each of them twice.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const_like, prevent_fusion
from paddle2ov.converters.graph.dims import dim_of, dim_range, index_range, rank_of, shape_of
from paddle2ov.converters.graph.spatial import ranked_dims
from paddle2ov.converters.linalg.decomposition import householder_qr
from paddle2ov.converters.linalg.jacobi import (
    column_norms,
    diagonalize,
    gather_per_row,
    orthogonalize_columns,
    symmetric_from_triangle,
)
from paddle2ov.converters.linalg.parts import batched_eye, matrix_transpose, real_block_matrix
from paddle2ov.graph.complex_pairs import real_imag
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.slices import OPEN_END
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def eigvalsh(node: NodeContext) -> NamedOutputs:
    """eigenvalues = those of the symmetric matrix of which one triangle is given, ascending."""
    return {"eigenvalues": _eigen(node, node.get_str("uplo", "L"))[0]}


def eigh(node: NodeContext) -> NamedOutputs:
    """out_w, out_v = eigenvalues, ascending, and vectors of the symmetric matrix of which one triangle is given."""
    values, vectors = _eigen(node, node.get_str("UPLO", "L"), _vectors_wanted(node, "out_v"))
    return {"out_w": values} if vectors is None else {"out_w": values, "out_v": vectors}


def svd(node: NodeContext) -> NamedOutputs:
    """x = u @ diag(s) @ vh; s descending, and all columns of u, rows of vh where full_matrices says so."""
    if not _vectors_wanted(node, "u", "vh"):
        return {"s": _singular_values(node)}
    x = node.get_input("x")
    rank = rank_of(node, x)
    u, s, v = singular_vectors(node, x, node.get_bool("full_matrices", False))
    return {"u": u, "s": s, "vh": matrix_transpose(v, rank)}


def svdvals(node: NodeContext) -> NamedOutputs:
    """s = the singular values, descending."""
    return {"s": _singular_values(node)}


def matrix_rank(node: NodeContext) -> NamedOutputs:
    """out = how many singular values (of a hermitian matrix, magnitudes of eigenvalues) exceed the tolerance.

    The tolerance is `tol`, or by default the largest value times the larger size times the machine's epsilon.
    """
    values = _values(node)
    if node.get_bool("use_default_tol", True):
        return _count(node, values, relative_tolerance(values, _epsilon(node)))
    return _count(node, values, ops.unsqueeze(node.get_tensor("tol", values.get_element_type()), ints([-1])))


def matrix_rank_tol(node: NodeContext) -> NamedOutputs:
    """out = how many singular values exceed atol_tensor, and the default tolerance if requested."""
    values = _values(node)
    limit: Tensor = ops.unsqueeze(node.get_tensor("atol_tensor", values.get_element_type()), ints([-1]))
    if node.get_bool("use_default_tol", True):
        limit = ops.maximum(limit, relative_tolerance(values, _epsilon(node)))
    return _count(node, values, limit)


def matrix_rank_atol_rtol(node: NodeContext) -> NamedOutputs:
    """out = how many singular values exceed both atol and the largest value times rtol.

    Without rtol, the default relative tolerance counts where atol is not positive.
    """
    values = _values(node)
    dtype = values.get_element_type()
    atol = ops.unsqueeze(node.get_tensor("atol", dtype), ints([-1]))
    if node.has_input("rtol"):
        rtol: Tensor = ops.unsqueeze(node.get_tensor("rtol", dtype), ints([-1]))
    else:
        rtol = ops.select(ops.greater(atol, const_like(0, values)), const_like(0, values), _epsilon(node))
    return _count(node, values, ops.maximum(atol, relative_tolerance(values, rtol)))


def _count(node: NodeContext, values: Tensor, limit: Tensor) -> NamedOutputs:
    above = ops.convert(ops.greater(values, limit), Type.i32 if node.semantics.int32_count else Type.i64)
    return {"out": prevent_fusion(above, ops.reduce_sum(above, ints([-1]), False), [-1])}


def relative_tolerance(values: Tensor, factor: Tensor) -> Node:
    """The largest value of each matrix times a factor, [..., 1]."""
    return ops.multiply(ops.reduce_max(values, ints([-1]), True), factor)


def _epsilon(node: NodeContext) -> Node:
    """The larger size of the matrices times the machine's epsilon."""
    x = node.get_input("x")
    if node.is_complex("x"):
        x = real_imag(x)[0]
    size = ops.reduce_max(dim_range(x, -2), ints([0]), False)
    dtype = x.get_element_type()
    epsilon = np.finfo(np.float64 if dtype == Type.f64 else np.float32).eps
    return ops.multiply(cast_to(size, dtype), const_like(float(epsilon), x))


def _values(node: NodeContext) -> Tensor:
    if node.get_bool("hermitian", False):
        return ops.abs(_eigen(node, "L")[0])
    return _singular_values(node)


def _vectors_wanted(node: NodeContext, *names: str) -> bool:
    wanted = [name for name in names if node.is_output_used(name)]
    if wanted:
        node.require(not node.is_complex("x"), f"the vectors '{wanted[0]}' of complex matrices are not supported")
        node.warn(
            f"vectors of '{wanted[0]}' may be the negatives of Paddle's, for any input; where the sign matters, "
            "fix it in the network (the largest element positive, say)"
        )
    return bool(wanted)


# --- eigenvalues -----------------------------------------------------------------------------------------------------


def _eigen(node: NodeContext, triangle: str, with_vectors: bool = False) -> tuple[Output, Output | None]:
    """The eigenvalues, ascending, and their vectors if they are wanted."""
    x = node.get_input("x")
    is_complex = node.is_complex("x")
    rank = rank_of(node, x) - is_complex
    if is_complex:
        real, imag = (
            symmetric_from_triangle(node, part, rank, triangle, sign)
            for part, sign in zip(real_imag(x), (1, -1), strict=True)
        )
        x = real_block_matrix((real, imag))
    size = dim_of(x, rank - 1)
    start = [batched_eye(x, size).output(0)] if with_vectors else []
    (matrix, *vectors), indices = diagonalize(node, x, rank, triangle, start)
    diagonal = gather_per_row(matrix, indices, rank)
    values, order = ops.topk(diagonal, size, rank - 2, "min", "value", index_element_type=Type.i64).outputs()
    if is_complex:
        return _drop_duplicates(values), None
    return values, _gather_columns(vectors[0], order, rank) if vectors else None


# --- singular values -------------------------------------------------------------------------------------------------


def _singular_values(node: NodeContext) -> Output:
    x = node.get_input("x")
    is_complex = node.is_complex("x")
    rank = rank_of(node, x) - is_complex
    if is_complex:
        x = real_block_matrix(real_imag(x))
    rows, columns = ranked_dims(x)[-2:]
    if rows is not None and columns is not None and rows < columns:  # fewer columns are fewer rounds
        x = matrix_transpose(x, rank).output(0)
    (matrix,) = orthogonalize_columns(x, rank, [])
    norms = column_norms(matrix, rank)
    least = ops.minimum(dim_of(x, rank - 1), dim_of(x, rank - 2))
    values = ops.topk(norms, least, rank - 2, "max", "value", index_element_type=Type.i32).output(0)
    return _drop_duplicates(values) if is_complex else values


def singular_vectors(node: NodeContext, x: Output, full: bool) -> tuple[Tensor, Output, Tensor]:
    """u, s, v with u @ diag(s) @ v^T = x."""
    rank = rank_of(node, x)
    rows, columns = ranked_dims(x)[-2:]
    transposed = rows is not None and columns is not None and rows < columns
    if transposed:
        x = matrix_transpose(x, rank).output(0)
    matrix, right = orthogonalize_columns(x, rank, [batched_eye(x, dim_of(x, rank - 1)).output(0)])
    size = dim_of(x, rank - 1)
    topk = ops.topk(column_norms(matrix, rank), size, rank - 2, "max", "value", index_element_type=Type.i64)
    order = topk.output(1)
    end = ops.unsqueeze(ops.minimum(size, dim_of(x, rank - 2)), ints([0]))
    start, step, last = ints([0]), ints([1]), ints([rank - 1])
    matrix = ops.slice(_gather_columns(matrix, order, rank), start, end, step, last).output(0)
    # The columns are orthogonal by now: a reflection leaves each as it is but for its sign and its length, and finds
    # those that are missing.
    (left,), (triangle,) = householder_qr([matrix], rank, complete=full)
    indices = index_range(dim_of(matrix, rank - 1))
    diagonal = gather_per_row(ops.slice(triangle, start, end, step, ints([rank - 2])), indices, rank)
    sign = ops.select(ops.less(diagonal, const_like(0, x)), const_like(-1, x), const_like(1, x))
    if full:
        more = ops.subtract(ops.unsqueeze(dim_of(x, rank - 2), ints([0])), end)
        after = ops.concat([ints([0] * (rank - 2)), more], 0)
        sign = ops.pad(sign, ints([0] * (rank - 1)), after, "constant", const_like(1, x))
    left = ops.multiply(left, ops.unsqueeze(sign, ints([-2])))
    vectors: Tensor = _gather_columns(right, order, rank)
    if not full:
        vectors = ops.slice(vectors, start, end, step, last)
    values = ops.slice(topk.output(0), start, end, step, ints([rank - 2])).output(0)
    return (vectors, values, left) if transposed else (left, values, vectors)


def _drop_duplicates(values: Output) -> Output:
    return ops.slice(values, ints([0]), ints([OPEN_END]), ints([2]), ints([-1])).output(0)


def _gather_columns(matrix: Output, order: Output, rank: int) -> Output:
    """The columns of each matrix in its order."""
    indices = ops.broadcast(ops.unsqueeze(order, ints([-2])), shape_of(matrix))
    return ops.gather_elements(matrix, indices, rank - 1).output(0)
