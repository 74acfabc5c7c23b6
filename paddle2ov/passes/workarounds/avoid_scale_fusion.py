"""Hides scales of single pixels before a convolution from OpenVINO.

OpenVINO 2026.4 folds a scale of a convolution's input into the filters wherever the two broadcast: even a scale per
pixel, if the image has as many pixels as the filter has elements.
"""

from __future__ import annotations

from openvino import Input, Node

from paddle2ov.graph.opaque_values import hide, runtime_zero
from paddle2ov.graph.shapes import Dims, dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.independence import Independence
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule


@works_around("scale_of_pixels_into_filters")
class AvoidScaleFusion(Rule[Node, Input]):
    """Hides a scale along spatial axes from constant folding.

    Given:
        Convolution or GroupConvolution of x * scale or x / scale, with a scale that is computed from constants and
        whose spatial dimensions are 1 or those of the filters, not all of them 1.
    Result:
        The same with a scale that OpenVINO does not recognise as a constant.
    """

    roots = ("Convolution", "GroupConvolution")
    counts = ("scales",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        return node if node.input_value(0).get_node().get_type_name() in ("Multiply", "Divide") else None

    def check(self, graph: Graph, match: Node) -> Input:
        filters, rank = dims_of(match.input_value(1)) or [], len(match.get_attributes()["strides"])
        product = match.input_value(0).get_node()
        found = [port for port in product.inputs() if _may_scale(dims_of(port.get_source_output()), filters, rank)]
        if not found:
            raise MatchFailureError("no factor has the sizes of the filters")
        is_constant = Independence(("Parameter",))
        found = [port for port in found if is_constant(port.get_source_output().get_node())]
        if len(found) != 1:
            raise MatchFailureError("the factors are inputs of the model, or both are constant")
        return found[0]

    def rewrite(self, graph: Graph, plan: Input) -> Counts:
        product = plan.get_node()
        x = product.input_value(1 - plan.get_index())
        insert([plan], hide(plan.get_source_output(), runtime_zero([x])).output(0), product)
        return {"scales": 1}


def _may_scale(dims: Dims | None, filters: Dims, rank: int) -> bool:
    """Whether a tensor could be one of factors for the elements of filters."""
    sides = [] if dims is None else dims[-rank:]
    if None in sides or not set(sides) - {1}:
        return False
    return all(size is None or a in (1, size) for a, size in zip(sides[::-1], filters[::-1], strict=False))


avoid_scale_fusion = AvoidScaleFusion()
