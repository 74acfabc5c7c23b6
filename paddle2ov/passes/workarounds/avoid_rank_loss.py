"""Keeps the rank that a constant of one element gives to a transposed tensor.

OpenVINO 2026.4 sinks a Transpose through an elementwise node with a constant of one element, whatever the rank of that:
the output has the rank of the transposed tensor.
"""

from __future__ import annotations

from typing import TypeAlias

from openvino import Input, Node

from paddle2ov.graph.constants import ints, number_of
from paddle2ov.graph.opset import create, ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.constants import reshaped_constant
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.kinds import BINARY
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import Rule

_Raised: TypeAlias = tuple[Input, int]
"""The input of an elementwise node that is a constant of higher rank, and how many axes it adds."""


@works_around("transpose_before_constant_of_higher_rank")
class AvoidRankLoss(Rule[_Raised, _Raised]):
    """Replaces a constant of one element and a higher rank by a scalar and an Unsqueeze.

    Given:
        A binary elementwise node, one input of which is a Constant of one element and of higher rank than the other
        input.
    Result:
        The same with a scalar → Unsqueeze.
    """

    roots = tuple(BINARY)
    needs = ("Transpose",)
    counts = ("constants",)

    def pattern(self, graph: Graph, node: Node) -> _Raised | None:
        ranks = [value.get_partial_shape().rank for value in node.input_values()]
        if any(one.is_dynamic for one in ranks) or ranks[0] == ranks[1]:
            return None
        first, second = (one.get_length() for one in ranks)
        port = node.input(0 if first > second else 1)
        return (port, abs(first - second)) if number_of(port.get_source_output()) is not None else None

    def check(self, graph: Graph, match: _Raised) -> _Raised:
        return match

    def rewrite(self, graph: Graph, plan: _Raised) -> Counts:
        port, added = plan
        node, inputs = port.get_node(), port.get_node().input_values()
        inputs[port.get_index()] = reshaped_constant(port.get_source_output(), [])
        lower = create(node.get_type_name(), inputs, node.get_attributes())
        replace(node.output(0), ops.unsqueeze(lower, ints(range(added))).output(0))
        return {"constants": 1}


avoid_rank_loss = AvoidRankLoss()
