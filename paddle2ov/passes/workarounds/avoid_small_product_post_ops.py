"""Computes constants of two columns after a MatMul of small matrices at run time, so that they are not fused.

OpenVINO 2026.4 has a kernel of its own for products of matrices of up to 2 x 2 numbers that runs compute. It takes
constants that are fused into the product for ones along the third axis from the end: both columns get the first number
of a factor, an addend or a slope. It is chosen in each run, where sizes are not known.
"""

from __future__ import annotations

from openvino import Input, Node

from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import hide_operand
from paddle2ov.passes.rule import MatchFailureError, Rule
from paddle2ov.passes.workarounds.constant_rows import rows_after

_MOST = 2


@works_around("post_op_of_small_product")
class AvoidSmallProductPostOps(Rule[Node, list[Input]]):
    """Hides constants along the last axis after a MatMul of two columns.

    Given:
        MatMul of matrices [m, k] and [k, n], m and k of up to 2 or not known, n of 2 or not known → elementwise nodes →
        Add, Divide, Multiply, Subtract or PRelu with a constant [..., 1, 2].
    Result:
        The same with a copy of the constant that is made at run time.
    """

    roots = ("MatMul",)
    counts = ("constants",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        dims = dims_of(node.output(0))
        return node if dims and dims[-1] in (None, _MOST) else None

    def check(self, graph: Graph, match: Node) -> list[Input]:
        if not _may_be_small(match):
            raise MatchFailureError("the matrices are larger")
        rows = [row for row in rows_after(match) if row.get_partial_shape()[-1] == _MOST]
        if not rows:
            raise MatchFailureError("no constant of the columns follows")
        return rows

    def rewrite(self, graph: Graph, plan: list[Input]) -> Counts:
        for port in plan:
            hide_operand(port)
        return {"constants": len(plan)}


def _may_be_small(product: Node) -> bool:
    """Whether the first matrix may have no more than two rows and two columns."""
    dims = dims_of(product.input_value(0))
    return dims is None or all(dim is None or dim <= _MOST for dim in dims[-2:])


avoid_small_product_post_ops = AvoidSmallProductPostOps()
