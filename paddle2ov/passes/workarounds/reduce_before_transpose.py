"""Reduces before transposing.

OpenVINO 2026.4 does this as well. If the reduced axes are dropped and a dimension is known to be 1, it then turns the
transpose into a reshape and eliminates that (`EliminateReduceReshape`): the remaining axes are in the wrong order.
"""

from __future__ import annotations

from typing import TypeAlias

from openvino import Node

from paddle2ov.graph.constants import ints, ints_of
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import consumers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.kinds import REDUCTIONS
from paddle2ov.passes.operands import perm_of
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule

_Plan: TypeAlias = tuple[Node, list[int], list[int]]
"""A reduction, the axes to reduce of what the Transpose before it reads, and how to permute the axes that remain."""


@works_around("reduction_after_transpose")
class ReduceBeforeTranspose(Rule[Node, _Plan]):
    """Swaps a Transpose and the reduction after it if the reduction drops its axes.

    Given:
        x → Transpose → Reduce without keep_dims, where x has an axis of known size 1.
    Result:
        x → Reduce over the same elements, with keep_dims → Squeeze → Transpose, unless the remaining axes are in order.
    """

    roots = sorted(REDUCTIONS)
    counts = ("reductions",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        transpose = node.input_value(0).get_node()
        if transpose.get_type_name() != "Transpose" or node.get_attributes()["keep_dims"]:
            return None
        return node if 1 in (dims_of(transpose.input_value(0)) or ()) else None

    def check(self, graph: Graph, match: Node) -> _Plan:
        perm, axes = perm_of(match.input_value(0).get_node()), ints_of(match.input_value(1))
        if perm is None or axes is None:
            raise MatchFailureError("the permutation or the axes are computed")
        reduced = sorted({perm[axis] for axis in axes})
        remaining = [axis for axis in perm if axis not in reduced]
        order = sorted(remaining)
        return match, reduced, [order.index(axis) for axis in remaining]

    def rewrite(self, graph: Graph, plan: _Plan) -> Counts:
        node, axes, perm = plan
        reading = consumers(node.output(0))
        node.input(0).replace_source_output(node.input_value(0).get_node().input_value(0))
        node.input(1).replace_source_output(ints(axes).output(0))
        node.set_attribute("keep_dims", True)
        node.validate_and_infer_types()
        out = ops.squeeze(node, ints(axes))
        insert(reading, (out if perm == sorted(perm) else ops.transpose(out, ints(perm))).output(0), node)
        return {"reductions": 1}


reduce_before_transpose = ReduceBeforeTranspose()
