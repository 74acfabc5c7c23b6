"""Decoding of a YOLO head into boxes and scores.

Paddle: `yolo_box`.
Semantics: `paddle/phi/kernels/cpu/yolo_box_kernel.cc`, `paddle/phi/kernels/funcs/yolo_box_util.h`.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Type
from openvino.op import Constant

from paddle2ov.converters.graph.common import cast_to, const
from paddle2ov.converters.graph.dims import dim_vector, index_range
from paddle2ov.graph import arrays
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.types import value_of
from paddle2ov.translation.node_context import NamedOutputs, NodeContext
from paddle2ov.typing import AnyArray


def yolo_box(node: NodeContext) -> NamedOutputs:
    """boxes = (sigmoid(t) * scale + bias + cell, exp(t) * anchor) in pixels of the image; scores = object * class.

    Both are zero where the object's score is below conf_thresh.
    """
    x = node.get_input("x")
    dtype = x.get_element_type()
    anchors = np.asarray(node.get_ints("anchors"), np.float64).reshape(-1, 2)
    classes = node.get_int("class_num")
    count = len(anchors)

    # Rows [N, anchors * H * W, channels]; object scores are computed on the feature map before it is reshaped.
    head, aware = x, node.get_bool("iou_aware", False)
    if aware:
        overlap, head = ops.variadic_split(x, ints(1), ints([count, -1])).outputs()
    channels = [aware * count + i * (5 + classes) + 4 for i in range(count)]
    confidence = ops.sigmoid(ops.gather(x, ints(channels), ints(1)))
    if aware:
        factor = node.get_float("iou_aware_factor", 0.5)
        confidence = ops.multiply(
            ops.power(confidence, const(1 - factor, dtype)),
            ops.power(ops.sigmoid(overlap), const(factor, dtype)),
        )
    below = ops.less(confidence, const(node.get_float("conf_thresh", 0.01), dtype))
    kept = ops.select(below, const(0, dtype), confidence)
    below, kept = (ops.reshape(value, ints([0, -1, 1]), True) for value in (below, kept))

    rows = ops.reshape(head, ints([0, count, 5 + classes, -1]), True)
    rows = ops.reshape(ops.transpose(rows, ints([0, 1, 3, 2])), ints([0, -1, 5 + classes]), True)
    shift, scale, _, class_score = ops.variadic_split(rows, ints(2), ints([2, 2, 1, classes])).outputs()
    scores = ops.multiply(ops.sigmoid(class_score), kept)

    size = ops.gather(cast_to(node.get_input("img_size"), dtype), ints([1, 0]), ints(1))
    image = ops.unsqueeze(size, ints(1))  # [N, 1, 2], width first
    sides = [dim_vector(x, [axis]) for axis in (2, 3)]  # height and width, each [1]
    # Width and height of the image in cells; programs of Paddle 1 use the height for both.
    cells = ops.concat([sides[0 if node.semantics.square_grid else 1], sides[0]], 0)
    stride = ops.divide(image, cast_to(cells, dtype))  # pixels of the image per cell
    spread = node.get_float("scale_x_y", 1.0)
    offset: Node = ops.sigmoid(shift)
    if spread != 1.0:
        offset = ops.multiply(offset, const(spread, dtype))
    halves = anchors / node.get_int("downsample_ratio", 32) / 2
    corners, sizes = _grid(sides, halves, -0.5 * (spread - 1.0), dtype)
    center = ops.multiply(ops.add(offset, corners), stride)
    half = ops.multiply(ops.exp(scale), ops.multiply(stride, sizes))
    low, high = ops.subtract(center, half), ops.add(center, half)
    if node.get_bool("clip_bbox", True):
        low = ops.maximum(low, const(0, dtype))
        high = ops.minimum(high, ops.subtract(image, const(1, dtype)))
    return {"boxes": ops.select(below, const(0, dtype), ops.concat([low, high], 2)), "scores": scores}


def _grid(sides: list[Node], halves: AnyArray, bias: float, dtype: Type) -> tuple[Node, Node]:
    """Column and row of each box's cell, plus `bias`, and half its anchor's size in cells: [anchors * H * W, 2]."""
    known_sides = [value_of(side) for side in sides if isinstance(side, Constant)]
    if len(known_sides) == 2:
        rows, columns = arrays.indices([int(item[0]) for item in known_sides])
        corners = np.stack([columns, rows], -1).reshape(-1, 2) + bias
        return const(arrays.tile(corners, (len(halves), 1)), dtype), const(arrays.repeat(halves, rows.size, 0), dtype)
    # Computed from the number of each box, so that those of some boxes can be computed without the others'.
    height, width = sides
    cells = ops.multiply(height, width)
    count = ops.squeeze(ops.multiply(cells, ints([len(halves)])), ints(0))
    number = index_range(count)
    places = (ops.floor_mod(number, width), ops.floor_mod(ops.divide(number, width), height))
    corner = cast_to(ops.concat([ops.unsqueeze(place, ints(1)) for place in places], 1), dtype)
    anchor = ops.gather(const(halves, dtype), ops.divide(number, cells), ints(0))
    return ops.add(corner, const(bias, dtype)) if bias else corner, anchor
