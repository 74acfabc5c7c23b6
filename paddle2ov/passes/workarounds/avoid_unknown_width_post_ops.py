"""Computes constants along the last axis of a MatMul of dynamic width at run time, so that they are not fused.

OpenVINO 2026.4 fuses additions, multiplications and slopes into the MatMul before them. If the number of columns of the
second matrix is dynamic and, in float32, the matrix is transposed, OpenVINO assumes a width of 0, and does not compile
the model.
"""

from __future__ import annotations

from openvino import Input, Node

from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.slices import slice_along
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import Rule
from paddle2ov.passes.workarounds.constant_rows import rows_after


@works_around("post_op_of_unknown_width")
class AvoidUnknownWidthPostOps(Rule[list[Input], list[Input]]):
    """Hides constants along the last axis after a MatMul of dynamic width.

    Given:
        MatMul of dynamic width → elementwise nodes → Add, Divide, Multiply, Subtract or PRelu with a constant [..., 1,
        n], n above 1.
    Result:
        A Slice of the constant to an end that is computed at run time, which keeps all of it.
    """

    roots = ("MatMul",)
    counts = ("constants",)

    def pattern(self, graph: Graph, node: Node) -> list[Input] | None:
        dims = dims_of(node.output(0))
        if not dims or dims[-1] is not None:
            return None
        return rows_after(node) or None

    def check(self, graph: Graph, match: list[Input]) -> list[Input]:
        return match

    def rewrite(self, graph: Graph, plan: list[Input]) -> Counts:
        for port in plan:
            node = port.get_node()
            other = node.input_value(1 - port.get_index())
            constant = port.get_source_output()
            end = ops.add(ops.gather(ops.shape_of(other), ints([-1]), ints(0)), ints([constant.get_shape()[-1]]))
            row = slice_along(constant, ints([0]), end, -1)
            insert([port], row.output(0), node)
        return {"constants": len(plan)}


avoid_unknown_width_post_ops = AvoidUnknownWidthPostOps()
