"""Reduces before unsqueezing.

OpenVINO 2026.4 does this as well if the shape is static, but adds the axis in the wrong place: the sum of [N, L, 1]
over N with keep_dims comes out as [1, 1, L]. It treats a Reshape that adds axes of size 1 as an Unsqueeze. Without
keep_dims the result is right, but the other rules for reductions have to see what OpenVINO will reduce.
"""

from __future__ import annotations

from typing import TypeAlias

from openvino import Node, Output

from paddle2ov.graph.constants import ints, ints_of, number_of
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.consumers import consumers
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.kinds import NEUTRAL, REDUCTIONS
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule

_NEUTRAL = {**NEUTRAL, "Power": 1}
_OF_ONE = REDUCTIONS - {"ReduceL1", "ReduceL2"}
"""Reductions that return a single element unchanged."""
_COPIES = frozenset(("Broadcast", "Concat", "Convert", "Reshape", "Tile"))
"""Nodes that OpenVINO removes where they change nothing."""

_Widened: TypeAlias = tuple[Node, Output, list[int]]
"""A reduction, what the Unsqueeze before it reads, and the axes that it adds."""
_Plan: TypeAlias = tuple[Node, Output, list[int], list[int]]
"""The same, with the axes to add to the result, and the axes to reduce of what the Unsqueeze reads."""


@works_around("reduction_after_unsqueeze")
class ReduceBeforeUnsqueeze(Rule[_Widened, _Plan]):
    """Swaps an Unsqueeze and the reduction after it.

    Given:
        Unsqueeze, or a Reshape of static shape that adds axes of size 1 → possibly nodes that change nothing → Reduce;
        with keep_dims only if it is over an axis before an added one, and not over added ones alone.
    Result:
        Reduce → Unsqueeze, of the added axes that remain; a Squeeze where only added axes are reduced.
    """

    roots = sorted(REDUCTIONS)
    counts = ("reductions",)

    def pattern(self, graph: Graph, node: Node) -> _Widened | None:
        widening = _skip_identities(node.input_value(0)).get_node()
        added = _added_axes(widening)
        return (node, widening.input_value(0), added) if added else None

    def check(self, graph: Graph, match: _Widened) -> _Plan:
        node, source, added = match
        axes = ints_of(node.input_value(1))
        if axes is None:
            raise MatchFailureError("the axes are computed")
        rank = len(node.get_input_partial_shape(0))
        reduced = sorted({axis % rank for axis in axes})
        kept = [axis - sum(one < axis for one in added) for axis in reduced if axis not in added]
        keeps = node.get_attributes()["keep_dims"]
        if not kept and (keeps or node.get_type_name() not in _OF_ONE):
            raise MatchFailureError("only what is added is reduced")
        if not keeps:
            remaining = [axis - sum(one < axis for one in reduced) for axis in added if axis not in reduced]
            return node, source, remaining, kept
        if reduced[0] > added[-1]:
            raise MatchFailureError("no axis before the one that is added is reduced")
        return node, source, added, kept

    def rewrite(self, graph: Graph, plan: _Plan) -> Counts:
        node, source, added, axes = plan
        reading = consumers(node.output(0))
        if not axes:
            insert(reading, ops.squeeze(node.input_value(0), node.input_value(1)).output(0), node)
            return {"reductions": 1}
        node.input(0).replace_source_output(source)
        node.input(1).replace_source_output(ints(axes).output(0))
        node.validate_and_infer_types()
        if added:
            insert(reading, ops.unsqueeze(node, ints(added)).output(0), node)
        return {"reductions": 1}


def _added_axes(widening: Node) -> list[int] | None:
    """The axes of one element that a node adds, in order; None if it does something else."""
    kind = widening.get_type_name()
    if kind not in ("Unsqueeze", "Reshape"):
        return None
    before, after = dims_of(widening.input_value(0)), dims_of(widening.output(0))
    if before is None or after is None or len(before) >= len(after):
        return None
    if kind == "Unsqueeze":
        axes = ints_of(widening.input_value(1))
        return None if axes is None else sorted({axis % len(after) for axis in axes})
    left, added = list(before), []
    for axis, size in enumerate(after):
        if left and left[0] == size and size is not None:
            left.pop(0)
        elif size == 1:
            added.append(axis)
        else:
            return None
    return None if left else added


def _skip_identities(output: Output) -> Output:
    """The tensor before any nodes that change nothing."""
    while (source := _identity_input(output)) is not None:
        output = source
    return output


def _identity_input(output: Output) -> Output | None:
    """The input of a node that equals its output; None if the node changes something, or may."""
    node = output.get_node()
    kind, sources = node.get_type_name(), node.input_values()
    dims = dims_of(output)
    if dims is None or None in dims:
        return None
    if kind in _COPIES:
        is_single = kind != "Concat" or len(sources) == 1
        found = sources[:1] if is_single else []
    elif kind in _NEUTRAL:
        pairs = list(zip(sources, sources[::-1], strict=True))
        is_ordered = kind in ("Divide", "Power", "Subtract")
        found = [one for one, other in pairs[: 1 if is_ordered else 2] if number_of(other) == _NEUTRAL[kind]]
    else:
        return None
    same = [one for one in found if dims_of(one) == dims and one.get_element_type() == output.get_element_type()]
    return same[0] if same else None


reduce_before_unsqueeze = ReduceBeforeUnsqueeze()
