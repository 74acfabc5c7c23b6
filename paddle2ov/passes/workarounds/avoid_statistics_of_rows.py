"""Keeps the axis of statistics that are reduced without it, before they are dropped.

OpenVINO 2026.4 makes one node of a softmax, a layer norm, an L2 or an RMS norm that is written out, whether or not its
sums and means keep their axis: of a square matrix, they belong to the rows then, and to the columns without the axis.
"""

from __future__ import annotations

from openvino import Node, Output

from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import consumers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.kinds import BINARY, UNARY
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule

_MAX_BETWEEN = 6


@works_around("statistics_without_their_axis")
class AvoidStatisticsOfRows(Rule[Node, Node]):
    """Reduces with the axis, and drops it afterwards.

    Given:
        ReduceMax, ReduceMean or ReduceSum without its axis, broadcast against a tensor of the rank of its input.
    Result:
        The same with its axis → Squeeze.
    """

    roots = ("ReduceMax", "ReduceMean", "ReduceSum")
    counts = ("reductions",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        return None if node.get_attributes()["keep_dims"] else node

    def check(self, graph: Graph, match: Node) -> Node:
        dims = dims_of(match.input_value(0))
        left = dims_of(match.output(0))
        if dims is None or left is None or not left or not graph.is_constant(match.input_value(1).get_node()):
            raise MatchFailureError("the rank is not known, or nothing is left")
        if not _may_match(left, dims):
            raise MatchFailureError("the sizes tell rows from columns")
        if not _meets_rank(match.output(0), len(dims)):
            raise MatchFailureError("no tensor of the rank before meets it")
        return match

    def rewrite(self, graph: Graph, plan: Node) -> Counts:
        read, axes = consumers(plan.output(0)), plan.input_value(1)
        plan.set_attribute("keep_dims", True)
        plan.validate_and_infer_types()
        insert(read, ops.squeeze(plan.output(0), axes).output(0), plan)
        return {"reductions": 1}


def _may_match(left: list[int | None], dims: list[int | None]) -> bool:
    """Whether what is left could be broadcast to the whole."""
    aligned = dims[len(dims) - len(left) :]
    return all(a in (None, 1) or b in (None, 1) or a == b for a, b in zip(left, aligned, strict=True))


def _meets_rank(value: Output, rank: int) -> bool:
    """Whether an elementwise node broadcasts a tensor, through functions of it alone, against one of such a rank."""
    waiting = [value]
    for _ in range(_MAX_BETWEEN):
        if not waiting:
            return False
        for reader in consumers(waiting.pop()):
            node = reader.get_node()
            if node.get_type_name() not in UNARY | BINARY:
                continue
            dims = dims_of(node.output(0))
            if dims is not None and len(dims) == rank:
                return True
            waiting.append(node.output(0))
    return False


avoid_statistics_of_rows = AvoidStatisticsOfRows()
