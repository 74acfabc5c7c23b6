"""Computes products with batched constant weights at rank 4.

OpenVINO 2026.4 takes a MatMul with constant weights of rank 3 for a fully connected layer, whose output has the batch
of the data even if the data is broadcast to the batch of the weights. Unless all dimensions are static, [1, N, 4] by
[3, 4, 5] fails when it runs, and [N, 4] by [3, 4, 5] does not compile.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.independence import may_be_constant
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule


@works_around("matmul_of_constant_matrices", "matmul_of_constant_matrices_with_batch")
class AvoidBatchedWeights(Rule[Node, Node]):
    """Raises a MatMul of broadcast data and batched weights to rank 4.

    Given:
        MatMul of data [M, K] or [B, M, K], with a dynamic dimension and B not known to equal E, and weights [E, K, N]
        that are computed from constants, E other than 1. Either may be transposed.
    Result:
        data → Unsqueeze to rank 4, weights → Unsqueeze → MatMul → Squeeze.
    """

    roots = ("MatMul",)
    counts = ("products",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        data, weights = dims_of(node.input_value(0)), dims_of(node.input_value(1))
        if data is None or weights is None or len(weights) != 3 or weights[0] == 1 or len(data) not in (2, 3):
            return None
        return node if None in data else None

    def check(self, graph: Graph, match: Node) -> Node:
        data, weights = dims_of(match.input_value(0)) or [], dims_of(match.input_value(1)) or []
        if len(data) == 3 and data[0] is not None and data[0] == weights[0]:
            raise MatchFailureError("nothing is broadcast")
        if not may_be_constant(match.input_value(1)):
            raise MatchFailureError("the weights are computed from tensors of unknown shape")
        return match

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        data, weights = plan.input_values()
        rank = len(dims_of(data) or ())
        attributes = plan.get_attributes()
        product = ops.matmul(
            ops.unsqueeze(data, ints(range(4 - rank))),
            ops.unsqueeze(weights, ints([0])),
            attributes["transpose_a"],
            attributes["transpose_b"],
        )
        replace(plan.output(0), ops.squeeze(product, ints([0])).output(0))
        return {"products": 1}


avoid_batched_weights = AvoidBatchedWeights()
