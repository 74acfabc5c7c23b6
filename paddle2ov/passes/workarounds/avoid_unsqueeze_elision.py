"""Counts the axis of a Gather along a dimension of 1 from the other end than an Unsqueeze does.

OpenVINO 2026.4 replaces Unsqueeze → Gather by what the Unsqueeze reads if both name the same axis in the same way, as
if the indices were a scalar: the axis is lost, and with it the repetitions of the only element.
`graph/safe_functions.py` makes no such Gather; this is for sizes that are found to be 1 later, and for an Unsqueeze
that a rewrite adds.
"""

from __future__ import annotations

from typing import TypeAlias

from openvino import Node

from paddle2ov.graph.constants import ints, ints_of
from paddle2ov.graph.opset import create
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule

_Gather: TypeAlias = tuple[Node, int]
"""A Gather, and its axis as it is to be written."""


@works_around("gather_of_unsqueezed_axis")
class AvoidUnsqueezeElision(Rule[Node, _Gather]):
    """Writes the axis of a Gather as a negative number, or as a positive one where the Unsqueeze has a negative one.

    Given:
        Gather along a dimension of 1, by indices that are not a scalar.
    Result:
        The same, with its axis counted from the last dimension, or from the first.
    """

    roots = ("Gather",)
    counts = ("gathers",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        axis, dims = ints_of(node.input_value(2)), dims_of(node.input_value(0))
        if axis is None or dims is None or dims[axis[0]] != 1 or node.get_attributes()["batch_dims"]:
            return None
        rank = node.input_value(1).get_partial_shape().rank
        return node if rank.is_dynamic or rank.get_length() else None

    def check(self, graph: Graph, match: Node) -> _Gather:
        axis, rank = ints_of(match.input_value(2)), len(dims_of(match.input_value(0)) or ())
        source = match.input_value(0).get_node()
        added = ints_of(source.input_value(1)) if source.get_type_name() == "Unsqueeze" else None
        is_negative = added is None or min(added) >= 0
        if axis is None or (axis[0] < 0) == is_negative:
            raise MatchFailureError("it is counted from the other end")
        return match, axis[0] - rank if is_negative else axis[0] + rank

    def rewrite(self, graph: Graph, plan: _Gather) -> Counts:
        node, axis = plan
        x, indices, _ = node.input_values()
        made = create("Gather", [x, indices, ints(axis).output(0)], {"batch_dims": 0})
        replace(node.output(0), made.output(0))
        return {"gathers": 1}


avoid_unsqueeze_elision = AvoidUnsqueezeElision()
