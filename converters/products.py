"""Kronecker and cross products, distances, cosines, and selection between tensors.

Paddle: `kron`, `cross`, `dist`, `multiplex`; in programs of Paddle 1 `cos_sim`, `conv_shift`.
Semantics: `paddle/phi/kernels/impl/{kron,dist}_kernel_impl.h`, `paddle/phi/kernels/cpu/{cross,multiplex}_kernel.cc`,
`paddle/fluid/operators/{cos_sim,conv_shift}_op.h` of Paddle 1.8.
Refused: a `conv_shift` by a filter of unknown width.
"""

from __future__ import annotations

from functools import reduce

from openvino import Node, Output

from paddle2ov.converters.graph.common import const_like, reshape
from paddle2ov.converters.graph.computed_axis import front_permutations
from paddle2ov.converters.graph.dims import normalize_axis, rank_of, shape_of
from paddle2ov.converters.graph.operands import operands
from paddle2ov.converters.graph.reshaping import scalar_as_declared
from paddle2ov.converters.graph.selection import exact_select
from paddle2ov.converters.graph.spatial import ranked_dims
from paddle2ov.converters.reduction import lp_norm
from paddle2ov.graph import arrays
from paddle2ov.graph.expected_dims import expect_dims
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import static_dims
from paddle2ov.graph.types import numpy_dtype
from paddle2ov.graph.values import ConstantValue
from paddle2ov.graph.workarounds import works_around
from paddle2ov.program.budget import check_repeats
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

_AXIS_NOT_SET = 9


def kron(node: NodeContext) -> NamedOutputs:
    """out = each element of x times y, in blocks (Kronecker product); the shorter shape has leading ones added."""
    x, y = operands(node)
    rank = max(rank_of(node, x), rank_of(node, y))
    if rank == 0:
        return {"out": ops.multiply(x, y)}
    first, second = (
        ops.unsqueeze(value, ints(list(range(rank - own)))) if (own := rank_of(node, value)) < rank else value
        for value in (x, y)
    )
    blocks = ops.unsqueeze(first, ints([2 * i + 1 for i in range(rank)]))
    block = ops.unsqueeze(second, ints([2 * i for i in range(rank)]))
    shape = ops.multiply(shape_of(first), shape_of(second))
    return {"out": ops.reshape(ops.multiply(blocks, block), shape, False)}


def cross(node: NodeContext) -> NamedOutputs:
    """out = the cross product of x and y along axis, by default the first axis of length 3."""
    x, y = operands(node)
    rank = rank_of(node, x)
    axis = node.get_int("axis", _AXIS_NOT_SET)
    if axis == _AXIS_NOT_SET and (axis_of_three := _axis_of_three(node, x)) is not None:
        axis = axis_of_three
    if axis != _AXIS_NOT_SET:
        return {"out": _cross_product(x, y, normalize_axis(node, axis, rank))}
    # The axis is known only at run time.
    all_axes = ints(list(range(rank)))
    of_three = ops.select(ops.equal(shape_of(x), ints(3)), all_axes, ints(rank - 1))
    front, back = front_permutations(ops.reduce_min(of_three, ints([0]), False), rank)
    product = _cross_product(ops.transpose(x, front).output(0), ops.transpose(y, front).output(0), 0)
    return {"out": ops.transpose(product, back)}


def _cross_product(x: Output, y: Output, axis: int) -> Node:
    x, y = expect_dims(x, {axis: 3}), expect_dims(y, {axis: 3})

    def rolled(value: Output, by: int) -> Node:
        return ops.gather(value, ints([by % 3, (by + 1) % 3, (by + 2) % 3]), ints(axis))

    first = ops.multiply(rolled(x, 1), rolled(y, 2))
    return ops.subtract(first, ops.multiply(rolled(x, 2), rolled(y, 1)))


def _axis_of_three(node: NodeContext, x: Output) -> int | None:
    """The first axis of length 3, or None where an unknown one comes before it."""
    declared = node.declared_output_shape() or ()
    for axis, dim in enumerate(x.get_partial_shape()):
        known = int(dim.get_length()) if dim.is_static else declared[axis] if axis < len(declared) else -1
        if known == 3:
            return axis
        if known < 0:
            return None
    node.refuse("no dimension of 3", axis=_AXIS_NOT_SET)


def dist(node: NodeContext) -> NamedOutputs:
    """out = (Σ |x - y|^p)^(1/p); p = 0 counts differences, ±∞ takes the largest or smallest."""
    x, y = operands(node)
    p = node.get_float("p", 2.0)
    if any(0 in (static_dims(value) or ()) for value in (x, y)):
        return {
            "out": ConstantValue(arrays.zeros(node.declared_output_shape() or (), numpy_dtype(x.get_element_type())))
        }
    gap = ops.subtract(x, y).output(0)
    return {"out": scalar_as_declared(node, lp_norm(gap, p, list(range(rank_of(node, gap))), False))}


@works_around("gather_in_one_batch")
def multiplex(node: NodeContext) -> NamedOutputs:
    """out[i] = inputs[index[i]][i]: each row from the input at index."""
    out, *others = node.get_inputs("inputs")
    index = reshape(node.get_input("index"), [-1] + [1] * (rank_of(node, out) - 1))
    # Not Gather with batch_dims: OpenVINO 2026.4 crashes on it where there is a single row.
    for k, x in enumerate(others, 1):
        out = exact_select(ops.equal(index, const_like(k, index)), x, out).output(0)
    return {"out": out}


def cos_sim(node: NodeContext) -> NamedOutputs:
    """out = x · y / (|x| |y|) for each row of x and of y, or the one row of y; x_norm = |x|, y_norm = |y|."""
    x, y = (ops.reshape(node.get_input(name), ints([0, -1]), True) for name in ("x", "y"))
    x_norm, y_norm = (ops.sqrt(ops.reduce_sum(ops.multiply(value, value), ints([1]), True)) for value in (x, y))
    product = ops.reduce_sum(ops.multiply(x, y), ints([1]), True)
    return {"out": ops.divide(ops.divide(product, x_norm), y_norm), "x_norm": x_norm, "y_norm": y_norm}


def conv_shift(node: NodeContext) -> NamedOutputs:
    """out[b, i] = Σ_j x[b, i + j - (n - 1) / 2] · y[b, j], n being the width of y and the rows of x circular."""
    x, y = node.get_input("x"), node.get_input("y")
    width = ranked_dims(y)[1]
    if not width:
        node.refuse("a filter of unknown width, or without elements, is not supported")
    terms: list[Node] = []
    for j in range(check_repeats(width)):
        moved = ops.roll(x, ints([(width - 1) // 2 - j]), ints([1]))
        terms.append(ops.multiply(moved, ops.gather(y, ints([j]), ints(1))))
    return {"out": reduce(ops.add, terms)}
