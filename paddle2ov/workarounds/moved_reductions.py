"""Reductions that OpenVINO moves before a change of axes, and then gives other axes."""

from __future__ import annotations

from contextlib import suppress

from msgspec import Struct
from openvino import Node, Output

from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.consumers import consumers, revalidate, rewire
from paddle2ov.graph.node_kinds import REDUCTIONS
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.passes.constant_operands import perm_of
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, at, require

_ADDING = ("Unsqueeze", "Reshape")
_OF_ONE = REDUCTIONS - {"ReduceL1", "ReduceL2"}
"""Reductions that return a single element unchanged."""


class Moved(Struct, frozen=True):
    """A reduction that is to read what the node before it reads.

    Attributes:
        source: what that node reads.
        axes: what is reduced of it; nothing if only added axes are.
        after: the permutation, or the added axes, of the result.
    """

    node: Node
    source: Output
    axes: list[int]
    after: list[int]

    def move(self) -> None:
        """The reduction reads the source."""
        rewire(self.node, 0, self.source)
        rewire(self.node, 1, ints(self.axes).output(0))
        revalidate(self.node)


@at(*sorted(REDUCTIONS), reads=("Transpose",))
def of_transposed(graph: Graph, node: Node) -> list[Moved] | None:
    """OpenVINO reduces before a Transpose, makes that a Reshape if some size is 1, and eliminates the Reshape.

    The sum of [N, 1, H, W] over H, after a transpose to channels last, came out as [N, 1, W] instead of [N, W, 1].

    Given:
        x → Transpose → Reduce without keep_dims, where x has an axis of known size 1.
    """
    transpose = node.input_value(0).get_node()
    if transpose.get_type_name() != "Transpose" or node.get_attributes()["keep_dims"]:
        return None
    source = transpose.input_value(0)
    if 1 not in (dims_of(source) or ()):
        return None
    perm, axes = perm_of(transpose), ints_of(node.input_value(1))
    if perm is None or axes is None:
        raise MatchFailureError("the permutation or the axes are computed")
    reduced = sorted({perm[axis] for axis in axes})
    remaining = [axis for axis in perm if axis not in reduced]
    return [Moved(node, source, reduced, [sorted(remaining).index(axis) for axis in remaining])]


def transpose_result(graph: Graph, site: Moved) -> None:
    """The reduction comes first, with keep_dims (Reduce → Squeeze → Transpose)."""
    node, perm, read = site.node, site.after, consumers(site.node.output(0))
    node.set_attribute("keep_dims", True)
    site.move()
    out = ops.squeeze(node, ints(site.axes))
    insert(read, (out if perm == sorted(perm) else ops.transpose(out, ints(perm))).output(0), node)


@at(*sorted(REDUCTIONS), reads=_ADDING)
def of_unsqueezed(graph: Graph, node: Node) -> list[Moved] | None:
    """OpenVINO reduces before an Unsqueeze, or such a Reshape, and adds the axis in the wrong place.

    The sum of [N, L, 1] over N with keep_dims came out as [1, 1, L]. Without keep_dims that is right, but what follows
    (a reshape to [-1, 1], a number per channel) was wrong: other finders have to see what OpenVINO will reduce.

    Given:
        Unsqueeze, or a Reshape of static shape that adds axes of size 1 → Reduce; with keep_dims only if it is over an
        axis before an added one, and not over added ones alone.
    """
    widening = node.input_value(0).get_node()
    added = _added_axes(widening)
    if not added:
        return None
    axes, source = ints_of(node.input_value(1)), widening.input_value(0)
    require(dims_of(source), "a number has no axis that could be taken for another")
    if axes is None:
        raise MatchFailureError("the axes are computed")
    rank = len(node.get_input_partial_shape(0))
    reduced = sorted({axis % rank for axis in axes})
    moved = [axis - sum(item < axis for item in added) for axis in reduced if axis not in added]
    keeps = node.get_attributes()["keep_dims"]
    is_static = node.get_input_partial_shape(0).is_static
    # As by post_ops.of_reduced_sequence.
    if (rank, added) == (4, [2]) and (reduced == [2, 3] or (reduced == [0, 2] and not is_static)):
        raise MatchFailureError("it is how a reduction of sequences is computed right")
    if not moved and (keeps or node.get_type_name() not in _OF_ONE):
        raise MatchFailureError("only what is added is reduced")
    if not keeps:
        added = [axis - sum(item < axis for item in reduced) for axis in added if axis not in reduced]
    elif reduced[0] > added[-1]:
        raise MatchFailureError("no axis before the one that is added is reduced")
    return [Moved(node, source, moved, added)]


def unsqueeze_result(graph: Graph, site: Moved) -> None:
    """The reduction comes first (Reduce → Unsqueeze); over added axes alone, it is a Squeeze."""
    pending = _unsqueeze_result(site)
    while pending:  # the next Unsqueeze, and reductions that were seen before
        node = pending.pop()
        if node.get_type_name() in REDUCTIONS:
            with suppress(MatchFailureError):
                for again in of_unsqueezed.visit(graph, node) or ():
                    pending += _unsqueeze_result(again)


def _unsqueeze_result(site: Moved) -> list[Node]:
    """Moves one reduction; returns the nodes that may be moved now."""
    node, read = site.node, consumers(site.node.output(0))
    if not site.axes:
        insert(read, ops.squeeze(node.input_value(0), node.input_value(1)).output(0), node)
        return []
    site.move()
    if site.after:
        insert(read, ops.unsqueeze(node, ints(site.after)).output(0), node)
    return [*(port.get_node() for port in read), node]


def _added_axes(widening: Node) -> list[int] | None:
    """The axes of one element that a node adds, in order; None if it does something else."""
    kind = widening.get_type_name()
    if kind not in _ADDING:
        return None
    before, after = dims_of(widening.input_value(0)), dims_of(widening)
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
