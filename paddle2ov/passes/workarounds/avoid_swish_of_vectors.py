"""Keeps x * sigmoid(x * b) as it is where b has dimensions of its own.

OpenVINO 2026.4 makes a Swish of it, which takes one number: it does not compile for a computed b of shape [1], and
does not broadcast x to a constant b whose elements are equal.
"""

from __future__ import annotations

from openvino import Input, Node

from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import consumers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import hide_operand, insert
from paddle2ov.passes.rule import MatchFailureError, Rule


@works_around("swish_of_beta_with_dimensions")
class AvoidSwishOfVectors(Rule[Node, Input]):
    """Gives a factor no dimensions, or hides it.

    Given:
        x * sigmoid(x * b), where b has dimensions, and is one computed number or a constant that may broadcast x.
    Result:
        The same with a scalar in place of the number, or with a copy of the constant that is made at run time.
    """

    roots = ("Sigmoid",)
    counts = ("factors",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        product = node.input_value(0).get_node()
        if product.get_type_name() != "Multiply":
            return None
        readers = [one.get_node() for one in consumers(node.output(0))]
        products = [one for one in readers if one.get_type_name() == "Multiply"]
        factors = [one for other in products for one in other.input_values()]
        return product if any(one in factors for one in product.input_values()) else None

    def check(self, graph: Graph, match: Node) -> Input:
        for port in match.inputs():
            x, beta = dims_of(match.input_value(1 - port.get_index())), dims_of(port.get_source_output())
            if not beta or x is None:
                continue
            is_constant = graph.is_constant(port.get_source_output().get_node())
            if is_constant and dims_of(match.output(0)) != x:
                return port
            if not is_constant and len(beta) <= len(x) and all(dim == 1 for dim in beta):
                return port
        raise MatchFailureError("no factor has dimensions of its own")

    def rewrite(self, graph: Graph, plan: Input) -> Counts:
        beta = plan.get_source_output()
        if graph.is_constant(beta.get_node()):
            hide_operand(plan)
        else:
            insert([plan], ops.squeeze(beta).output(0), plan.get_node())
        return {"factors": 1}


avoid_swish_of_vectors = AvoidSwishOfVectors()
