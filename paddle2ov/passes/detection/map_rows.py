"""Rows that a Transpose and a Reshape make of a feature map are gathered from the map directly."""

from __future__ import annotations

import functools
import math

import numpy as np
from msgspec import Struct
from openvino import Node, Output

from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.passes.detection.views import TensorView

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

    x: TensorView
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
        rows: Node = ops.gather(ops.reshape(self.x.output, ints([0, -1]), True), address, ints(1))
        return rows


def map_rows(rows: TensorView) -> MapRows | None:
    """Matches x [N, ...] → Transpose that keeps the first axis → Reshape [N, M, width]; None for anything else.

    All sizes but N are known. Between x and the Transpose there may be a Reshape of each batch item, and a split along
    axis 1.
    """
    transpose = rows.node.inputs[0].node
    perm = transpose.perm if transpose.kind == "Transpose" else None
    if not perm or perm[0] != 0 or not keeps_batch(rows):
        return None
    y, after = transpose.inputs[0], rows.dims
    dims = [dim or 0 for dim in y.dims or ()]
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


def keeps_batch(reshaped: TensorView) -> bool:
    """Whether a Reshape computes this and keeps the first axis, and so the elements of each batch item together."""
    reshape = reshaped.node
    if reshape.kind != "Reshape":
        return False
    target = reshape.target
    if target and isinstance(target[0], int) and target[0] == 0 and reshape.attributes["special_zero"]:
        return True
    before, after = reshape.inputs[0].dims, reshaped.dims
    sizes = [value[1:] if value else [None] for value in (before, after)]
    counts = [math.prod(dim or 0 for dim in size) if None not in size else 0 for size in sizes]
    return counts[0] == counts[1] != 0


def _origin(y: TensorView) -> tuple[TensorView, int]:
    """The tensor whose batch items contain those of y contiguously, and the offset there."""
    offset = 0
    while True:
        node = y.node
        if keeps_batch(y):
            y = node.inputs[0]
            continue
        axes = node.inputs[1].ints if node.kind in ("Split", "VariadicSplit") else None
        before = [(dims_of(item) or [None, None])[1] for item in node.node.outputs()[: y.index]]
        inner = (y.dims or [None])[2:]
        if axes != [1] or None in (*before, *inner):
            return y, offset
        offset += sum(dim or 0 for dim in before) * math.prod(dim or 0 for dim in inner)
        y = node.inputs[0]
