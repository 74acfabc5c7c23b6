"""Scales of single pixels before a convolution are hidden from OpenVINO.

OpenVINO 2026.4 takes a factor of the input of a convolution into the filters wherever the two broadcast: also where it
is one of each pixel, of as many pixels as the filter has elements.
"""

from __future__ import annotations

from openvino import Input, Node

from paddle2ov.graph.opaque_values import hide, runtime_zero
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph, dims_of, insert
from paddle2ov.passes.independence import Independence
from paddle2ov.passes.rule import MatchFailureError, Rule


@works_around("scale_of_pixels_into_filters")
class AvoidScaleFusion(Rule[Node, Input]):
    """A factor along spatial axes is hidden.

    Given:
        Convolution or GroupConvolution of x * scale or x / scale, with a scale that is computed from constants, whose
        spatial dimensions are 1 or those of the filters, not all of them 1.
    Result:
        The same with a scale that OpenVINO does not take for a constant.
    """

    roots = ("Convolution", "GroupConvolution")
    counts = ("scales",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        return node if node.input_value(0).get_node().get_type_name() in ("Multiply", "Divide") else None

    def check(self, graph: Graph, match: Node) -> Input:
        is_constant = Independence(("Parameter",))
        product = match.input_value(0).get_node()
        found = [port for port in product.inputs() if is_constant(port.get_source_output().get_node())]
        if len(found) != 1:
            raise MatchFailureError("the factors are inputs of the model")
        filters = dims_of(match.input_value(1)) or []
        scale = dims_of(found[0].get_source_output())
        sides = None if scale is None else scale[-len(match.get_attributes()["strides"]) :]
        if sides is not None and set(sides) <= {1}:
            raise MatchFailureError("the scale is one of each channel")
        if sides is not None and any(a not in (None, 1, b) for a, b in zip(sides[::-1], filters[::-1], strict=False)):
            raise MatchFailureError("the scale has other sizes than the filters")
        return found[0]

    def rewrite(self, graph: Graph, plan: Input) -> Counts:
        product = plan.get_node()
        x = product.input_value(1 - plan.get_index())
        insert([plan], hide(plan.get_source_output(), runtime_zero([x])).output(0), product)
        return {"scales": 1}


avoid_scale_fusion = AvoidScaleFusion()
