"""Precise pooling of regions of interest, for programs of Paddle 1.

Paddle: `prroi_pool`.
Semantics: `paddle/fluid/operators/prroi_pool_op.h` of Paddle 1.8; the image is zero beyond its edges.
"""

from __future__ import annotations

from openvino import Node, Output, Type

from paddle2ov.converters.detection.roi import image_indices
from paddle2ov.converters.graph.common import cast_to, const, index_range, reshape, shape_of
from paddle2ov.graph import arrays
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def prroi_pool(node: NodeContext) -> NamedOutputs:
    """out[r, c, i, j] = the mean of the bilinearly interpolated image over cell (i, j) of region r, as an integral."""
    x, boxes = node.get_input("x"), node.get_input("boxes")
    size = [node.get_int("pooled_height", 1), node.get_int("pooled_width", 1)]
    regions = ops.multiply(
        reshape(cast_to(boxes, Type.f32), [-1, 4]), const(node.get_float("spatial_scale", 1.0), Type.f32)
    )
    low, high = ops.variadic_split(regions, ints(1), ints([2, 2])).outputs()
    extent = ops.maximum(ops.subtract(high, low), const(0, Type.f32))  # [R, 2], width first
    dims = shape_of(x)
    rows = _weights(low, extent, 1, size[0], ops.gather(dims, ints(2), ints(0)))  # [R, 1, h, H]
    columns = _weights(low, extent, 0, size[1], ops.gather(dims, ints(3), ints(0)))  # [R, 1, w, W]
    maps = ops.gather(cast_to(x, Type.f32), image_indices(node, boxes), ints(0))  # [R, C, H, W]
    # The hat functions of bilinear interpolation are products: so is the integral of their sum.
    total = ops.matmul(ops.matmul(rows, maps, False, False), columns, False, True)
    area = ops.multiply(ops.reduce_prod(extent, ints([1]), True), const(1 / (size[0] * size[1]), Type.f32))
    area = reshape(area, [-1, 1, 1, 1])
    nothing = const(0, Type.f32)
    empty = ops.less_equal(area, nothing)
    mean = ops.divide(total, ops.select(empty, const(1, Type.f32), area))
    return {"out": cast_to(ops.select(empty, nothing, mean), x.get_element_type())}


def _weights(low: Output, extent: Node, axis: int, cells: int, length: Node) -> Node:
    """The integral of each pixel's hat function over each cell along `axis` (0: x, 1: y): [R, 1, cells, length]."""
    start, size = (ops.unsqueeze(ops.gather(value, ints([axis]), ints(1)), ints([1, 3])) for value in (low, extent))
    step = ops.divide(size, const(cells, Type.f32))
    pixel = cast_to(index_range(length), Type.f32)
    edges = [
        ops.add(start, ops.multiply(step, const(arrays.arange(first, first + cells).reshape(-1, 1), Type.f32)))
        for first in (0, 1)
    ]
    before, after = (_hat_until(ops.subtract(edge, pixel)) for edge in edges)
    return ops.subtract(after, before)


def _hat_until(t: Node) -> Node:
    """The integral of max(0, 1 - |s|) over s up to t."""
    near = ops.clamp(t, -1.0, 1.0)
    rest = ops.subtract(const(1, Type.f32), ops.abs(near))
    tail = ops.multiply(ops.multiply(rest, rest), const(0.5, Type.f32))
    return ops.select(ops.less(near, const(0, Type.f32)), tail, ops.subtract(const(1, Type.f32), tail))
