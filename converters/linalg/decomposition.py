"""LU and QR factorizations of real and complex matrices, computed column by column.

Paddle: `qr`, `lu`, `lu_unpack`, `lu_solve` (PIR only).
Semantics: `paddle/phi/kernels/cpu/{qr,lu}_kernel.cc` (Eigen's HouseholderQR, LAPACK's getrf),
`paddle/phi/kernels/impl/lu_unpack_kernel_impl.h`. The signs follow them: a diagonal element of R is negative where the
column's own element is not, and real; the last column of a square matrix is not reflected. LAPACK chooses a pivot by
the sum of its parts' magnitudes.
Not supported: lu without pivoting, which Paddle does not have on a CPU either.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from openvino import Node, Output, Type

from paddle2ov.converters.complex.elementary import from_real
from paddle2ov.converters.graph.common import Tensor, cast_to, const_like
from paddle2ov.converters.graph.dims import dim_of, dim_range, index_range, rank_of
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.converters.linalg.parts import (
    adjoint_product,
    batched_eye,
    column_sums,
    divide,
    joined,
    matrix_transpose,
    multiply,
    parts_of,
    row_indices,
    solve,
    squares,
    subtract,
    triangle,
)
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.translation.node_context import NamedOutputs, NodeContext, OutputLike

# --- QR --------------------------------------------------------------------------------------------------------------


def qr(node: NodeContext) -> NamedOutputs:
    """q, r = q @ r = x with orthogonal columns of q and an upper triangle r, by Householder reflections."""
    x = parts_of(node, "x")
    mode = node.get_str("mode", "reduced")
    node.require(mode in ("reduced", "complete", "r"), "unknown mode", mode=mode)
    node.require(mode != "r" or not node.is_output_used("q"), "there is no q in this mode", mode=mode)
    q, r = householder_qr(x, rank_of(node, x[0]), complete=mode == "complete")
    return {"r": joined(r)} if mode == "r" else {"q": joined(q), "r": joined(r)}


def householder_qr(x: Sequence[Output], rank: int, complete: bool) -> tuple[list[Node], list[Node]]:
    """The factors q and r of a matrix, all by their parts; a complete q is square."""
    rows, columns = dim_of(x[0], rank - 2), ops.unsqueeze(dim_of(x[0], rank - 1), ints([0]))
    least = ops.minimum(rows, dim_of(x[0], rank - 1))
    eye = batched_eye(x[0], rows)
    ones = [eye, ops.multiply(eye, const_like(0, eye))]
    # The reflections turn [x | 1] into [r | q^H].
    start: list[Tensor] = [ops.concat([part, item], rank - 1) for part, item in zip(x, ones, strict=False)]

    def reflect(k: Tensor, table: Outputs, invariants: Outputs) -> tuple[list[Tensor], None]:
        direction, weight = _reflection(table, k, invariants[0], rank)
        return subtract(table, multiply(multiply(direction, weight), adjoint_product(direction, table))), None

    table = loop(least, start, [row_indices(rows)], reflect)
    end = ops.unsqueeze(rows if complete else least, ints([0]))
    q, r = list[Node](), list[Node]()
    for part in table:
        upper = triangle(slice_along(part, ints([0]), columns, rank - 1), rank, upper=True)
        r.append(slice_along(upper, ints([0]), end, rank - 2))
        adjoint = slice_along(part, columns, ints([OPEN_END]), rank - 1)
        q.append(matrix_transpose(slice_along(adjoint, ints([0]), end, rank - 2), rank))
    return [*q[:1], *map(ops.negative, q[1:])], r


def _reflection(table: Outputs, k: Tensor, indices: Output, rank: int) -> tuple[list[Tensor], list[Tensor]]:
    """v and w such that 1 - w · v v^H clears column k below the diagonal: v = (1, tail / (head - new)).

    new is the diagonal element afterwards, w = conj(1 - head / new). `head - new` adds numbers of the same sign in its
    real part: no cancellation.
    """
    zero, one = const_like(0, table[0]), const_like(1, table[0])
    here = cast_to(ops.equal(indices, k), table[0].get_element_type())
    below = cast_to(ops.greater(indices, k), table[0].get_element_type())
    column = [ops.gather(part, ops.unsqueeze(k, ints([0])), ints(rank - 1)) for part in table]  # [..., m, 1]
    head = [column_sums(ops.multiply(part, here), rank) for part in column]
    tail = column_sums(ops.multiply(squares(column), below), rank)
    size = ops.sqrt(ops.add(squares(head), tail))
    new = ops.select(ops.greater_equal(head[0], zero), ops.negative(size), size)
    done = ops.equal(tail, zero)
    for imag in head[1:]:
        done = ops.logical_and(done, ops.equal(imag, zero))
    new = ops.select(done, one, new)
    weight = [ops.select(done, zero, ops.divide(part, new)) for part in (ops.subtract(new, head[0]), *head[1:])]
    apart = [ops.select(done, one, ops.subtract(head[0], new)), *head[1:]]
    scaled = [ops.multiply(part, below) for part in divide(column, apart)]
    return [ops.add(scaled[0], here), *scaled[1:]], [*weight]


# --- LU --------------------------------------------------------------------------------------------------------------


def lu(node: NodeContext) -> NamedOutputs:
    """out = the factors of the row-permuted x, l (without its ones) below u.

    pivots = the row that each row was swapped with, counted from 1; infos = the first column, from 1, without a
    pivot that is not 0.
    """
    node.require(node.get_bool("pivot", True), "only partial pivoting is supported", pivot=False)
    x = parts_of(node, "x")
    rank = rank_of(node, x[0])
    table, pivots, info = eliminate(x, rank)
    if rank == 2 and node.declared_output_shape("infos") != ():  # of Paddle 2
        info = ops.reshape(info, ints([1]), False).output(0)
    return {"out": joined(table), "pivots": pivots, "infos": info}


def eliminate(x: Sequence[Output], rank: int) -> tuple[list[Output], Output, Output]:
    """The packed factors of a matrix by its parts, its pivots, and the first column without one; see `lu`."""
    rows, columns = dim_of(x[0], rank - 2), dim_of(x[0], rank - 1)
    least, dtype = ops.minimum(rows, columns), x[0].get_element_type()

    def step(k: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], None]:
        (*parts, pivots, info), (down, across, order) = state, invariants
        at = ops.unsqueeze(k, ints([0]))
        best = _largest(parts, k, down, rank)
        table, row = _swapped(parts, k, best, down, rank)
        pivot = [ops.gather(part, at, ints(rank - 1)) for part in row]
        singular = ops.equal(squares(pivot) if len(pivot) > 1 else pivot[0], const_like(0, x[0]))
        safe = [ops.select(singular, const_like(1, x[0]), pivot[0]), *pivot[1:]]
        below, right = cast_to(ops.greater(down, k), dtype), cast_to(ops.greater(across, k), dtype)
        column = [ops.multiply(ops.gather(part, at, ints(rank - 1)), below) for part in table]
        factor = divide(column, safe)
        rest = subtract(table, multiply(factor, [ops.multiply(part, right) for part in row]))
        mine = ops.logical_and(ops.equal(across, k), ops.greater(down, k))
        made: list[Tensor] = [ops.select(mine, own, other) for own, other in zip(factor, rest, strict=True)]
        named = ops.convert(ops.add(ops.squeeze(best, ints([rank - 2])), ints(1)), Type.i32)
        first = ops.logical_and(ops.equal(info, ops.constant(0, Type.i32)), ops.squeeze(singular, ints([-2, -1])))
        info = ops.select(first, ops.convert(ops.add(k, ints(1)), Type.i32), info).output(0)
        return [*made, ops.select(ops.equal(order, k), named, pivots), info], None

    outer, none = dim_range(x[0], 0, -2), ops.constant(0, Type.i32)
    no_pivots = ops.broadcast(none, ops.concat([outer, ops.unsqueeze(least, ints([0]))], 0))
    start: list[Tensor] = [*x, no_pivots, ops.broadcast(ops.constant(0, Type.i32), outer)]
    across = ops.unsqueeze(index_range(columns), ints(0))
    *table, pivots, info = loop(least, start, [row_indices(rows), across, index_range(least)], step)
    return table, pivots, info


def _largest(table: Sequence[Output], k: Tensor, down: Output, rank: int) -> Output:
    """The row, from k on, of the largest element of column k."""
    sizes = [ops.abs(ops.gather(part, ops.unsqueeze(k, ints([0])), ints(rank - 1))) for part in table]
    left = cast_to(ops.greater_equal(down, k), table[0].get_element_type())
    size: Node = reduce(ops.add, [*sizes, const_like(1, table[0])])
    size = ops.subtract(ops.multiply(size, left), const_like(1, table[0]))
    return ops.topk(size, ints(1), rank - 2, "max", "value", index_element_type=Type.i64, stable=True).output(1)


def _swapped(
    table: Sequence[Output], k: Tensor, best: Output, down: Output, rank: int
) -> tuple[list[Tensor], list[Tensor]]:
    """The matrix with the rows k and `best` exchanged, and its row k."""
    chosen, here = ops.equal(down, best), ops.equal(down, k)
    row = [column_sums(ops.multiply(part, cast_to(chosen, part.get_element_type())), rank) for part in table]
    moved = [ops.gather(part, ops.unsqueeze(k, ints([0])), ints(rank - 2)) for part in table]
    each = zip(table, row, moved, strict=True)
    return [ops.select(here, own, ops.select(chosen, other, part)) for part, own, other in each], [*row]


def lu_unpack(node: NodeContext) -> NamedOutputs:
    """pmat, l, u = the permutation and the two factors that lu packed: pmat @ l @ u is the matrix."""
    x = parts_of(node, "x")
    rank = rank_of(node, x[0])
    outputs: dict[str, OutputLike] = {}
    if node.is_output_used("pmat"):
        node.require(node.get_bool("unpack_pivots", True), "it is not unpacked", unpack_pivots=False)
        matrix = permutation_matrix(node.get_input("y"), dim_of(x[0], rank - 2), rank, x[0])
        outputs["pmat"] = from_real(matrix) if node.is_complex("pmat") else matrix
    if node.is_output_used("l") or node.is_output_used("u"):
        node.require(node.get_bool("unpack_ludata", True), "they are not unpacked", unpack_ludata=False)
        low, high = unpack_factors(x, rank)
        outputs["l"], outputs["u"] = joined(low), joined(high)
    return outputs


def lu_solve(node: NodeContext) -> NamedOutputs:
    """out = x^-1 @ b (or x^-T @ b, or with the conjugate for trans "C"), where lu and pivots are what lu made of x."""
    b, packed = parts_of(node, "b"), parts_of(node, "lu")
    rank = rank_of(node, packed[0])
    trans = node.get_str("trans")
    node.require(trans in ("N", "T", "C"), "unknown transposition", trans=trans)
    order = permutation_matrix(node.get_input("pivots"), dim_of(packed[0], rank - 2), rank, packed[0])
    low, high = unpack_factors(packed, rank)
    if trans == "N":
        permuted = [ops.matmul(order, part, True, False) for part in b]
        return {"out": joined(solve(high, solve(low, permuted)))}
    first, second = ([matrix_transpose(part, rank) for part in factor] for factor in (high, low))
    if trans == "C":
        first, second = ([*factor[:1], *map(ops.negative, factor[1:])] for factor in (first, second))
    return {"out": joined([ops.matmul(order, part, False, False) for part in solve(second, solve(first, b))])}


def unpack_factors(packed: Sequence[Output], rank: int) -> tuple[list[Tensor], list[Tensor]]:
    """The lower factor, with ones on its diagonal, and the upper one, each by its parts."""
    rows, columns = dim_of(packed[0], rank - 2), dim_of(packed[0], rank - 1)
    end = ops.unsqueeze(ops.minimum(rows, columns), ints([0]))
    lower, upper = list[Tensor](), list[Tensor]()
    for part, diagonal in zip(packed, (1, 0), strict=False):
        upper.append(triangle(slice_along(part, ints([0]), end, rank - 2), rank, upper=True))
        narrow = slice_along(part, ints([0]), end, rank - 1)
        down, across = row_indices(dim_of(narrow, rank - 2)), index_range(dim_of(narrow, rank - 1))
        below = ops.select(ops.greater(down, across), narrow, const_like(0, part))
        lower.append(ops.select(ops.equal(down, across), const_like(diagonal, part), below))
    return lower, upper


def permutation_matrix(pivots: Output, rows: Node, rank: int, like: Output) -> Node:
    """The permutation matrix of a sequence of row swaps (LAPACK's pivots)."""
    least = dim_of(pivots, rank - 2)
    outer = dim_range(pivots, 0, -1)
    order = index_range(rows)
    start = ops.broadcast(order, ops.concat([outer, ops.unsqueeze(rows, ints([0]))], 0))

    def swap(k: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], None]:
        (standing,), (pivots, order) = state, invariants
        at = ops.unsqueeze(k, ints([0]))
        other = ops.subtract(ops.convert(ops.gather(pivots, at, ints(rank - 2)), Type.i64), ints(1))
        mine = ops.gather(standing, at, ints(rank - 2))
        theirs = ops.gather_elements(standing, other, rank - 2)
        exchanged = ops.select(ops.equal(order, other), mine, standing)
        return [ops.select(ops.equal(order, k), theirs, exchanged)], None

    (standing,) = loop(least, [start], [pivots, order], swap)
    return cast_to(
        ops.equal(ops.unsqueeze(order, ints([1])), ops.unsqueeze(standing, ints([-2]))), like.get_element_type()
    )
