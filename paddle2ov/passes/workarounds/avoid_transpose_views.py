"""Transposes of tensors that share memory with another consumer get one more axis, so that they copy.

OpenVINO 2026.4 merges a transpose of known shape with the change of layout beside it, that of a convolution, a resize
or a recurrent layer. Where both cancel out, the transposed tensor becomes a view of the same memory, after it has been
settled what else shares that memory. Its reader then finds other data there if x is also a part of what a Concat
joins in place, or reshaped, and the reshaped tensor a result of the model or overwritten by the node that reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from openvino import Node, Output

from paddle2ov.graph.memory import COPYING, SLICING, VIEWS
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph, consumers, dims_of, perm_of
from paddle2ov.passes.rule import MatchFailureError, Rule
from paddle2ov.passes.workarounds.deeper_transpose import transpose_deeper

_COPYING = COPYING | SLICING
"""Nodes that read a view and write elsewhere."""

_Ordered: TypeAlias = tuple[Node, list[int]]
"""A transpose and its permutation."""


@works_around("transpose_view_in_recurrent_layer", "transpose_view_of_joined_memory", "transpose_view_of_result")
class AvoidTransposeViews(Rule[_Ordered, _Ordered]):
    """Transpose is not made a view of memory that something else shares.

    Given:
        Transpose(x), x of known shape and rank 3 to 5, that moves the last axis to the second place or the second one
        to the last, or exchanges the first two of three. The memory of x, of what x is reshaped or split from, or of
        what these are reshaped to or split into, is also joined by a Concat over the first axis that is not 1, a
        reshaped or split result of the model, or reshaped for a node that may write in place or for another such
        Transpose.
    Result:
        Reshape([1, ...]) → Transpose of one rank more → Reshape, which OpenVINO runs separately. The target shapes
        are computed from that of x, so that the model can still be reshaped.
    """

    roots = ("Transpose",)
    counts = ("transposes",)

    def pattern(self, graph: Graph, node: Node) -> _Ordered | None:
        perm = perm_of(node)
        return (node, perm) if perm is not None and _changes_layout(perm) and _is_static(node) else None

    def check(self, graph: Graph, match: _Ordered) -> _Ordered:
        if not _shares_memory(match[0]):
            raise MatchFailureError("nothing else shares the memory")
        return match

    def rewrite(self, graph: Graph, plan: _Ordered) -> Counts:
        transpose_deeper(*plan)
        return {"transposes": 1}


def _is_static(transpose: Node) -> bool:
    dims = dims_of(transpose.input_value(0))
    return dims is not None and None not in dims


def _changes_layout(perm: list[int]) -> bool:
    """Whether the permutation is that of channels or of time steps."""
    last = len(perm) - 1
    between = list(range(1, last))
    return perm == [1, 0, 2] or (2 <= last <= 4 and perm in ([0, last, *between], [0, *between[1:], last, 1]))


def _shares_memory(transpose: Node) -> bool:
    """Whether something else than the transpose shares the memory that it reads, and may change it."""
    read = transpose.input_value(0)
    root = read
    while root.get_node().get_type_name() in VIEWS:
        root = root.get_node().input_value(0)
    if root.get_node().get_type_name() in ("Parameter", "Constant"):
        return False  # copied where it is shared
    return any(
        _is_shared(output, port.get_node(), output == root)
        for output in _family(root)
        for port in consumers(output)
        if port.get_node().get_name() != transpose.get_name()
    )


def _family(root: Output) -> Iterator[Output]:
    """A tensor and its views."""
    pending = [root]
    while pending:
        output = pending.pop()
        yield output
        for port in consumers(output):
            if port.get_node().get_type_name() in VIEWS:
                pending += port.get_node().outputs()


def _is_shared(output: Output, reader: Node, is_root: bool) -> bool:
    kind = reader.get_type_name()
    if kind == "Concat":
        dims, axis = dims_of(reader.output(0)), reader.get_attributes()["axis"]
        return dims is None or all(size in (1, None) for size in dims[: axis % len(dims)])
    if kind == "Transpose":
        perm = perm_of(reader)
        return not is_root and perm is not None and _changes_layout(perm)
    return not is_root and kind not in VIEWS and kind not in _COPYING


avoid_transpose_views = AvoidTransposeViews()
