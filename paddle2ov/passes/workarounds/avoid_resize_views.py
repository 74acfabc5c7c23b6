"""Copies the input of a channels-last resize if another consumer shares its memory.

OpenVINO 2026.4 runs a resize along axes 1 and 2 of rank 4 in the channels-last layout, on a view of its input's memory.
It chooses that layout after it has decided which tensors share memory: the resize reads other data if its input is also
reshaped for a result, or concatenated in place.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.rule import MatchFailureError, Rule
from paddle2ov.passes.shared_memory import shares_memory

_AXES = [1, 2]
_RANK = 4


@works_around("resize_view_of_shared_memory")
class AvoidResizeViews(Rule[Node, Node]):
    """Resizes a copy of channels-last data whose memory something else shares.

    Given:
        Interpolate(x) along axes 1 and 2 of rank 4, where the memory of x is shared as for a transpose (see
        `AvoidTransposeViews`).
    Result:
        Interpolate(Maximum(x, x)); the Maximum copies.
    """

    roots = ("Interpolate",)
    counts = ("resizes",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        rank = node.get_input_partial_shape(0).rank
        if rank.is_dynamic or rank.get_length() != _RANK:
            return None
        axes = ints_of(node.input_value(node.get_input_size() - 1))
        return node if axes is not None and sorted(axis % _RANK for axis in axes) == _AXES else None

    def check(self, graph: Graph, match: Node) -> Node:
        if not shares_memory(match):
            raise MatchFailureError("nothing else shares the memory")
        return match

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        value = plan.input_value(0)
        plan.input(0).replace_source_output(ops.maximum(value, value).output(0))
        return {"resizes": 1}


avoid_resize_views = AvoidResizeViews()
