"""Rows that a Transpose and a Reshape make of a feature map are gathered from the map directly."""

from __future__ import annotations

import functools
import math

import numpy as np
from msgspec import Struct
from openvino import Node, Output

from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.placement import SPLITTING
from paddle2ov.graph.shapes import dims_of
from paddle2ov.passes.constant_operands import perm_of, target_of

_MAX_WIDTH = 1 << 16
"""Elements of a row, whose places in the map are listed."""


class MapRows(Struct, frozen=True):
    """Rows [N, M, width] as a strided view of a tensor x [N, ...].

    Attributes:
        x: the tensor.
        offset: of the first row, in elements from the start of a batch item of x.
        rows: size and stride of each axis that enumerates the rows, outermost first.
        columns: the same for the elements of a row.
    """

    x: Output
    offset: int
    rows: list[tuple[int, int]]
    columns: list[tuple[int, int]]

    def gathered(self, index: Output) -> Node:
        """The rows of an index [K], channels first: [N, width, K]."""
        parts: list[Output | Node] = [ints([self.offset])] if self.offset else []
        for i, (size, step) in reversed(list(enumerate(self.rows))):
            coordinate = ops.floor_mod(index, ints([size])) if i else index
            parts.append(coordinate if step == 1 else ops.multiply(coordinate, ints([step])))
            index = ops.divide(index, ints([size])).output(0) if i else index
        numbers = np.indices([size for size, _ in self.columns]).reshape(len(self.columns), -1)
        steps = ints((np.array([step for _, step in self.columns]) @ numbers).tolist())
        address = ops.add(functools.reduce(ops.add, parts), ops.unsqueeze(steps, ints(1)))
        rows: Node = ops.gather(ops.reshape(self.x, ints([0, -1]), True), address, ints(1))
        return rows


def map_rows(rows: Output) -> MapRows | None:
    """Matches x [N, ...] → Transpose that keeps the first axis → Reshape [N, M, width]; None for anything else.

    All sizes but N are known. Between x and the Transpose there may be a Reshape of each batch item, and a split along
    axis 1.
    """
    transpose = rows.get_node().input_value(0).get_node()
    perm = perm_of(transpose) if transpose.get_type_name() == "Transpose" else None
    if not perm or perm[0] != 0 or not keeps_batch(rows):
        return None
    y, after = transpose.input_value(0), dims_of(rows)
    dims = [dim or 0 for dim in dims_of(y) or ()]
    if 0 in dims[1:] or not dims or after is None or len(after) != 3 or not after[2] or after[2] > _MAX_WIDTH:
        return None
    strides = [0, *(math.prod(dims[axis + 1 :]) for axis in range(1, len(dims)))]  # that of the batch is never used
    order, width = perm[1:], after[2]
    row_axes: list[tuple[int, int]] = []
    columns: list[tuple[int, int]] = []
    while width > 1:
        size = dims[order[-1]] if order else 0
        if not size or (width % size and size % width):
            return None
        axis = order.pop()
        columns.insert(0, (min(size, width), strides[axis]))
        if size > width:
            row_axes.insert(0, (size // width, strides[axis] * width))
        width = max(width // size, 1)
    previous = None
    for axis in reversed(order):
        if previous == axis + 1:  # adjacent axes merge into one
            row_axes[0] = (dims[axis] * row_axes[0][0], row_axes[0][1])
        else:
            row_axes.insert(0, (dims[axis], strides[axis]))
        previous = axis
    x, offset = _origin(y)
    return MapRows(x, offset, row_axes or [(1, 0)], columns or [(1, 0)])


def keeps_batch(reshaped: Output) -> bool:
    """Whether a Reshape computes this and keeps the first axis, and so the elements of each batch item together."""
    reshape = reshaped.get_node()
    if reshape.get_type_name() != "Reshape":
        return False
    target = target_of(reshape)
    if target and isinstance(target[0], int) and target[0] == 0 and reshape.get_attributes()["special_zero"]:
        return True
    before, after = dims_of(reshape.input_value(0)), dims_of(reshaped)
    sizes = [value[1:] if value else [None] for value in (before, after)]
    counts = [math.prod(dim or 0 for dim in size) if None not in size else 0 for size in sizes]
    return counts[0] == counts[1] != 0


def _origin(y: Output) -> tuple[Output, int]:
    """The tensor whose batch items contain those of y contiguously, and the offset there."""
    offset = 0
    while True:
        node = y.get_node()
        if keeps_batch(y):
            y = node.input_value(0)
            continue
        axes = ints_of(node.input_value(1)) if node.get_type_name() in SPLITTING else None
        before = [(dims_of(item) or [None, None])[1] for item in node.outputs()[: y.get_index()]]
        inner = (dims_of(y) or [None])[2:]
        if axes != [1] or None in (*before, *inner):
            return y, offset
        offset += sum(dim or 0 for dim in before) * math.prod(dim or 0 for dim in inner)
        y = node.input_value(0)
