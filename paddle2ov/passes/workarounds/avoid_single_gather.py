"""Eliminates a Gather of the only element of an axis.

OpenVINO 2026.4 does not compile such a Gather between an Unsqueeze and a Squeeze that is followed by an Unsqueeze of
another axis. Gathers of several indices along such an axis are made otherwise in `graph/safe_functions.py`, and in
`avoid_unsqueeze_elision` where the size is known late.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.constants import computed_constant_of
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule


@works_around("gather_of_single_element")
class AvoidSingleGather(Rule[Node, Node]):
    """Eliminates a Gather that changes nothing.

    Given:
        Gather from an axis of size 1 by a constant index of shape [1].
    Result:
        The input of the Gather.
    """

    roots = ("Gather",)
    counts = ("gathers",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        dims = dims_of(node.input_value(0))
        return node if dims is not None and 1 in dims and dims_of(node.input_value(1)) == [1] else None

    def check(self, graph: Graph, match: Node) -> Node:
        dims, axis = dims_of(match.input_value(0)), computed_constant_of(match.input_value(2))
        if dims is None or axis is None or dims[int(axis.reshape(-1)[0])] != 1:
            raise MatchFailureError("the axis may have several elements")
        index = computed_constant_of(match.input_value(1))
        if index is None or int(index.reshape(-1)[0]) not in (0, -1):
            raise MatchFailureError("the index is not known")
        return match

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        replace(plan.output(0), plan.input_value(0))
        return {"gathers": 1}


avoid_single_gather = AvoidSingleGather()
