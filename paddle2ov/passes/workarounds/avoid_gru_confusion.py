"""Keeps the gates of a recurrent cell that is written by hand from being taken for those of a GRU.

OpenVINO 2026.4 makes a GRUCell of a cell over joint weights, Concat(x, h), without a look at what the gates multiply:
(1 - z) * n + z * x becomes (1 - z) * n + z * h. With a bias of one dimension it does not compile.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.constants import number_of
from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule


@works_around("gru_cell_of_another_form")
class AvoidGruConfusion(Rule[Node, Node]):
    """Takes the sigmoid of each gate.

    Given:
        Concat → MatMul → Add → Sigmoid → Split in two.
    Result:
        Concat → MatMul → Add → Split in two → Sigmoid of each.
    """

    roots = ("Split",)
    needs = ("Sigmoid",)
    counts = ("gates",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        sigmoid = node.input_value(0).get_node()
        return node if node.get_output_size() == 2 and sigmoid.get_type_name() == "Sigmoid" else None

    def check(self, graph: Graph, match: Node) -> Node:
        source = match.input_value(0).get_node().input_value(0).get_node()
        sides = [one.get_node() for one in source.input_values()] if source.get_type_name() == "Add" else [source]
        products = [one for one in sides if one.get_type_name() == "MatMul"]
        joined = [one for one in products if one.input_value(0).get_node().get_type_name() == "Concat"]
        if not joined:
            raise MatchFailureError("the gates are not of joint weights")
        if number_of(match.input_value(1)) is None:
            raise MatchFailureError("the axis is computed")
        return match

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        before = plan.input_value(0).get_node().input_value(0)
        for old, part in zip(plan.outputs(), ops.split(before, plan.input_value(1), 2).outputs(), strict=True):
            replace(old, ops.sigmoid(part).output(0))
        return {"gates": 2}


avoid_gru_confusion = AvoidGruConfusion()
