"""Hides the bounds of dimensions that are sliced between computed ends, or with steps.

OpenVINO 2026.4 takes two sizes for equal if their bounds are: of a dimension of at most n, a Slice between computed
ends has at most n elements as well, and of one of at least 1, every second element is at least 1. What is computed with
one size is then allocated with the other, and written beyond its end.
"""

from __future__ import annotations

from typing import TypeAlias

from openvino import Node, Output

from paddle2ov.graph.constants import constant_of, ints_of
from paddle2ov.graph.loop_shapes import hide_dims
from paddle2ov.graph.opaque_values import opaque_one
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule

_Plan: TypeAlias = tuple[Node, Output]
"""A Slice, and the [1] that each run computes."""


@works_around("slice_of_bounded_size", "strided_slice_of_bounded_size")
class HideBoundsOfSlices(Rule[Node, _Plan]):
    """Hides the dimensions of what is sliced between computed ends, or with steps.

    Given:
        Slice whose start or end is no constant, along an axis of unknown but bounded size; or with steps other than 1
        along an axis of which only the least size is known, and is not 0.
    Result:
        Reshape to sizes that are computed at run time → Slice.
    """

    roots = ("Slice",)
    counts = ("slices",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        is_computed = any(constant_of(end) is None for end in node.input_values()[1:3])
        steps = ints_of(node.input_value(3))
        has_steps = steps is None or any(step != 1 for step in steps)
        if not is_computed and not has_steps:
            return None
        shape = node.get_input_partial_shape(0)
        if shape.rank.is_dynamic:
            return None
        axes = ints_of(node.input_value(4)) if node.get_input_size() > 4 else None
        dims = [shape[axis] for axis in (range(len(shape)) if axes is None else axes)]
        is_bounded = is_computed and any(dim.is_dynamic and dim.get_max_length() != -1 for dim in dims)
        has_least = has_steps and any(dim.get_max_length() == -1 and dim.get_min_length() > 0 for dim in dims)
        return node if is_bounded or has_least else None

    def check(self, graph: Graph, match: Node) -> _Plan:
        one = opaque_one([match.input_value(0)])
        if one is None:
            raise MatchFailureError("it slices what depends on no input")
        return match, one

    def rewrite(self, graph: Graph, plan: _Plan) -> Counts:
        node, one = plan
        data = node.input_value(0)
        insert([node.input(0)], hide_dims(data, data.get_partial_shape(), one), node)
        node.validate_and_infer_types()
        return {"slices": 1}


hide_bounds_of_slices = HideBoundsOfSlices()
