"""Keeps convolutions of parts of a tensor apart, where OpenVINO would take them for one of groups.

OpenVINO 2026.4 makes a GroupConvolution of a Concat of convolutions of the parts of a Split, without a look at their
order, their number, the axis of the Concat, or what else it joins.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule

_PARTS = frozenset(("Slice", "Split", "StridedSlice", "VariadicSplit"))


@works_around("convolutions_of_parts_as_groups")
class AvoidConvolutionsAsGroups(Rule[Node, Node]):
    """Writes one of the convolutions as one of a single group.

    Given:
        Concat of a Convolution of a part of a tensor, and others, but not of all parts in order along axis 1.
    Result:
        The same, with a GroupConvolution of one group in place of the first of these convolutions.
    """

    roots = ("Concat",)
    needs = ("Convolution",)
    counts = ("convolutions",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        return node if any(_is_of_part(one.get_node()) for one in node.input_values()) else None

    def check(self, graph: Graph, match: Node) -> Node:
        if _is_one_of_groups(match):
            raise MatchFailureError("it is a convolution of groups")
        return next(one.get_node() for one in match.input_values() if _is_of_part(one.get_node()))

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        about = plan.get_attributes()
        strides, begin, end, dilations = (about[name] for name in ("strides", "pads_begin", "pads_end", "dilations"))
        filters = ops.unsqueeze(plan.input_value(1), ints([0]))
        new = ops.group_convolution(
            plan.input_value(0), filters, strides, begin, end, dilations, about["auto_pad"].upper()
        )
        replace(plan.output(0), new.output(0))
        return {"convolutions": 1}


def _is_of_part(node: Node) -> bool:
    is_convolution = node.get_type_name() == "Convolution"
    return is_convolution and node.input_value(0).get_node().get_type_name() in _PARTS


def _is_one_of_groups(concat: Node) -> bool:
    """Whether a Concat along the channels joins the convolutions of all parts of one Split of them, in order."""
    sides = [one.get_node() for one in concat.input_values()]
    if not all(one.get_type_name() == "Convolution" for one in sides):
        return False
    parts = [one.input_value(0) for one in sides]
    split = parts[0].get_node()
    return (
        split.get_type_name() == "Split"
        and concat.get_attributes()["axis"] == 1
        and all(one.get_node().get_name() == split.get_name() for one in parts)
        and [one.get_index() for one in parts] == list(range(split.get_output_size()))
    )


avoid_convolutions_as_groups = AvoidConvolutionsAsGroups()
