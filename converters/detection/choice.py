"""Some entries out of many, and where those lie in a tensor; for `narrowing`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from openvino import Node, Output, Type
from openvino.op import Constant

from paddle2ov.converters.detection.rows import dim_of, positions
from paddle2ov.converters.graph.common import Tensor, const, ints, output_of, reshape
from paddle2ov.graph.opset import ops

Dims: TypeAlias = list[int | None]
"""The dimensions of a tensor; None where one is not known."""


class CannotNarrowError(Exception):
    """The entries cannot be told apart before some node; the choice is made after it."""


@dataclass(frozen=True)
class Choice:
    """Some entries out of many, at least one.

    Attributes:
        index: which, ascending [K].
        number: how many there are in all, 0-D.
        length: the same where it is known.
        mask: true for the chosen ones [M]; None where that is not known yet.
        parts: the choices in the parts that the entries are joined of, if they are.
    """

    index: Tensor
    number: Tensor
    length: int | None
    mask: Tensor | None = None
    parts: tuple[Choice, ...] = ()


def choice_of(masks: Sequence[Tensor], lengths: Sequence[int] = ()) -> Choice:
    """The choice that masks of parts make, and the first entry of each part; a single mask may be parted by lengths."""
    if len(masks) == 1 and len(lengths) > 1:
        masks = ops.variadic_split(masks[0], ints(0), ints(list(lengths))).outputs()
    masks = [_never_empty(mask) for mask in masks]
    parts = tuple(map(_choice, masks))
    if len(parts) == 1:
        return parts[0]
    return replace(_choice(ops.concat(masks, 0)), parts=parts)


def _never_empty(mask: Tensor) -> Tensor:
    size = output_of(mask).get_partial_shape()[0]
    rest = ops.slice(mask, ints([1]), ints([np.iinfo(np.int32).max]), ints([1]))
    joined = ops.concat([const(np.array([True]), Type.boolean), rest], 0)
    return reshape(joined, [size.get_length()]) if size.is_static else joined


def _choice(mask: Tensor) -> Choice:
    dim = output_of(mask).get_partial_shape()[0]
    return Choice(positions(mask), dim_of(mask, 0), int(dim.get_length()) if dim.is_static else None, mask)


@dataclass(frozen=True)
class Place:
    """Where the entries lie in a tensor.

    Axes `axis` ... `axis + spread - 1`, as one, have them; with `inner` each is a row of so many elements, and with
    `repeated` there are several such lists one after the other. `loose`: the axis has one entry that stands for all, or
    all of them; which one is not known.
    """

    axis: int
    spread: int = 1
    inner: int = 1
    repeated: bool = False
    loose: bool = False

    def has(self, axis: int) -> bool:
        """Whether an axis is one of the entries'."""
        return self.axis <= axis < self.axis + self.spread

    @property
    def plain(self) -> bool:
        """Whether one axis is these entries and nothing else."""
        return self.spread == 1 and self.inner == 1 and not self.repeated


# --- nodes as they are read -------------------------------------------------------------------------------------------


def key_of(x: Output) -> tuple[str, int]:
    """What names an output for `ends`."""
    return x.get_node().get_name(), x.get_index()


def dims_list(x: Output) -> Dims:
    """The dimensions of a tensor of known rank; None where one is not known."""
    shape = x.get_partial_shape()
    if shape.rank.is_dynamic:
        raise CannotNarrowError
    return [int(shape[i].get_length()) if shape[i].is_static else None for i in range(len(shape))]


def known(dims: Dims) -> list[int]:
    """Dimensions that all have to be known.

    Raises:
        CannotNarrowError: one is not.
    """
    found = [dim for dim in dims if dim is not None]
    if len(found) < len(dims):
        raise CannotNarrowError
    return found


def constant_ints(x: Output) -> list[int] | None:
    """The values of an integer Constant, whatever shape or type it got since; None for any other node."""
    node = x.get_node()
    while node.get_type_name() in ("Convert", "Reshape", "Squeeze", "Unsqueeze"):  # stacked with computed numbers
        node = node.input_value(0).get_node()
    return [int(one) for one in node.get_data().reshape(-1)] if isinstance(node, Constant) else None


def axis_before(transpose: Node, axis: int, spread: int) -> int | None:
    """Where `spread` axes from `axis` on stood before a Transpose; None if that is not known or took them apart."""
    order = constant_ints(transpose.input_value(1))
    own = order[axis : axis + spread] if order else []
    return own[0] if own and own == list(range(own[0], own[0] + spread)) else None


@dataclass(frozen=True)
class Cells:
    """Rows [N, H * W * A, width] that lie channel by channel in a map `x` [N, A * width, H, W], all but N known."""

    x: Output
    anchors: int
    width: int
    size: int

    def flat(self, index: Tensor) -> Node:
        """Where the elements of rows lie in a map as one dimension: [K] -> [K, width]."""
        cell, anchor = ops.divide(index, ints(self.anchors)), ops.floor_mod(index, ints(self.anchors))
        first = ops.add(ops.multiply(anchor, ints(self.width * self.size)), cell)
        steps = ints([self.size * i for i in range(self.width)])
        found: Node = ops.add(ops.unsqueeze(first, ints(1)), steps)
        return found


def cells_of(rows: Output) -> Cells | None:
    """The map that a Transpose and a Reshape make rows of, if that is what they do."""
    reshape_, turn = rows.get_node(), rows.get_node().input_value(0).get_node() if rows.get_node().inputs() else None
    if turn is None or reshape_.get_type_name() != "Reshape" or turn.get_type_name() != "Transpose":
        return None
    x = turn.input_value(0)
    before, after = dims_list(x), dims_list(rows)
    if constant_ints(turn.input_value(1)) != [0, 2, 3, 1] or len(before) != 4 or len(after) != 3:
        return None
    (channels, height, width), (count, size) = before[1:], after[1:]
    if not channels or not height or not width or not count or not size or channels % size:
        return None
    if channels * height * width != count * size:
        return None
    return Cells(x, channels // size, size, height * width)
