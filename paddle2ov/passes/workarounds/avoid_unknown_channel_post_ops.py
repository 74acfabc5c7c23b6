"""Computes constants along a dimension of unknown size at run time after nodes that OpenVINO would fuse them into.

OpenVINO 2026.4 fuses sums, differences, products and quotients with constants along the channels into a resize, a
normalization or a reduction before them, also where the number of channels is not known. It takes it for that of the
constant: a run with one channel, which numbers for three would be broadcast to, raises.
"""

from __future__ import annotations

import numpy as np
from openvino import Input, Node

from paddle2ov.graph.constants import constant_of
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import nearest, readers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.kinds import ELEMENTWISE, REDUCTIONS
from paddle2ov.passes.replacement import hide_operand
from paddle2ov.passes.rule import MatchFailureError, Rule

_FUSED = ("Add", "Divide", "Multiply", "Subtract")


@works_around("post_op_of_unknown_channels")
class AvoidUnknownChannelPostOps(Rule[Node, list[Input]]):
    """Hides constants along an axis of unknown size after a resize, a normalization or a reduction.

    Given:
        Interpolate, MVN or a reduction → elementwise nodes → Add, Divide, Multiply or Subtract with a constant of shape
        [1, ..., n, ..., 1], n above 1, where the dimension of the other operand is not known.
    Result:
        The same with a copy of the constant that is made at run time.
    """

    roots = sorted({"Interpolate", "MVN"} | REDUCTIONS)
    counts = ("constants",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        dims = dims_of(node.output(0))
        return node if dims is None or None in dims else None

    def check(self, graph: Graph, match: Node) -> list[Input]:
        found = [port for one in nearest(readers(match), _FUSED, ELEMENTWISE, readers) for port in _along_unknown(one)]
        if not found:
            raise MatchFailureError("no constant along an axis of unknown size follows")
        return found

    def rewrite(self, graph: Graph, plan: list[Input]) -> Counts:
        for port in plan:
            hide_operand(port)
        return {"constants": len(plan)}


def _along_unknown(node: Node) -> list[Input]:
    """The constants of a node that lie along one axis, whose size in the other operand is not known."""
    found = []
    for port in node.inputs():
        array, dims = constant_of(port.get_source_output()), dims_of(node.input_value(1 - port.get_index()))
        if array is None or array.size < 2 or max(array.shape) != array.size:
            continue
        axis = int(np.argmax(array.shape)) - array.ndim
        if dims is None or (len(dims) >= -axis and dims[axis] is None):
            found.append(port)
    return found


avoid_unknown_channel_post_ops = AvoidUnknownChannelPostOps()
