"""Replaces the matrix product of attention over a single key by a multiplication.

In bfloat16, on processors without AMX, OpenVINO 2026.4 returns zeros for the first query if the batch is dynamic and
several queries attend to one key.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule


@works_around("one_key_of_many_queries")
class AvoidProductOfOne(Rule[Node, Node]):
    """Multiplies the softmax over one key by the value of that key.

    Given:
        Softmax [..., q, 1] → MatMul with [..., 1, d], neither transposed.
    Result:
        Softmax → Multiply.
    """

    roots = ("MatMul",)
    needs = ("Softmax",)
    counts = ("products",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        weights, values = dims_of(node.input_value(0)), dims_of(node.input_value(1))
        if weights is None or values is None or min(len(weights), len(values)) < 2 or weights[-1] != 1:
            return None
        return node if node.input_value(0).get_node().get_type_name() == "Softmax" else None

    def check(self, graph: Graph, match: Node) -> Node:
        attributes = match.get_attributes()
        if attributes["transpose_a"] or attributes["transpose_b"]:
            raise MatchFailureError("one of the operands is transposed")
        if (dims_of(match.input_value(1)) or [None, None])[-2] != 1:
            raise MatchFailureError("it is not known that there is one value")
        return match

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        replace(plan.output(0), ops.multiply(plan.input_value(0), plan.input_value(1)).output(0))
        return {"products": 1}


avoid_product_of_one = AvoidProductOfOne()
