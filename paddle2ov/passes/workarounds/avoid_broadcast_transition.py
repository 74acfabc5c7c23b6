"""Keeps a Broadcast before the arithmetic that reads it, where its result may have no elements.

OpenVINO 2026.4 moves a Broadcast behind a binary operation, to the larger of the target and the operation's shape: a
target of size 0 becomes 1 where the operands have size 1.
"""

from __future__ import annotations

from msgspec import Struct
from openvino import Node

from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import Dims, dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import consumers, only_consumer
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule

_ARITHMETIC = frozenset(
    ["Add", "Divide", "FloorMod", "Maximum", "Minimum", "Mod", "Multiply", "Power", "SquaredDifference", "Subtract"],
)


class _Operand(Struct, frozen=True):
    broadcast: Node
    reader: Node


@works_around("broadcast_to_nothing_moved")
class AvoidBroadcastTransition(Rule[_Operand, Node]):
    """Reads a Broadcast through an axis that is added and dropped again: then OpenVINO does not move it.

    Given:
        Broadcast → binary arithmetic with another tensor, where along some axis the target may be 0 and the operands 1.
    Result:
        Broadcast → Unsqueeze → Squeeze → the arithmetic.
    """

    roots = ("Broadcast",)
    counts = ("broadcasts",)

    def pattern(self, graph: Graph, node: Node) -> _Operand | None:
        reader = only_consumer(node.output(0))
        return _Operand(node, reader) if reader is not None and reader.get_type_name() in _ARITHMETIC else None

    def check(self, graph: Graph, match: _Operand) -> Node:
        broadcast, reader = match.broadcast, match.reader
        if broadcast.get_attributes()["mode"] not in ("numpy", "bidirectional"):
            raise MatchFailureError("OpenVINO does not move a Broadcast of this mode")
        other = next((one for one in reader.input_values() if one.get_node().get_name() != broadcast.get_name()), None)
        result, data = dims_of(broadcast), dims_of(broadcast.input_value(0))
        rest = None if other is None else dims_of(other)
        if result is None or data is None or rest is None:
            raise MatchFailureError("OpenVINO does not move a Broadcast of unknown rank")
        if not any(
            dim in (None, 0) and _may_be_one(data, axis) and _may_be_one(rest, axis)
            for axis, dim in enumerate(reversed(result))
        ):
            raise MatchFailureError("the result has elements, or the operands have as many as the target")
        return broadcast

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        read, zero = consumers(plan.output(0)), ints([0])
        insert(read, ops.squeeze(ops.unsqueeze(plan.output(0), zero), zero).output(0), plan)
        return {"broadcasts": 1}


def _may_be_one(dims: Dims, axis: int) -> bool:
    """Whether the size may be 1 along an axis, counted from the last."""
    return axis >= len(dims) or dims[-1 - axis] in (None, 1)


avoid_broadcast_transition = AvoidBroadcastTransition()
