"""Deformable pooling of regions of interest, whose cells are moved by learned offsets.

Paddle: `deformable_psroi_pooling` (legacy only).
Semantics: `paddle/fluid/operators/deformable_psroi_pooling_op.h` of Paddle 2.6.
Refused: offsets for a number of classes that does not divide the channels, and too few channels: Paddle reads
beyond their memory.
"""

from __future__ import annotations

from functools import reduce
from itertools import product

import numpy as np
from openvino import Node, Type

from paddle2ov.converters.detection.box import split_corners
from paddle2ov.converters.detection.roi import image_indices
from paddle2ov.converters.graph.common import Tensor, cast_to, const, exact_divide, reshape
from paddle2ov.converters.graph.dims import dim_of, index_range, shape_of
from paddle2ov.converters.graph.exact import round_half_away
from paddle2ov.graph import arrays
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.translation.node_context import NamedOutputs, NodeContext
from paddle2ov.typing import AnyArray


def deformable_psroi_pooling(node: NodeContext) -> NamedOutputs:
    """out[r, c, i, j] = the mean of samples in cell (i, j) of region r, moved by trans; top_count = their number."""
    x, boxes = node.get_input("x"), node.get_input("boxes")
    dtype, channels = x.get_element_type(), node.get_int("output_dim")
    cells = (node.get_int("pooled_height"), node.get_int("pooled_width"))
    groups, samples = _pair(node, "group_size"), node.get_int("sample_per_part")
    width = x.get_partial_shape()[1]
    node.require(
        width.is_dynamic or width.get_length() >= channels * groups[0] * groups[1],
        f"more than the input's {width} channels",
        output_dim=channels,
        group_size=list(groups),
    )
    x, image, dims = output_of(cast_to(x, Type.f32)), image_indices(node, boxes), shape_of(x)
    low, high = split_corners(reshape(cast_to(boxes, Type.f32), [-1, 4]))
    scale, half = const(node.get_float("spatial_scale"), Type.f32), const(0.5, Type.f32)
    start = ops.subtract(ops.multiply(round_half_away(low), scale), half)
    end = ops.subtract(ops.multiply(ops.add(round_half_away(high), const(1, Type.f32)), scale), half)
    size = ops.maximum(ops.subtract(end, start), const(0.1, Type.f32))  # [R, 2]: x, y

    moved, of_channel = _offsets(node, image, channels, cells)
    neighbours, weights, inside = [], [], []
    for axis in (0, 1):  # y, x
        many, along = cells[axis], ints([1 - axis])
        step = exact_divide(ops.gather(size, along, ints(1)), const(many, Type.f32))  # [R, 1]
        begin = ops.add(ops.multiply(const(arrays.arange(many), Type.f32), step), ops.gather(start, along, ints(1)))
        begin = ops.unsqueeze(begin, ints([1, 3 - axis]))  # [R, 1, i, 1] or [R, 1, 1, j]
        if moved is not None:
            extent = ops.unsqueeze(ops.gather(size, along, ints(1)), ints([2, 3]))
            begin = ops.add(begin, ops.multiply(moved[axis], extent))
        step = exact_divide(step, const(samples, Type.f32))
        step = ops.multiply(const(arrays.arange(samples), Type.f32), step)  # [R, samples]
        coordinate = ops.add(ops.unsqueeze(begin, ints([4])), ops.unsqueeze(step, ints([1, 2, 3])))
        length = cast_to(dim_of(x, 2 + axis), Type.f32)
        within = ops.logical_and(
            ops.greater_equal(coordinate, const(-0.5, Type.f32)), ops.less_equal(coordinate, ops.subtract(length, half))
        )
        last = ops.subtract(length, const(1, Type.f32))
        coordinate = ops.minimum(ops.maximum(coordinate, const(0, Type.f32)), last)
        floor = ops.floor(coordinate)
        share = ops.subtract(coordinate, floor)
        # The samples of y before those of x: [R, classes, i, j, samples of y, samples of x].
        new_axis = ints([5 - axis])
        neighbours.append(
            [ops.unsqueeze(cast_to(value, Type.i64), new_axis) for value in (floor, ops.ceiling(coordinate))]
        )
        weights.append([ops.unsqueeze(value, new_axis) for value in (ops.subtract(const(1, Type.f32), share), share)])
        inside.append(ops.unsqueeze(within, new_axis))

    counted = cast_to(ops.logical_and(inside[0], inside[1]), Type.f32)
    first = _first(image, _channel_of(channels, cells, groups), dims)
    flat = reshape(x, [-1])
    values: list[Node] = []
    for y, right in product((0, 1), (0, 1)):
        within_map = ops.add(ops.multiply(neighbours[0][y], dim_of(x, 3)), neighbours[1][right])
        weight = ops.multiply(ops.multiply(weights[0][y], weights[1][right]), counted)
        within_map, weight = (ops.gather(value, of_channel, ints(1)) for value in (within_map, weight))
        values.append(ops.multiply(ops.gather(flat, ops.add(within_map, first), ints(0)), weight))
    total = reduce(ops.add, values)
    count = ops.reduce_sum(ops.gather(counted, of_channel, ints(1)), ints([4, 5]), False)
    shape = ops.concat([shape_of(image), ints([channels, *cells])], 0)
    count = ops.broadcast(count, shape)
    mean = ops.divide(ops.reduce_sum(total, ints([4, 5]), False), ops.maximum(count, const(1, Type.f32)))
    return {"out": cast_to(mean, dtype), "top_count": cast_to(count, dtype)}


def _offsets(node: NodeContext, image: Tensor, channels: int, cells: tuple[int, int]) -> tuple[list[Node] | None, Node]:
    """The offsets of each cell along y and x, relative to its region, [R, classes, i, j]; the class of each channel."""
    if node.get_int("no_trans"):
        return None, const(arrays.zeros(channels), Type.i64)
    trans = node.get_input("trans")
    trans_dim, declared = trans.get_partial_shape()[1], node.declared_input_shape("trans")
    width = trans_dim.get_length() if trans_dim.is_static else declared[1] if declared else -1
    node.require(width >= 0, "an unknown number of offsets is not supported")
    classes = width // 2
    node.require(
        classes > 0 and channels % classes == 0, f"no multiple of the {classes} classes of trans", output_dim=channels
    )
    parts = _pair(node, "part_size")
    flat = ops.multiply(reshape(cast_to(trans, Type.f32), [-1]), const(node.get_float("trans_std"), Type.f32))
    row, column = (
        _floor_to_int(_range(many) / np.float32(many) * np.float32(part))
        for many, part in zip(cells, parts, strict=True)
    )
    cell = row[:, None] * parts[1] + column
    of_class = arrays.arange(classes)[:, None, None] * (2 * parts[0] * parts[1]) + cell
    region = ops.unsqueeze(index_range(dim_of(image, 0)), ints([1, 2, 3]))
    begin = ops.multiply(region, ints(classes * 2 * parts[0] * parts[1]))
    x, y = (ops.gather(flat, ops.add(begin, ints(of_class + i * parts[0] * parts[1])), ints(0)) for i in (0, 1))
    return [y, x], const(arrays.arange(channels) // (channels // classes), Type.i64)


def _channel_of(channels: int, cells: tuple[int, int], groups: tuple[int, int]) -> AnyArray:
    """The channel of the input that cell (i, j) of a channel of the result is taken from, [channels, i, j]."""
    row, column = (
        np.clip(_floor_to_int(_range(many) * np.float32(group) / np.float32(many)), 0, group - 1)
        for many, group in zip(cells, groups, strict=True)
    )
    return np.asarray((arrays.arange(channels)[:, None, None] * groups[0] + row[:, None]) * groups[1] + column)


def _range(count: int) -> AnyArray:
    return arrays.arange(count, dtype=np.float32)  # Paddle, too, computes in the type of the input


def _floor_to_int(x: AnyArray) -> AnyArray:
    return np.floor(x).astype(np.int64)


def _first(image: Tensor, channel: AnyArray, dims: Tensor) -> Node:
    """The flat offset of the map of each region, channel and cell, [R, channels, i, j, 1, 1]."""
    number, height, width = (ops.gather(dims, ints(axis), ints(0)) for axis in (1, 2, 3))
    maps = ops.add(ops.multiply(ops.unsqueeze(image, ints([1, 2, 3])), number), const(channel, Type.i64))
    return ops.unsqueeze(ops.multiply(maps, ops.multiply(height, width)), ints([4, 5]))


def _pair(node: NodeContext, name: str) -> tuple[int, int]:
    sizes = node.get_ints(name)
    node.require(len(sizes) == 2 and min(sizes) > 0, "two positive numbers are expected", **{name: sizes})
    return sizes[0], sizes[1]
