"""Folds a scale before a normalization into the normalization's epsilon.

In a model that contains any FakeQuantize, OpenVINO 2026.4 takes a Multiply by a scalar for a dequantization and moves
it through MVN and NormalizeL2, whose epsilon it leaves unchanged. Where the variance of the data is close to epsilon,
the results are too large by any factor.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from openvino import Node, Output

from paddle2ov.graph.constants import number_of
from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import only_consumer
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule

_VIEWS = frozenset(("Reshape", "Squeeze", "Transpose", "Unsqueeze"))

_Scaled: TypeAlias = tuple[Node, Node]
"""A normalization and the Multiply or Divide before it."""
_Plan: TypeAlias = tuple[Node, Node, Output, float]
"""The same, with the tensor that is scaled and the scale."""


@works_around("normalization_of_scaled_numbers")
class AbsorbScales(Rule[_Scaled, _Plan]):
    """Drops the scale before an MVN or NormalizeL2, and divides the epsilon by the square of the scale.

    Given:
        x → Multiply or Divide by a scalar → MVN or NormalizeL2, possibly with Reshape, Squeeze, Unsqueeze and Transpose
        in between, each read only once.
    Result:
        x → the same without the scale and with another epsilon; negated if the scale is negative.
    """

    roots = ("MVN", "NormalizeL2")
    counts = ("scales",)

    def pattern(self, graph: Graph, node: Node) -> _Scaled | None:
        source = node.input_value(0).get_node()
        while source.get_type_name() in _VIEWS and only_consumer(source.output(0)) is not None:
            source = source.input_value(0).get_node()
        return (node, source) if source.get_type_name() in ("Multiply", "Divide") else None

    def check(self, graph: Graph, match: _Scaled) -> _Plan:
        norm, product = match
        if not norm.get_attributes().get("normalize_variance", True):
            raise MatchFailureError("it does not normalize the variance")
        left, right = product.input_values()
        for value, factor in ((left, right), (right, left)):
            number = number_of(factor)
            if number is None or (factor is left and product.get_type_name() == "Divide"):
                continue
            number = 1 / number if number and product.get_type_name() == "Divide" else number
            epsilon = _epsilon(norm, number) if number else 0.0
            if not 1e-37 < epsilon < 1e37 or value.get_partial_shape() != product.get_output_partial_shape(0):
                raise MatchFailureError("the scale is 0 or too large, or changes the shape")
            return norm, product, value, number
        raise MatchFailureError("it is not scaled by a scalar")

    def rewrite(self, graph: Graph, plan: _Plan) -> Counts:
        norm, product, value, scale = plan
        port = norm.input(0)
        while port.get_source_output().get_node().get_name() != product.get_name():
            port = port.get_source_output().get_node().input(0)
        port.replace_source_output(value)
        norm.set_attribute("eps", _epsilon(norm, scale))
        norm.validate_and_infer_types()
        if scale < 0:
            read = list(norm.output(0).get_target_inputs())
            minus = ops.constant(np.asarray(-1.0), norm.get_output_element_type(0))
            insert(read, ops.multiply(norm, minus).output(0), norm)
        return {"scales": 1}


def _epsilon(norm: Node, scale: float) -> float:
    attributes = norm.get_attributes()
    epsilon = float(attributes["eps"])
    return epsilon / abs(scale) if attributes["eps_mode"] == "OUTSIDE_SQRT" else epsilon / scale**2


absorb_scales = AbsorbScales()
