"""Tiles tensors of one pixel or one channel at rank 6.

OpenVINO 2026.4 computes Tile of rank 4 and 5 in the channels-last layout if it can. If all spatial dimensions are 1, or
there is one channel, it takes channels-first memory for channels-last and repeats the wrong axes, unless all dimensions
are static. There are no such layouts of rank 6.
"""

from __future__ import annotations

from typing import TypeAlias

from openvino import Node

from paddle2ov.graph.constants import ints, ints_of
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule

_RANK = 6

_Plan: TypeAlias = tuple[Node, int, list[int]]
"""A Tile, the rank of its input, and its repeats."""


@works_around("tile_of_one_pixel")
class AvoidUnitTiles(Rule[Node, _Plan]):
    """Raises a Tile of one pixel or one channel to rank 6.

    Given:
        Tile of [N, C, 1, 1], [N, C, 1, 1, 1], [N, 1, H, W] or [N, 1, D, H, W] with a dynamic dimension, by constant
        repeats.
    Result:
        Unsqueeze → Tile → Squeeze.
    """

    roots = ("Tile",)
    counts = ("tiles",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        dims = dims_of(node.input_value(0))
        if dims is None or len(dims) not in (4, 5) or None not in dims:
            return None
        return node if dims[1] == 1 or all(size == 1 for size in dims[2:]) else None

    def check(self, graph: Graph, match: Node) -> _Plan:
        repeats = ints_of(match.input_value(1))
        if repeats is None:
            raise MatchFailureError("its repeats are not constant")
        rank = len(dims_of(match.input_value(0)) or ())
        if len(repeats) > rank:
            raise MatchFailureError("its result has more axes")
        return match, rank, repeats

    def rewrite(self, graph: Graph, plan: _Plan) -> Counts:
        tile, rank, repeats = plan
        added = ints(range(_RANK - rank))
        times = ints([1] * (_RANK - len(repeats)) + repeats)
        tiled = ops.tile(ops.unsqueeze(tile.input_value(0), added), times)
        replace(tile.output(0), ops.squeeze(tiled, added).output(0))
        return {"tiles": 1}


avoid_unit_tiles = AvoidUnitTiles()
