"""Keeps a factor of a grouped convolution with computed filters apart from it.

OpenVINO 2026.4 multiplies the filters by such a factor before they are reshaped, also those of other convolutions that
read the same.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import consumers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule


@works_around("factor_of_shared_group_filters")
class AvoidSharedFilterFactors(Rule[Node, Node]):
    """Lets the factor read the convolution through an axis that is added and dropped again.

    Given:
        GroupConvolution with computed filters → Multiply by a constant.
    Result:
        GroupConvolution → Unsqueeze → Squeeze → Multiply.
    """

    roots = ("GroupConvolution",)
    needs = ("Multiply",)
    counts = ("convolutions",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        read = [one.get_node().get_type_name() for one in consumers(node.output(0))]
        return node if "Multiply" in read else None

    def check(self, graph: Graph, match: Node) -> Node:
        if graph.is_constant(match.input_value(1).get_node()):
            raise MatchFailureError("the filters are constant")
        return match

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        read = [one for one in consumers(plan.output(0)) if one.get_node().get_type_name() == "Multiply"]
        zero = ints([0])
        apart = ops.squeeze(ops.unsqueeze(plan.output(0), zero), zero)
        insert(read, apart.output(0), plan)
        return {"convolutions": 1}


avoid_shared_filter_factors = AvoidSharedFilterFactors()
