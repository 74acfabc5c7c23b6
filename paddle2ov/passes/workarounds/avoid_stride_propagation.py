"""Slices the input of strided pointwise convolutions where OpenVINO would propagate the stride wrongly.

OpenVINO 2026.4 propagates the strides of pointwise (1 x 1) convolutions up to what computes their input, through
elementwise nodes and other pointwise convolutions. It ignores padding on the way, so that the output has another shape,
and the model does not compile if the stride reaches a node with several outputs.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import create, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.slices import OPEN_END
from paddle2ov.graph.upstream import sources_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.kinds import ELEMENTWISE
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule


@works_around("stride_of_padded_convolution", "stride_of_split_image")
class AvoidStridePropagation(Rule[Node, Node]):
    """Replaces the stride of a pointwise convolution by a strided Slice.

    Given:
        Pointwise Convolution with strides that is padded itself, or whose input is computed, by elementwise nodes and
        pointwise convolutions, from a padded one or from one of several outputs of a node.
    Result:
        Pad → Slice with the strides as steps → Convolution.
    """

    roots = ("Convolution",)
    counts = ("strides",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        return node if _is_by_pixel(node) and max(node.get_attributes()["strides"]) > 1 else None

    def check(self, graph: Graph, match: Node) -> Node:
        if not _is_padded(match) and not _is_moved_wrongly(match):
            raise MatchFailureError("nothing is padded or split where the stride is moved to")
        return match

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        attributes = plan.get_attributes()
        x, filters = plan.input_values()
        steps = attributes["strides"]
        if _is_padded(plan):
            before, after = ([0, 0, *attributes[key]] for key in ("pads_begin", "pads_end"))
            x = ops.pad(x, ints(before), ints(after), "constant").output(0)
        axes = range(2, 2 + len(steps))
        x = ops.slice(x, ints([0] * len(steps)), ints([OPEN_END] * len(steps)), ints(steps), ints([*axes])).output(0)
        attributes |= {"strides": [1] * len(steps), "auto_pad": "explicit"}
        attributes |= {"pads_begin": [0] * len(steps), "pads_end": [0] * len(steps)}
        made = create("Convolution", [x, filters], attributes)
        replace(plan.output(0), made.output(0))
        return {"strides": 1}


_SINGLE = ("Convolution", "MaxPool")
"""Node types that count as having one output; the indices of a MaxPool are not read."""


def _is_by_pixel(convolution: Node) -> bool:
    dims = dims_of(convolution.input_value(1))
    return dims is not None and all(one == 1 for one in dims[2:])


def _is_padded(convolution: Node) -> bool:
    attributes = convolution.get_attributes()
    return any((*attributes["pads_begin"], *attributes["pads_end"]))


def _is_moved_wrongly(convolution: Node) -> bool:
    pending, seen = [(convolution, convolution.input_value(0).get_node())], set()
    while pending:
        reader, node = pending.pop()
        if node.get_name() in seen:
            continue
        kind = node.get_type_name()
        if kind in ELEMENTWISE:
            pending += [(node, one) for one in sources_of(node)]
        elif kind == "Slice":  # of an image of one pixel it would do nothing, and be dropped
            pending.append((node, node.input_value(0).get_node()))
        elif kind == "Convolution" and _is_by_pixel(node):
            if _is_padded(node):
                return True
            pending.append((node, node.input_value(0).get_node()))
        elif kind not in _SINGLE and node.get_output_size() > 1:
            if reader.get_type_name() != "Convolution":
                return True
            continue  # the convolution keeps its stride; what else reads the node may not
        seen.add(node.get_name())
    return False


avoid_stride_propagation = AvoidStridePropagation()
