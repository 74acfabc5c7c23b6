"""Jacobi's rotations, which make a symmetric matrix diagonal and the columns of any matrix orthogonal.

Neighbours are rotated until they are orthogonal and then swap places, even and odd pairs in turn: after as many rounds
as there are columns each has met every other. Twelve times that is enough for float32.
"""

from __future__ import annotations

from openvino import Node, Output

from paddle2ov.converters.graph.common import Tensor, const_like, dim_of, ints
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.converters.linalg.pieces import range_to, swapped
from paddle2ov.graph.opset import ops
from paddle2ov.translation.node_context import NodeContext

_SWEEPS = 12


def diagonalized(
    node: NodeContext, x: Output, rank: int, triangle: str, vectors: list[Output]
) -> tuple[list[Output], Node]:
    """The matrix made diagonal, the vectors turned like its columns, and the places of those."""
    start = mirrored(node, x, rank, triangle, 1)
    size = dim_of(x, rank - 1)
    places = range_to(size)

    def rotate(k: Tensor, state: Outputs, fixed: Outputs) -> tuple[list[Tensor], None]:
        (matrix, *vectors), (places, size) = state, fixed
        partner = _partners(places, size, k)
        own = elements_at(matrix, places, rank)
        other = ops.gather(own, partner, ints(rank - 2))
        # Both partners must see one product: of equal values rounding alone decides the angle.
        product = elements_at(matrix, partner, rank)
        product = ops.add(product, ops.gather(product, partner, ints(rank - 2)))
        c, s = _rotation(own, other, ops.multiply(product, const_like(0.5, x)), places, partner)
        rows = _mix(matrix, ops.unsqueeze(c, ints([-1])), ops.unsqueeze(s, ints([-1])), partner, rank - 2)
        c, s = (ops.unsqueeze(one, ints([-2])) for one in (c, s))
        turned: list[Tensor] = [rows, *vectors]
        return [_mix(one, c, s, partner, rank - 1) for one in turned], None

    return loop(ops.multiply(size, ints(_SWEEPS)), [start, *vectors], [places, size], rotate), places


def mirrored(node: NodeContext, x: Output, rank: int, triangle: str, sign: int) -> Node:
    """The symmetric (or for sign -1 the skew-symmetric) matrices of which one triangle is given."""
    node.require(triangle in ("L", "U"), "unknown triangle", UPLO=triangle)
    places = range_to(dim_of(x, rank - 1))
    down, across = ops.unsqueeze(places, ints([1])), ops.unsqueeze(places, ints([0]))
    other: Node = swapped(x, rank)
    if sign < 0:
        x = ops.select(ops.equal(down, across), const_like(0, x), x).output(0)
        other = ops.negative(other)
    given = ops.greater_equal(down, across) if triangle == "L" else ops.less_equal(down, across)
    return ops.select(given, x, other)


def elements_at(matrix: Tensor, columns: Tensor, rank: int) -> Node:
    """The element of each row in the column named for it, [..., n]."""
    size = dim_of(matrix, rank - 1)
    chosen = ops.equal(ops.unsqueeze(columns, ints([1])), range_to(size))
    return ops.reduce_sum(ops.select(chosen, matrix, const_like(0, matrix)), ints([rank - 1]), False)


def turned_apart(x: Output, rank: int, vectors: list[Output]) -> list[Output]:
    """x with its columns turned until they are orthogonal, and the vectors turned with them."""
    size = dim_of(x, rank - 1)
    places = range_to(size)

    def rotate(k: Tensor, state: Outputs, fixed: Outputs) -> tuple[list[Tensor], None]:
        (matrix, *_), (places, size) = state, fixed
        partner = _partners(places, size, k)
        moved = ops.gather(matrix, partner, ints(rank - 1))
        own = ops.reduce_sum(ops.multiply(matrix, matrix), ints([rank - 2]), False)
        other = ops.gather(own, partner, ints(rank - 2))
        product = ops.reduce_sum(ops.multiply(matrix, moved), ints([rank - 2]), False)
        c, s = (ops.unsqueeze(one, ints([-2])) for one in _rotation(own, other, product, places, partner))
        return [_mix(one, c, s, partner, rank - 1) for one in state], None

    return loop(ops.multiply(size, ints(_SWEEPS)), [x, *vectors], [places, size], rotate)


def lengths(matrix: Output, rank: int) -> Node:
    """The length of each column, [..., n]."""
    return ops.sqrt(ops.reduce_sum(ops.multiply(matrix, matrix), ints([rank - 2]), False))


def _partners(places: Tensor, size: Tensor, k: Tensor) -> Node:
    """Whom each place is paired with in round k: its right or its left neighbour, or itself at an end."""
    right = ops.equal(ops.floor_mod(ops.add(places, k), ints(2)), ints(0))
    partner = ops.add(places, ops.select(right, ints(1), ints(-1)))
    inside = ops.logical_and(ops.greater_equal(partner, ints(0)), ops.less(partner, size))
    return ops.select(inside, partner, places)


def _rotation(own: Node, other: Node, product: Node, places: Tensor, partner: Node) -> tuple[Node, Node]:
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


def _mix(matrix: Tensor, c: Node, s: Node, partner: Node, axis: int) -> Node:
    """Each row (or column) times its sine, plus its partner times its cosine: turned, and in each other's place."""
    return ops.add(ops.multiply(matrix, s), ops.multiply(ops.gather(matrix, partner, ints(axis)), c))
