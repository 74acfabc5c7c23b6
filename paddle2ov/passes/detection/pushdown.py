"""Rebuilds the nodes before a Gather so that they compute only the gathered rows; for `gather_pushdown`."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from openvino import Node, Output, Type

from paddle2ov.graph.opset import create, ops
from paddle2ov.graph.provenance import copy_operators
from paddle2ov.passes.detection.map_rows import as_output, dim_of, keeps_batch, map_rows
from paddle2ov.passes.detection.row_rules import RULES, RowLayout, rank_dims, require_static
from paddle2ov.passes.graph import Dims, Graph, consumers, dims_of, ints, name_after
from paddle2ov.passes.kinds import UNARY
from paddle2ov.passes.rule import MatchFailureError

KINDS = frozenset((*RULES, "Concat", "Reshape"))
"""Node types that a Gather may pass."""
NOT_INSIDE = "something else reads it, or too many nodes are between it and the Gather"


@dataclass(frozen=True)
class Rows:
    """The selected rows.

    Attributes:
        index: their indices, ascending, [K].
        length: the total number of rows, if it is static.
        number: the same as a scalar tensor, if a node computes it.
        mask: boolean [M], true for the selected rows; None if there is no such tensor.
    """

    index: Output
    length: int | None
    number: Output | None
    mask: Output | None


@dataclass(frozen=True)
class Context:
    """What nested pushdowns share: the nodes that may be passed, the original Gather, and the nodes created so far."""

    graph: Graph
    inside: set[str]
    gather: Node
    made: list[Node]


class Pushdown:
    """Computes the selected rows of tensors."""

    def __init__(self, rows: Rows, context: Context) -> None:
        self._rows = rows
        self._context = context
        self._done: dict[tuple[str, int, RowLayout], Output] = {}
        self._clones: dict[tuple[str, RowLayout], Node] = {}
        self._by_shape: dict[tuple[str, bool], Pushdown] = {}
        self._extent: Output | None = None
        self._broadcast_extents: list[Output] = []

    @property
    def extent(self) -> Output | None:
        """The total number of rows, a scalar tensor, read off the tensors that are gathered from; None without any."""
        maybe_broadcast = self._broadcast_extents
        return self._extent or (functools.reduce(_maximum, maybe_broadcast) if maybe_broadcast else None)

    def __call__(self, x: Output, layout: RowLayout) -> Output:
        """The selected rows of `x`, with the rank of `x`."""
        key = (x.get_node().get_name(), x.get_index(), layout)
        if key not in self._done:
            self._done[key] = self._computed(x, layout)
        return self._done[key]

    def _computed(self, x: Output, layout: RowLayout) -> Output:
        node = x.get_node()
        if not self._may_pass(node):
            if node.get_type_name() in KINDS:
                self._context.graph.match_failed("gather_pushdown", node, NOT_INSIDE)
            return self._gathered(x, layout)
        try:
            if node.get_type_name() == "Reshape":
                return self._reshaped(node, x, layout)
            if node.get_type_name() == "Concat":
                return self._concatenated(node, x, layout)
            layouts = RULES[node.get_type_name()](node, x, layout)
            return self._clone(node, layout, self._inputs(node, layouts)).output(x.get_index())
        except MatchFailureError as reason:
            self._context.graph.match_failed("gather_pushdown", node, str(reason))
            return self._gathered(x, layout)

    def _may_pass(self, node: Node) -> bool:
        return node.get_name() in self._context.inside

    def _inputs(self, node: Node, layouts: Sequence[RowLayout | None]) -> list[Output]:
        pairs = zip(node.input_values(), layouts, strict=True)
        return [one if own is None else self(one, own) for one, own in pairs]

    def _clone(self, node: Node, layout: RowLayout, inputs: Sequence[Output]) -> Node:
        """A copy of the node with other inputs."""
        key = (node.get_name(), layout)
        if key not in self._clones:
            made = create(node.get_type_name(), list(inputs), node.get_attributes())
            name_after(made, node, "gathered")
            self._clones[key] = made
            self._context.made.append(made)
        return self._clones[key]

    # --- the Gather itself --------------------------------------------------------------------------------------------

    def _gathered(self, x: Output, layout: RowLayout) -> Output:
        dims = rank_dims(x)
        axes = range(layout.axis, layout.axis + layout.axis_count)
        index = self._rows.index
        if layout.maybe_broadcast:
            index = self._clamped(as_output(dim_of(x, layout.axis)))
        elif not layout.repeated:
            self._extent = self._extent or functools.reduce(_multiply, [as_output(dim_of(x, axis)) for axis in axes])
        if layout.is_plain:
            return self._named(ops.gather(x, index, ints(layout.axis)))
        before, after = [0] * layout.axis, require_static(dims[layout.axis + layout.axis_count :])
        if layout.axis_count > 1:
            flat = ops.reshape(x, ints([*before, -1, *after]), True)
            ones = ints(list(axes[1:]))
            return ops.unsqueeze(self._named(ops.gather(flat, index, ints(layout.axis))), ones).output(0)
        if self._rows.number is None:
            raise MatchFailureError("the number of rows is not known")
        number = ops.unsqueeze(self._rows.number, ints(0))
        target = ops.concat([ints([*before, -1]), number, ints([layout.inner, *after])], 0)
        few = self._named(ops.gather(ops.reshape(x, target, True), index, ints(layout.axis + 1)))
        return ops.reshape(few, ints([*before, -1, *after]), True).output(0)

    def _clamped(self, length: Output) -> Output:
        """The index for an axis that has all rows, or size 1 and is broadcast over them."""
        self._broadcast_extents.append(length)
        return ops.minimum(self._rows.index, ops.subtract(length, ints(1))).output(0)

    def _named(self, gather: Node) -> Output:
        name_after(gather, self._context.gather, "rows")
        return gather.output(0)

    # --- Concat of pyramid levels -------------------------------------------------------------------------------------

    def _concatenated(self, node: Node, x: Output, layout: RowLayout) -> Output:
        dims, inputs = rank_dims(x), node.input_values()
        axis = node.get_attributes()["axis"] % len(dims)
        if not layout.has(axis):
            return self._clone(node, layout, [self(one, layout) for one in inputs]).output(0)
        if not layout.is_plain or len(inputs) < 2 or (dims[axis] or 2) < 2:
            raise MatchFailureError("it concatenates more than rows")
        own, maybe_broadcast = replace(layout, maybe_broadcast=False), layout.maybe_broadcast and dims[axis] is None
        lengths = [rank_dims(one)[axis] for one in inputs]
        if None in lengths:
            return self._concat(self._levels_of_unknown_length(inputs, own, maybe_broadcast), axis)
        pieces, start = [], 0
        for one, length in zip(inputs, require_static(lengths), strict=True):
            index, mask = self._index_of_level(ints(start).output(0), ints(start + length).output(0))
            rows = Rows(index, length, ints(length).output(0), mask)
            pieces.append(Pushdown(rows, self._context)(one, own))
            start += length
        return self._concat(pieces, axis)

    def _levels_of_unknown_length(
        self, inputs: Sequence[Output], layout: RowLayout, maybe_broadcast: bool
    ) -> list[Output]:
        """The selected rows of levels of dynamic length, which is read off the tensors that are gathered from."""
        pieces, indices, ends = [], [], [ints(0).output(0)]
        for one in inputs:
            indices.append(ops.parameter([-1], Type.i64).output(0))
            part = Pushdown(Rows(indices[-1], None, None, None), self._context)
            pieces.append(part(one, layout))
            if part.extent is None:
                raise MatchFailureError("the lengths of its inputs are not known")
            ends.append(ops.add(ends[-1], part.extent).output(0))
        clamped = self._clamped(ends[-1]) if maybe_broadcast else None
        for placeholder, start, end in zip(indices, ends, ends[1:], strict=False):
            index, _ = self._index_of_level(start, end, clamped)
            copy_operators(index, self._context.gather)
            for reader in consumers(placeholder):
                reader.replace_source_output(index)
        if not maybe_broadcast:
            self._extent = self._extent or ends[-1]
        return pieces

    def _index_of_level(self, start: Output, end: Output, index: Output | None = None) -> tuple[Output, Output | None]:
        """The indices of the selected rows in [start, end), relative to `start`, and their mask if there is one."""
        if self._rows.mask is not None and index is None:
            first, last = ops.unsqueeze(start, ints(0)), ops.unsqueeze(end, ints(0))
            mask = ops.slice(self._rows.mask, first, last, ints([1]), ints([0])).output(0)
            return ops.squeeze(ops.non_zero(mask, "i64"), ints(0)).output(0), mask
        index = index or self._rows.index
        own = ops.logical_and(ops.greater_equal(index, start), ops.less(index, end))
        found = ops.gather(index, ops.squeeze(ops.non_zero(own, "i64"), ints(0)), ints(0))
        return ops.subtract(found, start).output(0), None

    def _concat(self, pieces: Sequence[Output], axis: int) -> Output:
        """The pieces concatenated. Unary functions come after it: OpenVINO would move them before the Gathers."""
        nodes = [piece.get_node() for piece in pieces]
        kind, attributes = nodes[0].get_type_name(), nodes[0].get_attributes()
        if kind not in UNARY or any(
            (node.get_type_name(), node.get_attributes(), node.get_input_size()) != (kind, attributes, 1)
            for node in nodes
        ):
            return ops.concat(list(pieces), axis).output(0)
        joined = create(kind, [self._concat([node.input_value(0) for node in nodes], axis)], attributes)
        name_after(joined, nodes[0], "joined")
        self._context.made.append(joined)
        return joined.output(0)

    # --- Reshapes -----------------------------------------------------------------------------------------------------

    def _reshaped(self, node: Node, x: Output, layout: RowLayout) -> Output:
        source = node.input_value(0)
        before, after = rank_dims(source), rank_dims(x)
        if layout.axis_count > 1:
            raise MatchFailureError("its output has several row axes")
        same = None not in after[2:] and before[2:] == after[2:]
        if same and layout.axis == 1 and layout.is_plain and keeps_batch(node):
            return self(source, layout)  # the rows themselves are unchanged
        passable = self._may_pass(source.get_node())
        rows = map_rows(x) if passable and layout.axis == 1 and layout.is_plain else None
        if rows is not None:
            # They are gathered from the feature map directly, so that it is not transposed.
            length, index = as_output(rows.count), self._rows.index
            if layout.maybe_broadcast:
                index = self._clamped(length)
            else:
                self._extent = self._extent or length
            return ops.transpose(self._named(rows.gathered(index)), ints([0, 2, 1])).output(0)
        if passable and source.get_node().get_type_name() in UNARY and source.get_node().get_input_size() == 1:
            return self._before_unary(node, layout)
        target: list[Node] = [ints([-1 if dim is None else dim]) for dim in after]
        target[layout.axis] = ops.shape_of(self._rows.index, Type.i64) if layout.is_plain else ints([-1])
        if [*after[: layout.axis], *after[layout.axis + 1 :]].count(None) + (not layout.is_plain) > 1:
            raise MatchFailureError("several dimensions of its output are not known")
        row = layout.inner * prod(require_static(after[layout.axis + 1 :]))  # elements of one row
        few = self._with_row_count_of(node, layout)(source, self._layout_before(before, row))
        return ops.reshape(few, ops.concat(target, 0), False).output(0)

    def _before_unary(self, reshape: Node, layout: RowLayout) -> Output:
        """Moves a unary elementwise function behind the Reshape that reads it."""
        source = reshape.input_value(0).get_node()
        same = reshape.get_attributes()["special_zero"]
        moved = ops.reshape(source.input_value(0), reshape.input_value(1), same)
        name_after(moved, reshape, "moved")
        self._context.inside.add(moved.get_name())
        return self._clone(source, layout, [self(moved.output(0), layout)]).output(0)

    def _with_row_count_of(self, reshape: Node, layout: RowLayout) -> Pushdown:
        """If the number of rows is dynamic, takes it from the shape that the program computes for the Reshape."""
        if not layout.is_plain or (self._rows.length is not None and not layout.maybe_broadcast):
            return self
        shape = reshape.input_value(1).get_node()
        pieces = shape.input_values() if shape.get_type_name() == "Concat" else ()
        if len(pieces) <= layout.axis or any(dims_of(piece) != [1] for piece in pieces):
            raise MatchFailureError("the number of rows is not known")
        if _is_constant(pieces[layout.axis]):
            raise MatchFailureError("the number of rows is inferred (-1)")
        length, index, mask = ops.squeeze(pieces[layout.axis], ints(0)).output(0), self._rows.index, self._rows.mask
        if layout.maybe_broadcast:
            index, mask = self._clamped(length), None
        else:
            self._extent = length
        key = (pieces[layout.axis].get_node().get_name(), layout.maybe_broadcast)
        if key not in self._by_shape:
            self._by_shape[key] = Pushdown(Rows(index, None, length, mask), self._context)
        return self._by_shape[key]

    def _layout_before(self, dims: Dims, row: int) -> RowLayout:
        """The layout, in a tensor with these dimensions, of rows that have `row` elements each."""
        length, count, axis = self._rows.length, 1, len(dims)
        while axis > 0 and count * (dims[axis - 1] or row + 1) <= row:
            axis -= 1
            count *= dims[axis] or 1
        if axis == 0 or row % count:
            raise MatchFailureError("it splits rows")
        if count == row and length is not None:
            total, first = 1, axis
            while first > 0 and total * (dims[first - 1] or length + 1) <= length:
                first -= 1
                total *= dims[first] or 1
            if total == length and first < axis:
                return RowLayout(first, axis - first)
        last, inner = axis - 1, row // count
        size = dims[last]
        # The first axis has all rows; another one, which must be static, a whole number of sequences of all rows.
        if (size is None or length is None or size % (length * inner)) and not (last == 0 and None in (size, length)):
            raise MatchFailureError("it mixes rows")
        return RowLayout(last, 1, inner, True)


def _maximum(a: Output, b: Output) -> Output:
    return ops.maximum(a, b).output(0)


def _multiply(a: Output, b: Output) -> Output:
    return ops.multiply(a, b).output(0)


def _is_constant(x: Output) -> bool:
    node = x.get_node()
    while node.get_type_name() in (
        "Convert",
        "Reshape",
        "Squeeze",
        "Unsqueeze",
    ):  # a shape stacked with computed dimensions
        node = node.input_value(0).get_node()
    return bool(node.get_type_name() == "Constant")
