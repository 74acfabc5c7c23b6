"""Eigenvalues of symmetric matrices, singular values, and their vectors, by Jacobi's rotations.

Paddle: `eigvalsh`, `eigh`, `svd`, `svdvals`, `matrix_rank`, `matrix_rank_tol`, `matrix_rank_atol_rtol`.
Semantics: `paddle/phi/kernels/impl/{eigvalsh,eigh}_kernel_impl.h`, `paddle/phi/kernels/cpu/svd_kernel.cc`,
`paddle/phi/kernels/cpu/matrix_rank*_kernel.cc`.
The signs of vectors (and, of equal values, their directions) are those that an algorithm happens to end with: here
others than LAPACK's, of which the conversion warns. Refused: the vectors of complex matrices. The matrix a + i · b has
the values of [[a, -b], [b, a]], each of which that one has twice.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.complex.matrices import as_real
from paddle2ov.converters.graph.common import Tensor, cast_to, const_like, ints, kept_apart, rank_of, shape_of, size_of
from paddle2ov.converters.graph.spatial import known_dims
from paddle2ov.converters.linalg.decomposition import orthogonalized
from paddle2ov.converters.linalg.jacobi import (
    diagonalized,
    elements_at,
    lengths,
    mirrored,
    turned_apart,
)
from paddle2ov.converters.linalg.pieces import identities, range_to, swapped
from paddle2ov.graph.complex_pairs import real_imag
from paddle2ov.graph.opset import ops
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

_END = 2**31 - 1


def eigvalsh(node: NodeContext) -> NamedOutputs:
    """eigenvalues = those of the symmetric matrix of which one triangle is given, ascending."""
    return {"eigenvalues": _eigenvalues(node, node.get_str("uplo", "L"))}


def eigh(node: NodeContext) -> NamedOutputs:
    """out_w, out_v = eigenvalues, ascending, and vectors of the symmetric matrix of which one triangle is given."""
    triangle = node.get_str("UPLO", "L")
    if not _vectors_wanted(node, "out_v"):
        return {"out_w": _eigenvalues(node, triangle)}
    x, rank = node.get_input("x"), rank_of(node, node.get_input("x"))
    (matrix, vectors), places = diagonalized(node, x, rank, triangle, [identities(x, size_of(x, rank - 1)).output(0)])
    found = ops.topk(
        elements_at(matrix, places, rank), size_of(x, rank - 1), rank - 2, "min", "value", index_element_type=Type.i64
    )
    return {"out_w": found.output(0), "out_v": _columns(vectors, found.output(1), rank)}


def svd(node: NodeContext) -> NamedOutputs:
    """x = u @ diag(s) @ vh; s descending, and all columns of u, rows of vh where full_matrices says so."""
    if not _vectors_wanted(node, "u", "vh"):
        return {"s": _singular_values(node)}
    x = node.get_input("x")
    rank = rank_of(node, x)
    u, s, v = singular_vectors(node, x, node.get_bool("full_matrices", False))
    return {"u": u, "s": s, "vh": swapped(v, rank)}


def svdvals(node: NodeContext) -> NamedOutputs:
    """s = the singular values, descending."""
    return {"s": _singular_values(node)}


def matrix_rank(node: NodeContext) -> NamedOutputs:
    """out = how many singular values (of a hermitian matrix, magnitudes of eigenvalues) exceed the tolerance.

    The tolerance is `tol`, or by default the largest value times the larger size times the machine's epsilon.
    """
    values = _values(node)
    if node.get_bool("use_default_tol", True):
        return _count(node, values, relative(values, _epsilon(node)))
    return _count(node, values, ops.unsqueeze(node.get_tensor("tol", values.get_element_type()), ints([-1])))


def matrix_rank_tol(node: NodeContext) -> NamedOutputs:
    """out = how many singular values exceed atol_tensor, and the default tolerance if that is asked for."""
    values = _values(node)
    limit: Tensor = ops.unsqueeze(node.get_tensor("atol_tensor", values.get_element_type()), ints([-1]))
    if node.get_bool("use_default_tol", True):
        limit = ops.maximum(limit, relative(values, _epsilon(node)))
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
    return _count(node, values, ops.maximum(atol, relative(values, rtol)))


def _count(node: NodeContext, values: Tensor, limit: Tensor) -> NamedOutputs:
    # Paddle 3 declares the type of x and computes int64.
    dtype = Type.i32 if node.output_dtype() == Type.i32 else Type.i64
    above = ops.convert(ops.greater(values, limit), dtype)
    return {"out": kept_apart(above, ops.reduce_sum(above, ints([-1]), False), [-1])}


def relative(values: Tensor, factor: Tensor) -> Node:
    """The largest value of each matrix times a factor, [..., 1]."""
    return ops.multiply(ops.reduce_max(values, ints([-1]), True), factor)


def _epsilon(node: NodeContext) -> Node:
    """The larger size of the matrices times the machine's epsilon."""
    x = node.get_input("x")
    if node.is_complex("x"):
        x = real_imag(x)[0]
    size = ops.reduce_max(ops.slice(shape_of(x), ints([-2]), ints([_END]), ints([1])), ints([0]), False)
    dtype = x.get_element_type()
    epsilon = np.finfo(np.float64 if dtype == Type.f64 else np.float32).eps
    return ops.multiply(cast_to(size, dtype), const_like(float(epsilon), x))


def _values(node: NodeContext) -> Tensor:
    if node.get_bool("hermitian", False):
        return ops.abs(_eigenvalues(node, "L"))
    return _singular_values(node)


def _vectors_wanted(node: NodeContext, *names: str) -> bool:
    wanted = [name for name in names if node.is_output_used(name)]
    if wanted:
        node.require(not node.is_complex("x"), f"the vectors '{wanted[0]}' of complex matrices are not supported")
        node.warn(
            f"the signs of the vectors '{wanted[0]}' are not those that LAPACK's algorithm ends with; nothing that is "
            "computed from them should depend on the signs"
        )
    return bool(wanted)


# --- eigenvalues -----------------------------------------------------------------------------------------------------


def _eigenvalues(node: NodeContext, triangle: str) -> Output:
    x = node.get_input("x")
    rank = rank_of(node, x)
    twice = node.is_complex("x")
    if twice:
        rank -= 1
        real, imag = (
            mirrored(node, part, rank, triangle, sign) for part, sign in zip(real_imag(x), (1, -1), strict=True)
        )
        x = as_real((real, imag))
    (matrix,), places = diagonalized(node, x, rank, triangle, [])
    found = elements_at(matrix, places, rank)
    values = ops.topk(found, size_of(x, rank - 1), rank - 2, "min", "value", index_element_type=Type.i32).output(0)
    return _every_other(values) if twice else values


# --- singular values -------------------------------------------------------------------------------------------------


def _singular_values(node: NodeContext) -> Output:
    x = node.get_input("x")
    twice = node.is_complex("x")
    rank = rank_of(node, x) - twice
    if twice:
        x = as_real(real_imag(x))
    rows, columns = known_dims(x)[-2:]
    if rows is not None and columns is not None and rows < columns:  # fewer columns are fewer rounds
        x = swapped(x, rank).output(0)
    (matrix,) = turned_apart(x, rank, [])
    found = lengths(matrix, rank)
    least = ops.minimum(size_of(x, rank - 1), size_of(x, rank - 2))
    values = ops.topk(found, least, rank - 2, "max", "value", index_element_type=Type.i32).output(0)
    return _every_other(values) if twice else values


def singular_vectors(node: NodeContext, x: Output, full: bool) -> tuple[Tensor, Output, Tensor]:
    """u, s, v with u @ diag(s) @ v^T = x."""
    rank = rank_of(node, x)
    rows, columns = known_dims(x)[-2:]
    turn = rows is not None and columns is not None and rows < columns
    if turn:
        x = swapped(x, rank).output(0)
    matrix, right = turned_apart(x, rank, [identities(x, size_of(x, rank - 1)).output(0)])
    size = size_of(x, rank - 1)
    found = ops.topk(lengths(matrix, rank), size, rank - 2, "max", "value", index_element_type=Type.i64)
    order = found.output(1)
    end = ops.unsqueeze(ops.minimum(size, size_of(x, rank - 2)), ints([0]))
    start, step, last = ints([0]), ints([1]), ints([rank - 1])
    matrix = ops.slice(_columns(matrix, order, rank), start, end, step, last).output(0)
    # The columns are orthogonal by now: a reflection leaves each as it is but for its sign and its length, and finds
    # those that are missing.
    left, triangle = orthogonalized(matrix, rank, complete=full)
    places = range_to(size_of(matrix, rank - 1))
    diagonal = elements_at(ops.slice(triangle, start, end, step, ints([rank - 2])), places, rank)
    sign = ops.select(ops.less(diagonal, const_like(0, x)), const_like(-1, x), const_like(1, x))
    if full:
        more = ops.subtract(ops.unsqueeze(size_of(x, rank - 2), ints([0])), end)
        after = ops.concat([ints([0] * (rank - 2)), more], 0)
        sign = ops.pad(sign, ints([0] * (rank - 1)), after, "constant", const_like(1, x))
    left = ops.multiply(left, ops.unsqueeze(sign, ints([-2])))
    vectors: Tensor = _columns(right, order, rank)
    if not full:
        vectors = ops.slice(vectors, start, end, step, last)
    values = ops.slice(found.output(0), start, end, step, ints([rank - 2])).output(0)
    return (vectors, values, left) if turn else (left, values, vectors)


def _every_other(values: Output) -> Output:
    return ops.slice(values, ints([0]), ints([_END]), ints([2]), ints([-1])).output(0)


def _columns(matrix: Output, order: Output, rank: int) -> Output:
    """The columns of each matrix in its order."""
    places = ops.broadcast(ops.unsqueeze(order, ints([-2])), shape_of(matrix))
    return ops.gather_elements(matrix, places, rank - 1).output(0)
