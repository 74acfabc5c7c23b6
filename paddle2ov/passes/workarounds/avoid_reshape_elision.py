"""What is reshaped after a reduction keeps the reduced axes until then.

OpenVINO 2026.4 drops a reshape after a reduction that seems to leave its shape as it is, and asks for that as if the
reduction had kept its axes: the mean over axis 1 of [N, T, C], reshaped to [-1, 1], stays [N, C].
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.opset import ops
from paddle2ov.passes.graph import Counts, Graph, consumers, dims_of, insert, ints, ints_of, nearest, readers
from paddle2ov.passes.kinds import REDUCTIONS
from paddle2ov.passes.rule import Refusal, Rule

_RESHAPING = {"Reshape", "Squeeze", "Transpose", "Unsqueeze"}


class AvoidReshapeElision(Rule[Node, Node]):
    """A reduction whose result another of its rank is made of keeps its axes, and a Squeeze drops them.

    Given:
        Reduce without its axes, of rank 2 or more → Reshape, Squeeze, Transpose or Unsqueeze, or several of them, one
        of which gives a tensor of the same rank.
    Result:
        Reduce with its axes → Squeeze → the same; OpenVINO makes one Reshape of them.
    """

    roots = sorted(REDUCTIONS)
    counts = ("reductions",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        dims = dims_of(node.output(0))
        found = dims is not None and len(dims) >= 2 and _is_reshaped(node, len(dims))
        return node if found and not node.get_attributes()["keep_dims"] else None

    def check(self, graph: Graph, match: Node) -> Node:
        if ints_of(match.input_value(1)) is None:
            raise Refusal("the axes are computed")
        return match

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        read = consumers(plan.output(0))
        plan.set_attribute("keep_dims", True)
        plan.validate_and_infer_types()
        dropped = ops.squeeze(plan, ints(ints_of(plan.input_value(1)) or []))
        insert(read, dropped.output(0), plan)
        return {"reductions": 1}


def _is_reshaped(reduction: Node, rank: int) -> bool:
    """Whether a chain that only reshapes gives something of this rank."""
    for node in nearest(readers(reduction), _RESHAPING, _RESHAPING, readers):
        dims = dims_of(node.output(0))
        if dims is None or len(dims) == rank:
            return True
    return False


avoid_reshape_elision = AvoidReshapeElision()
