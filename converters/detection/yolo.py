"""Decoding of a YOLO head into boxes and scores.

Paddle: `yolo_box`.
Semantics: `paddle/phi/kernels/cpu/yolo_box_kernel.cc`, `paddle/phi/kernels/funcs/yolo_box_util.h`.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type
from openvino.op import Constant

from paddle2ov.converters.detection.rows import folded_sizes
from paddle2ov.converters.graph.common import Tensor, cast_to, const, ints, reshape
from paddle2ov.graph import arrays
from paddle2ov.graph.opset import ops
from paddle2ov.graph.types import value_of
from paddle2ov.program.model import AnyArray
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
    below, kept = (ops.reshape(one, ints([0, -1, 1]), True) for one in (below, kept))

    rows = ops.reshape(head, ints([0, count, 5 + classes, -1]), True)
    rows = ops.reshape(ops.transpose(rows, ints([0, 1, 3, 2])), ints([0, -1, 5 + classes]), True)
    shift, scale, _, class_score = ops.variadic_split(rows, ints(2), ints([2, 2, 1, classes])).outputs()
    scores = ops.multiply(ops.sigmoid(class_score), kept)

    size = ops.gather(cast_to(node.get_input("img_size"), dtype), ints([1, 0]), ints(1))
    image = ops.unsqueeze(size, ints(1))  # [N, 1, 2], width first
    sides = _sides_of(x)
    stride = ops.divide(image, _cell_counts(node, sides, dtype))  # pixels of the image per cell
    spread = node.get_float("scale_x_y", 1.0)
    offset: Node = ops.sigmoid(shift)
    if spread != 1.0:
        offset = ops.multiply(offset, const(spread, dtype))
    cells, halves = _grid(sides, anchors / node.get_int("downsample_ratio", 32) / 2, -0.5 * (spread - 1.0), dtype)
    center = ops.multiply(ops.add(offset, cells), stride)
    half = ops.multiply(ops.exp(scale), ops.multiply(stride, halves))
    low, high = ops.subtract(center, half), ops.add(center, half)
    if node.get_bool("clip_bbox", True):
        low = ops.maximum(low, const(0, dtype))
        high = ops.minimum(high, ops.subtract(image, const(1, dtype)))
    return {"boxes": ops.select(below, const(0, dtype), ops.concat([low, high], 2)), "scores": scores}


def _cell_counts(node: NodeContext, sides: list[Node], dtype: Type) -> Tensor:
    """Width and height of the image in cells: [2]. Programs of Paddle 1 use the height for both."""
    height, width = sides
    return cast_to(ops.concat([height if node.semantics.square_grid else width, height], 0), dtype)


def _sides_of(x: Output) -> list[Node]:
    """Height and width of NCHW, each [1]; constants where they are known."""
    return [folded_sizes(x, [axis]) for axis in (2, 3)]


def _grid(sides: list[Node], halves: AnyArray, bias: float, dtype: Type) -> tuple[Node, Node]:
    """Column and row of each box's cell, plus `bias`, and half its anchor's size in cells: [anchors * H * W, 2]."""
    given = [value_of(side) for side in sides if isinstance(side, Constant)]
    if len(given) == 2:
        height, width = (int(one[0]) for one in given)
        rows, columns = arrays.indices((height, width))
        corners = np.stack([columns, rows], -1).reshape(-1, 2) + bias
        every = arrays.tile(corners, (len(halves), 1)), arrays.repeat(halves, height * width, 0)
        return const(every[0], dtype), const(every[1], dtype)
    lines = []
    for axis in (1, 0):
        count = ops.squeeze(sides[axis], ints(0))
        line = reshape(ops.range(ints(0), count, ints(1), "i64"), [1, -1] if axis == 1 else [-1, 1])
        lines.append(reshape(ops.broadcast(line, ops.concat(sides, 0)), [-1, 1]))
    cells = ops.add(cast_to(ops.concat(lines, 1), dtype), const(bias, dtype))
    each = ops.concat([ints([len(halves)]), ops.multiply(sides[0], sides[1]), ints([2])], 0)
    spread = (ops.broadcast(one, each) for one in (cells, const(halves[:, None], dtype)))
    found = [reshape(one, [-1, 2]) for one in spread]
    return found[0], found[1]
