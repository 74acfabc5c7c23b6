"""Compares integers with 0 where a NonZero would read what they were rounded from.

OpenVINO 2026.4 eliminates a Convert before a NonZero, although numbers below 1 become 0 by it.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule


@works_around("nonzero_of_truncated_numbers")
class AvoidNonzeroOfConvert(Rule[Node, Node]):
    """Looks for what is not 0 among the integers.

    Given:
        Convert of floats to integers → NonZero.
    Result:
        Convert → NotEqual to 0 → NonZero.
    """

    roots = ("NonZero",)
    needs = ("Convert",)
    counts = ("places",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        return node if node.input_value(0).get_node().get_type_name() == "Convert" else None

    def check(self, graph: Graph, match: Node) -> Node:
        convert = match.input_value(0).get_node()
        if not convert.get_input_element_type(0).is_real() or match.get_input_element_type(0).is_real():
            raise MatchFailureError("the conversion makes no zeros")
        return match

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        value = plan.input_value(0)
        zero = ops.convert(ops.constant(0), value.get_element_type())
        insert([plan.input(0)], ops.not_equal(value, zero).output(0), plan)
        return {"places": 1}


avoid_nonzero_of_convert = AvoidNonzeroOfConvert()
