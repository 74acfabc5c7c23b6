"""Rebuilds the nodes before a Gather so that they compute only the gathered rows; for `gather_pushdown`."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from math import prod

from msgspec import Struct, field
from openvino import Node, Output, Type

from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import create, ops
from paddle2ov.graph.provenance import copy_operators
from paddle2ov.graph.shapes import Dims, dims_of
from paddle2ov.passes.detection.map_rows import Dim, add, dim_at, dim_tensor, keeps_batch, map_rows, multiply
from paddle2ov.passes.detection.row_counts import Count, RowCounts, counts_from_zero
from paddle2ov.passes.detection.row_rules import RULES, RowLayout, rank_dims, require_static
from paddle2ov.passes.detection.views import NodeView, TensorView, Views
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.neighbours import consumers
from paddle2ov.passes.node_kinds import UNARY
from paddle2ov.passes.replacement import name_after
from paddle2ov.passes.rule import MatchFailureError

KINDS = frozenset((*RULES, "Concat", "Range", "Reshape"))
"""Node types that a Gather may pass."""
NOT_INSIDE = "something else reads it, or too many nodes are between it and the Gather"


class Rows(Struct, frozen=True):
    """The selected rows.

    Attributes:
        index: their indices, ascending, [K].
        length: the total number of rows, if it is static.
        number: the same as a [1] tensor, if a node computes it.
    """

    index: Output
    length: int | None
    number: Output | None


class Context(Struct):
    """What nested pushdowns share.

    Attributes:
        graph: the graph.
        views: the original nodes and tensors, with their properties cached.
        inside: the nodes that the Gathers may pass: nothing outside of the region reads them.
        gather: the Gather that is being pushed up.
        made: the nodes created so far.
        counts: the symbolic row counts of tensors.
        maps: the Gathers that read a feature map directly, without its Transpose.
        dims: the dimensions in them that have been read.
    """

    graph: Graph
    views: Views
    inside: set[NodeView]
    gather: Node
    made: list[Node]
    counts: RowCounts
    maps: list[Node] = field(default_factory=list)
    dims: dict[tuple[str, int, int], Dim] = field(default_factory=dict)

    def number(self, count: Count) -> Dim:
        """A number of rows as an integer or a [1] tensor."""
        product: Dim = count.static
        for name, port, axis in count.dims:
            key = name, port, axis
            if key not in self.dims:
                self.dims[key] = dim_at(self.counts.tensors[name, port], axis)
            product = multiply(product, self.dims[key])
        return product


class Pushdown:
    """Computes the selected rows of tensors."""

    def __init__(self, rows: Rows, context: Context) -> None:
        self._rows = rows
        self._context = context
        self._done: dict[tuple[TensorView, RowLayout], Output] = {}
        self._clones: dict[tuple[NodeView, RowLayout], Node] = {}
        self._by_shape: dict[tuple[str, bool], Pushdown] = {}
        self._levels: dict[tuple[Count, ...], list[Pushdown]] = {}
        self._extent: Callable[[], Dim] | None = None
        self._broadcast_extents: list[Output] = []

    @property
    def extent(self) -> Output | None:
        """The total number of rows, a [1] tensor, read off the tensors that are gathered from; None without any."""
        if self._extent is not None:
            return dim_tensor(self._extent())
        return functools.reduce(_maximum, self._broadcast_extents) if self._broadcast_extents else None

    def __call__(self, x: TensorView, layout: RowLayout) -> Output:
        """The selected rows of `x`, with the rank of `x`."""
        key = (x, layout)
        selected = self._done.get(key)
        if selected is None:
            selected = self._done[key] = self._computed(x, layout)
        return selected

    def _computed(self, x: TensorView, layout: RowLayout) -> Output:
        node, kind = x.node, x.node.kind
        if node not in self._context.inside:
            if kind in KINDS:
                self._context.graph.match_failed("gather_pushdown", node.node, NOT_INSIDE)
            return self._gathered(x, layout)
        try:
            if kind == "Reshape":
                return self._reshaped(x, layout)
            if kind == "Concat":
                return self._concatenated(x, layout)
            if kind == "Range":
                return self._numbered(node, layout)
            layouts = RULES[kind](node, x, layout)
            if not layout.maybe_broadcast and any(own is not None and own.maybe_broadcast for own in layouts):
                layouts = self._with_known_counts(node.inputs, layouts)
            return self._clone(node, layout, self._inputs(node, layouts)).output(x.index)
        except MatchFailureError as reason:
            self._context.graph.match_failed("gather_pushdown", node.node, str(reason))
            return self._gathered(x, layout)

    def _with_known_counts(
        self, inputs: Sequence[TensorView], layouts: Sequence[RowLayout | None]
    ) -> list[RowLayout | None]:
        """The layouts of the inputs; none is broadcast where their numbers of rows are known to be equal."""
        if not self._context.counts.are_equal(inputs, layouts):
            return list(layouts)
        return [None if own is None else own.without_broadcast() for own in layouts]

    def _inputs(self, node: NodeView, layouts: Sequence[RowLayout | None]) -> list[Output]:
        pairs = zip(node.inputs, layouts, strict=True)
        return [item.output if own is None else self(item, own) for item, own in pairs]

    def _clone(self, node: NodeView, layout: RowLayout, inputs: Sequence[Output]) -> Node:
        """A copy of the node with other inputs."""
        key = (node, layout)
        if key not in self._clones:
            made = create(node.kind, inputs, node.attributes)
            name_after(made, node.node, "gathered")
            self._clones[key] = made
            self._context.made.append(made)
        return self._clones[key]

    # --- the Gather itself --------------------------------------------------------------------------------------------

    def _gathered(self, x: TensorView, layout: RowLayout) -> Output:
        dims = rank_dims(x)
        axes = range(layout.axis, layout.axis + layout.axis_count)
        index = self._rows.index
        if layout.maybe_broadcast:
            index = self._clamped(dim_tensor(dim_at(x, layout.axis)))
        elif not layout.repeated:
            self._note_extent(lambda: functools.reduce(multiply, [dim_at(x, axis) for axis in axes]))
        if layout.is_plain:
            return self._named(ops.gather(x.output, index, ints(layout.axis)))
        before, after = [0] * layout.axis, require_static(dims[layout.axis + layout.axis_count :])
        if layout.axis_count > 1:
            flat = ops.reshape(x.output, ints([*before, -1, *after]), True)
            ones = ints(list(axes[1:]))
            return ops.unsqueeze(self._named(ops.gather(flat, index, ints(layout.axis))), ones).output(0)
        if self._rows.number is None:
            raise MatchFailureError("the number of rows is not known")
        target = ops.concat([ints([*before, -1]), self._rows.number, ints([layout.inner, *after])], 0)
        few = self._named(ops.gather(ops.reshape(x.output, target, True), index, ints(layout.axis + 1)))
        return ops.reshape(few, ints([*before, -1, *after]), True).output(0)

    def _numbered(self, node: NodeView, layout: RowLayout) -> Output:
        """The rows of a Range from 0, which are their own indices."""
        if node.node.output(0).get_element_type() != Type.i64 or not counts_from_zero(node) or layout.maybe_broadcast:
            raise MatchFailureError("it does not number the rows")
        self._note_extent(lambda: _flat(node.inputs[1].output))
        return self._rows.index

    def _note_extent(self, extent: Callable[[], Dim]) -> None:
        """Notes how the total number of rows is computed; few nodes need it."""
        if self._extent is None:
            self._extent = extent

    def _clamped(self, length: Output) -> Output:
        """The index for an axis that has all rows, or size 1 and is broadcast over them."""
        self._broadcast_extents.append(length)
        return ops.minimum(self._rows.index, ops.subtract(length, ints(1))).output(0)

    def _named(self, gather: Node) -> Output:
        name_after(gather, self._context.gather, "rows")
        return gather.output(0)

    # --- Concat of pyramid levels -------------------------------------------------------------------------------------

    def _concatenated(self, x: TensorView, layout: RowLayout) -> Output:
        node, dims, inputs = x.node, rank_dims(x), x.node.inputs
        axis = node.attributes["axis"] % len(dims)
        if not layout.has(axis):
            layouts: list[RowLayout | None] = [layout] * len(inputs)
            return self._clone(node, layout, self._inputs(node, layouts)).output(0)
        if not layout.is_plain or len(inputs) < 2 or (dims[axis] or 2) < 2:
            raise MatchFailureError("it concatenates more than rows")
        own, maybe_broadcast = layout.without_broadcast(), layout.maybe_broadcast and dims[axis] is None
        if maybe_broadcast:
            return self._concat(self._levels_of_unknown_length(inputs, own, maybe_broadcast), axis)
        counts = [self._context.counts(input_, own) for input_ in inputs]
        return self._concat(
            [level(input_, own) for level, input_ in zip(self._levels_of(counts), inputs, strict=True)], axis
        )

    def _levels_of(self, counts: Sequence[Count]) -> list[Pushdown]:
        """One pushdown for each level of a Concat; all Concats of levels with these numbers of rows share them."""
        key = tuple(counts)
        if key not in self._levels:
            lengths = [self._context.number(count) for count in counts]
            self._levels[key] = [
                Pushdown(Rows(index, length if isinstance(length, int) else None, dim_tensor(length)), self._context)
                for index, length in zip(self._split(lengths, False), lengths, strict=True)
            ]
        return self._levels[key]

    def _levels_of_unknown_length(
        self, inputs: Sequence[TensorView], layout: RowLayout, maybe_broadcast: bool
    ) -> list[Output]:
        """The selected rows of levels of dynamic length, which is read off the tensors that are gathered from."""
        pieces, placeholders, lengths = [], [], []
        for input_ in inputs:
            placeholders.append(ops.parameter([-1], Type.i64).output(0))
            part = Pushdown(Rows(placeholders[-1], None, None), self._context)
            pieces.append(part(input_, layout))
            if part.extent is None:
                raise MatchFailureError("the lengths of its inputs are not known")
            lengths.append(part.extent)
        for placeholder, index in zip(placeholders, self._split(lengths, maybe_broadcast), strict=True):
            copy_operators(index, self._context.gather)
            for reader in consumers(placeholder):
                reader.replace_source_output(index)
        return pieces

    def _split(self, lengths: Sequence[Dim], maybe_broadcast: bool) -> list[Output]:
        """The indices of the selected rows of each level, relative to its start; they are ascending."""
        ends = list(itertools.accumulate(lengths, add))
        starts: list[Dim] = [0, *ends[:-1]]
        if maybe_broadcast:
            index = self._clamped(dim_tensor(ends[-1]))
        else:
            index = self._rows.index
            self._note_extent(lambda: ends[-1])
        pieces = []
        for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
            # By comparisons: OpenVINO takes long to infer the shape of a Slice or a split at computed positions.
            tests = [ops.greater_equal(index, dim_tensor(start))] if i > 0 else []
            tests += [ops.less(index, dim_tensor(end))] if i < len(ends) - 1 else []
            positions = ops.squeeze(ops.non_zero(functools.reduce(ops.logical_and, tests), "i64"), ints(0))
            piece = ops.gather(index, positions, ints(0))
            pieces.append((ops.subtract(piece, dim_tensor(start)) if i > 0 else piece).output(0))
        return pieces

    def _concat(self, pieces: Sequence[Output], axis: int) -> Output:
        """The pieces concatenated, then unary functions: OpenVINO would move these up, before the Gathers."""
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

    def _reshaped(self, x: TensorView, layout: RowLayout) -> Output:
        node, source = x.node, x.node.inputs[0]
        before, after = rank_dims(source), rank_dims(x)
        if layout.axis_count > 1:
            raise MatchFailureError("its output has several row axes")
        same = None not in after[2:] and before[2:] == after[2:]
        if same and layout.axis == 1 and layout.is_plain and keeps_batch(x):
            return self(source, layout)  # the rows themselves are unchanged
        passable = source.node in self._context.inside
        rows = map_rows(x) if passable and layout.axis == 1 and layout.is_plain else None
        if rows is not None:
            # They are gathered from the feature map directly, so that it is not transposed.
            index = self._rows.index
            if layout.maybe_broadcast:
                index = self._clamped(dim_tensor(rows.count))
            else:
                self._note_extent(lambda: rows.count)
            self._context.maps.append(rows.gathered(index))
            return ops.transpose(self._named(self._context.maps[-1]), ints([0, 2, 1])).output(0)
        if passable and source.node.kind in UNARY and len(source.node.inputs) == 1:
            return self._before_unary(node, layout)
        target: list[Node] = [ints([-1 if dim is None else dim]) for dim in after]
        target[layout.axis] = ops.shape_of(self._rows.index, Type.i64) if layout.is_plain else ints([-1])
        if [*after[: layout.axis], *after[layout.axis + 1 :]].count(None) + (not layout.is_plain) > 1:
            raise MatchFailureError("several dimensions of its output are not known")
        row = layout.inner * prod(require_static(after[layout.axis + 1 :]))  # elements of one row
        few = self._with_row_count_of(node, layout)(source, self._layout_before(before, row))
        return ops.reshape(few, ops.concat(target, 0), False).output(0)

    def _before_unary(self, reshape: NodeView, layout: RowLayout) -> Output:
        """Moves a unary elementwise function after the Reshape that reads it."""
        source = reshape.inputs[0].node
        same = reshape.attributes["special_zero"]
        made = ops.reshape(source.inputs[0].output, reshape.inputs[1].output, same)
        name_after(made, reshape.node, "moved")
        moved = self._context.views(made.output(0))
        self._context.inside.add(moved.node)
        return self._clone(source, layout, [self(moved, layout)]).output(0)

    def _with_row_count_of(self, reshape: NodeView, layout: RowLayout) -> Pushdown:
        """If the number of rows is dynamic, takes it from the shape that the program computes for the Reshape."""
        if not layout.is_plain or (self._rows.length is not None and not layout.maybe_broadcast):
            return self
        if self._rows.number is not None and not layout.maybe_broadcast:
            return self
        target = reshape.target or []
        length = target[layout.axis] if layout.axis < len(target) else None
        if length is None:
            raise MatchFailureError("the number of rows is not known")
        if not isinstance(length, Output) or _is_constant(length):
            raise MatchFailureError("the number of rows is inferred (-1)")
        number = length
        index = self._rows.index
        if layout.maybe_broadcast:
            index = self._clamped(number)
        else:
            self._extent = lambda: number
        key = (number.get_node().get_name(), layout.maybe_broadcast)
        if key not in self._by_shape:
            self._by_shape[key] = Pushdown(Rows(index, None, number), self._context)
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


def _flat(number: Output) -> Output:
    """A tensor of one element as [1]."""
    return number if dims_of(number) == [1] else ops.reshape(number, ints([1]), False).output(0)


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
