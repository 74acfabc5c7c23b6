"""Joins the parts of a tensor that are repeated in two steps, where OpenVINO would resize the tensor.

OpenVINO 2026.4 takes a Concat of the parts of a Split, each of them several times, for a nearest Interpolate, also
where the parts have several rows, if their number is not known. It rounds large integers, and cannot take booleans.
"""

from __future__ import annotations

from itertools import groupby

from openvino import Node, Output

from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import key_of
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule


@works_around("repeated_parts_as_resize")
class AvoidInterpolatedParts(Rule[Node, Node]):
    """Joins the copies of each part first.

    Given:
        Split → Concat of each part, several times.
    Result:
        Split → Concat of the copies of each part → Concat of these.
    """

    roots = ("Concat",)
    needs = ("Split",)
    counts = ("joins",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        groups = _groups(node)
        is_repeated = len(groups) > 1 and all(len(one) > 1 for one in groups)
        return node if is_repeated and all(one[0].get_node().get_type_name() == "Split" for one in groups) else None

    def check(self, graph: Graph, match: Node) -> Node:
        dims, axis = dims_of(match.input_value(0)), match.get_attributes()["axis"]
        if dims is not None and dims[axis] == 1 and match.get_output_element_type(0).is_real():
            raise MatchFailureError("each part is one row of floats")
        return match

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        axis = plan.get_attributes()["axis"]
        joined = [ops.concat(one, axis) for one in _groups(plan)]
        replace(plan.output(0), ops.concat(joined, axis).output(0))
        return {"joins": 1}


def _groups(concat: Node) -> list[list[Output]]:
    """The inputs of a Concat, equal ones that follow each other together."""
    return [list(group) for _, group in groupby(concat.input_values(), key_of)]


avoid_interpolated_parts = AvoidInterpolatedParts()
