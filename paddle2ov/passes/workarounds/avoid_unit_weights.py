"""Replaces products with a matrix of one element by multiplications.

On one thread, OpenVINO 2026.4 compiles a chain of layers (matrix product, activation, matrix product, ...) to one
kernel; a product with a softmax or before one, on any number of threads. This does not compile if one of the matrices
is constant and has one element ("Layout rank can't be larger than tensor rank").
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.constants import ints
from paddle2ov.graph.expected_dims import expect_dims
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule


@works_around(
    "attention_of_one_query_and_feature", "elementwise_with_single_element_of_higher_rank", "layers_of_one_weight"
)
class AvoidUnitWeights(Rule[tuple[Node, int], tuple[Node, int]]):
    """Turns a MatMul with a matrix of one element into a Multiply.

    Given:
        MatMul of two tensors of rank 2 or more, one of which has a single element.
    Result:
        Multiply of both, the other one transposed as by the MatMul. If the dimension along which it is summed is
        dynamic, it is checked first, so that any other than 1 is still an error.
    """

    roots = ("MatMul",)
    counts = ("products",)

    def pattern(self, graph: Graph, node: Node) -> tuple[Node, int] | None:
        for side in (1, 0):
            dims = dims_of(node.input_value(side))
            if dims and all(one == 1 for one in dims):
                return node, 1 - side
        return None

    def check(self, graph: Graph, match: tuple[Node, int]) -> tuple[Node, int]:
        ranks = [value.get_partial_shape().rank for value in match[0].input_values()]
        if any(rank.is_dynamic or rank.get_length() < 2 for rank in ranks):
            raise MatchFailureError("one of the tensors does not have two axes, or it is not known")
        return match

    def rewrite(self, graph: Graph, plan: tuple[Node, int]) -> Counts:
        node, side = plan
        x, unit = node.input_value(side), node.input_value(1 - side)
        rank = len(x.get_partial_shape())
        is_transposed = bool(node.get_attributes()["transpose_b" if side else "transpose_a"])
        summed = rank - 1 if is_transposed == bool(side) else rank - 2
        if (dims_of(x) or [None] * rank)[summed] is None:
            x = expect_dims(x, {summed: 1})
        if is_transposed:
            x = ops.transpose(x, ints([*range(rank - 2), rank - 1, rank - 2])).output(0)
        more = len(unit.get_partial_shape()) - rank
        if more > 0:  # OpenVINO would move the Multiply before the transpose, as if the element were a number
            x = ops.unsqueeze(x, ints(list(range(more)))).output(0)
        replace(node.output(0), ops.multiply(x, unit).output(0))
        return {"products": 1}


avoid_unit_weights = AvoidUnitWeights()
