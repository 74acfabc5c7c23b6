"""How a Gather along one axis passes each kind of node that computes row by row; for `gather_pushdown`.

A rule tells, for some rows of a node's result, which rows of each input these are computed from. Kinds that are not in
the table mix rows, or nobody has looked at them: the Gather stays behind them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from openvino import Node, Output

from paddle2ov.passes.graph import Dims, dims_of, ints_of, perm_of
from paddle2ov.passes.kinds import ELEMENTWISE
from paddle2ov.passes.rule import Refusal


@dataclass(frozen=True)
class RowLayout:
    """Where rows lie in a tensor.

    Axes `axis` ... `axis + spread - 1`, as one, number them; with `inner` each row is so many elements of the axis, and
    with `repeated` the axis has several such lists one after the other. `loose`: the axis has one row that stands for
    all, or all of them; which one is not known.
    """

    axis: int
    spread: int = 1
    inner: int = 1
    repeated: bool = False
    loose: bool = False

    def has(self, axis: int) -> bool:
        """Whether an axis is one of the rows'."""
        return self.axis <= axis < self.axis + self.spread

    @property
    def plain(self) -> bool:
        """Whether one axis is these rows and nothing else."""
        return self.spread == 1 and self.inner == 1 and not self.repeated


Rule: TypeAlias = Callable[[Node, Output, RowLayout], list[RowLayout | None]]
"""(node, its result, where the rows lie in that) -> where they lie in each input; None for an input read as it is."""


def rank_dims(x: Output) -> Dims:
    """The dimensions of a tensor of known rank."""
    dims = dims_of(x)
    if dims is None:
        raise Refusal("its rank is not known")
    return dims


def require_static(dims: Dims) -> list[int]:
    """Dimensions that all have to be known."""
    found = [dim for dim in dims if dim is not None]
    if len(found) < len(dims):
        raise Refusal("a dimension is not known")
    return found


def _only_data(node: Node, place: RowLayout) -> list[RowLayout | None]:
    return [place, *[None] * (node.get_input_size() - 1)]


def _axes(node: Node, port: int, rank: int) -> list[int]:
    axes = ints_of(node.input_value(port)) if port < node.get_input_size() else None
    if axes is None:
        raise Refusal("its axes are not known")
    return [axis % rank for axis in axes]


def _other_axes(port: int) -> Rule:
    """Nodes that work along the axes which an input names."""

    def rule(node: Node, x: Output, place: RowLayout) -> list[RowLayout | None]:
        if any(place.has(axis) for axis in _axes(node, port, len(rank_dims(node.input_value(0))))):
            raise Refusal("it works along the rows' axis")
        return _only_data(node, place)

    return rule


def _softmax(node: Node, x: Output, place: RowLayout) -> list[RowLayout | None]:
    if place.has(node.get_attributes()["axis"] % len(rank_dims(x))):
        raise Refusal("it works along the rows' axis")
    return [place]


def _reduced(node: Node, x: Output, place: RowLayout) -> list[RowLayout | None]:
    return _other_axes(1)(node, x, place) if node.get_attributes()["keep_dims"] else _squeezed(node, x, place)


def _squeezed(node: Node, x: Output, place: RowLayout) -> list[RowLayout | None]:
    rank = len(rank_dims(node.input_value(0)))
    axes = _axes(node, 1, rank)
    if place.spread > 1:
        raise Refusal("the rows have several axes")
    left = [axis for axis in range(rank) if axis not in axes]
    return _only_data(node, replace(place, axis=left[place.axis]))


def _unsqueezed(node: Node, x: Output, place: RowLayout) -> list[RowLayout | None]:
    axes = _axes(node, 1, len(rank_dims(x)))
    if any(place.has(axis) for axis in axes):
        raise Refusal("it adds an axis among the rows'")
    return _only_data(node, replace(place, axis=place.axis - sum(axis < place.axis for axis in axes)))


def _gather(node: Node, x: Output, place: RowLayout) -> list[RowLayout | None]:
    index, (axis,) = rank_dims(node.input_value(1)), _axes(node, 2, len(rank_dims(node.input_value(0))))
    if node.get_attributes()["batch_dims"] or place.spread > 1 or len(index) > 1:
        raise Refusal("it gathers more than along one axis")
    own = place.axis + (not index and place.axis >= axis)
    if own == axis:
        raise Refusal("it gathers along the rows' axis")
    return _only_data(node, replace(place, axis=own))


def _transpose(node: Node, x: Output, place: RowLayout) -> list[RowLayout | None]:
    perm = perm_of(node)
    own = perm[place.axis : place.axis + place.spread] if perm else []
    if not own or own != list(range(own[0], own[0] + place.spread)):
        raise Refusal("it parts the rows' axes")
    return _only_data(node, replace(place, axis=own[0]))


def _matmul(node: Node, x: Output, place: RowLayout) -> list[RowLayout | None]:
    rank, columns = len(rank_dims(node.input_value(0))), rank_dims(node.input_value(1))
    if node.get_attributes()["transpose_a"] or len(columns) > 2 or place.axis >= rank - 1:
        raise Refusal("its second factor has rows as well")
    if place.loose or place.spread > 1:
        raise Refusal("the rows do not have one axis of their own")
    return [place, None]


def _convolution(node: Node, x: Output, place: RowLayout) -> list[RowLayout | None]:
    attributes, spatial = node.get_attributes(), rank_dims(node.input_value(1))[2:]
    steps = {*spatial, *attributes["strides"]}
    if steps != {1} or any(attributes["pads_begin"]) or any(attributes["pads_end"]):
        raise Refusal("it reads several positions")
    if place.axis < 2 or place.loose:
        raise Refusal("the rows are not its positions")
    return [place, None]


def _elementwise(node: Node, x: Output, place: RowLayout) -> list[RowLayout | None]:
    if node.get_attributes().get("auto_broadcast", "numpy") != "numpy":
        raise Refusal("it does not broadcast as NumPy does")
    inputs, dims = node.input_values(), rank_dims(x)
    shares = [_rows_of_operand(rank_dims(one), dims, place) for one in inputs]
    several = sum(share != "one" for share in shares) > 1
    found: list[RowLayout | None] = []
    for one, share in zip(inputs, shares, strict=True):
        own = replace(place, axis=place.axis - len(dims) + len(rank_dims(one)))
        own = replace(own, loose=place.loose or (share == "unknown" and several))
        found.append(None if share == "one" else own)
    return found


def _rows_of_operand(own: Dims, dims: Dims, place: RowLayout) -> str:
    """Whether an operand has all rows, one for all, or whether that is unknown."""
    start = place.axis - len(dims) + len(own)
    if start + place.spread <= 0:
        return "one"
    if start < 0:
        raise Refusal("an operand has some of the rows' axes only")
    own, whole = own[start : start + place.spread], dims[place.axis : place.axis + place.spread]
    if all(dim == 1 for dim in own):
        # Where there is one row in all, this may be it; it then stands for all that are gathered: that one.
        return "one"
    if None not in own and own == whole:
        return "all"
    if not place.plain:
        raise Refusal("an operand may stand for several rows")
    return "unknown" if own[0] is None else "all"


_AXES = {
    **dict.fromkeys(("ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"), _reduced),
    "Slice": _other_axes(4),
    "Split": _other_axes(1),
    "VariadicSplit": _other_axes(1),
}
RULES: dict[str, Rule] = {
    **dict.fromkeys((ELEMENTWISE | {"Cos", "Sin"}) - {"FakeQuantize", "PRelu"}, _elementwise),
    **_AXES,
    "Convolution": _convolution,
    "Gather": _gather,
    "MatMul": _matmul,
    "Softmax": _softmax,
    "Squeeze": _squeezed,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueezed,
}
"""Kind of node -> how a Gather of rows passes it. `gather_pushdown` itself knows Concat and Reshape."""
