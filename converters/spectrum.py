"""Eigenvalues of symmetric matrices and singular values, by Jacobi's rotations.

Paddle: `eigvalsh`, `eigh`, `svd`, `svdvals`, `matrix_rank`, `matrix_rank_tol`, `matrix_rank_atol_rtol`.
Semantics: `paddle/phi/kernels/impl/{eigvalsh,eigh}_kernel_impl.h`, `paddle/phi/kernels/cpu/svd_kernel.cc`,
`paddle/phi/kernels/cpu/matrix_rank*_kernel.cc`.
Refused: complex matrices; eigenvectors and singular vectors, whose signs (and, of equal values, directions) are those
that LAPACK's algorithm happens to end with.

Neighbours are rotated until they are orthogonal and then swap places, even and odd pairs in turn: after as many rounds
as there are columns each has met every other. Twelve times that is enough for float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.common import cast_to, const_like, ints, kept_apart, rank_of, shape_of
from paddle2ov.converters.rounds import repeat
from paddle2ov.converters.spatial import known_dims
from paddle2ov.node_context import NamedOutputs, NodeContext
from paddle2ov.opset import ops

Value: TypeAlias = Output | Node
_SWEEPS = 12
_END = 2**31 - 1


def eigvalsh(node: NodeContext) -> NamedOutputs:
    """eigenvalues = those of the symmetric matrix of which one triangle is given, ascending."""
    return {"eigenvalues": _eigenvalues(node, str(node.get_attribute("uplo", "L")))}


def eigh(node: NodeContext) -> NamedOutputs:
    """out_w = the eigenvalues of the symmetric matrix of which one triangle is given, ascending."""
    _refuse_vectors(node, "out_v")
    return {"out_w": _eigenvalues(node, str(node.get_attribute("UPLO", "L")))}


def svd(node: NodeContext) -> NamedOutputs:
    """s = the singular values, descending."""
    _refuse_vectors(node, "u")
    _refuse_vectors(node, "vh")
    return {"s": _singular_values(node)}


def svdvals(node: NodeContext) -> NamedOutputs:
    """s = the singular values, descending."""
    return {"s": _singular_values(node)}


def matrix_rank(node: NodeContext) -> NamedOutputs:
    """out = how many singular values (of a hermitian matrix, magnitudes of eigenvalues) exceed the tolerance.

    The tolerance is `tol`, or by default the largest value times the larger size times the machine's epsilon.
    """
    x = node.get_input("x")
    values = _values(node)
    if node.get_attribute("use_default_tol", True):
        return _count(node, values, _relative(values, _epsilon(x)))
    return _count(node, values, ops.unsqueeze(node.get_tensor("tol", values.get_element_type()), ints([-1])))


def matrix_rank_tol(node: NodeContext) -> NamedOutputs:
    """out = how many singular values exceed atol_tensor, and the default tolerance if that is asked for."""
    x = node.get_input("x")
    values = _values(node)
    limit: Value = ops.unsqueeze(node.get_tensor("atol_tensor", values.get_element_type()), ints([-1]))
    if node.get_attribute("use_default_tol", True):
        limit = ops.maximum(limit, _relative(values, _epsilon(x)))
    return _count(node, values, limit)


def matrix_rank_atol_rtol(node: NodeContext) -> NamedOutputs:
    """out = how many singular values exceed both atol and the largest value times rtol.

    Without rtol, the default relative tolerance counts where atol is not positive.
    """
    x = node.get_input("x")
    values = _values(node)
    dtype = values.get_element_type()
    atol = ops.unsqueeze(node.get_tensor("atol", dtype), ints([-1]))
    if node.has_input("rtol"):
        rtol: Value = ops.unsqueeze(node.get_tensor("rtol", dtype), ints([-1]))
    else:
        rtol = ops.select(ops.greater(atol, const_like(0, values)), const_like(0, values), _epsilon(x))
    return _count(node, values, ops.maximum(atol, _relative(values, rtol)))


def _count(node: NodeContext, values: Value, limit: Value) -> NamedOutputs:
    # Paddle 3 declares the type of x and computes int64.
    dtype = Type.i32 if node.output_dtype() == Type.i32 else Type.i64
    above = ops.convert(ops.greater(values, limit), dtype)
    return {"out": kept_apart(above, ops.reduce_sum(above, ints([-1]), False), [-1])}


def _relative(values: Value, factor: Value) -> Node:
    return ops.multiply(ops.reduce_max(values, ints([-1]), True), factor)


def _epsilon(x: Output) -> Node:
    """The larger size of the matrices times the machine's epsilon."""
    size = ops.reduce_max(ops.slice(shape_of(x), ints([-2]), ints([_END]), ints([1])), ints([0]), False)
    dtype = x.get_element_type()
    epsilon = np.finfo(np.float64 if dtype == Type.f64 else np.float32).eps
    return ops.multiply(cast_to(size, dtype), const_like(float(epsilon), x))


def _values(node: NodeContext) -> Value:
    if node.get_attribute("hermitian", False):
        return ops.abs(_eigenvalues(node, "L"))
    return _singular_values(node)


def _refuse_vectors(node: NodeContext, name: str) -> None:
    node.require(
        not node.is_output_used(name),
        f"the signs of the vectors '{name}' are left to LAPACK's algorithm; only the values can be computed",
    )


# --- eigenvalues -----------------------------------------------------------------------------------------------------


def _eigenvalues(node: NodeContext, triangle: str) -> Output:
    node.require(not node.is_complex("x"), "complex matrices are not supported")
    node.require(triangle in ("L", "U"), "unknown triangle", UPLO=triangle)
    x = node.get_input("x")
    rank = rank_of(node, x)
    size = _dim(x, rank - 1)
    places = ops.range(ints(0), size, ints(1), "i64")
    down, across = ops.unsqueeze(places, ints([1])), ops.unsqueeze(places, ints([0]))
    swap = ints([*range(rank - 2), rank - 1, rank - 2])
    given = ops.greater_equal(down, across) if triangle == "L" else ops.less_equal(down, across)
    start = ops.select(given, x, ops.transpose(x, swap))

    def rotate(k: Value, state: Sequence[Output], fixed: Sequence[Output]) -> tuple[list[Value], None]:
        (matrix,), (places, size) = state, fixed
        partner = _partners(places, size, k)
        own = _at(matrix, places, rank)
        other = ops.gather(own, partner, ints(rank - 2))
        c, s = _rotation(own, other, _at(matrix, partner, rank), places, partner)
        rows = _mix(matrix, ops.unsqueeze(c, ints([-1])), ops.unsqueeze(s, ints([-1])), partner, rank - 2)
        return [_mix(rows, ops.unsqueeze(c, ints([-2])), ops.unsqueeze(s, ints([-2])), partner, rank - 1)], None

    rounds = ops.multiply(size, ints(_SWEEPS))
    (matrix,) = repeat(rounds, [start], [places, size], rotate)
    found = _at(matrix, places, rank)
    return ops.topk(found, size, rank - 2, "min", "value", index_element_type=Type.i32).output(0)


def _at(matrix: Value, columns: Value, rank: int) -> Node:
    """The element of each row in the column named for it, [..., n]."""
    size = _dim(matrix, rank - 1)
    chosen = ops.equal(ops.unsqueeze(columns, ints([1])), ops.range(ints(0), size, ints(1), "i64"))
    return ops.reduce_sum(ops.select(chosen, matrix, const_like(0, matrix)), ints([rank - 1]), False)


# --- singular values -------------------------------------------------------------------------------------------------


def _singular_values(node: NodeContext) -> Output:
    node.require(not node.is_complex("x"), "complex matrices are not supported")
    x = node.get_input("x")
    rank = rank_of(node, x)
    rows, columns = known_dims(x)[-2:]
    if rows is not None and columns is not None and rows < columns:  # fewer columns are fewer rounds
        x = ops.transpose(x, ints([*range(rank - 2), rank - 1, rank - 2])).output(0)
    size = _dim(x, rank - 1)
    places = ops.range(ints(0), size, ints(1), "i64")

    def rotate(k: Value, state: Sequence[Output], fixed: Sequence[Output]) -> tuple[list[Value], None]:
        (matrix,), (places, size) = state, fixed
        partner = _partners(places, size, k)
        moved = ops.gather(matrix, partner, ints(rank - 1))
        own = ops.reduce_sum(ops.multiply(matrix, matrix), ints([rank - 2]), False)
        other = ops.gather(own, partner, ints(rank - 2))
        product = ops.reduce_sum(ops.multiply(matrix, moved), ints([rank - 2]), False)
        c, s = _rotation(own, other, product, places, partner)
        return [_mix(matrix, ops.unsqueeze(c, ints([-2])), ops.unsqueeze(s, ints([-2])), partner, rank - 1)], None

    (matrix,) = repeat(ops.multiply(size, ints(_SWEEPS)), [x], [places, size], rotate)
    found = ops.sqrt(ops.reduce_sum(ops.multiply(matrix, matrix), ints([rank - 2]), False))
    least = ops.minimum(size, _dim(x, rank - 2))
    return ops.topk(found, least, rank - 2, "max", "value", index_element_type=Type.i32).output(0)


# --- rotations -------------------------------------------------------------------------------------------------------


def _partners(places: Value, size: Value, k: Value) -> Node:
    """Whom each place is paired with in round k: its right or its left neighbour, or itself at an end."""
    right = ops.equal(ops.floor_mod(ops.add(places, k), ints(2)), ints(0))
    partner = ops.add(places, ops.select(right, ints(1), ints(-1)))
    inside = ops.logical_and(ops.greater_equal(partner, ints(0)), ops.less(partner, size))
    return ops.select(inside, partner, places)


def _rotation(own: Node, other: Node, product: Node, places: Value, partner: Node) -> tuple[Node, Node]:
    """Cosine and sine for each place that make its product with its partner vanish; (0, 1) for one that is alone."""
    zero, one = const_like(0, own), const_like(1, own)
    apart = ops.equal(product, zero)
    cotangent = ops.divide(ops.subtract(other, own), ops.multiply(const_like(2, own), ops.select(apart, one, product)))
    # Both partners see the same angle with opposite signs.
    left = ops.logical_and(ops.equal(cotangent, const_like(0, own)), ops.less(places, partner))
    positive = ops.logical_or(ops.greater(cotangent, const_like(0, own)), left)
    size = ops.abs(cotangent)
    tangent = ops.divide(
        const_like(1, own), ops.add(size, ops.sqrt(ops.add(ops.multiply(size, size), const_like(1, own))))
    )
    tangent = ops.select(positive, tangent, ops.negative(tangent))
    tangent = ops.select(apart, const_like(0, own), tangent)
    c = ops.divide(const_like(1, own), ops.sqrt(ops.add(ops.multiply(tangent, tangent), const_like(1, own))))
    alone = ops.equal(places, partner)
    return (
        ops.select(alone, const_like(0, own), c),
        ops.select(alone, const_like(1, own), ops.multiply(tangent, c)),
    )


def _mix(matrix: Value, c: Node, s: Node, partner: Node, axis: int) -> Node:
    """Each row (or column) times its sine, plus its partner times its cosine: turned, and in each other's place."""
    return ops.add(ops.multiply(matrix, s), ops.multiply(ops.gather(matrix, partner, ints(axis)), c))


def _dim(x: Value, axis: int) -> Node:
    return ops.gather(shape_of(x), ints(axis), ints(0))
