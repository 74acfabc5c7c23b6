"""How a Gather along one axis is pushed through each node type that computes row by row; for `gather_pushdown`.

For some rows of a node's output, a rule gives the rows of each input from which they are computed. Node types that are
not in the table mix rows, or have not been examined: the Gather stays after them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace
from openvino import Node, Output

from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.node_kinds import ELEMENTWISE
from paddle2ov.graph.shapes import Dims, dims_of, known_dims
from paddle2ov.passes.constant_operands import perm_of
from paddle2ov.passes.rule import MatchFailureError, require


class RowLayout(Struct, frozen=True):
    """Where the rows are in a tensor.

    Attributes:
        axis: the first of the axes that enumerate the rows.
        axis_count: how many axes do, flattened in row-major order.
        inner: how many consecutive elements of the axis make up one row.
        repeated: whether the axis holds several such sequences of rows one after the other.
    """

    axis: int
    axis_count: int = 1
    inner: int = 1
    repeated: bool = False

    def has(self, axis: int) -> bool:
        """Whether an axis is one of those that enumerate the rows."""
        return self.axis <= axis < self.axis + self.axis_count

    @property
    def is_plain(self) -> bool:
        """Whether one axis enumerates the rows, and each of its elements is one row."""
        return self.axis_count == 1 and self.inner == 1 and not self.repeated


RowRule: TypeAlias = Callable[[Node, Output, RowLayout], list[RowLayout | None]]
"""(node, its output, the row layout there) -> the row layout in each input; None for an input that is read entirely."""


def rank_dims(x: Output) -> Dims:
    """The dimensions of a tensor.

    Raises:
        MatchFailureError: its rank is not known.
    """
    dims = dims_of(x)
    if dims is None:
        raise MatchFailureError("its rank is not known")
    return dims


def require_static(dims: Dims) -> list[int]:
    """The dimensions as integers.

    Raises:
        MatchFailureError: one of them is dynamic.
    """
    known = known_dims(dims)
    if known is None:
        raise MatchFailureError("a dimension is not known")
    return known


def _only_data(node: Node, layout: RowLayout) -> list[RowLayout | None]:
    return [layout, *[None] * (node.get_input_size() - 1)]


def _axes(node: Node, port: int, rank: int) -> list[int]:
    axes = ints_of(node.input_value(port)) if port < node.get_input_size() else None
    if axes is None:
        raise MatchFailureError("its axes are not known")
    return [axis % rank for axis in axes]


def _other_axes(port: int) -> RowRule:
    """The rule of nodes that compute along the axes given by the input `port`."""

    def rule(node: Node, x: Output, layout: RowLayout) -> list[RowLayout | None]:
        if any(layout.has(axis) for axis in _axes(node, port, len(rank_dims(node.input_value(0))))):
            raise MatchFailureError("it works along the rows' axis")
        return _only_data(node, layout)

    return rule


def _softmax(node: Node, x: Output, layout: RowLayout) -> list[RowLayout | None]:
    require(not layout.has(node.get_attributes()["axis"] % len(rank_dims(x))), "it works along the rows' axis")
    return [layout]


def _reduced(node: Node, x: Output, layout: RowLayout) -> list[RowLayout | None]:
    return _other_axes(1)(node, x, layout) if node.get_attributes()["keep_dims"] else _squeezed(node, x, layout)


def _squeezed(node: Node, x: Output, layout: RowLayout) -> list[RowLayout | None]:
    rank = len(rank_dims(node.input_value(0)))
    axes = _axes(node, 1, rank)
    require(layout.axis_count <= 1, "the rows have several axes")
    left = [axis for axis in range(rank) if axis not in axes]
    return _only_data(node, replace(layout, axis=left[layout.axis]))


def _unsqueezed(node: Node, x: Output, layout: RowLayout) -> list[RowLayout | None]:
    axes = _axes(node, 1, len(rank_dims(x)))
    require(not any(layout.has(axis) for axis in axes), "it adds an axis among the rows'")
    return _only_data(node, replace(layout, axis=layout.axis - sum(axis < layout.axis for axis in axes)))


def _gather(node: Node, x: Output, layout: RowLayout) -> list[RowLayout | None]:
    index, (axis,) = rank_dims(node.input_value(1)), _axes(node, 2, len(rank_dims(node.input_value(0))))
    batch_dims = node.get_attributes()["batch_dims"]
    if not batch_dims and axis <= layout.axis and layout.axis + layout.axis_count <= axis + len(index):
        return [None, replace(layout, axis=layout.axis - axis), None]  # the rows are those of the indices
    if batch_dims or layout.axis_count > 1 or len(index) > 1:
        raise MatchFailureError("it gathers more than along one axis")
    own = layout.axis + (not index and layout.axis >= axis)
    require(own != axis, "it gathers along the rows' axis")
    return _only_data(node, replace(layout, axis=own))


def _transpose(node: Node, x: Output, layout: RowLayout) -> list[RowLayout | None]:
    perm = perm_of(node)
    own = perm[layout.axis : layout.axis + layout.axis_count] if perm else []
    if not own or own != list(range(own[0], own[0] + layout.axis_count)):
        raise MatchFailureError("it separates the rows' axes")
    return _only_data(node, replace(layout, axis=own[0]))


def _matmul(node: Node, x: Output, layout: RowLayout) -> list[RowLayout | None]:
    rank, columns = len(rank_dims(node.input_value(0))), rank_dims(node.input_value(1))
    if node.get_attributes()["transpose_a"] or len(columns) > 2 or layout.axis >= rank - 1:
        raise MatchFailureError("its second operand has rows as well")
    require(layout.axis_count <= 1, "the rows do not have one axis of their own")
    return [layout, None]


def is_pointwise(node: Node) -> bool:
    """Whether a Convolution reads one position for each that it writes; False if that is not known."""
    attributes, filters = node.get_attributes(), dims_of(node.input_value(1))
    if filters is None or {*filters[2:], *attributes["strides"]} != {1}:
        return False
    return not any(attributes["pads_begin"]) and not any(attributes["pads_end"])


def _convolution(node: Node, x: Output, layout: RowLayout) -> list[RowLayout | None]:
    rank_dims(node.input_value(1))
    require(is_pointwise(node), "it reads several positions")
    require(layout.axis >= 2, "the rows are not its positions")
    return [layout, None]


def _elementwise(node: Node, x: Output, layout: RowLayout) -> list[RowLayout | None]:
    require(node.get_attributes().get("auto_broadcast", "numpy") == "numpy", "it does not broadcast as NumPy does")
    dims, operands = rank_dims(x), [rank_dims(input_) for input_ in node.input_values()]
    kinds = [_rows_of_operand(own, dims, layout) for own in operands]
    if set(kinds) == {"one"}:  # a single row, which may be gathered or not
        kinds = ["all" if len(own) - len(dims) + layout.axis >= 0 else "one" for own in operands]
    if "unknown" in kinds and len(kinds) - kinds.count("one") > 1:
        raise MatchFailureError("an operand may be broadcast over the rows")
    return [
        None if kind == "one" else replace(layout, axis=layout.axis - len(dims) + len(own))
        for own, kind in zip(operands, kinds, strict=True)
    ]


def _rows_of_operand(own: Dims, dims: Dims, layout: RowLayout) -> str:
    """Whether an operand has all rows ("all"), is broadcast over them ("one"), or may be either ("unknown")."""
    start = layout.axis - len(dims) + len(own)
    if start + layout.axis_count <= 0:
        return "one"
    require(start >= 0, "an operand has some of the rows' axes only")
    own, full = own[start : start + layout.axis_count], dims[layout.axis : layout.axis + layout.axis_count]
    if all(dim == 1 for dim in own):
        # If there is only one row in total, this may be that row. Broadcasting it over the gathered rows of another
        # operand is right as well.
        return "one"
    if None not in own and own == full:
        return "all"
    require(layout.is_plain, "an operand may be broadcast over several rows")
    return "unknown" if own[0] is None else "all"


RULES: dict[str, RowRule] = {
    **dict.fromkeys((ELEMENTWISE | {"Cos", "Sin"}) - {"FakeQuantize", "PRelu"}, _elementwise),
    **dict.fromkeys(("ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"), _reduced),
    "Convolution": _convolution,
    "Gather": _gather,
    "MatMul": _matmul,
    "Slice": _other_axes(4),
    "Softmax": _softmax,
    "Split": _other_axes(1),
    "Squeeze": _squeezed,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueezed,
    "VariadicSplit": _other_axes(1),
}
"""Node type -> how a Gather of rows passes it. `gather_pushdown` itself handles Concat and Reshape."""
