"""Replaces slices from 0 by StridedSlices in models with a GatherElements.

OpenVINO 2026.4 eliminates a Slice with start 0 and step 1 that a GatherElements reads, whatever its axes. Then
dimensions that must be equal differ, memory out of bounds is read, and an index of -1 refers to another element. There
may be nodes in between that change nothing, as OpenVINO eliminates these first.
"""

from __future__ import annotations

from msgspec import Struct
from openvino import Node, Output

from paddle2ov.graph.constants import ints, ints_of
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.independence import VARYING, Independence
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule


class _Bounds(Struct, frozen=True):
    """A Slice, the rank of what it reads, and the axes that it slices."""

    slice: Node
    rank: int
    axes: list[int]


@works_around("gather_elements_after_slice")
class AvoidSliceElision(Rule[Node, _Bounds]):
    """Turns a Slice from 0 into a StridedSlice.

    Given:
        Slice with step 1 whose starts are 0 along all of its axes, or may be found to be 0 by constant folding, in a
        model that has a GatherElements.
    Result:
        StridedSlice.
    """

    roots = ("Slice",)
    needs = ("GatherElements",)
    counts = ("slices",)

    def pattern(self, graph: Graph, node: Node) -> Node | None:
        starts, steps = ints_of(node.input_value(1)), ints_of(node.input_value(3))
        if any(starts or ()) or any(step != 1 for step in steps or ()):
            return None
        is_folded = Independence(("Parameter", *VARYING), opaque=("ShapeOf",))
        return node if starts is not None or is_folded(node.input_value(1).get_node()) else None

    def check(self, graph: Graph, match: Node) -> _Bounds:
        dims = dims_of(match.input_value(0))
        axes = ints_of(match.input_value(4)) if match.get_input_size() > 4 else list(range(len(dims or ())))
        if dims is None or axes is None or ints_of(match.input_value(3)) is None:
            raise MatchFailureError("the rank, the axes or the steps are not known")
        return _Bounds(match, len(dims), [axis % len(dims) for axis in axes])

    def rewrite(self, graph: Graph, plan: _Bounds) -> Counts:
        x, starts, ends, *_ = plan.slice.input_values()
        unbounded = [int(axis not in plan.axes) for axis in range(plan.rank)]
        sliced = ops.strided_slice(
            x, _spread(starts, plan), _spread(ends, plan), ints([1] * plan.rank), unbounded, unbounded
        )
        replace(plan.slice.output(0), sliced.output(0))
        return {"slices": 1}


def _spread(bounds: Output, plan: _Bounds) -> Node:
    """Bounds of the sliced axes as bounds of all axes."""
    values = ints_of(bounds)
    if values is not None:
        known = dict(zip(plan.axes, values, strict=True))
        return ints([known.get(axis, 0) for axis in range(plan.rank)])
    bounds = ops.convert(bounds, "i64").output(0)
    return ops.scatter_update(ints([0] * plan.rank), ints(plan.axes), bounds, ints(0))


avoid_slice_elision = AvoidSliceElision()
