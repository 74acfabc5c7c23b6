"""Rows that a Transpose and a Reshape make of a feature map are gathered from the map directly."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from msgspec import Struct
from openvino import Node, Output, Type

from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.passes.detection.views import TensorView

Dim: TypeAlias = "int | Output"
"""A static dimension, or a [1] tensor that holds a dynamic one."""


class MapRows(Struct, frozen=True):
    """Rows [N, M, width] as a strided view of a tensor x [N, ...].

    Attributes:
        x: the tensor.
        offset: of the first row, in elements from the start of a batch item of x.
        rows: size and stride of each axis that enumerates the rows, outermost first.
        columns: the same for the elements of a row.
    """

    x: TensorView
    offset: Dim
    rows: list[tuple[Dim, Dim]]
    columns: list[tuple[int, Dim]]

    @property
    def count(self) -> Dim:
        """The number of rows."""
        total: Dim = 1
        for size, _ in self.rows:
            total = multiply(total, size)
        return total

    def gathered(self, index: Output) -> Node:
        """The rows of an index [K], channels first: [N, width, K]."""
        position: Dim = self.offset
        for i, (size, step) in reversed(list(enumerate(self.rows))):
            coordinate = ops.floor_mod(index, dim_tensor(size)).output(0) if i else index
            position = add(position, multiply(coordinate, step))
            index = ops.divide(index, dim_tensor(size)).output(0) if i else index
        numbers = np.indices([size for size, _ in self.columns]).reshape(len(self.columns), -1)
        steps = ints([0] * numbers.shape[1]).output(0)
        if all(isinstance(step, int) for _, step in self.columns):
            steps = ints([int(number) for number in np.array([step for _, step in self.columns]) @ numbers]).output(0)
        else:
            for column, (_, step) in zip(numbers, self.columns, strict=True):
                steps = ops.add(steps, ops.multiply(ints(column.tolist()), dim_tensor(step))).output(0)
        address = ops.add(dim_tensor(position), ops.unsqueeze(steps, ints(1)))
        rows: Node = ops.gather(ops.reshape(self.x.output, ints([0, -1]), True), address, ints(1))
        return rows


def map_rows(rows: TensorView) -> MapRows | None:
    """Matches x [N, ...] → Transpose that keeps the first axis → Reshape [N, M, width]; None for anything else.

    Between x and the Transpose there may be a Reshape of each batch item, and a split along axis 1.
    """
    transpose = rows.node.inputs[0].node
    perm = transpose.perm if transpose.kind == "Transpose" else None
    if not perm or perm[0] != 0 or not keeps_batch(rows):
        return None
    y, after = transpose.inputs[0], rows.dims
    dims = y.dims
    if dims is None or after is None or len(after) != 3 or not after[2]:
        return None
    strides: list[Dim] = [1]
    for axis in range(len(dims) - 1, 1, -1):
        strides.insert(0, multiply(strides[0], dim_at(y, axis)))
    strides.insert(0, 0)  # of the batch axis: never used
    order, width = perm[1:], after[2]
    row_axes: list[tuple[Dim, Dim]] = []
    columns: list[tuple[int, Dim]] = []
    while width > 1:
        size = dims[order[-1]] if order else None
        if not size or (width % size and size % width):
            return None
        axis = order.pop()
        columns.insert(0, (min(size, width), strides[axis]))
        if size > width:
            row_axes.insert(0, (size // width, multiply(strides[axis], width)))
        width = max(width // size, 1)
    previous = None
    for axis in reversed(order):
        if previous == axis + 1:  # adjacent axes merge into one
            row_axes[0] = (multiply(dim_at(y, axis), row_axes[0][0]), row_axes[0][1])
        else:
            row_axes.insert(0, (dim_at(y, axis), strides[axis]))
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


def _origin(y: TensorView) -> tuple[TensorView, Dim]:
    """The tensor whose batch items contain those of y contiguously, and the offset there."""
    offset: Dim = 0
    while True:
        node = y.node
        if keeps_batch(y):
            y = node.inputs[0]
            continue
        axes = node.inputs[1].ints if node.kind in ("Split", "VariadicSplit") else None
        start = _start(y) if axes == [1] else None
        if start is None:
            return y, offset
        y = node.inputs[0]
        step: Dim = start
        for axis in range(2, len(y.dims or ())):
            step = multiply(step, dim_at(y, axis))
        offset = add(offset, step)


def _start(piece: TensorView) -> int | None:
    """Where an output of a split begins; None if that is not known."""
    before = piece.node.node.outputs()[: piece.index]
    sizes = [(dims_of(item) or [None, None])[1] for item in before]
    return None if None in sizes else sum(size or 0 for size in sizes)


# --- dimensions, static or dynamic ------------------------------------------------------------------------------------


def dim_tensor(size: Dim) -> Output:
    """The dimension as a [1] tensor."""
    return ints([size]).output(0) if isinstance(size, int) else size


def dim_at(x: TensorView, axis: int) -> Dim:
    """A dimension of a tensor; one that is dynamic is taken from its ShapeOf."""
    if x.dims is not None and (dim := x.dims[axis]) is not None:
        return dim
    return ops.gather(ops.shape_of(x.output, Type.i64), ints([axis]), ints(0)).output(0)


def multiply(one: Dim, other: Dim) -> Dim:
    """The product of two dimensions."""
    if isinstance(one, int) and isinstance(other, int):
        return one * other
    if 1 in (one if isinstance(one, int) else 0, other if isinstance(other, int) else 0):
        return other if isinstance(one, int) else one
    return ops.multiply(dim_tensor(one), dim_tensor(other)).output(0)


def add(one: Dim, other: Dim) -> Dim:
    """The sum of two dimensions."""
    if isinstance(one, int) and isinstance(other, int):
        return one + other
    if isinstance(one, int) and one == 0:
        return other
    return ops.add(dim_tensor(one), dim_tensor(other)).output(0)
