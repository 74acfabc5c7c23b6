"""Keeps an activation behind a pooling of a convolution.

OpenVINO 2026.4 moves an activation before the MaxPool that it reads, into the convolution before that. That is right
only for functions that never decrease, which is not checked: of GELU, Swish or an absolute value the results differ.
"""

from __future__ import annotations

import numpy as np
from openvino import Node

from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import consumers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.kinds import ELEMENTWISE
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule

_CONVOLUTIONS = frozenset(("Convolution", "GroupConvolution"))
_ACTIVATIONS = ("Abs", "Elu", "Gelu", "HSwish", "Mish", "PRelu", "Selu", "Sign", "Swish")
_PARTS_OF_ONE = ("Divide", "Multiply", "Negative", "Power", "Select", "SquaredDifference", "Subtract")
_DECREASING = frozenset((*_ACTIVATIONS, *_PARTS_OF_ONE))
"""Node types that may decrease, or that write a function which does: x * sigmoid(x), where(x > 0, x, a * x)."""
_MAX_BETWEEN = 8


@works_around("activation_before_pooling")
class AvoidPoolActivation(Rule[Node, Node]):
    """Reads a pooling through a maximum with -∞.

    Given:
        Convolution → possibly elementwise nodes → MaxPool → a function that may decrease.
    Result:
        The function reads max(pooled, -∞), which OpenVINO does not move anything across.
    """

    roots = ("MaxPool",)
    counts = ("pools",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        read = {one.get_node().get_type_name() for one in consumers(node.output(0))}
        return node if read <= ELEMENTWISE and not _DECREASING.isdisjoint(read) else None

    def check(self, graph: Graph, match: Node) -> Node:
        node = match.input_value(0).get_node()
        for _ in range(_MAX_BETWEEN):
            if node.get_type_name() in _CONVOLUTIONS:
                return match
            if node.get_type_name() not in ELEMENTWISE:
                break
            places = range(node.get_input_size())
            place = next((one for one in places if not graph.is_constant(node.input_value(one).get_node())), None)
            if place is None:
                break
            node = node.input_value(place).get_node()
        raise MatchFailureError("what is pooled is not of a convolution")

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        read = consumers(plan.output(0))
        lowest = ops.convert(ops.constant(np.float32(-np.inf)), plan.get_output_element_type(0))
        insert(read, ops.maximum(lowest, plan.output(0)).output(0), plan)
        return {"pools": 1}


avoid_pool_activation = AvoidPoolActivation()
