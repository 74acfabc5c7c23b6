"""Inserts a Squeeze between a reduction and a reshape to the same rank.

OpenVINO 2026.4 eliminates a reshape after a reduction if it seems not to change the shape, but tests this as if the
reduction had keep_dims: the mean over axis 1 of [N, T, C], reshaped to [-1, 1], stays [N, C].
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.constants import ints, ints_of, known
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import consumers, nearest, readers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.kinds import REDUCTIONS
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule

_RESHAPING = {"Reshape", "Squeeze", "Transpose", "Unsqueeze"}


@works_around("reshape_after_reduction")
class AvoidReshapeElision(Rule[Node, Node]):
    """Gives a reduction keep_dims and a Squeeze if its output is reshaped to the same rank.

    Given:
        Reduce without keep_dims, to rank 2 or more → one or several of Reshape, Squeeze, Transpose and Unsqueeze, one
        of which has an output of the same rank, or of unknown rank.
    Result:
        Reduce with keep_dims → Squeeze → the same; OpenVINO merges the latter into one Reshape.
    """

    roots = sorted(REDUCTIONS)
    counts = ("reductions",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        dims = dims_of(node.output(0))
        found = dims is not None and len(dims) >= 2 and _is_reshaped(node, len(dims))
        return node if found and not node.get_attributes()["keep_dims"] else None

    def check(self, graph: Graph, match: Node) -> Node:
        if ints_of(match.input_value(1)) is None:
            raise MatchFailureError("the axes are computed")
        return match

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        read = consumers(plan.output(0))
        plan.set_attribute("keep_dims", True)
        plan.validate_and_infer_types()
        dropped = ops.squeeze(plan, ints(known(ints_of(plan.input_value(1)))))
        insert(read, dropped.output(0), plan)
        return {"reductions": 1}


def _is_reshaped(reduction: Node, rank: int) -> bool:
    """Whether a chain of reshaping nodes gives a tensor of this rank."""
    for node in nearest(readers(reduction), _RESHAPING, _RESHAPING, readers):
        dims = dims_of(node.output(0))
        if dims is None or len(dims) == rank:
            return True
    return False


avoid_reshape_elision = AvoidReshapeElision()
