"""Raises the rank of transposes between reshapes that OpenVINO takes for shuffled channels, and fails on.

OpenVINO 2026.4 looks for ShuffleChannels in every Reshape → Transpose → Reshape of an image of known channels, height
and width. It asks for the size of the second axis between them, and throws where that is not known.
"""

from __future__ import annotations

from typing import TypeAlias

from openvino import Node

from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import readers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.operands import perm_of
from paddle2ov.passes.replacement import name_after, replace
from paddle2ov.passes.rule import MatchFailureError, Rule

_IMAGE = 4
_RANK = 6

_Ordered: TypeAlias = tuple[Node, list[int]]
"""A transpose and its permutation."""


@works_around("transpose_between_reshapes_of_unknown_batch")
class AvoidChannelShuffle(Rule[_Ordered, _Ordered]):
    """Transposes at rank 6 between reshapes of an image.

    Given:
        x [?, C, H, W] → Reshape to rank 4 or 5, the second axis of unknown size → Transpose → Reshape.
    Result:
        x → Reshape → Unsqueeze → Transpose → Squeeze → Reshape.
    """

    roots = ("Transpose",)
    counts = ("transposes",)

    def pattern(self, graph: Graph, node: Node) -> _Ordered | None:
        source, perm, dims = node.input_value(0).get_node(), perm_of(node), dims_of(node.input_value(0))
        if source.get_type_name() != "Reshape" or perm is None or dims is None or len(dims) not in (_IMAGE, _IMAGE + 1):
            return None
        return (node, perm) if dims[1] is None else None

    def check(self, graph: Graph, match: _Ordered) -> _Ordered:
        image = dims_of(match[0].input_value(0).get_node().input_value(0))
        if image is None or len(image) != _IMAGE or None in image[1:]:
            raise MatchFailureError("it is not of an image of known sizes")
        if all(reader.get_type_name() != "Reshape" for reader in readers(match[0])):
            raise MatchFailureError("no reshape follows")
        return match

    def rewrite(self, graph: Graph, plan: _Ordered) -> Counts:
        node, perm = plan
        added = list(range(len(perm), _RANK))
        moved = ops.transpose(ops.unsqueeze(node.input_value(0), ints(added)), ints([*perm, *added]))
        name_after(moved, node, "transpose")
        replace(node.output(0), ops.squeeze(moved, ints(added)).output(0))
        return {"transposes": 1}


avoid_channel_shuffle = AvoidChannelShuffle()
