"""Locality-aware suppression of the text detector EAST, which first merges consecutive boxes.

Paddle: `locality_aware_nms` (legacy only).
Semantics: `paddle/fluid/operators/detection/locality_aware_nms_op.cc` of Paddle 2.
Refused: more than one class besides the background: Paddle merges the boxes of each class in place, so that the next
class starts from the boxes merged for the one before.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Type

from paddle2ov.converters.detection.exact_suppression import Overlap
from paddle2ov.converters.detection.nms import box_size, greedy_nms, lengths_with_sentinel, sentinel_if_empty
from paddle2ov.converters.graph.common import Tensor, cast_to, const
from paddle2ov.converters.graph.dims import dim_vector
from paddle2ov.converters.graph.loops import Outputs, scan
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.graph.values import LoDTensor, SequenceLengths
from paddle2ov.program.budget import check_repeats
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def locality_aware_nms(node: NodeContext) -> NamedOutputs:
    """out = (class, score, box) of the merged boxes that survive: bboxes [N, M, size], scores [N, C, M]."""
    scores, bboxes = node.get_input("scores"), node.get_input("bboxes")
    dtype, size = scores.get_element_type(), box_size(node, bboxes)
    label = _class(node)
    boxes: Tensor = ops.reshape(cast_to(bboxes, Type.f32), ints([0, 0, size]), True).output(0)
    score: Tensor = ops.gather(cast_to(scores, Type.f32), ints(label), ints(1))
    greedy = greedy_nms(node, size)
    node.require(greedy.overlap.threshold >= 0, "negative", nms_threshold=greedy.overlap.threshold)
    boxes, score = _merged(greedy.overlap, boxes, score)
    keep = node.get_int("keep_top_k")
    kept = greedy(boxes, ops.unsqueeze(score, ints(1)), max(keep, -1))
    out = ops.add(kept.out, const([label] + [0] * (1 + size), Type.f32))
    rows = sentinel_if_empty(cast_to(out, dtype), 2 + size)
    return {"out": LoDTensor(rows, SequenceLengths(lengths_with_sentinel(kept.count)))}


def _class(node: NodeContext) -> int:
    """The one class that is not the background."""
    declared, background = node.declared_input_shape("scores"), node.get_int("background_label", -1)
    class_dim = node.get_input("scores").get_partial_shape()[1]
    count = class_dim.get_length() if class_dim.is_static else declared[1] if declared else -1
    classes = [i for i in range(check_repeats(count)) if i != background]
    if len(classes) != 1:
        node.refuse(f"one class besides the background is supported, not {len(classes)}", background_label=background)
    return classes[0]


def _merged(overlap: Overlap, boxes: Tensor, scores: Tensor) -> tuple[Tensor, Tensor]:
    """Boxes [N, M, size] and scores [N, M], where each run of consecutive boxes that overlap is merged into one.

    That box is their mean, weighted by the scores, and its score their sum; it replaces the last of the run. The
    others have a score of -∞.
    """

    def next_run(slices: Outputs, state: Outputs, _: Outputs) -> tuple[list[Node], list[Node]]:
        (box_, score_), (box, score) = slices, state
        own = ops.squeeze(box_, ints([1]))
        over = ops.unsqueeze(overlap.exceeds(own, box), ints([1]))
        joins = ops.logical_and(over, ops.greater(score, const(-np.inf, Type.f32)))
        total = ops.add(score_, score)
        mean = ops.divide(ops.add(ops.multiply(own, score_), ops.multiply(box, score)), total)
        new_box, new_score = ops.select(joins, mean, own), ops.select(joins, total, score_)
        return [new_box, new_score], [ops.unsqueeze(new_box, ints([1])), new_score, ops.logical_not(joins)]

    # No box is before the first one.
    no_box = ops.broadcast(const(0, Type.f32), dim_vector(boxes, [0, 2]))
    no_score = ops.broadcast(const(-np.inf, Type.f32), ops.concat([dim_vector(scores, [0]), ints([1])], 0))
    merged, sums, begins = scan(1, [boxes, scores], [no_box, no_score], [], next_run, steps=1)
    # A run ends where the next one begins.
    following = slice_along(begins, ints([1]), ints([OPEN_END]), 1)
    end = ops.broadcast(const(True, Type.boolean), ops.shape_of(slice_along(begins, ints([0]), ints([1]), 1)))
    ends = ops.concat([following, end], 1)
    return merged, ops.select(ends, sums, const(-np.inf, Type.f32))
