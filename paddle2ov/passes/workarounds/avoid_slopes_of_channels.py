"""Gives slopes along the last axis two dimensions, where OpenVINO would take them for those of channels.

OpenVINO 2026.4 makes a PRelu of relu(x) - a * relu(-x) and its other forms. There, a slope of one dimension lies along
axis 1, and along the last axis in the product.
"""

from __future__ import annotations

from openvino import Input, Node

from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of, static_dims
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule


@works_around("prelu_of_last_axis")
class AvoidSlopesOfChannels(Rule[Input, Input]):
    """Adds an axis to a slope.

    Given:
        relu(x) ± a product with a constant slope of one dimension, possibly times others, x of rank 3 or more.
    Result:
        The same with a slope of shape [1, n].
    """

    roots = ("Add", "Subtract")
    needs = ("Relu",)
    counts = ("slopes",)

    def pattern(self, graph: Graph, node: Node) -> Input | None:
        sides = [one.get_node() for one in node.input_values()]
        if "Relu" not in [one.get_type_name() for one in sides]:
            return None
        return next((port for side in sides if (port := _slope(graph, side)) is not None), None)

    def check(self, graph: Graph, match: Input) -> Input:
        dims = dims_of(match.get_node())
        if dims is None or len(dims) < 3:
            raise MatchFailureError("axis 1 is the last one, or the rank is not known")
        return match

    def rewrite(self, graph: Graph, plan: Input) -> Counts:
        insert([plan], ops.unsqueeze(plan.get_source_output(), ints([0])).output(0), plan.get_node())
        return {"slopes": 1}


def _slope(graph: Graph, product: Node, depth: int = 3) -> Input | None:
    """The constant factor of one dimension, with several elements, of a product of up to three."""
    if product.get_type_name() != "Multiply" or not depth:
        return None
    for port in product.inputs():
        source = port.get_source_output()
        dims = static_dims(source)
        if dims is not None and len(dims) == 1 and dims != [1] and graph.is_constant(source.get_node()):
            return port
        found = _slope(graph, source.get_node(), depth - 1)
        if found is not None:
            return found
    return None


avoid_slopes_of_channels = AvoidSlopesOfChannels()
