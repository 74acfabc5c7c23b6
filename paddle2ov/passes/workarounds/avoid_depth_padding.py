"""Cuts the filter of a 3-D convolution over depth 1 to the plane that meets the image.

In bfloat16, OpenVINO 2026.4 computes garbage for a 3-D convolution over depth 1 if the filter is deeper and the number
of channels is odd and below 16. The other planes of the filter meet only padding, so that the result does not depend on
them.
"""

from __future__ import annotations

from typing import TypeAlias

from openvino import Node

from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import create, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule

_Plane: TypeAlias = tuple[Node, int]
"""A convolution, and the plane of its filter that meets the image."""


@works_around("convolution_3d_of_depth_1")
class AvoidDepthPadding(Rule[Node, _Plane]):
    """Replaces a filter that is deeper than its image by one of its planes.

    Given:
        3-D Convolution or GroupConvolution over depth 1, padded by as much as its filter is deeper: the output has
        depth 1 as well.
    Result:
        The same with the plane of the filter that meets the image, without padding along the depth.
    """

    roots = ("Convolution", "GroupConvolution")
    counts = ("filters",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        dims = dims_of(node.input_value(0))
        if dims is None or len(dims) != 5 or dims[2] != 1:
            return None
        filters = dims_of(node.input_value(1))
        return node if filters is None or filters[-3] != 1 else None

    def check(self, graph: Graph, match: Node) -> _Plane:
        filters, out = dims_of(match.input_value(1)), dims_of(match.output(0))
        attributes = match.get_attributes()
        before, dilation = attributes["pads_begin"][0], attributes["dilations"][0]
        if filters is None or filters[-3] is None or out is None or out[2] != 1:
            raise MatchFailureError("the depth of the filter is not known, or the result is deeper")
        if before % dilation or before // dilation >= filters[-3]:
            raise MatchFailureError("no plane of the filter meets the image")
        return match, before // dilation

    def rewrite(self, graph: Graph, plan: _Plane) -> Counts:
        node, plane = plan
        attributes = node.get_attributes()
        # Padding to the same size (auto_pad), which depends on the other sizes, is none along the depth as well.
        for name in ("pads_begin", "pads_end"):
            attributes[name] = [0, *list(attributes[name])[1:]]
        x, filters = node.input_values()
        axis = ints([len(filters.get_partial_shape()) - 3])
        cut = ops.slice(filters, ints([plane]), ints([plane + 1]), ints([1]), axis)
        made = create(node.get_type_name(), [x, cut.output(0)], attributes)
        replace(node.output(0), made.output(0))
        return {"filters": 1}


avoid_depth_padding = AvoidDepthPadding()
