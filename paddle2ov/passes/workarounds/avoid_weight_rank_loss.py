"""Keeps the rank that a constant of higher rank gives to a linear layer or an RMS norm.

OpenVINO 2026.4 makes one node of x / sqrt(mean(x²) + epsilon) * weight, whose output has the shape of x, and one of a
product with constant weights and a bias, whose output has the rank of the product: also where weight or bias have more
axes.
"""

from __future__ import annotations

from typing import TypeAlias

from openvino import Input, Node

from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import create, ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.constants import reshaped_constant
from paddle2ov.passes.consumers import nearest
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule

_FUSED = ("MatMul", "ReduceMean")
_BETWEEN = frozenset({"Add", "Divide", "Multiply", "Power", "Sqrt", "Subtract"})

_Raised: TypeAlias = tuple[Input, int]
"""The input of an elementwise node that is a constant of higher rank, and how many axes it adds."""


@works_around("bias_of_higher_rank", "weight_of_norm_of_higher_rank")
class AvoidWeightRankLoss(Rule[_Raised, _Raised]):
    """Replaces a constant of higher rank by one of the rank of the other operand, and an Unsqueeze.

    Given:
        A sum, difference, product or quotient of a Constant whose additional axes have size 1, and of a tensor that is
        computed from a MatMul or a ReduceMean by such nodes, powers and roots.
    Result:
        The same with a constant of the rank of the tensor → Unsqueeze.
    """

    roots = ("Add", "Divide", "Multiply", "Subtract")
    counts = ("constants",)

    def pattern(self, graph: Graph, node: Node) -> _Raised | None:
        shapes = [value.get_partial_shape() for value in node.input_values()]
        if any(shape.rank.is_dynamic for shape in shapes) or len(shapes[0]) == len(shapes[1]):
            return None
        port = node.input(0 if len(shapes[0]) > len(shapes[1]) else 1)
        added = abs(len(shapes[0]) - len(shapes[1]))
        is_constant = port.get_source_output().get_node().get_type_name() == "Constant"
        return (port, added) if is_constant and list(port.get_shape())[:added] == [1] * added else None

    def check(self, graph: Graph, match: _Raised) -> _Raised:
        port, _ = match
        other = port.get_node().input_value(1 - port.get_index()).get_node()
        if not nearest([other], _FUSED, _BETWEEN, _sources):
            raise MatchFailureError("neither a product of matrices nor a mean is before it")
        return match

    def rewrite(self, graph: Graph, plan: _Raised) -> Counts:
        port, added = plan
        node, inputs = port.get_node(), port.get_node().input_values()
        inputs[port.get_index()] = reshaped_constant(port.get_source_output(), list(port.get_shape())[added:])
        lower = create(node.get_type_name(), inputs, node.get_attributes())
        replace(node.output(0), ops.unsqueeze(lower, ints(range(added))).output(0))
        return {"constants": 1}


def _sources(node: Node) -> list[Node]:
    return [value.get_node() for value in node.input_values()]


avoid_weight_rank_loss = AvoidWeightRankLoss()
