"""Rebuilds the nodes before a Gather, Reshapes too, so that they compute only its rows; for `gather_pushdown`."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from math import prod

from msgspec import Struct
from openvino import Node, Output, Type

from paddle2ov.graph.consumers import key_of
from paddle2ov.graph.node_kinds import UNARY
from paddle2ov.graph.opset import create, ints, ops
from paddle2ov.graph.shapes import Dims
from paddle2ov.passes.detection.map_rows import keeps_batch, map_rows
from paddle2ov.passes.detection.row_counts import count_rows
from paddle2ov.passes.detection.row_rules import RULES, RowLayout, rank_dims, require_static
from paddle2ov.passes.graph import Graph
from paddle2ov.passes.replacement import name_after
from paddle2ov.passes.rule import MatchFailureError, require

KINDS = frozenset((*RULES, "Concat", "Reshape"))
"""Node types that a Gather may pass."""
_AS_MANY = frozenset((*UNARY, "Reshape", "Softmax", "Transpose"))
"""Those that give as many elements as they read."""
_NOT_COUNTED = "of no rows, a dimension of its output would not be known"
NOT_INSIDE = "something else reads it, or too many nodes are between it and the Gather"


class Context(Struct):
    """What nested pushdowns share.

    Attributes:
        graph: the graph.
        inside: the names of the nodes that the Gathers may pass: nothing outside of the region reads them.
        gather: the Gather that is being pushed up.
        made: the nodes created so far.
        reads_maps: whether a Gather reads a feature map directly, without its Transpose.
    """

    graph: Graph
    inside: set[str]
    gather: Node
    made: list[Node]
    reads_maps: bool = False


class Pushdown:
    """Computes the selected rows of tensors.

    Args:
        index: the indices of the rows [K], ascending.
        length: how many rows there are, where that is known.
        context: what nested pushdowns share.
    """

    def __init__(self, index: Output, length: int | None, context: Context) -> None:
        self._index, self._length = index, length
        self._context = context
        self._done: dict[tuple[tuple[str, int], RowLayout], Output] = {}
        self._clones: dict[tuple[str, RowLayout], Node] = {}
        self._levels: dict[tuple[int, ...], list[Pushdown]] = {}

    def __call__(self, x: Output, layout: RowLayout) -> Output:
        """The selected rows of `x`, with the rank of `x`."""
        key = (key_of(x), layout)
        selected = self._done.get(key)
        if selected is None:
            selected = self._done[key] = self._computed(x, layout)
        return selected

    def _computed(self, x: Output, layout: RowLayout) -> Output:
        node, kind = x.get_node(), x.get_node().get_type_name()
        if node.get_name() not in self._context.inside:
            if kind in KINDS:
                self._context.graph.match_failed("gather_pushdown", node, NOT_INSIDE)
            return self._gathered(x, layout)
        try:
            if kind == "Reshape":
                return self._reshaped(x, layout)
            if kind == "Concat":
                return self._concatenated(x, layout)
            return self._clone(node, layout, self._inputs(node, RULES[kind](node, x, layout))).output(x.get_index())
        except MatchFailureError as reason:
            self._context.graph.match_failed("gather_pushdown", node, str(reason))
            return self._gathered(x, layout)

    def _inputs(self, node: Node, layouts: Sequence[RowLayout | None]) -> list[Output]:
        pairs = zip(node.input_values(), layouts, strict=True)
        return [item if own is None else self(item, own) for item, own in pairs]

    def _clone(self, node: Node, layout: RowLayout, inputs: Sequence[Output]) -> Node:
        """A copy of the node with other inputs."""
        key = (node.get_name(), layout)
        if key not in self._clones:
            made = create(node.get_type_name(), inputs, node.get_attributes())
            name_after(made, node, "gathered")
            self._clones[key] = made
            self._context.made.append(made)
        return self._clones[key]

    # --- the Gather itself --------------------------------------------------------------------------------------------

    def _gathered(self, x: Output, layout: RowLayout) -> Output:
        index = self._index
        if layout.is_plain:
            return self._named(ops.gather(x, index, ints(layout.axis)))
        require(layout.axis_count != 1, "an axis holds more than one element of each row")
        axes = range(layout.axis, layout.axis + layout.axis_count)
        before, after = [0] * layout.axis, require_static(rank_dims(x)[axes.stop :])
        flat = ops.reshape(x, ints([*before, -1, *after]), True)
        few = self._named(ops.gather(flat, index, ints(layout.axis)))
        return ops.unsqueeze(few, ints(list(axes[1:]))).output(0)

    def _named(self, gather: Node) -> Output:
        name_after(gather, self._context.gather, "rows")
        return gather.output(0)

    # --- Concat of pyramid levels -------------------------------------------------------------------------------------

    def _concatenated(self, x: Output, layout: RowLayout) -> Output:
        node, dims, inputs = x.get_node(), rank_dims(x), x.get_node().input_values()
        axis = node.get_attributes()["axis"] % len(dims)
        if not layout.has(axis):
            layouts: list[RowLayout | None] = [layout] * len(inputs)
            return self._clone(node, layout, self._inputs(node, layouts)).output(0)
        if not layout.is_plain or len(inputs) < 2 or (dims[axis] or 2) < 2:
            raise MatchFailureError("it concatenates more than rows")
        counts = [count_rows(input_, axis) for input_ in inputs]
        lengths = [count for count in counts if count is not None]
        require(len(lengths) >= len(counts), "the lengths of its inputs are not known")
        levels = zip(self._levels_of(lengths), inputs, strict=True)
        return self._concat([level(input_, layout) for level, input_ in levels], axis)

    def _levels_of(self, lengths: Sequence[int]) -> list[Pushdown]:
        """One pushdown for each level of a Concat; all Concats of levels with these numbers of rows share them."""
        key = tuple(lengths)
        if key not in self._levels:
            pairs = zip(self._split(lengths), lengths, strict=True)
            self._levels[key] = [Pushdown(index, length, self._context) for index, length in pairs]
        return self._levels[key]

    def _split(self, lengths: Sequence[int]) -> list[Output]:
        """The indices of the selected rows of each level, relative to its start; they are ascending."""
        index, ends = self._index, list(itertools.accumulate(lengths))
        pieces = []
        for i, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
            # By comparisons: OpenVINO takes long to infer the shape of a Slice or a split at computed positions.
            tests = [ops.greater_equal(index, ints([start]))] if i > 0 else []
            tests += [ops.less(index, ints([end]))] if i < len(ends) - 1 else []
            positions = ops.squeeze(ops.non_zero(functools.reduce(ops.logical_and, tests), "i64"), ints(0))
            piece = ops.gather(index, positions, ints(0))
            pieces.append((ops.subtract(piece, ints([start])) if i > 0 else piece).output(0))
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

    def _reshaped(self, x: Output, layout: RowLayout) -> Output:
        node, source = x.get_node(), x.get_node().input_value(0)
        before, after = rank_dims(source), rank_dims(x)
        require(layout.axis_count <= 1, "its output has several row axes")
        same = None not in after[2:] and before[2:] == after[2:]
        if same and layout.axis == 1 and layout.is_plain and keeps_batch(x):
            return self(source, layout)  # the rows themselves are unchanged
        passable = source.get_node().get_name() in self._context.inside
        rows = map_rows(x) if passable and layout.axis == 1 and layout.is_plain else None
        if rows is not None:
            # They are gathered from the feature map directly, so that it is not transposed.
            self._context.reads_maps = True
            return ops.transpose(self._named(rows.gathered(self._index)), ints([0, 2, 1])).output(0)
        if passable and source.get_node().get_type_name() in UNARY and source.get_node().get_input_size() == 1:
            return self._before_unary(node, layout)
        if self._length is None:
            raise MatchFailureError("the number of rows is not known")
        target: list[Node] = [ints([-1 if dim is None else dim]) for dim in after]
        target[layout.axis] = ops.shape_of(self._index, Type.i64) if layout.is_plain else ints([-1])
        unknown = [axis for axis, dim in enumerate(after) if dim is None and axis != layout.axis]
        if len(unknown) + (not layout.is_plain) > 1:
            raise MatchFailureError("several dimensions of its output are not known")
        row = layout.inner * prod(require_static(after[layout.axis + 1 :]))  # elements of one row
        few = self(source, self._layout_before(before, row, self._length))
        for axis in unknown:  # of no rows a Reshape could not infer it
            others = [self._length if i == layout.axis else dim for i, dim in enumerate(after) if i != axis]
            target[axis] = self._count(source, prod(require_static(others)))
        return ops.reshape(few, ops.concat(target, 0), False).output(0)

    def _count(self, x: Output, elements: int) -> Node:
        """How often `x` has so many elements, by the shape of selected rows: the one dimension that is not known."""
        while True:
            dims, node = rank_dims(x), x.get_node()
            if dims.count(None) == 1 and prod(dim for dim in dims if dim is not None) == elements:
                axis = dims.index(None)
                for (tensor, layout), few in self._done.items():
                    if tensor == key_of(x) and not layout.has(axis):
                        return ops.gather(ops.shape_of(few, Type.i64), ints([axis]), ints(0))
            if node.get_type_name() == "MatMul":  # by a matrix, as rows pass no other
                (columns,), (rows,) = (require_static(rank_dims(tensor)[-1:]) for tensor in (x, node.input_value(0)))
                require(columns and elements * rows % columns == 0, _NOT_COUNTED)
                elements = elements * rows // columns
            else:
                require(node.get_type_name() in _AS_MANY, _NOT_COUNTED)
            x = node.input_value(0)

    def _before_unary(self, reshape: Node, layout: RowLayout) -> Output:
        """Moves a unary elementwise function after the Reshape that reads it."""
        source = reshape.input_value(0).get_node()
        made = ops.reshape(source.input_value(0), reshape.input_value(1), reshape.get_attributes()["special_zero"])
        name_after(made, reshape, "moved")
        self._context.inside.add(made.get_name())
        return self._clone(source, layout, [self(made.output(0), layout)]).output(0)

    def _layout_before(self, dims: Dims, row: int, length: int) -> RowLayout:
        """The layout, in a tensor with these dimensions, of `length` rows that have `row` elements each."""
        count, axis = 1, len(dims)
        while axis > 0 and count * (dims[axis - 1] or row + 1) <= row:
            axis -= 1
            count *= dims[axis] or 1
        if axis == 0 or row % count:
            raise MatchFailureError("it splits rows")
        if count == row:
            total, first = 1, axis
            while first > 0 and total * (dims[first - 1] or length + 1) <= length:
                first -= 1
                total *= dims[first] or 1
            if total == length and first < axis:
                return RowLayout(first, axis - first)
        last, inner = axis - 1, row // count
        size = dims[last]
        # The first axis has all rows; another one, which must be static, a whole number of sequences of all rows.
        if (size is None or size % (length * inner)) and not (last == 0 and size is None):
            raise MatchFailureError("it mixes rows")
        return RowLayout(last, 1, inner, True)
