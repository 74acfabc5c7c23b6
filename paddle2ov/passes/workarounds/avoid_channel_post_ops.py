"""Repeats constants along axis 1 after a MatMul, so that OpenVINO does not take them for ones along the last axis.

OpenVINO 2026.4 fuses additions, multiplications and slopes into the MatMul before them. At rank 4 or more it takes a
constant along axis 1 for one along the last axis: the result is wrong if both axes have the same size, and the model
does not compile if they have not.
"""

from __future__ import annotations

import math

from msgspec import Struct
from openvino import Node, Output

from paddle2ov.graph.constants import constant_of, ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import Dims, dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import nearest, readers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.kinds import ELEMENTWISE
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule

_FUSED = ("Add", "Divide", "Multiply", "PRelu", "Subtract")


class _Aligned(Struct, frozen=True):
    """A constant along axis 1."""

    node: Node
    port: int
    count: int
    dims: Dims
    """The output dimensions of the node that reads it."""


@works_around("post_op_along_axis_1")
class AvoidChannelPostOps(Rule[list[_Aligned], list[tuple[_Aligned, int]]]):
    """Broadcasts a constant along axis 1 after a MatMul of rank 4 or more along another axis as well.

    Given:
        MatMul of rank 4 or more → elementwise nodes → Add, Divide, Multiply, Subtract or PRelu with a constant of shape
        [1, n, 1, ..., 1], or [n] for PRelu, with n above 1. One of the axes from axis 2 on has a static size above 1.
    Result:
        The constant repeated along the last such axis; OpenVINO reads it element by element.
    """

    roots = ("MatMul",)
    counts = ("constants",)

    def pattern(self, graph: Graph, node: Node) -> list[_Aligned] | None:
        dims = dims_of(node.output(0))
        if dims is None or len(dims) < 4:
            return None
        found = [one for node in nearest(readers(node), _FUSED, ELEMENTWISE, readers) for one in _aligned(node)]
        return found or None

    def check(self, graph: Graph, match: list[_Aligned]) -> list[tuple[_Aligned, int]]:
        found = [(one, axis) for one in match if (axis := _repeat_axis(one.dims)) is not None]
        if not found:
            raise MatchFailureError("no axis from the third on has a known length above 1")
        return found

    def rewrite(self, graph: Graph, plan: list[tuple[_Aligned, int]]) -> Counts:
        for one, axis in plan:
            shape = [1] * len(one.dims)
            shape[1], shape[axis] = one.count, one.dims[axis] or 1
            port = one.node.input(one.port)
            column = ops.reshape(port.get_source_output(), ints([one.count, *[1] * (len(one.dims) - 2)]), False)
            insert([port], ops.broadcast(column, ints(shape)).output(0), one.node)
        return {"constants": len(plan)}


def _aligned(node: Node) -> list[_Aligned]:
    """The constants along axis 1 that a node reads."""
    dims = dims_of(node.output(0))
    found = []
    for i, source in enumerate(node.input_values() if dims is not None else ()):
        assert dims is not None
        count = _along_axis_1(source, len(dims), node.get_type_name() == "PRelu" and i == 1)
        if count:
            found.append(_Aligned(node, i, count, dims))
    return found


def _repeat_axis(dims: Dims) -> int | None:
    """The last axis from the third on that has a known length above 1."""
    return next((i for i in reversed(range(2, len(dims))) if (dims[i] or 1) > 1), None)


def _along_axis_1(value: Output, rank: int, is_slope: bool) -> int:
    """The size of a constant along axis 1; 0 if another axis is above 1, or if it is not constant."""
    shape = dims_of(value)
    if not shape or None in shape or constant_of(value) is None:
        return 0
    count = math.prod(one or 0 for one in shape)
    aligned = shape if is_slope and len(shape) == 1 else shape[1 - rank :][:1] if len(shape) >= rank - 1 else [1]
    return count if count > 1 and aligned == [count] else 0


avoid_channel_post_ops = AvoidChannelPostOps()
