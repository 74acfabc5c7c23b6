"""Reduces sequences at rank 4 where per-channel constants follow.

OpenVINO 2026.4 fuses per-channel multiplications and additions into a reduction, and indexes their constants wrongly at
rank 3: after a mean over the last axis, batch norm is wrong from the second batch item on; after one over the first
axis, for any batch size.
"""

from __future__ import annotations

import math
from typing import TypeAlias

from openvino import Node

from paddle2ov.graph.constants import constant_of, ints, ints_of, known
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import consumers, readers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.kinds import BINARY, REDUCTIONS, UNARY
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule

_PER_CHANNEL = BINARY | {"FakeQuantize", "PRelu"}
_PASSED = UNARY | {"Reshape", "Squeeze", "Unsqueeze"}


_Reduced: TypeAlias = tuple[Node, int]
"""A reduction and its axis."""


@works_around("post_op_of_reduced_sequence")
class AvoidReductionPostOps(Rule[Node, _Reduced]):
    """Raises a reduction of a sequence to rank 4.

    Given:
        x [N, C, L] → Reduce over N, or over L where N is not 1 → elementwise nodes, one with a constant of several
        elements, possibly after a product with a constant from the left.
    Result:
        x → Unsqueeze [N, C, 1, L] → Reduce over the same axis and axis 2 → the same nodes, after a Squeeze if the
        Reduce has keep_dims. Over N, if C and L are static: x → Reshape [N, C·L] → Reduce → Reshape → the same.
    """

    roots = sorted(REDUCTIONS)
    counts = ("reductions",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        dims = dims_of(node.input_value(0))
        return node if dims is not None and len(dims) == 3 and _meets_channels(node) else None

    def check(self, graph: Graph, match: Node) -> _Reduced:
        dims, axes = known(dims_of(match.input_value(0))), ints_of(match.input_value(1))
        if axes is None or len(axes) != 1:
            raise MatchFailureError("it is not over one constant axis")
        if axes[0] % 3 == 1:
            raise MatchFailureError("it is over the channels")
        if dims[0] == 1 and axes[0] % 3 == 2:
            raise MatchFailureError("there is one sequence only")
        return match, axes[0] % 3

    def rewrite(self, graph: Graph, plan: _Reduced) -> Counts:
        reduction, axis = plan
        dims = known(dims_of(reduction.input_value(0)))
        if axis == 0 and None not in dims[1:] and 0 not in dims:
            _reduce_rows(reduction, [size or 0 for size in dims[1:]])
        else:
            _reduce_images(reduction, axis)
        return {"reductions": 1}


def _reduce_rows(reduction: Node, sizes: list[int]) -> None:
    """Reduces over the first of two axes, after flattening the others."""
    reading = consumers(reduction.output(0))
    shape = [1, *sizes] if reduction.get_attributes()["keep_dims"] else sizes
    rows = ops.reshape(reduction.input_value(0), ints([0, math.prod(sizes)]), True)
    insert([reduction.input(0)], rows.output(0), reduction)
    reduction.input(1).replace_source_output(ints([0]).output(0))
    reduction.set_attribute("keep_dims", True)
    reduction.validate_and_infer_types()
    insert(reading, ops.reshape(reduction, ints(shape), False).output(0), reduction)


def _reduce_images(reduction: Node, axis: int) -> None:
    """Reduces over the same axis and one of height 1."""
    reading = consumers(reduction.output(0))
    wide = ops.unsqueeze(reduction.input_value(0), ints([2]))
    insert([reduction.input(0)], wide.output(0), reduction)
    reduction.input(1).replace_source_output(ints([0, 2] if axis == 0 else [2, 3]).output(0))
    reduction.validate_and_infer_types()
    if reduction.get_attributes()["keep_dims"]:
        insert(reading, ops.squeeze(reduction, ints([2])).output(0), reduction)


def _meets_channels(reduction: Node) -> bool:
    """Whether an elementwise node with a constant of several elements follows.

    Among several readers as well: OpenVINO may merge the others with what they read.
    """
    pending = readers(reduction)
    while pending:
        node = pending.pop()
        kind = node.get_type_name()
        if kind in _PER_CHANNEL:
            constants = [one for side in node.input_values() if (one := constant_of(side)) is not None]
            if any(one.size > 1 for one in constants):
                return True
            pending += readers(node) if constants else []
        elif kind in _PASSED or (kind == "MatMul" and constant_of(node.input_value(0)) is not None):
            pending += readers(node)  # OpenVINO moves factors of columns before a product with constants from the left
    return False


avoid_reduction_post_ops = AvoidReductionPostOps()
