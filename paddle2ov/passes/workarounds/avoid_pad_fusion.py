"""Keeps a Pad apart from the convolution after it where OpenVINO would fuse the two wrongly.

OpenVINO 2026.4 adds a Pad to the padding of the layer that reads it. For a transposed convolution it counts each padded
element of the input as one of the output, whatever the stride. Padding to the same size (auto_pad), which depends on
the size of the padded tensor, stays as it is.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import create, ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule


@works_around("pad_before_transposed_convolution", "pad_before_same_padding")
class AvoidPadFusion(Rule[Node, Node]):
    """Pads at one rank more, as OpenVINO does not fuse such a Pad.

    Given:
        Pad with a constant → a transposed convolution, or a convolution with auto_pad to the same size.
    Result:
        Unsqueeze → Pad → Squeeze → the convolution.
    """

    roots = ("Convolution", "ConvolutionBackpropData", "GroupConvolution", "GroupConvolutionBackpropData")
    needs = ("Pad",)
    counts = ("pads",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        return node if node.input_value(0).get_node().get_type_name() == "Pad" else None

    def check(self, graph: Graph, match: Node) -> Node:
        if match.input_value(0).get_node().get_attributes()["pad_mode"] != "constant":
            raise MatchFailureError("the Pad is not in constant mode")
        attributes = match.get_attributes()
        if not match.get_type_name().endswith("BackpropData") and attributes["auto_pad"] in ("explicit", "valid"):
            raise MatchFailureError("the padding is known, and the convolution is not transposed")
        return match

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        pad = plan.input_value(0).get_node()
        x, begin, end, *value = pad.input_values()
        zero = ints([0])
        sides = [ops.concat([zero, one], 0).output(0) for one in (begin, end)]
        deeper = create("Pad", [ops.unsqueeze(x, zero).output(0), *sides, *value], {"pad_mode": "constant"})
        insert([plan.input(0)], ops.squeeze(deeper, zero).output(0), pad)
        return {"pads": 1}


avoid_pad_fusion = AvoidPadFusion()
