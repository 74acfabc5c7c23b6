"""Some rows of values, computed from those rows of what they are computed from; for `gather_pushdown`."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from openvino import Node, Output, Type

from paddle2ov.graph.opset import create, ops
from paddle2ov.passes.detection.map_rows import as_output, dim_of, keeps_batch, map_rows
from paddle2ov.passes.detection.row_rules import RULES, RowLayout, rank_dims, require_static
from paddle2ov.passes.graph import Dims, Graph, consumers, dims_of, ints, name_after
from paddle2ov.passes.kinds import UNARY
from paddle2ov.passes.rule import Refusal

KINDS = frozenset((*RULES, "Concat", "Reshape"))
"""What a Gather may pass."""


@dataclass(frozen=True)
class Rows:
    """Some rows out of many.

    Attributes:
        index: which, ascending [K].
        length: how many there are in all, where that is known.
        number: the same, 0-D, where anything tells it.
        mask: true for those of the index; None where that is not known.
    """

    index: Output
    length: int | None
    number: Output | None
    mask: Output | None


@dataclass(frozen=True)
class Context:
    """What all parts of a pushdown share: the nodes that it may pass, the Gather, and the nodes that it made."""

    graph: Graph
    inside: set[str]
    gather: Node
    made: list[Node]


class Pushdown:
    """Computes some rows of values."""

    def __init__(self, rows: Rows, around: Context) -> None:
        self._rows = rows
        self._around = around
        self._done: dict[tuple[str, int, RowLayout], Output] = {}
        self._clones: dict[tuple[str, RowLayout], Node] = {}
        self._told: dict[tuple[str, bool], Pushdown] = {}
        self._extent: Output | None = None
        self._loose_extents: list[Output] = []

    @property
    def extent(self) -> Output | None:
        """How many rows there are in all, 0-D, as the values that were gathered tell."""
        loose = self._loose_extents
        return self._extent or (functools.reduce(_maximum, loose) if loose else None)

    def __call__(self, x: Output, place: RowLayout) -> Output:
        """The rows of `x`, as many dimensions as `x` has."""
        key = (x.get_node().get_name(), x.get_index(), place)
        if key not in self._done:
            self._done[key] = self._computed(x, place)
        return self._done[key]

    def _computed(self, x: Output, place: RowLayout) -> Output:
        node = x.get_node()
        if not self._may_pass(node):
            return self._gathered(x, place)
        try:
            if node.get_type_name() == "Reshape":
                return self._reshaped(node, x, place)
            if node.get_type_name() == "Concat":
                return self._concatenated(node, x, place)
            places = RULES[node.get_type_name()](node, x, place)
            return self._clone(node, place, self._inputs(node, places)).output(x.get_index())
        except Refusal as reason:
            self._around.graph.refused("gather_pushdown", node, str(reason))
            return self._gathered(x, place)

    def _may_pass(self, node: Node) -> bool:
        return node.get_name() in self._around.inside

    def _inputs(self, node: Node, places: Sequence[RowLayout | None]) -> list[Output]:
        pairs = zip(node.input_values(), places, strict=True)
        return [one if own is None else self(one, own) for one, own in pairs]

    def _clone(self, node: Node, place: RowLayout, inputs: Sequence[Output]) -> Node:
        """The node on other inputs."""
        key = (node.get_name(), place)
        if key not in self._clones:
            made = create(node.get_type_name(), list(inputs), node.get_attributes())
            name_after(made, node, "gathered")
            self._clones[key] = made
            self._around.made.append(made)
        return self._clones[key]

    # --- the Gather itself --------------------------------------------------------------------------------------------

    def _gathered(self, x: Output, place: RowLayout) -> Output:
        dims = rank_dims(x)
        axes = range(place.axis, place.axis + place.spread)
        index = self._rows.index
        if place.loose:
            index = self._clamped(as_output(dim_of(x, place.axis)))
        elif not place.repeated:
            self._extent = self._extent or functools.reduce(_multiply, [as_output(dim_of(x, axis)) for axis in axes])
        if place.plain:
            return self._named(ops.gather(x, index, ints(place.axis)))
        before, after = [0] * place.axis, require_static(dims[place.axis + place.spread :])
        if place.spread > 1:
            flat = ops.reshape(x, ints([*before, -1, *after]), True)
            ones = ints(list(axes[1:]))
            return ops.unsqueeze(self._named(ops.gather(flat, index, ints(place.axis))), ones).output(0)
        if self._rows.number is None:
            raise Refusal("nothing tells how many rows there are")
        number = ops.unsqueeze(self._rows.number, ints(0))
        target = ops.concat([ints([*before, -1]), number, ints([place.inner, *after])], 0)
        few = self._named(ops.gather(ops.reshape(x, target, True), index, ints(place.axis + 1)))
        return ops.reshape(few, ints([*before, -1, *after]), True).output(0)

    def _clamped(self, length: Output) -> Output:
        """The index where an axis has all rows, or one that stands for all."""
        self._loose_extents.append(length)
        return ops.minimum(self._rows.index, ops.subtract(length, ints(1))).output(0)

    def _named(self, gather: Node) -> Output:
        name_after(gather, self._around.gather, "rows")
        return gather.output(0)

    # --- levels that a Concat joins -----------------------------------------------------------------------------------

    def _concatenated(self, node: Node, x: Output, place: RowLayout) -> Output:
        dims, inputs = rank_dims(x), node.input_values()
        axis = node.get_attributes()["axis"] % len(dims)
        if not place.has(axis):
            return self._clone(node, place, [self(one, place) for one in inputs]).output(0)
        if not place.plain or len(inputs) < 2 or (dims[axis] or 2) < 2:
            raise Refusal("it joins more than rows")
        own, loose = replace(place, loose=False), place.loose and dims[axis] is None
        lengths = [rank_dims(one)[axis] for one in inputs]
        if None in lengths:
            return self._joined(self._of_unknown_lengths(inputs, own, loose), axis)
        pieces, start = [], 0
        for one, length in zip(inputs, require_static(lengths), strict=True):
            index, mask = self._part(ints(start).output(0), ints(start + length).output(0))
            rows = Rows(index, length, ints(length).output(0), mask)
            pieces.append(Pushdown(rows, self._around)(one, own))
            start += length
        return self._joined(pieces, axis)

    def _of_unknown_lengths(self, inputs: Sequence[Output], place: RowLayout, loose: bool) -> list[Output]:
        """The rows of levels whose lengths the tensors tell that were gathered of, once they are."""
        pieces, indices, ends = [], [], [ints(0).output(0)]
        for one in inputs:
            indices.append(ops.parameter([-1], Type.i64).output(0))
            part = Pushdown(Rows(indices[-1], None, None, None), self._around)
            pieces.append(part(one, place))
            if part.extent is None:
                raise Refusal("nothing tells how long its parts are")
            ends.append(ops.add(ends[-1], part.extent).output(0))
        clamped = self._clamped(ends[-1]) if loose else None
        for placeholder, start, end in zip(indices, ends, ends[1:], strict=False):
            index, _ = self._part(start, end, clamped)
            for reader in consumers(placeholder):
                reader.replace_source_output(index)
        if not loose:
            self._extent = self._extent or ends[-1]
        return pieces

    def _part(self, start: Output, end: Output, index: Output | None = None) -> tuple[Output, Output | None]:
        """The index of the rows from `start` to `end`, counted from there, and their mask if that is known."""
        if self._rows.mask is not None and index is None:
            first, last = ops.unsqueeze(start, ints(0)), ops.unsqueeze(end, ints(0))
            mask = ops.slice(self._rows.mask, first, last, ints([1]), ints([0])).output(0)
            return ops.squeeze(ops.non_zero(mask, "i64"), ints(0)).output(0), mask
        index = index or self._rows.index
        own = ops.logical_and(ops.greater_equal(index, start), ops.less(index, end))
        found = ops.gather(index, ops.squeeze(ops.non_zero(own, "i64"), ints(0)), ints(0))
        return ops.subtract(found, start).output(0), None

    def _joined(self, pieces: Sequence[Output], axis: int) -> Output:
        """The pieces joined; functions of single elements follow, as OpenVINO would move them before the Gathers."""
        nodes = [piece.get_node() for piece in pieces]
        kind, attributes = nodes[0].get_type_name(), nodes[0].get_attributes()
        if kind not in UNARY or any(
            (node.get_type_name(), node.get_attributes(), node.get_input_size()) != (kind, attributes, 1)
            for node in nodes
        ):
            return ops.concat(list(pieces), axis).output(0)
        joined = create(kind, [self._joined([node.input_value(0) for node in nodes], axis)], attributes)
        name_after(joined, nodes[0], "joined")
        self._around.made.append(joined)
        return joined.output(0)

    # --- Reshapes -----------------------------------------------------------------------------------------------------

    def _reshaped(self, node: Node, x: Output, place: RowLayout) -> Output:
        source = node.input_value(0)
        before, after = rank_dims(source), rank_dims(x)
        if place.spread > 1:
            raise Refusal("the rows have several axes behind it")
        same = None not in after[2:] and before[2:] == after[2:]
        if same and place.axis == 1 and place.plain and keeps_batch(node):
            return self(source, place)  # each row stays what it is
        passable = self._may_pass(source.get_node())
        rows = map_rows(x) if passable and place.axis == 1 and place.plain else None
        if rows is not None:
            # They are read where they lie, so that the map is not transposed.
            length, index = as_output(rows.count), self._rows.index
            if place.loose:
                index = self._clamped(length)
            else:
                self._extent = self._extent or length
            return ops.transpose(self._named(rows.gathered(index)), ints([0, 2, 1])).output(0)
        if passable and source.get_node().get_type_name() in UNARY and source.get_node().get_input_size() == 1:
            return self._before_unary(node, place)
        target: list[Node] = [ints([-1 if dim is None else dim]) for dim in after]
        target[place.axis] = ops.shape_of(self._rows.index, Type.i64) if place.plain else ints([-1])
        if [*after[: place.axis], *after[place.axis + 1 :]].count(None) + (not place.plain) > 1:
            raise Refusal("several dimensions behind it are not known")
        row = place.inner * prod(require_static(after[place.axis + 1 :]))  # elements of one row
        few = self._told_by(node, place)(source, self._rows_within(before, row))
        return ops.reshape(few, ops.concat(target, 0), False).output(0)

    def _before_unary(self, reshape: Node, place: RowLayout) -> Output:
        """A function of single elements can as well follow a Reshape."""
        source = reshape.input_value(0).get_node()
        same = reshape.get_attributes()["special_zero"]
        moved = ops.reshape(source.input_value(0), reshape.input_value(1), same)
        name_after(moved, reshape, "moved")
        self._around.inside.add(moved.get_name())
        return self._clone(source, place, [self(moved.output(0), place)]).output(0)

    def _told_by(self, reshape: Node, place: RowLayout) -> Pushdown:
        """Where a length is not known, the shape that the program computes says how many rows there are."""
        if not place.plain or (self._rows.length is not None and not place.loose):
            return self
        shape = reshape.input_value(1).get_node()
        pieces = shape.input_values() if shape.get_type_name() == "Concat" else ()
        if len(pieces) <= place.axis or any(dims_of(piece) != [1] for piece in pieces):
            raise Refusal("nothing tells how many rows there are")
        if _is_constant(pieces[place.axis]):
            raise Refusal("how many rows there are is left to be inferred")
        length, index, mask = ops.squeeze(pieces[place.axis], ints(0)).output(0), self._rows.index, self._rows.mask
        if place.loose:
            index, mask = self._clamped(length), None
        else:
            self._extent = length
        key = (pieces[place.axis].get_node().get_name(), place.loose)
        if key not in self._told:
            self._told[key] = Pushdown(Rows(index, None, length, mask), self._around)
        return self._told[key]

    def _rows_within(self, dims: Dims, row: int) -> RowLayout:
        """Where rows of `row` elements lie in a tensor of some dimensions."""
        length, count, axis = self._rows.length, 1, len(dims)
        while axis > 0 and count * (dims[axis - 1] or row + 1) <= row:
            axis -= 1
            count *= dims[axis] or 1
        if axis == 0 or row % count:
            raise Refusal("it takes rows apart")
        if count == row and length is not None:
            total, first = 1, axis
            while first > 0 and total * (dims[first - 1] or length + 1) <= length:
                first -= 1
                total *= dims[first] or 1
            if total == length and first < axis:
                return RowLayout(first, axis - first)
        last, inner = axis - 1, row // count
        size = dims[last]
        # The first axis has all that stand before; another one, which must be known, as many lists as fit.
        if (size is None or length is None or size % (length * inner)) and not (last == 0 and None in (size, length)):
            raise Refusal("it mixes rows")
        return RowLayout(last, 1, inner, True)


def _maximum(a: Output, b: Output) -> Output:
    return ops.maximum(a, b).output(0)


def _multiply(a: Output, b: Output) -> Output:
    return ops.multiply(a, b).output(0)


def _is_constant(x: Output) -> bool:
    node = x.get_node()
    while node.get_type_name() in ("Convert", "Reshape", "Squeeze", "Unsqueeze"):  # stacked with computed numbers
        node = node.input_value(0).get_node()
    return bool(node.get_type_name() == "Constant")
