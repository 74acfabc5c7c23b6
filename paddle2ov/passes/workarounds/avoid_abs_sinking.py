"""Computes Abs of rank 1 at rank 2, so that OpenVINO does not move it before a Concat.

OpenVINO 2026.4 moves an Abs of rank 1 to the inputs of the Concat that it reads (`AbsSinking`, meant for shapes),
whatever else reads the Concat: in y / |y|.sum() of joined vectors, y became |y|.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import consumers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import Rule


@works_around("abs_of_joined_vectors")
class AvoidAbsSinking(Rule[Node, Node]):
    """Puts an Abs of rank 1 between an Unsqueeze and a Squeeze.

    Given:
        Abs of rank 1 of what is not an input itself. The Concat may be several nodes before, which OpenVINO eliminates.
    Result:
        Unsqueeze → Abs → Squeeze.
    """

    roots = ("Abs",)
    counts = ("abs",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        rank = node.get_output_partial_shape(0).rank
        is_vector = rank.is_static and rank.get_length() == 1
        return node if is_vector and node.input_value(0).get_node().get_type_name() != "Parameter" else None

    def check(self, graph: Graph, match: Node) -> Node:
        return match

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        reading = consumers(plan.output(0))
        plan.input(0).replace_source_output(ops.unsqueeze(plan.input_value(0), ints([0])).output(0))
        plan.validate_and_infer_types()
        insert(reading, ops.squeeze(plan, ints([0])).output(0), plan)
        return {"abs": 1}


avoid_abs_sinking = AvoidAbsSinking()
