"""LU and QR factorizations, computed column by column.

Paddle: `qr`, `lu`, `lu_unpack`, `lu_solve` (PIR only).
Semantics: `paddle/phi/kernels/cpu/{qr,lu}_kernel.cc` (Eigen's HouseholderQR, LAPACK's getrf),
`paddle/phi/kernels/impl/lu_unpack_kernel_impl.h`. The signs follow them: a diagonal element of R is negative where the
column's own element is not, and the last column of a square matrix is not reflected.
Not supported: lu without pivoting, which Paddle does not have on a CPU either. Complex matrices are in
`complex/factorizations.py`.
"""

from __future__ import annotations

from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const_like, dim_of, dim_range, index_range, rank_of
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.converters.linalg.pieces import batched_eye, column_sums, matrix_transpose, row_indices, triangle
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.translation.node_context import NamedOutputs, NodeContext, OutputLike


def qr(node: NodeContext) -> NamedOutputs:
    """q, r = q @ r = x with orthogonal columns of q and an upper triangle r, by Householder reflections."""
    x = node.get_input("x")
    mode = node.get_str("mode", "reduced")
    node.require(mode in ("reduced", "complete", "r"), "unknown mode", mode=mode)
    node.require(mode != "r" or not node.is_output_used("q"), "there is no q in this mode", mode=mode)
    q, r = householder_qr(x, rank_of(node, x), complete=mode == "complete")
    return {"r": r} if mode == "r" else {"q": q, "r": r}


def householder_qr(x: Output, rank: int, complete: bool) -> tuple[Node, Node]:
    """The factors q and r; a complete q is square."""
    rows, columns = dim_of(x, rank - 2), dim_of(x, rank - 1)
    least = ops.minimum(rows, columns)
    # The reflections turn [x | 1] into [r | q^T].
    table = ops.concat([x, batched_eye(x, rows)], rank - 1)

    def reflect(k: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], None]:
        (table,), (indices,) = state, invariants
        column = ops.gather(table, ops.unsqueeze(k, ints([0])), ints(rank - 1))  # [..., m, 1]
        here = cast_to(ops.equal(indices, k), table.get_element_type())
        below = cast_to(ops.greater(indices, k), table.get_element_type())
        head = column_sums(ops.multiply(column, here), rank)
        tail = column_sums(ops.multiply(ops.multiply(column, column), below), rank)
        size = ops.sqrt(ops.add(ops.multiply(head, head), tail))
        new = ops.select(ops.greater_equal(head, const_like(0, x)), ops.negative(size), size)
        done = ops.equal(tail, const_like(0, x))
        new = ops.select(done, const_like(1, x), new)
        weight = ops.select(done, const_like(0, x), ops.divide(ops.subtract(new, head), new))
        # `head - new` adds numbers of the same sign: no cancellation.
        direction = ops.divide(column, ops.select(done, const_like(1, x), ops.subtract(head, new)))
        direction = ops.add(ops.multiply(direction, below), here)
        along = ops.matmul(direction, table, True, False)
        return [ops.subtract(table, ops.multiply(ops.multiply(direction, weight), along))], None

    (table_out,) = loop(least, [table], [row_indices(rows)], reflect)
    end = ops.unsqueeze(rows if complete else least, ints([0]))
    r = triangle(slice_along(table_out, ints([0]), ops.unsqueeze(columns, ints([0])), rank - 1), rank, upper=True)
    q = slice_along(table_out, ops.unsqueeze(columns, ints([0])), ints([OPEN_END]), rank - 1)
    return matrix_transpose(slice_along(q, ints([0]), end, rank - 2), rank), slice_along(r, ints([0]), end, rank - 2)


def lu(node: NodeContext) -> NamedOutputs:
    """out = the factors of the row-permuted x, l (without its ones) below u.

    pivots = the row that each row was swapped with, counted from 1; infos = the first column, from 1, without a
    pivot that is not 0.
    """
    x = node.get_input("x")
    node.require(node.get_bool("pivot", True), "only partial pivoting is supported", pivot=False)
    rank = rank_of(node, x)
    rows, columns = dim_of(x, rank - 2), dim_of(x, rank - 1)
    least = ops.minimum(rows, columns)
    dtype = x.get_element_type()

    def eliminate(k: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], None]:
        (table, pivots, info), (down, across, order) = state, invariants
        at = ops.unsqueeze(k, ints([0]))
        column = ops.gather(table, at, ints(rank - 1))
        left = cast_to(ops.greater_equal(down, k), dtype)
        size = ops.subtract(ops.multiply(ops.add(ops.abs(column), const_like(1, x)), left), const_like(1, x))
        best = ops.topk(size, ints(1), rank - 2, "max", "value", index_element_type=Type.i64, stable=True).output(1)
        chosen = ops.equal(down, best)
        row = column_sums(ops.multiply(table, cast_to(chosen, dtype)), rank)
        here = ops.equal(down, k)
        moved = ops.gather(table, at, ints(rank - 2))
        table = ops.select(here, row, ops.select(chosen, moved, table)).output(0)
        pivot = ops.gather(row, at, ints(rank - 1))
        singular = ops.equal(pivot, const_like(0, x))
        below = cast_to(ops.greater(down, k), dtype)
        column = ops.multiply(ops.gather(table, at, ints(rank - 1)), below)
        factor = ops.divide(column, ops.select(singular, const_like(1, x), pivot))
        rest = ops.subtract(table, ops.multiply(factor, ops.multiply(row, cast_to(ops.greater(across, k), dtype))))
        mine = ops.logical_and(ops.equal(across, k), ops.greater(down, k))
        table = ops.select(mine, factor, rest).output(0)
        named = ops.convert(ops.add(ops.squeeze(best, ints([rank - 2])), ints(1)), Type.i32)
        pivots = ops.select(ops.equal(order, k), named, pivots).output(0)
        first = ops.logical_and(ops.equal(info, ops.constant(0, Type.i32)), ops.squeeze(singular, ints([-2, -1])))
        info = ops.select(first, ops.convert(ops.add(k, ints(1)), Type.i32), info).output(0)
        return [table, pivots, info], None

    outer = dim_range(x, 0, -2)
    zero = ops.constant(0, Type.i32)
    start: list[Tensor] = [
        x,
        ops.broadcast(zero, ops.concat([outer, ops.unsqueeze(least, ints([0]))], 0)),
        ops.broadcast(ops.constant(0, Type.i32), outer),
    ]
    across = ops.unsqueeze(index_range(columns), ints(0))
    invariants = [row_indices(rows), across, index_range(least)]
    table, pivots, info = loop(least, start, invariants, eliminate)
    if rank == 2 and node.declared_output_shape("infos") != ():  # of Paddle 2
        info = ops.reshape(info, ints([1]), False).output(0)
    return {"out": table, "pivots": pivots, "infos": info}


def lu_unpack(node: NodeContext) -> NamedOutputs:
    """pmat, l, u = the permutation and the two factors that lu packed: pmat @ l @ u is the matrix."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    found: dict[str, OutputLike] = {}
    if node.is_output_used("pmat"):
        node.require(node.get_bool("unpack_pivots", True), "it is not unpacked", unpack_pivots=False)
        found["pmat"] = permutation_matrix(node.get_input("y"), dim_of(x, rank - 2), rank, x)
    if node.is_output_used("l") or node.is_output_used("u"):
        node.require(node.get_bool("unpack_ludata", True), "they are not unpacked", unpack_ludata=False)
        found["l"], found["u"] = unpack_factors(x, rank)
    return found


def lu_solve(node: NodeContext) -> NamedOutputs:
    """out = x^-1 @ b (or x^-T @ b), where lu and pivots are what lu made of x."""
    b, packed = node.get_input("b"), node.get_input("lu")
    rank = rank_of(node, packed)
    trans = node.get_str("trans")
    node.require(trans in ("N", "T", "C"), "unknown transposition", trans=trans)
    order = permutation_matrix(node.get_input("pivots"), dim_of(packed, rank - 2), rank, packed)
    low, high = (ops.inverse(factor, adjoint=False) for factor in unpack_factors(packed, rank))
    if trans == "N":
        return {"out": ops.matmul(high, ops.matmul(low, ops.matmul(order, b, True, False), False, False), False, False)}
    return {"out": ops.matmul(order, ops.matmul(low, ops.matmul(high, b, True, False), True, False), False, False)}


def unpack_factors(packed: Output, rank: int) -> tuple[Node, Node]:
    """The lower factor, with ones on its diagonal, and the upper one."""
    rows, columns = dim_of(packed, rank - 2), dim_of(packed, rank - 1)
    end = ops.unsqueeze(ops.minimum(rows, columns), ints([0]))
    upper = triangle(slice_along(packed, ints([0]), end, rank - 2), rank, upper=True)
    narrow = slice_along(packed, ints([0]), end, rank - 1)
    down, across = row_indices(dim_of(narrow, rank - 2)), index_range(dim_of(narrow, rank - 1))
    below = ops.select(ops.greater(down, across), narrow, const_like(0, packed))
    lower = ops.select(ops.equal(down, across), const_like(1, packed), below)
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
