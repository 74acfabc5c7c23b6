"""RetinaNet's detections from the outputs of all levels.

Paddle: `retinanet_detection_output` (legacy only).
Semantics: `paddle/fluid/operators/detection/retinanet_detection_output_op.cc` of Paddle 2.6.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Type

from paddle2ov.converters.detection.box import decode_boxes
from paddle2ov.converters.detection.exact_suppression import Overlap
from paddle2ov.converters.detection.rows import column, columns
from paddle2ov.converters.detection.suppression import GreedyNms
from paddle2ov.converters.graph.common import Tensor, cast_to, const, exact_divide
from paddle2ov.converters.graph.dims import dim_of, dim_vector, index_range
from paddle2ov.converters.graph.sorting import topk
from paddle2ov.graph.opset import ints, ops
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def retinanet_detection_output(node: NodeContext) -> NamedOutputs:
    """out = (class + 1, score, box): the best of each level, decoded and suppressed; best first in each image."""
    info = cast_to(node.get_input("im_info"), Type.f32)
    levels = [_level(node, i, info) for i in range(node.get_input_size("scores"))]
    box, score, label = (ops.concat(list(parts), 1) for parts in zip(*levels, strict=True))
    classes = dim_of(node.get_input("scores"), 2)
    own = ops.equal(ops.unsqueeze(label, ints([1])), ops.unsqueeze(index_range(classes), ints([0, 2])))
    table = ops.select(own, ops.unsqueeze(score, ints([1])), const(-np.inf, Type.f32))  # [images, classes, boxes]
    greedy = GreedyNms(Overlap(node.get_float("nms_threshold"), False, node.get_float("nms_eta")))
    keep = node.get_int("keep_top_k")
    node.require(keep > 0, "a positive number is expected", keep_top_k=keep)
    kept = greedy(box, table, keep)
    image = ops.divide(cast_to(kept.index, Type.i64), dim_of(box, 1))
    out = ops.gather(kept.out, _order(image, column(kept.out, 1)), ints(0))
    out = ops.add(out, const([1, 0, 0, 0, 0, 0], Type.f32))
    return {"out": cast_to(out, node.get_input("scores").get_element_type())}


def _level(node: NodeContext, i: int, info: Tensor) -> tuple[Node, Node, Node]:
    """Boxes [images, k, 4], scores (-inf: none) and classes [images, k] of the best scores of a level."""
    scores = cast_to(node.get_input("scores", i), Type.f32)
    last = i == node.get_input_size("scores") - 1
    threshold = 0.0 if last else node.get_float("score_threshold")
    flat = ops.reshape(scores, ints([0, -1]), True)
    limit, total = node.get_int("nms_top_k"), dim_of(flat, 1)
    best, index = topk(flat.output(0), ops.minimum(ints(limit), total) if limit > -1 else total, 1, True)
    score = ops.select(ops.greater(best, const(threshold, Type.f32)), best, const(-np.inf, Type.f32))
    classes = dim_of(scores, 2)
    row = ops.divide(index, classes)
    return _decoded(node, i, row, info), score, ops.subtract(index, ops.multiply(row, classes))


def _decoded(node: NodeContext, i: int, row: Tensor, info: Tensor) -> Node:
    delta = cast_to(node.get_input("bboxes", i), Type.f32)
    # A Gather with batch dimensions reads beyond its data on OpenVINO's CPU plugin (2026.4).
    delta = ops.gather_nd(delta, ops.unsqueeze(row, ints([2])), 1)
    anchor = ops.gather(cast_to(node.get_input("anchors", i), Type.f32), row, ints(0))
    one, half = const(1, Type.f32), const(0.5, Type.f32)
    box = decode_boxes(anchor, delta, normalized=False)
    scale = ops.unsqueeze(columns(info, 2), ints([1]))  # [images, 1, 1]
    # C's round() takes halves away from zero; sizes are positive.
    sides = ops.floor(ops.add(exact_divide(columns(info, 1, 0), columns(info, 2)), half))
    bound = ops.unsqueeze(ops.subtract(ops.concat([sides, sides], 1), one), ints([1]))
    return ops.maximum(ops.minimum(ops.divide(box, scale), bound), const(0, Type.f32))


def _order(image: Tensor, score: Tensor) -> Node:
    """The order by image, then by descending score; stable."""
    # An extra last entry keeps TopK from being empty.
    image = ops.concat([image, ints([2**31 - 1])], 0)
    score = ops.concat([score, const([-np.inf], Type.f32)], 0)
    size = ops.squeeze(dim_vector(image, [0]), ints(0))
    first = ops.topk(score, size, 0, "max", "value", index_element_type="i64", stable=True).output(1)
    second = ops.topk(ops.gather(image, first, ints(0)), size, 0, "min", "value", "i64", stable=True).output(1)
    return ops.slice(ops.gather(first, second, ints(0)), ints([0]), ints([-1]), ints([1]))
