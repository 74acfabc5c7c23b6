"""Which boxes can survive a suppression; only those are decoded.

That is `yolo_box` before `multiclass_nms3` or `matrix_nms`, which `paddle2ov/program/merging.py` makes one operator;
and any other operators that decode boxes before those, where it found that nothing else reads what lies between.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from openvino import Node, Type

from paddle2ov.converters.detection.choice import Place, choice_of
from paddle2ov.converters.detection.narrowing import Narrowing
from paddle2ov.converters.detection.survivors import Survivors
from paddle2ov.converters.detection.yolo import cell_counts, image_size, sides_of
from paddle2ov.converters.graph.common import Tensor, cast_to, const, ints, reshape, shape_of
from paddle2ov.graph.opset import ops
from paddle2ov.translation.node_context import NodeContext


@dataclass(frozen=True)
class Candidates:
    """Boxes [N, K, 4] and scores [N, classes, K], the number [K] of each among all boxes, and how many those are."""

    boxes: Tensor
    scores: Tensor
    number: Tensor
    total: Tensor


def candidates(node: NodeContext, threshold: float) -> Candidates:
    """The boxes of all heads that have a score above `threshold` >= 0 in any image, and maybe some others.

    A score is a factor in [0, 1] times the object's, so it is not above what the object's is not above. Boxes keep
    their order, and each head's first one always stays: nothing is ever empty.
    """
    found = []
    start: Node = ints(0)
    for i, operator in enumerate(node.get_attribute("heads")):
        inputs = {port: [node.get_input(port, i)] for port in ("x", "img_size")}
        head = _of_head(NodeContext(operator, inputs, {}, None), threshold, start)
        start = ops.add(start, head.total)
        found.append(head)
    return Candidates(
        ops.concat([one.boxes for one in found], 1),
        ops.concat([one.scores for one in found], 2),
        ops.concat([one.number for one in found], 0),
        start,
    )


def candidates_among(node: NodeContext, threshold: float) -> Candidates | None:
    """The boxes that have a score above `threshold` > 0 in any image, and maybe some others; each part's first stays.

    None where all are to be looked at: where the boxes are not computed one by one from something else, or the values
    between are results themselves.
    """
    boxes, scores = node.get_input("bboxes"), node.get_input("scores")
    known = all(one.get_partial_shape().rank == 3 for one in (boxes, scores))
    if not node.has_attribute("shared") or threshold <= 0 or not known:
        return None
    shared: frozenset[str] = node.get_attribute("shared")
    survivors = Survivors(node.get_int("background_label", 0), shared)
    masks = survivors(scores, threshold)
    ends = shared | survivors.read
    lengths: list[int] = []
    while True:
        choice = choice_of(masks, lengths)
        narrowing = Narrowing(choice, ends)
        few, their = narrowing(boxes, Place(1)), narrowing(scores, Place(2))
        if not narrowing.computed:
            return None
        if lengths or not narrowing.parted_by:
            return Candidates(few, their, choice.index, choice.number)
        lengths = narrowing.parted_by


def _of_head(node: NodeContext, threshold: float, start: Node) -> Candidates:
    x = node.get_input("x")
    dtype = x.get_element_type()
    anchors = np.asarray(node.get_attribute("anchors"), np.float64).reshape(-1, 2)
    count, classes = len(anchors), node.get_int("class_num")
    aware = count if node.get_bool("iou_aware", False) else 0  # so many channels come first
    sides = sides_of(x)
    height, width = (ops.squeeze(side, ints(0)) for side in sides)
    area = ops.multiply(height, width)

    # [N, A, H, W] -> which cells
    places = ints([aware + a * (5 + classes) + 4 for a in range(count)])
    overlap = ops.gather(x, ints(list(range(count))), ints(1)) if aware else None
    passes = ops.greater(_object(node, ops.gather(x, places, ints(1)), overlap), const(threshold, dtype))
    passes = ops.reduce_logical_or(passes, ints(0), False)
    others = ops.slice(reshape(passes, [-1]), ints([1]), ints([np.iinfo(np.int32).max]), ints([1]))
    passes = ops.reshape(ops.concat([const([True], Type.boolean), others], 0), shape_of(passes), False)
    anchor, row, column = (
        ops.squeeze(one, ints(0)) for one in ops.split(ops.non_zero(passes, "i64"), ints(0), 3).outputs()
    )

    # Their channels [N, 5 + classes, K]
    flat = ops.reshape(x, ints([0, -1]), True)
    cell = ops.add(ops.multiply(row, width), column)
    number = ops.add(ops.multiply(anchor, area), cell)
    first = ops.add(ops.multiply(ops.add(ops.multiply(anchor, ints(5 + classes)), ints(aware)), area), cell)
    channels = ops.multiply(reshape(ints(list(range(5 + classes))), [-1, 1]), area)
    raw = ops.gather(flat, ops.add(channels, first), ints(1))
    shift, scale, confidence, class_score = ops.variadic_split(raw, ints(1), ints([2, 2, 1, classes])).outputs()
    overlap = ops.unsqueeze(ops.gather(flat, number, ints(1)), ints(1)) if aware else None
    scores = ops.multiply(ops.sigmoid(class_score), _object(node, confidence, overlap))

    image = reshape(image_size(node, dtype), [-1, 2, 1])
    stride = ops.divide(image, reshape(cell_counts(node, sides, dtype), [2, 1]))
    spread = node.get_float("scale_x_y", 1.0)
    place: Node = ops.sigmoid(shift)
    corner = cast_to(ops.concat([ops.unsqueeze(column, ints(0)), ops.unsqueeze(row, ints(0))], 0), dtype)
    if spread != 1.0:
        place = ops.multiply(place, const(spread, dtype))
        corner = ops.add(corner, const(-0.5 * (spread - 1.0), dtype))
    center = ops.multiply(ops.add(place, corner), stride)
    halves = const((anchors / node.get_int("downsample_ratio", 32) / 2).T, dtype)
    half = ops.multiply(ops.exp(scale), ops.multiply(stride, ops.gather(halves, anchor, ints(1))))
    low, high = ops.subtract(center, half), ops.add(center, half)
    if node.get_bool("clip_bbox", True):
        low = ops.maximum(low, const(0, dtype))
        high = ops.minimum(high, ops.subtract(image, const(1, dtype)))
    return Candidates(
        ops.transpose(ops.concat([low, high], 1), ints([0, 2, 1])),
        scores,
        ops.add(number, start),
        ops.multiply(ints(count), area),
    )


def _object(node: NodeContext, confidence: Tensor, overlap: Tensor | None) -> Node:
    """The object's score; zero where it is below conf_thresh."""
    dtype = confidence.get_element_type()
    score = ops.sigmoid(confidence)
    if overlap is not None:
        factor = node.get_float("iou_aware_factor", 0.5)
        score = ops.multiply(
            ops.power(score, const(1 - factor, dtype)), ops.power(ops.sigmoid(overlap), const(factor, dtype))
        )
    return ops.select(ops.less(score, const(node.get_float("conf_thresh", 0.01), dtype)), const(0, dtype), score)
