"""YOLO's decoding of a head into boxes and scores.

Paddle: `yolo_box`.
Semantics: `paddle/phi/kernels/cpu/yolo_box_kernel.cc`, `paddle/phi/kernels/funcs/yolo_box_util.h`.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const, ints, reshape
from paddle2ov.graph.opset import ops
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def yolo_box(node: NodeContext) -> NamedOutputs:
    """boxes = (sigmoid(t) * scale + bias + cell, exp(t) * anchor) in pixels of the image; scores = object * class.

    Both are zero where the object's score is below conf_thresh.
    """
    x = node.get_input("x")
    dtype = x.get_element_type()
    anchors = np.asarray(node.get_attribute("anchors"), np.float64).reshape(-1, 2)
    classes = node.get_int("class_num")
    count = len(anchors)

    # Everything is [N, anchors, channels, H * W]; the two results are transposed last.
    head = x
    if node.get_bool("iou_aware", False):
        overlap, head = ops.variadic_split(x, ints(1), ints([count, -1])).outputs()
    head = ops.reshape(head, ints([0, count, 5 + classes, -1]), True).output(0)
    parts = ops.variadic_split(head, ints(2), ints([2, 2, 1, classes])).outputs()
    shift, scale, objectness, class_score = parts

    confidence = ops.sigmoid(objectness)
    if node.get_bool("iou_aware", False):
        factor = node.get_float("iou_aware_factor", 0.5)
        iou = ops.sigmoid(ops.reshape(overlap, ints([0, count, 1, -1]), True))
        confidence = ops.multiply(ops.power(confidence, const(1 - factor, dtype)), ops.power(iou, const(factor, dtype)))
    below = ops.less(confidence, const(node.get_float("conf_thresh", 0.01), dtype))
    kept = ops.select(below, const(0, dtype), confidence)
    scores = ops.multiply(ops.sigmoid(class_score), kept)

    image = image_size(node, dtype)  # [N, 1, 2, 1], width first
    sides = sides_of(x)
    stride = ops.divide(image, reshape(cell_counts(node, sides, dtype), [1, 1, 2, 1]))  # pixels of the image per cell
    spread = node.get_float("scale_x_y", 1.0)
    place = ops.sigmoid(shift)
    if spread != 1.0:
        place = ops.multiply(place, const(spread, dtype))
    center = ops.multiply(ops.add(place, _cells(sides, x, -0.5 * (spread - 1.0), dtype)), stride)
    in_cells = anchors / node.get_int("downsample_ratio", 32)
    size = ops.multiply(stride, const(in_cells.reshape(1, count, 2, 1) / 2, dtype))
    half = ops.multiply(ops.exp(scale), size)
    low, high = ops.subtract(center, half), ops.add(center, half)
    if node.get_bool("clip_bbox", True):
        low = ops.maximum(low, const(0, dtype))
        high = ops.minimum(high, ops.subtract(image, const(1, dtype)))
    boxes = ops.select(below, const(0, dtype), ops.concat([low, high], 2))
    return {"boxes": _rows(boxes, 4), "scores": _rows(scores, classes)}


def _rows(x: Node, width: int) -> Node:
    """[N, A, width, H * W] as [N, A * H * W, width]."""
    return ops.reshape(ops.transpose(x, ints([0, 1, 3, 2])), ints([0, -1, width]), True)


def image_size(node: NodeContext, dtype: Type) -> Node:
    """The size of each image, width first: [N, 1, 2, 1]."""
    size = ops.gather(cast_to(node.get_input("img_size"), dtype), ints([1, 0]), ints(1))
    return reshape(size, [-1, 1, 2, 1])


def cell_counts(node: NodeContext, sides: list[Node], dtype: Type) -> Tensor:
    """How many cells the image is wide and high: [2]. In programs of Paddle 1 as many as it is high in either case."""
    height, width = sides
    return cast_to(ops.concat([height if node.get_bool("square_grid", False) else width, height], 0), dtype)


def sides_of(x: Output) -> list[Node]:
    """Height and width of NCHW, each [1]; constants where they are known."""
    shape = x.get_partial_shape()
    found: list[Node] = []
    for axis in (2, 3):
        if shape[axis].is_static:
            found.append(ints([shape[axis].get_length()]))
        else:
            found.append(ops.gather(ops.shape_of(x, Type.i64), ints([axis]), ints(0)))
    return found


def _cells(sides: list[Node], x: Output, bias: float, dtype: Type) -> Node:
    """Column and row of each cell, plus `bias`: [1, 1, 2, H * W]."""
    shape = x.get_partial_shape()
    if shape[2].is_static and shape[3].is_static:
        rows, columns = np.indices((shape[2].get_length(), shape[3].get_length()))
        return const(np.stack([columns, rows]).reshape(1, 1, 2, -1) + bias, dtype)
    grid = ops.concat(sides, 0)
    lines = []
    for axis in (1, 0):
        count = ops.squeeze(sides[axis], ints(0))
        line = reshape(ops.range(ints(0), count, ints(1), "i64"), [1, -1] if axis == 1 else [-1, 1])
        lines.append(reshape(ops.broadcast(line, grid), [1, 1, 1, -1]))
    return ops.add(cast_to(ops.concat(lines, 2), dtype), const(bias, dtype))
