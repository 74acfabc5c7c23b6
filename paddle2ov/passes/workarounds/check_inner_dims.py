"""Checks at run time that the data of a MatMul has as many features as its constant weights.

For data whose last dimension is dynamic at compilation, OpenVINO's CPU plugin (2026.4) computes a MatMul with constant
weights of [8, 4] whatever that dimension turns out to be: it reads eight numbers per row, whether or not they belong to
the tensor. Most other nodes check their inputs at run time.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.expected_dims import expect_dims
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.independence import may_be_constant
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule


@works_around("matmul_of_another_width")
class CheckInnerDims(Rule[tuple[Node, int], tuple[Node, int, int]]):
    """Reshapes data with an unknown number of features to the number that the weights have.

    Given:
        MatMul of data with a dynamic number of features and weights for a static number, which are computed from
        constants or from inputs of static shape.
    Result:
        data → Reshape to that number and a further dimension of 1, the others as they are → Squeeze → MatMul. The two
        move no data, and fail for any other number.
    """

    roots = ("MatMul",)
    counts = ("products",)

    def pattern(self, graph: Graph, node: Node) -> tuple[Node, int] | None:
        data = dims_of(node.input_value(0))
        if not data or None not in data:
            return None
        axis = len(data) - (2 if node.get_attributes()["transpose_a"] and len(data) > 1 else 1)
        return (node, axis) if data[axis] is None else None

    def check(self, graph: Graph, match: tuple[Node, int]) -> tuple[Node, int, int]:
        node, axis = match
        weights = dims_of(node.input_value(1))
        if not weights:
            raise MatchFailureError("the rank of the weights is not known")
        size = weights[-1 if node.get_attributes()["transpose_b"] or len(weights) == 1 else -2]
        if size is None or not may_be_constant(node.input_value(1)):
            raise MatchFailureError("the weights are computed from tensors of unknown shape")
        return node, axis, size

    def rewrite(self, graph: Graph, plan: tuple[Node, int, int]) -> Counts:
        node, axis, size = plan
        checked = expect_dims(node.input_value(0), {axis: size})
        insert([node.input(0)], checked, node)
        return {"products": 1}


check_inner_dims = CheckInnerDims()
