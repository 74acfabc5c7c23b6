"""Raises the rank of transposes to channels first whose channels are split, so that they are not merged.

OpenVINO 2026.4 merges Transpose → Reshape with the change of layout of a convolution after it where both cancel out. To
tell, it moves the split in front of the transpose, and confuses the permutation with its inverse: for channels that are
split, the order that it finds is that of a split height, and the convolution reads the transpose's input as it is.
"""

from __future__ import annotations

from typing import TypeAlias

from openvino import Node

from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import readers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.operands import perm_of, reshaped_dims
from paddle2ov.passes.rule import MatchFailureError, Rule
from paddle2ov.passes.workarounds.deeper_transpose import transpose_deeper

_TO_CHANNELS_FIRST = [0, 3, 1, 2]
_RANK = 5

_Ordered: TypeAlias = tuple[Node, list[int]]
"""A transpose and its permutation."""


@works_around("transpose_of_split_channels")
class AvoidSplitTransposes(Rule[_Ordered, _Ordered]):
    """Transposes at a higher rank where the channels are split afterwards.

    Given:
        x [N, H, W, C] → Transpose to [N, C, H, W] → Reshape or Unsqueeze to [N, C1, C2, H, W]. Unknown sizes may be
        fixed later (`Model.reshape`), so that they count as split.
    Result:
        x → Unsqueeze → Transpose of one rank more → Reshape to [N, C, H, W] → Reshape or Unsqueeze.
    """

    roots = ("Transpose",)
    counts = ("transposes",)

    def pattern(self, graph: Graph, node: Node) -> _Ordered | None:
        perm = perm_of(node)
        return (node, perm) if perm == _TO_CHANNELS_FIRST else None

    def check(self, graph: Graph, match: _Ordered) -> _Ordered:
        if not any(_may_split_channels(reader) for reader in readers(match[0])):
            raise MatchFailureError("no reshape splits the channels")
        return match

    def rewrite(self, graph: Graph, plan: _Ordered) -> Counts:
        transpose_deeper(*plan)
        return {"transposes": 1}


def _may_split_channels(node: Node) -> bool:
    if node.get_type_name() not in ("Reshape", "Unsqueeze"):
        return False
    image = dims_of(node.input_value(0))
    dims = reshaped_dims(node) if node.get_type_name() == "Reshape" else dims_of(node.output(0))
    if image is None or dims is None:
        return True
    if len(dims) != _RANK or _differ(image[0], dims[0]):
        return False
    return image[1] is None or dims[1] is None or image[1] != dims[1]


def _differ(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and one != other


avoid_split_transposes = AvoidSplitTransposes()
