"""Replaces products with a matrix of one element by multiplications.

On one thread, OpenVINO 2026.4 compiles a chain of layers (matrix product, activation, matrix product, ...) to one
kernel. This does not compile if the first matrix has one element ("Layout rank can't be larger than tensor rank").
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.expected_dims import expect_dims
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule


@works_around("layers_of_one_weight")
class AvoidUnitWeights(Rule[Node, Node]):
    """Turns a MatMul with a [1, 1] matrix into a Multiply.

    Given:
        MatMul of a tensor of rank 2, not transposed, by [1, 1].
    Result:
        Multiply of both. A dynamic width is checked first, so that any other width is still an error.
    """

    roots = ("MatMul",)
    counts = ("products",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        return node if dims_of(node.input_value(1)) == [1, 1] else None

    def check(self, graph: Graph, match: Node) -> Node:
        rank = match.input_value(0).get_partial_shape().rank
        if rank.is_dynamic or rank.get_length() != 2:
            raise MatchFailureError("the tensor does not have two axes")
        if match.get_attributes()["transpose_a"]:
            raise MatchFailureError("the tensor is transposed")
        return match

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        x, weight = plan.input_values()
        if (dims_of(x) or [None])[-1] is None:
            x = expect_dims(x, {1: 1})
        replace(plan.output(0), ops.multiply(x, weight).output(0))
        return {"products": 1}


avoid_unit_weights = AvoidUnitWeights()
