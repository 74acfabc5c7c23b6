"""Computes the mean of each channel over batch and pixels at rank 3.

OpenVINO 2026.4 computes a ReduceMean over all axes but the channels wrongly if the channels are in blocks of 16, as
after a transposed convolution: it adds to the results of the previous run. The first run of a request is right, the
second is not.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.constants import ints, ints_of
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import Rule


@works_around("mean_of_each_channel")
class AvoidChannelMeans(Rule[Node, Node]):
    """Flattens the pixels before a ReduceMean over all axes but the channels.

    Given:
        x [N, C, H, W] → ReduceMean over axes 0, 2 and 3.
    Result:
        x → Reshape [N, C, H·W] → ReduceMean over axes 0 and 2 → Unsqueeze, if the reduction has keep_dims.
    """

    roots = ("ReduceMean",)
    counts = ("means",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        axes = ints_of(node.input_value(1))
        is_image = len(dims_of(node.input_value(0)) or []) == 4
        return node if is_image and axes is not None and {axis % 4 for axis in axes} == {0, 2, 3} else None

    def check(self, graph: Graph, match: Node) -> Node:
        return match

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        rows = ops.reshape(plan.input_value(0), ints([0, 0, -1]), True)
        keeps = bool(plan.get_attributes()["keep_dims"])
        mean = ops.reduce_mean(rows, ints([0, 2]), keeps)
        replace(plan.output(0), (ops.unsqueeze(mean, ints([3])) if keeps else mean).output(0))
        return {"means": 1}


avoid_channel_means = AvoidChannelMeans()
