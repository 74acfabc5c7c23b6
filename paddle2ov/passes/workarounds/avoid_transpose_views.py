"""Raises the rank of transposes whose input shares memory with another consumer, so that they copy.

OpenVINO 2026.4 merges a transpose of static shape with an adjacent change of layout: that of a convolution, a resize or
a recurrent layer. If the two cancel out, the output of the transpose becomes a view of the memory of its input x,
although OpenVINO has decided earlier what else uses that memory. The reader of the view then finds other data there: if
x is also an input of a Concat that joins in place or the data of a scatter, or if a Reshape of x is a result of the
model or is overwritten by its reader.
"""

from __future__ import annotations

from typing import TypeAlias

from openvino import Node

from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.layout.permutation import is_layout_change
from paddle2ov.passes.operands import perm_of
from paddle2ov.passes.rule import MatchFailureError, Rule
from paddle2ov.passes.shared_memory import shares_memory
from paddle2ov.passes.workarounds.deeper_transpose import transpose_deeper

_Ordered: TypeAlias = tuple[Node, list[int]]
"""A transpose and its permutation."""


@works_around(
    "transpose_view_in_recurrent_layer",
    "transpose_view_of_joined_memory",
    "transpose_view_of_result",
    "transpose_view_of_scattered_memory",
)
class AvoidTransposeViews(Rule[_Ordered, _Ordered]):
    """Transposes at a higher rank where something else shares the memory of the input.

    Given:
        Transpose(x) of rank 3 to 5 that moves the last axis to the second place or the second one to the last, or
        exchanges the first two of three. The buffer of x, or of one of its views (Reshape, Squeeze, Unsqueeze, Split,
        VariadicSplit, Gather of an axis of one element), has another user: a Concat, a Result, a node that writes in
        place, or another such Transpose of a view. See `shared_memory.py`. Unknown sizes may be fixed later
        (`Model.reshape`), so that they do not matter.
    Result:
        Unsqueeze → Transpose of one rank more → Reshape, which OpenVINO runs separately.
    """

    roots = ("Transpose",)
    counts = ("transposes",)

    def pattern(self, graph: Graph, node: Node) -> _Ordered | None:
        perm = perm_of(node)
        return (node, perm) if perm is not None and is_layout_change(perm) else None

    def check(self, graph: Graph, match: _Ordered) -> _Ordered:
        if not shares_memory(match[0]):
            raise MatchFailureError("nothing else shares the memory")
        return match

    def rewrite(self, graph: Graph, plan: _Ordered) -> Counts:
        transpose_deeper(*plan)
        return {"transposes": 1}


avoid_transpose_views = AvoidTransposeViews()
