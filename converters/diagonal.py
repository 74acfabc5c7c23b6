"""Diagonals and triangles of matrices.

Paddle: `diag_v2` (PIR `diag`), `diag` of Paddle 1, `diag_embed`, `diagonal`, `trace`, `fill_diagonal`,
`fill_diagonal_tensor`, `tril_triu`, `tril`, `triu`.
Semantics: `paddle/phi/kernels/cpu/{diag,diag_embed,diagonal,trace,tril_triu}_kernel.cc`,
`paddle/phi/kernels/cpu/{fill_diagonal,fill_diagonal_tensor}_kernel.cc`.
"""

from __future__ import annotations

from collections.abc import Sequence

from openvino import Dimension, Node, Output

from paddle2ov.converters.graph.common import Tensor, cast_to, const, const_like, prevent_fusion
from paddle2ov.converters.graph.dims import dim_of, dim_range, index_range, normalize_axis, rank_of, shape_of
from paddle2ov.converters.graph.reshaping import scalar_as_declared
from paddle2ov.converters.graph.selection import exact_select, gather_or_empty
from paddle2ov.graph.opaque_values import opaque_one
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.permutation import permute
from paddle2ov.graph.terms import Term
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def _offsets(x: Tensor) -> Node:
    """column − row of each element of the last two dimensions of `x`."""
    rows, columns = index_range(dim_of(x, -2)), index_range(dim_of(x, -1))
    return ops.subtract(ops.unsqueeze(columns, ints(0)), ops.unsqueeze(rows, ints(1)))


def tril_triu(node: NodeContext) -> NamedOutputs:
    """out = x on and below (lower) or above the diagonal, else 0."""
    x = node.get_input("x")
    diagonal = node.get_int("diagonal", 0)
    kind = node.op_type.removesuffix("_grad")
    lower = kind == "tril" or (kind == "tril_triu" and node.get_bool("lower", False))
    compare = ops.less_equal if lower else ops.greater_equal
    return {"out": exact_select(compare(_offsets(x), ints(diagonal)), x, const_like(0, x))}


def diag_v2(node: NodeContext) -> NamedOutputs:
    """out = a matrix with the vector x on a diagonal, padding_value elsewhere; of a matrix x, its diagonal."""
    x = node.get_input("x")
    offset = node.get_int("offset", 0)
    rank = rank_of(node, x)
    if rank == 2:
        return {"out": diagonal_of(x, offset)}
    if rank == 0:
        x = ops.reshape(x, ints([1]), False).output(0)
    return {"out": _embed_diagonal(x, offset, node.get_float("padding_value", 0.0, may_be_nan=True))}


def _embed_diagonal(x: Output, offset: int, padding: float) -> Node:
    """A matrix (for each outer index) with the last dimension of `x` on the diagonal `offset`."""
    size = ops.add(dim_of(x, -1), ints(abs(offset)))
    positions = index_range(size)
    on_diagonal = ops.equal(
        ops.subtract(ops.unsqueeze(positions, ints(0)), ops.unsqueeze(positions, ints(1))), ints(offset)
    )
    # Each column (or, below the diagonal, each row) holds one element of x: repeat x along the other one.
    shape = ops.concat([dim_range(x, 0, -1), ints([abs(offset)])], 0)
    before = ops.broadcast(const_like(padding, x), shape)
    padded = ops.concat([before, x], -1) if offset else x
    axis = -2 if offset >= 0 else -1
    return exact_select(on_diagonal, ops.unsqueeze(padded, ints(axis)), const_like(padding, x))


@works_around("gather_by_index_that_is_always_empty")
def diagonal_of(x: Output, offset: int) -> Node:
    """The diagonal `offset` of the last two dimensions of `x`, as its last dimension."""
    dims = shape_of(x)
    first_row, first_column = max(-offset, 0), max(offset, 0)
    outer = ops.slice(dims, ints([0]), ints([-2]), ints([1]))
    known = zip(x.get_partial_shape()[-2:], (first_row, first_column), strict=True)
    if any(dim.is_static and dim.get_length() <= first for dim, first in known):
        # It is beside the matrix. OpenVINO 2026.4 does not compile a Gather with an empty index.
        return ops.broadcast(const_like(0, x), ops.concat([outer, ints([0])], 0))
    rows, columns = ops.gather(dims, ints(-2), ints(0)), ops.gather(dims, ints(-1), ints(0))
    fixed = _fixed_length(x.get_partial_shape()[-2], first_row, x.get_partial_shape()[-1], first_column)
    if fixed is not None:
        length: Node = ints(fixed)
    else:
        length = ops.minimum(ops.subtract(rows, ints(first_row)), ops.subtract(columns, ints(first_column)))
        length = _hidden_length(ops.maximum(length, ints(0)), x)
    index = index_range(length)
    flat_index = ops.add(
        ops.multiply(index, ops.add(columns, ints(1))),
        ops.add(ops.multiply(ints(first_row), columns), ints(first_column)),
    )
    flat = ops.reshape(x, ops.concat([outer, ops.unsqueeze(ops.multiply(rows, columns), ints(0))], 0), False)
    return gather_or_empty(flat.output(0), flat_index.output(0), len(x.get_partial_shape()) - 2)


def _hidden_length(length: Node, x: Output) -> Node:
    """The length of a diagonal, hidden from constant folding.

    OpenVINO 2026.4 may fold it once more dimensions are static, and does not compile a Gather along such a Range.
    """
    one = opaque_one([x])
    return length if one is None else ops.multiply(length, ops.squeeze(one, ints([0])))


def _fixed_length(rows: Dimension, first_row: int, columns: Dimension, first_column: int) -> int | None:
    """The length of a diagonal, if the bounds of the dimensions leave one."""
    sides = ((rows, first_row), (columns, first_column))
    shortest = min(side.get_min_length() - first for side, first in sides)
    longest = [side.get_max_length() - first for side, first in sides if side.get_max_length() >= 0]
    return max(shortest, 0) if longest and max(min(longest), 0) == max(shortest, 0) else None


def _order(node: NodeContext, rank: int, names: Sequence[str], defaults: Sequence[int] = (0, 1)) -> list[int]:
    """The order of axes that has those of a diagonal at the end."""
    axis1, axis2 = (
        normalize_axis(node, node.get_int(name, default), rank, name)
        for name, default in zip(names, defaults, strict=True)
    )
    node.require(axis1 != axis2, "the two axes must differ", **dict(zip(names, (axis1, axis2), strict=True)))
    return [*(i for i in range(rank) if i not in (axis1, axis2)), axis1, axis2]


def _diagonal(node: NodeContext) -> Node:
    x = node.get_input("x")
    order = _order(node, rank_of(node, x), ("axis1", "axis2"))
    return diagonal_of(permute(x, order), node.get_int("offset", 0))


def diagonal(node: NodeContext) -> NamedOutputs:
    """out[..., i] = x[..., i, i + offset] over the axes axis1 and axis2."""
    return {"out": _diagonal(node)}


def trace(node: NodeContext) -> NamedOutputs:
    """out = the sum of the diagonal over the axes axis1 and axis2."""
    diagonal = _diagonal(node)
    total = prevent_fusion(diagonal, ops.reduce_sum(diagonal, ints([-1]), False), [-1])
    return {"out": scalar_as_declared(node, total)}


def diag_embed(node: NodeContext) -> NamedOutputs:
    """out = zeros with the last dimension of input on the diagonal `offset` of the new axes dim1 and dim2."""
    x = node.get_input("input")
    rank = rank_of(node, x) + 1
    order = _order(node, rank, ("dim1", "dim2"), (-2, -1))
    out = _embed_diagonal(x, node.get_int("offset", 0), 0.0).output(0)
    return {"out": permute(out, [order.index(i) for i in range(rank)])}


def fill_diagonal(node: NodeContext) -> NamedOutputs:
    """out = x with value on the diagonal `offset`; with wrap again below it, after an empty row.

    Paddle's kernel fills the flattened tensor with the stride of the diagonal: the first columns² elements, which for a
    cube is the first corner only, or with wrap all of them.
    """
    x = node.get_input("x")
    offset, dims = node.get_int("offset", 0), shape_of(x)
    columns = dim_of(x, 1)
    count = ops.reduce_prod(dims, ints([0]), False)
    step: Node = ints(1)
    for axis in range(rank_of(node, x) - 1, 0, -1):
        step = ops.add(step, ops.reduce_prod(dim_range(x, axis), ints([0]), False))
    end = count if node.get_bool("wrap", False) else ops.minimum(count, ops.multiply(columns, columns))
    start = Term(ops.subtract(index_range(count), ints(offset)))
    column = Term(ops.add(ops.floor_mod(start.value, columns), ints(offset)))
    is_along = Term(ops.floor_mod(start.value, step)).equals(0)
    hit = is_along & (start >= 0) & (start < Term(end)) & (column >= 0) & (column < Term(columns))
    value = const(node.get_float("value", 0.0, may_be_nan=True), x.get_element_type())
    return {"out": exact_select(ops.reshape(hit.value, dims, False), value, x)}


def fill_diagonal_tensor(node: NodeContext) -> NamedOutputs:
    """out = x with the last dimension of y on the diagonal `offset` of the axes dim1 and dim2."""
    x, y = node.get_input("x"), node.get_input("y")
    rank = rank_of(node, x)
    offset, order = node.get_int("offset", 0), _order(node, rank, ("dim1", "dim2"))
    moved = permute(x, order)
    if rank == 2:  # [1, n] counts as [n]
        y = ops.reshape(y, ints([-1]), False).output(0)
    # Row r, or column c for a diagonal below the main one, takes the element min(r, c) of y.
    position = index_range(dim_of(moved, -2 if offset >= 0 else -1))
    last = ops.subtract(dim_of(y, -1), ints(1))
    taken = ops.gather(y, ops.minimum(position, last), ints(-1))
    expanded = ops.unsqueeze(taken, ints(-1 if offset >= 0 else -2))
    is_diagonal = ops.equal(_offsets(moved), ints(offset))
    filled = exact_select(is_diagonal, cast_to(expanded, x.get_element_type()), moved).output(0)
    return {"out": permute(filled, [order.index(i) for i in range(rank)])}
