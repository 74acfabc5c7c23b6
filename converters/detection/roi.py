"""Pooling of regions of interest.

Paddle: `roi_align`, `roi_pool`, `psroi_pool`, and of Paddle 1 `prroi_pool`.
Semantics: `paddle/phi/kernels/cpu/roi_align_kernel.cc`, `roi_pool_kernel.cc`, `psroi_pool_kernel.cc`,
`paddle/fluid/operators/prroi_pool_op.h` of Paddle 1.8, for which the image is zero beyond its edges.
Refused: the result `arg_max` of `roi_pool`, which only its gradient reads. Boxes without
`boxes_num` have their image from LoD, or belong to a single image.
"""

from __future__ import annotations

from openvino import Node, Output, Type

from paddle2ov.converters.detection.box import split_corners
from paddle2ov.converters.detection.rows import image_of_rows
from paddle2ov.converters.graph.common import Tensor, cast_to, const, exact_divide, reshape
from paddle2ov.converters.graph.dims import dim_of, dim_vector, index_range
from paddle2ov.converters.graph.exact import round_half_away
from paddle2ov.graph import arrays
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.terms import Term, abs_, select
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def roi_align(node: NodeContext) -> NamedOutputs:
    """out[r, c, i, j] = the mean of bilinear samples in cell (i, j) of region r of its image."""
    x, rois = node.get_input("x"), node.get_input("boxes")
    dtype = x.get_element_type()
    node.require(
        dtype.is_real(), "of integers Paddle computes coordinates and weights as integers, too", x=dtype.get_type_name()
    )
    aligned = node.get_bool("aligned", False)
    image = image_indices(node, rois)
    # A program may know the shape of the boxes where the input given to OpenVINO does not.
    boxes = ops.reshape(cast_to(rois, Type.f32), ints([-1, 4]), False)
    out = ops.roi_align(
        cast_to(x, Type.f32),
        boxes,
        image,
        node.get_int("pooled_height", 1),
        node.get_int("pooled_width", 1),
        max(node.get_int("sampling_ratio", -1), 0),
        node.get_float("spatial_scale", 1.0),
        "avg",
        "half_pixel_for_nn" if aligned else "asymmetric",
    )
    return {"out": cast_to(out, dtype)}


def roi_pool(node: NodeContext) -> NamedOutputs:
    """out[r, c, i, j] = the maximum in cell (i, j) of region r, rounded to integer pixels; 0 where it is empty."""
    node.require(not node.is_output_used("arg_max"), "arg_max is not supported")
    x, boxes = node.get_input("x"), node.get_input("boxes")
    dtype = x.get_element_type()
    size = [node.get_int("pooled_height", 1), node.get_int("pooled_width", 1)]
    scale = node.get_float("spatial_scale", 1.0)
    out = ops.roi_pooling(cast_to(x, Type.f32), _with_image(node, boxes), size, scale, "max")
    return {"out": cast_to(out, dtype)}


def psroi_pool(node: NodeContext) -> NamedOutputs:
    """out[r, c, i, j] = the mean of channel (c, i, j) of the input in cell (i, j) of region r."""
    x, boxes = node.get_input("x"), node.get_input("boxes")
    dtype = x.get_element_type()
    height, width = node.get_int("pooled_height", 1), node.get_int("pooled_width", 1)
    channels, scale = node.get_int("output_channels", 1), node.get_float("spatial_scale", 1.0)
    shapes_known = x.get_partial_shape().is_static and boxes.get_partial_shape().is_static
    if height == width and shapes_known:
        # OpenVINO adds 1 before it rounds, which may make a half of less.
        regions = _with_image(node, round_half_away(boxes).output(0))
        out = ops.psroi_pooling(cast_to(x, Type.f32), regions, channels, height, scale, 1, 1, "average")
        return {"out": cast_to(out, dtype)}
    # OpenVINO's operator needs square cells and static shapes: otherwise a matrix product with the cells' indicators.
    image = image_indices(node, boxes)
    low, high = split_corners(reshape(cast_to(boxes, Type.f32), [-1, 4]))
    start = ops.multiply(round_half_away(low), const(scale, Type.f32))
    end = ops.multiply(ops.add(round_half_away(high), const(1, Type.f32)), const(scale, Type.f32))
    size = ops.maximum(ops.subtract(end, start), const(0.1, Type.f32))
    rows = _inside(start, size, 1, height, dim_of(x, 2))  # [R, height, H]
    columns = _inside(start, size, 0, width, dim_of(x, 3))  # [R, width, W]
    own = ops.equal(ops.unsqueeze(image, ints(1)), index_range(dim_of(x, 0)))  # [R, N]
    own = cast_to(own, Type.f32)
    cell = ops.multiply(ops.unsqueeze(rows, ints([2, 4])), ops.unsqueeze(columns, ints([1, 3])))
    cell = ops.multiply(ops.unsqueeze(cell, ints(3)), ops.unsqueeze(own, ints([1, 2, 4, 5])))  # [R, h, w, N, H, W]
    cell = ops.transpose(ops.reshape(cell, ints([0, 0, 0, -1]), True), ints([1, 2, 0, 3]))  # [h, w, R, N * H * W]
    shape = ops.concat([ints([0, channels, height, width]), dim_vector(x, [2, 3])], 0)
    maps = ops.reshape(cast_to(x, Type.f32), shape, True)
    maps = ops.transpose(maps, ints([2, 3, 0, 4, 5, 1]))  # [h, w, N, H, W, C]
    maps = ops.reshape(maps, ints([0, 0, -1, channels]), True)
    total = ops.matmul(cell, maps, False, False)  # [h, w, R, C]
    area = ops.reduce_sum(cell, ints(3), True)
    mean = ops.divide(total, ops.maximum(area, const(1, Type.f32)))
    return {"out": cast_to(ops.transpose(mean, ints([2, 3, 0, 1])), dtype)}


def _inside(start: Tensor, size: Node, axis: int, cells: int, length: Node) -> Node:
    """1 where pixel p along `axis` (0: x, 1: y) lies in cell i of region r, else 0: [R, cells, length]."""
    begin, extent = ops.gather(start, ints([axis]), ints(1)), ops.gather(size, ints([axis]), ints(1))  # [R, 1]
    step = exact_divide(extent, const(cells, Type.f32))
    first = ops.floor(ops.add(ops.multiply(const(arrays.arange(cells), Type.f32), step), begin))
    last = ops.ceiling(ops.add(ops.multiply(const(arrays.arange(1, cells + 1), Type.f32), step), begin))
    pixel = cast_to(index_range(length), Type.f32)
    inside = ops.logical_and(
        ops.greater_equal(pixel, ops.unsqueeze(first, ints(2))), ops.less(pixel, ops.unsqueeze(last, ints(2)))
    )
    return ops.convert(inside, Type.f32)


def image_indices(node: NodeContext, boxes: Output) -> Node:
    """The index of each region's image, int64 [R]."""
    images = node.get_input("x").get_partial_shape()[0]
    if images.is_static and images.get_length() != 1 and not node.has_input("boxes_num"):
        node.require(node.has_sequences("boxes"), "neither boxes_num nor LoD gives the image of each region")
    return image_of_rows(node, "boxes_num", "boxes")[0]


def _with_image(node: NodeContext, boxes: Output) -> Node:
    """Regions as (image, x1, y1, x2, y2)."""
    image = ops.unsqueeze(cast_to(image_indices(node, boxes), Type.f32), ints(1))
    return ops.concat([image, reshape(cast_to(boxes, Type.f32), [-1, 4])], 1)


def prroi_pool(node: NodeContext) -> NamedOutputs:
    """out[r, c, i, j] = the mean of the bilinearly interpolated image over cell (i, j) of region r, as an integral."""
    x, boxes = node.get_input("x"), node.get_input("boxes")
    size = [node.get_int("pooled_height", 1), node.get_int("pooled_width", 1)]
    regions = ops.multiply(
        reshape(cast_to(boxes, Type.f32), [-1, 4]), const(node.get_float("spatial_scale", 1.0), Type.f32)
    )
    low, high = split_corners(regions)
    extent = ops.maximum(ops.subtract(high, low), const(0, Type.f32))  # [R, 2], width first
    rows = _weights(low, extent, 1, size[0], dim_of(x, 2))  # [R, 1, h, H]
    columns = _weights(low, extent, 0, size[1], dim_of(x, 3))  # [R, 1, w, W]
    maps = ops.gather(cast_to(x, Type.f32), image_indices(node, boxes), ints(0))  # [R, C, H, W]
    # The hat functions of bilinear interpolation are products: so is the integral of their sum.
    total = ops.matmul(ops.matmul(rows, maps, False, False), columns, False, True)
    area = ops.multiply(ops.reduce_prod(extent, ints([1]), True), const(1 / (size[0] * size[1]), Type.f32))
    area = reshape(area, [-1, 1, 1, 1])
    nothing = const(0, Type.f32)
    empty = ops.less_equal(area, nothing)
    mean = ops.divide(total, ops.select(empty, const(1, Type.f32), area))
    return {"out": cast_to(ops.select(empty, nothing, mean), x.get_element_type())}


def _weights(low: Output, extent: Node, axis: int, cells: int, length: Node) -> Output:
    """The integral of each pixel's hat function over each cell along `axis` (0: x, 1: y): [R, 1, cells, length]."""
    start, size = (ops.unsqueeze(ops.gather(value, ints([axis]), ints(1)), ints([1, 3])) for value in (low, extent))
    step = ops.divide(size, const(cells, Type.f32))
    pixel = cast_to(index_range(length), Type.f32)
    edges = [
        ops.add(start, ops.multiply(step, const(arrays.arange(first, first + cells).reshape(-1, 1), Type.f32)))
        for first in (0, 1)
    ]
    before, after = (_hat_until(ops.subtract(edge, pixel)) for edge in edges)
    return (after - before).value


def _hat_until(t: Node) -> Term:
    """The integral of max(0, 1 - |s|) over s up to t."""
    near = Term(ops.clamp(t, -1.0, 1.0))
    rest = 1 - abs_(near)
    tail = rest * rest * 0.5
    return select(near < 0, tail, 1 - tail)
