"""Pads images that may have a depth of 1 by a Concat with planes of zeros.

In bfloat16, OpenVINO 2026.4 computes garbage for a 3-D convolution over depth 1 if the filter is deeper and the number
of channels (per group) is odd and below 16. `avoid_depth_padding` cuts the filter if the depth is static and the output
has depth 1 as well; this pass covers the other cases. A Pad instead of the Concat would be fused into the convolution.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from openvino import Node, Type

from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import create, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule

_MAX_CHANNELS = 16


class _Padded(Struct, frozen=True):
    """A convolution, and how many planes are before and after its image."""

    convolution: Node
    before: int
    after: int


@works_around("convolution_3d_of_depth_1")
class AvoidShallowPadding(Rule[Node, _Padded]):
    """Replaces the padding of a 3-D convolution along the depth by a Concat.

    Given:
        3-D Convolution or GroupConvolution over a depth that is dynamic or 1, with padding along the depth and an odd
        number of channels (per group) below 16.
    Result:
        The same without that padding, over the image between planes of zeros.
    """

    roots = ("Convolution", "GroupConvolution")
    counts = ("images",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        dims = dims_of(node.input_value(0))
        return node if dims is not None and len(dims) == 5 and dims[2] in (None, 1) else None

    def check(self, graph: Graph, match: Node) -> _Padded:
        attributes, filters = match.get_attributes(), dims_of(match.input_value(1))
        channels = None if filters is None else filters[-4]
        if channels is not None and (channels >= _MAX_CHANNELS or channels % 2 == 0):
            raise MatchFailureError("the number of channels is even, or large")
        before, after = int(attributes["pads_begin"][0]), int(attributes["pads_end"][0])
        if attributes["auto_pad"] != "explicit" or min(before, after) < 0 or not before + after:
            raise MatchFailureError("the depth is not padded, or the padding is not explicit")
        return _Padded(match, before, after)

    def rewrite(self, graph: Graph, plan: _Padded) -> Counts:
        node = plan.convolution
        x, filters = node.input_values()
        attributes = node.get_attributes()
        for name in ("pads_begin", "pads_end"):
            attributes[name] = [0, *list(attributes[name])[1:]]
        shape, zero = ops.shape_of(x, Type.i64), ops.constant(np.float32(0), x.get_element_type())
        sizes = [ops.gather(shape, ints(axes), ints(0)) for axes in ([0, 1], [3, 4])]
        parts = [
            ops.broadcast(zero, ops.concat([sizes[0], ints([count]), sizes[1]], 0)).output(0) if count else None
            for count in (plan.before, plan.after)
        ]
        deeper = ops.concat([part for part in (parts[0], x, parts[1]) if part is not None], 2)
        replace(node.output(0), create(node.get_type_name(), [deeper.output(0), filters], attributes).output(0))
        return {"images": 1}


avoid_shallow_padding = AvoidShallowPadding()
