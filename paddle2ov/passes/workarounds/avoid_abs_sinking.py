"""Computes Abs of rank 1 at rank 2, so that OpenVINO does not move it before a Concat.

OpenVINO 2026.4 moves an Abs of rank 1 to the inputs of the Concat that it reads (`AbsSinking`, meant for shapes),
whatever else reads the Concat: in y / |y|.sum() of joined vectors, y became |y|.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.opset import ops
from paddle2ov.graph.upstream import sources_of, upstream
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph, consumers, insert, ints
from paddle2ov.passes.kinds import REDUCTIONS
from paddle2ov.passes.rule import Rule

_JOINED = ("Concat", "If", "Loop", "TensorIterator")
_MAY_COMPUTE_NOTHING = REDUCTIONS | {
    *("Abs", "Add", "BatchToSpace", "Broadcast", "Convert", "DepthToSpace", "Divide", "FakeQuantize", "Gather"),
    *("LogicalAnd", "LogicalOr", "Maximum", "Minimum", "Multiply", "Pad", "Power", "Relu", "Reshape", "Roll", "Select"),
    *("Slice", "SpaceToBatch", "SpaceToDepth", "Split", "Squeeze", "StridedSlice", "Subtract", "Tile", "Transpose"),
    *("Unsqueeze", "VariadicSplit"),
}
"""Node types that OpenVINO eliminates where their other inputs say that they change nothing, or that move elements."""


@works_around("abs_of_joined_vectors")
class AvoidAbsSinking(Rule[Node, Node]):
    """Puts an Abs of rank 1 between an Unsqueeze and a Squeeze.

    Given:
        Abs of rank 1 that reads a Concat, perhaps through nodes that may compute nothing, which OpenVINO eliminates, or
        what a branch or a loop returns, which OpenVINO may put in their place.
    Result:
        Unsqueeze → Abs → Squeeze.
    """

    roots = ("Abs",)
    counts = ("abs",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        rank = node.get_output_partial_shape(0).rank
        is_vector = rank.is_static and rank.get_length() == 1
        return node if is_vector and any(one.get_type_name() in _JOINED for one in upstream([node], _same)) else None

    def check(self, graph: Graph, match: Node) -> Node:
        return match

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        reading = consumers(plan.output(0))
        plan.input(0).replace_source_output(ops.unsqueeze(plan.input_value(0), ints([0])).output(0))
        plan.validate_and_infer_types()
        insert(reading, ops.squeeze(plan, ints([0])).output(0), plan)
        return {"abs": 1}


def _same(node: Node) -> list[Node]:
    """What a node hands on if it computes nothing."""
    return sources_of(node) if node.get_type_name() in _MAY_COMPUTE_NOTHING else []


avoid_abs_sinking = AvoidAbsSinking()
