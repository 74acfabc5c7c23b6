"""Jacobi rotations, which diagonalize a symmetric matrix and orthogonalize the columns of any matrix.

Each round rotates neighbouring columns to be orthogonal and swaps them, even and odd pairs alternately (odd-even
ordering): in as many rounds as there are columns each meets every other. Twelve such sweeps are enough for float32.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from openvino import Node, Output

from paddle2ov.converters.graph.common import Tensor, const_like
from paddle2ov.converters.graph.dims import dim_of, index_range
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.converters.linalg.parts import matrix_transpose
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.terms import Term, abs_, select, sqrt
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NodeContext

_SWEEPS = 12


def diagonalize(
    node: NodeContext, x: Output, rank: int, triangle: str, vectors: list[Output]
) -> tuple[list[Output], Node]:
    """The diagonalized matrix, the vectors rotated like its columns, and the columns' indices."""
    start = symmetric_from_triangle(node, x, rank, triangle, 1)
    size = dim_of(x, rank - 1)
    indices = index_range(size)

    def rotate(k: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], None]:
        (matrix, *vectors), (indices, size) = state, invariants
        partner = _partners(indices, size, k)
        own = gather_per_row(matrix, indices, rank)
        other = ops.gather(own, partner, ints(rank - 2))
        # Both partners must use the same product: between equal values rounding alone decides the angle.
        product = gather_per_row(matrix, partner, rank)
        product = ops.add(product, ops.gather(product, partner, ints(rank - 2)))
        angle = _rotation(Term(own), Term(other), Term(product) * 0.5, Term(indices), Term(partner))
        down, across = ([ops.unsqueeze(part.value, ints([axis])) for part in angle] for axis in (-1, -2))
        rows = _rotate_and_swap(matrix, down, partner, rank - 2)
        rotated: list[Tensor] = [rows, *vectors]
        return [_rotate_and_swap(item, across, partner, rank - 1) for item in rotated], None

    return loop(ops.multiply(size, ints(_SWEEPS)), [start, *vectors], [indices, size], rotate), indices


def symmetric_from_triangle(node: NodeContext, x: Output, rank: int, triangle: str, sign: int) -> Node:
    """The symmetric (or for sign -1 the skew-symmetric) matrices of which one triangle is given."""
    node.require(triangle in ("L", "U"), "unknown triangle", UPLO=triangle)
    indices = index_range(dim_of(x, rank - 1))
    down, across = ops.unsqueeze(indices, ints([1])), ops.unsqueeze(indices, ints([0]))
    other: Node = matrix_transpose(x, rank)
    if sign < 0:
        x = ops.select(ops.equal(down, across), const_like(0, x), x).output(0)
        other = ops.negative(other)
    in_triangle = ops.greater_equal(down, across) if triangle == "L" else ops.less_equal(down, across)
    return ops.select(in_triangle, x, other)


def gather_per_row(matrix: Tensor, columns: Tensor, rank: int) -> Node:
    """matrix[..., i, columns[i]], [..., n]."""
    size = dim_of(matrix, rank - 1)
    chosen = ops.equal(ops.unsqueeze(columns, ints([1])), index_range(size))
    return ops.reduce_sum(ops.select(chosen, matrix, const_like(0, matrix)), ints([rank - 1]), False)


def orthogonalize_columns(x: Output, rank: int, vectors: list[Output]) -> list[Output]:
    """x with its columns rotated until they are orthogonal, and the vectors rotated with them."""
    size = dim_of(x, rank - 1)
    indices = index_range(size)

    def rotate(k: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], None]:
        (matrix, *_), (indices, size) = state, invariants
        partner = _partners(indices, size, k)
        moved = ops.gather(matrix, partner, ints(rank - 1))
        own = ops.reduce_sum(ops.multiply(matrix, matrix), ints([rank - 2]), False)
        other = ops.gather(own, partner, ints(rank - 2))
        product = ops.reduce_sum(ops.multiply(matrix, moved), ints([rank - 2]), False)
        angle = _rotation(Term(own), Term(other), Term(product), Term(indices), Term(partner))
        across = [ops.unsqueeze(part.value, ints([-2])) for part in angle]
        return [_rotate_and_swap(item, across, partner, rank - 1) for item in state], None

    return loop(ops.multiply(size, ints(_SWEEPS)), [x, *vectors], [indices, size], rotate)


def column_norms(matrix: Output, rank: int) -> Node:
    """The Euclidean norm of each column, [..., n]."""
    return ops.sqrt(ops.reduce_sum(ops.multiply(matrix, matrix), ints([rank - 2]), False))


def _partners(indices: Tensor, size: Tensor, k: Tensor) -> Node:
    """The column that each is paired with in round k: the right or left neighbour, or itself at an end."""
    right = ops.equal(ops.floor_mod(ops.add(indices, k), ints(2)), ints(0))
    partner = ops.add(indices, ops.select(right, ints(1), ints(-1)))
    inside = ops.logical_and(ops.greater_equal(partner, ints(0)), ops.less(partner, size))
    return ops.select(inside, partner, indices)


@works_around("numbers_below_normal_divided")
def _rotation(own: Term, other: Term, product: Term, indices: Term, partner: Term) -> tuple[Term, Term]:
    """Cosine and sine for each column that make it orthogonal to its partner; (0, 1) for one without a partner."""
    # OpenVINO's CPU plugin divides by 0 where a product is below the normal numbers: 0 / 0 for columns of zeros.
    apart = abs_(product) < 4 * float(np.finfo(np.float32).tiny)
    cotangent = (other - own) / (select(apart, 1, product) * 2)
    # Both partners compute the same angle with opposite signs.
    positive = (cotangent > 0) | (cotangent.equals(0) & (indices < partner))
    size = abs_(cotangent)
    tangent = 1 / (size + sqrt(size * size + 1))
    tangent = select(apart, 0, select(positive, tangent, -tangent))
    c = 1 / sqrt(tangent * tangent + 1)
    alone = indices.equals(partner)
    return select(alone, 0, c), select(alone, 1, tangent * c)


def _rotate_and_swap(matrix: Tensor, angle: Sequence[Node], partner: Node, axis: int) -> Node:
    """Each row (or column) times its sine, plus its partner times its cosine: rotated and swapped."""
    c, s = angle
    return ops.add(ops.multiply(matrix, s), ops.multiply(ops.gather(matrix, partner, ints(axis)), c))
