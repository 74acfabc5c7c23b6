"""Axes that are known only at run time: a transpose by a computed permutation moves them to the front, and back.

OpenVINO's operators need their axes at conversion. A rank that depends on such an axis is refused if it is needed.
"""

from __future__ import annotations

from collections.abc import Callable

from openvino import Node, Output

from paddle2ov.converters.graph.common import Tensor
from paddle2ov.converters.graph.dims import int_vector, shape_of
from paddle2ov.graph.expected_dims import of_length
from paddle2ov.graph.opset import ints, ops
from paddle2ov.translation.node_context import NodeContext


def computed_axis(node: NodeContext, rank: int) -> Node:
    """A single axis, 0-D and counted from the front."""
    return ops.floor_mod(ops.reshape(int_vector(node, "axis"), ints([]), False), ints(rank))


def front_permutations(axis: Tensor, rank: int) -> tuple[Node, Node]:
    """The permutations that move an axis (0-D, not negative) to the front, and back."""
    all_axes = ints(list(range(rank)))
    # The axes before this one move back by one.
    front = ops.select(ops.less_equal(all_axes, axis), ops.subtract(all_axes, ints(1)), all_axes)
    back = ops.select(ops.less(all_axes, axis), ops.add(all_axes, ints(1)), all_axes)
    return (
        ops.select(ops.equal(all_axes, ints(0)), axis, front),
        ops.select(ops.equal(all_axes, axis), ints(0), back),
    )


def computed_axes(node: NodeContext) -> tuple[Output, int]:
    """Axes that the program computes, and their number, which must be known."""
    axes = int_vector(node, "axis")
    count = axes.get_partial_shape()[0]
    if count.is_dynamic:
        node.refuse("'axis' is computed by the program, and how many axes it names is not known")
    return axes, int(count.get_length())


def reduce_over_computed_axes(
    node: NodeContext, reduce: Callable[..., Node], x: Tensor, rank: int, keepdim: bool
) -> Node:
    """`x` reduced over the input `axis`, whose number of axes is known."""
    axes, count = computed_axes(node)
    all_axes, one = ints(list(range(rank))), ints(1)
    same = ops.equal(ops.unsqueeze(ops.floor_mod(axes, ints(rank)), ints(1)), all_axes)
    chosen = ops.reduce_logical_or(same, ints([0]), False)
    if count == 0:  # Paddle reduces over all
        chosen = ops.equal(all_axes, all_axes)
    left = ops.squeeze(ops.non_zero(ops.logical_not(chosen), "i64"), ints([0]))
    order = ops.concat([ops.squeeze(ops.non_zero(chosen, "i64"), ints([0])), left], 0)
    dims = shape_of(x)
    # As a matrix, whose rows are the reduced axes.
    ones = ops.select(chosen, one, dims)
    sizes = [ops.reduce_prod(size, ints([0]), True) for size in (ops.select(chosen, dims, one), ones)]
    matrix = ops.transpose(x, of_length(order, rank))
    out = reduce(ops.reshape(matrix, ops.concat(sizes, 0), False), ints([0]), False)
    if keepdim:
        return ops.reshape(out, ones, False)
    rest = rank - (count or rank)
    return ops.reshape(out, of_length(ops.gather(dims, left, ints(0)), rest), False)
