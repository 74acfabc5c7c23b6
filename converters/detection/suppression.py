"""Greedy non-maximum suppression as in Paddle, used by several converters.

OpenVINO's `MulticlassNms` computes it in one node, with these adaptations:
- it suppresses at IoU >= threshold and considers scores >= threshold, Paddle only those above: the next larger numbers
  are its thresholds;
- it considers scores equal that differ by less than 1e-6: they are multiplied by a power of two;
- its overlap differs from Paddle's for narrow boxes (see `exact_suppression`): where one of these is kept, the result
  is computed again by Paddle's definition, in a loop that runs zero times or once. (An If would be natural, but
  OpenVINO 2026.4 mixes up the memory of its results.)
Polygons and thresholds that adapt (eta < 1) are always computed by the definition.
"""

from __future__ import annotations

import math

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple, replace
from openvino import Node, Type

from paddle2ov.converters.detection.exact_suppression import Overlap
from paddle2ov.converters.graph.common import Tensor, cast_to, const
from paddle2ov.converters.graph.dims import dim_vector
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.slices import slice_along


class Kept(Struct, frozen=True):
    """The boxes that survive, by image, class, score (descending) and number.

    Attributes:
        out: class, score and corners of each, [M, 2 + size].
        index: image * boxes + number of each, int32 [M].
        count: how many each image has, int32 [images].
    """

    out: Tensor
    index: Tensor
    count: Tensor


class GreedyNms(Struct, frozen=True):
    """The attributes of a suppression.

    Attributes:
        overlap: boxes that overlap a kept one so are dropped.
        score_threshold: only scores above it are considered.
        top_k: how many of the best scores of each class and image are considered; -1 for all.
        background: a class that is left out; -1 for none.
    """

    overlap: Overlap
    score_threshold: float = -np.inf
    top_k: int = -1
    background: int = -1

    def __call__(self, boxes: Tensor, scores: Tensor, keep: int = -1) -> Kept:
        """Of boxes [images, N, 2 points] and scores [images, classes, N] the best `keep` of each image, -1 for all."""
        if 0 in (self.top_k, keep):
            return replace(self, score_threshold=_LARGEST, top_k=-1)(boxes, scores)
        overlap = self.overlap
        adapts = overlap.eta < 1 and overlap.threshold > 0.5
        if adapts or overlap.points > 2 or (overlap.threshold <= 0 and not overlap.normalized):
            return _counted(self._by_definition(boxes, scores, keep), scores)
        kept = _counted(self.by_openvino(boxes, scores, keep), scores)
        narrow = overlap.any_narrow(kept.out)
        # A loop copies its inputs, needed or not.
        end = ops.select(narrow, ints([_BEYOND_ANY_DIM]), ints([0]))
        invariants = [end, _until(end, boxes, 1), _until(end, scores, 2)]

        def again(_: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], None]:
            end, boxes, scores = invariants
            exact = self._by_definition(boxes, scores, keep)
            # OpenVINO drops a state that no iteration reads, and with it the result of none.
            nowhere = ops.subtract(ints([_BEYOND_ANY_DIM]), end)
            each = zip(state, astuple(exact), strict=True)
            return [ops.concat([_until(nowhere, old, 0), new], 0) for old, new in each], None

        return Kept(*loop(cast_to(narrow, Type.i64), astuple(kept), invariants, again, template=(self, keep)))

    def _by_definition(self, boxes: Tensor, scores: Tensor, keep: int) -> Kept:
        """The same by Paddle's overlap: OpenVINO's node gets the scores of what is kept, and ranks these."""
        nothing, considered = const(-np.inf, Type.f32), self._considered(boxes, scores)
        # As many columns as a class has scores at most: a loop over all boxes would take a hundred times as long.
        takes_part = ops.greater(considered, nothing)
        counts = ops.reduce_sum(ops.convert(takes_part, Type.i64), ints(2), False)
        width = ops.reduce_max(ops.maximum(counts, ints(1)), ints([0, 1]), False)
        best = ops.topk(considered, width, 2, "max", "value", index_element_type="i64", stable=True)
        best_scores, number = best.outputs()
        kept = self.overlap.survivors(ops.gather_nd(boxes, ops.unsqueeze(number, ints(3)), 1), best_scores, keep)
        nowhere = ops.select(takes_part, nothing, considered)
        kept_scores = ops.scatter_elements_update(nowhere, number, ops.select(kept, best_scores, nothing), ints(2))
        ranked = replace(self, overlap=replace(self.overlap, threshold=2.0))  # which no overlap reaches
        if self.overlap.points == 2:
            return ranked.by_openvino(boxes, kept_scores, keep)
        any_boxes = slice_along(boxes, ints([0]), ints([4]), 2)
        selected = ranked.by_openvino(any_boxes, kept_scores, keep)
        polygon = ops.gather(ops.reshape(boxes, ints([-1, 2 * self.overlap.points]), False), selected.index, ints(0))
        return replace(selected, out=ops.concat([slice_along(selected.out, ints([0]), ints([2]), 1), polygon], 1))

    def _considered(self, boxes: Tensor, scores: Tensor) -> Node:
        """The scores that take part; -∞ elsewhere."""
        nothing, least = const(-np.inf, Type.f32), const(self.score_threshold, Type.f32)
        count = output_of(scores).get_partial_shape()[2]
        if self.top_k < 0 or (count.is_static and count.get_length() <= self.top_k):
            return ops.select(ops.greater(scores, least), scores, nothing)
        # OpenVINO's node chooses them faster than a stable TopK, and suppresses none here. (Boxes are no constant: if
        # the scores are constant too, the CPU plugin cannot compile it.)
        any_boxes = slice_along(boxes, ints([0]), ints([4]), 2) if self.overlap.points > 2 else boxes
        limit, never, hard = ints(self.top_k), const(2, Type.f32), const(0, Type.f32)
        rows = ops.non_max_suppression(any_boxes, scores, limit, never, least, hard, "corner", False, "i64").output(0)
        nowhere = ops.select(ops.less(scores, nothing), scores, nothing)  # without a shape to compute
        return ops.scatter_nd_update(nowhere, rows, ops.gather_nd(scores, rows))

    def by_openvino(self, boxes: Tensor, scores: Tensor, keep: int = -1) -> Kept:
        """The same for boxes [images, N, 4] that are not narrow, and a threshold that does not adapt."""
        scale = _scale(self.score_threshold)
        least = _above(self.score_threshold) * scale
        selected = ops.multiclass_nms(
            boxes,
            ops.multiply(scores, const(scale, Type.f32)),
            sort_result_type="classid",
            output_type="i32",
            iou_threshold=max(_above(self.overlap.threshold), float(np.finfo(np.float32).tiny)),
            score_threshold=float(np.clip(least, -_LARGEST, _LARGEST)),  # infinity has no text in OpenVINO's IR
            nms_top_k=self.top_k,
            keep_top_k=keep,
            background_class=max(self.background, -1),
            normalized=self.overlap.normalized,
        )
        out = ops.multiply(selected.output(0), const([1, 1 / scale, 1, 1, 1, 1], Type.f32))
        return Kept(out, ops.squeeze(selected.output(1), ints(1)), selected.output(2))


_LARGEST = float(np.finfo(np.float32).max)

_BEYOND_ANY_DIM = 1 << 30
"""Beyond the end of any dimension, and a number that a Select in float32 keeps."""


def _counted(kept: Kept, scores: Tensor) -> Kept:
    """The same with a count for each image: without boxes OpenVINO gives none, although its shape inference says so."""
    if output_of(scores).get_partial_shape()[2].is_static:
        return kept
    images = dim_vector(scores, [0])
    count = ops.concat([kept.count, ops.broadcast(const(0, Type.i32), images)], 0)
    return replace(kept, count=_until(images, count, 0))


def _scale(least: float) -> float:
    """A power of two by which neighbouring scores above `least` are at least 1e-6 apart.

    Without a positive limit these are scores above 1e-29.
    """
    return 2.0 ** (math.ceil(math.log2(20 / least)) if least > 1e-29 else 100)


def _above(number: float) -> float:
    """The next larger number in float32, at most the largest."""
    return float(np.nextafter(np.float32(number), np.float32(_LARGEST)))


def _until(end: Tensor, value: Tensor, axis: int) -> Node:
    """The value up to an end along an axis."""
    return slice_along(value, ints([0]), end, axis)
