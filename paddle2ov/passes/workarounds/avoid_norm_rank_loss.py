"""Keeps the rank that a weight of higher rank gives to what an RMS norm has normalized.

OpenVINO 2026.4 makes one node of x / sqrt(mean(x²) + epsilon) * weight, whose output has the shape of x, also where the
weight has more axes.
"""

from __future__ import annotations

from typing import TypeAlias

from openvino import Input, Node

from paddle2ov.graph.constants import constant_of, ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.constants import reshaped_constant
from paddle2ov.passes.consumers import nearest
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule

_NORM = frozenset({"Add", "Divide", "Multiply", "Power", "Sqrt"})

_Raised: TypeAlias = tuple[Input, int]
"""The input of a Multiply that is a constant of higher rank, and how many axes it adds."""


@works_around("weight_of_norm_of_higher_rank")
class AvoidNormRankLoss(Rule[_Raised, _Raised]):
    """Replaces a weight of higher rank by one of the rank of the normalized tensor, and an Unsqueeze.

    Given:
        A Multiply of a tensor that is computed from a ReduceMean by sums, products, quotients, powers and roots, and a
        Constant of higher rank, whose additional axes have size 1.
    Result:
        The same with a constant of the rank of the tensor → Unsqueeze.
    """

    roots = ("Multiply",)
    needs = ("ReduceMean",)
    counts = ("weights",)

    def pattern(self, graph: Graph, node: Node) -> _Raised | None:
        for port in node.inputs():
            array, rank = (
                constant_of(port.get_source_output()),
                node.input(1 - port.get_index()).get_partial_shape().rank,
            )
            if array is not None and rank.is_static and array.ndim > rank.get_length():
                added = array.ndim - rank.get_length()
                return (port, added) if array.shape[:added] == (1,) * added else None
        return None

    def check(self, graph: Graph, match: _Raised) -> _Raised:
        port, _ = match
        normalized = port.get_node().input_value(1 - port.get_index()).get_node()
        if not nearest([normalized], ("ReduceMean",), _NORM, _sources):
            raise MatchFailureError("what it multiplies is not normalized")
        return match

    def rewrite(self, graph: Graph, plan: _Raised) -> Counts:
        port, added = plan
        node, inputs = port.get_node(), port.get_node().input_values()
        shape = list(port.get_shape())[added:]
        inputs[port.get_index()] = reshaped_constant(port.get_source_output(), shape)
        replace(node.output(0), ops.unsqueeze(ops.multiply(inputs[0], inputs[1]), ints(range(added))).output(0))
        return {"weights": 1}


def _sources(node: Node) -> list[Node]:
    return [value.get_node() for value in node.input_values()]


avoid_norm_rank_loss = AvoidNormRankLoss()
