"""Greedy non-maximum suppression as Paddle does it, made from OpenVINO's NonMaxSuppression; for several converters.

OpenVINO's operator has Paddle's order (group, score, then index) and its strict thresholds, after these repairs:
- it suppresses at IoU >= threshold, Paddle above it: the next larger number is the threshold;
- it has no pixel boxes: one is added to the maximum corner of boxes that are not normalized;
- it has no `nms_top_k`: what does not rank among the best is dropped afterwards, which cannot change the rest;
- Paddle says that pixel boxes less than a pixel apart do not overlap, and that equal boxes of no area do: where a kept
  box is so small that this counts, and where the threshold adapts (eta < 1), a loop computes it as written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from openvino import Model, Node, Output, Type
from openvino.op import Result

from paddle2ov.converters.common import cast_to, const, ints
from paddle2ov.opset import ops

Tensor: TypeAlias = Output | Node


@dataclass(frozen=True)
class Greedy:
    """The attributes of a suppression.

    Attributes:
        iou_threshold: boxes that overlap a kept one by more are dropped.
        score_threshold: only scores above it take part.
        top_k: how many of a group's best scores take part; -1 for all.
        normalized: whether sides are differences of coordinates, or one more (pixels).
        eta: factor on the threshold after each kept box, while it is above 0.5.
    """

    iou_threshold: float
    score_threshold: float = -np.inf
    top_k: int = -1
    normalized: bool = True
    eta: float = 1.0

    def __call__(self, boxes: Tensor, scores: Tensor) -> tuple[Node, Node]:
        """What survives in each group (p, q): boxes [P, N, 4], scores [P, Q, N] give rows [M, 3] and scores [M].

        Rows are (p, q, n), ordered by p, q, score (descending) and n.
        """
        if self.top_k == 0:
            return Greedy(self.iou_threshold, np.inf)(boxes, scores)
        if (self.eta < 1 and self.iou_threshold > 0.5) or (self.iou_threshold <= 0 and not self.normalized):
            rows: Tensor = self._loop(boxes, scores)
        else:
            plain, _ = self.plain(boxes, scores)
            delicate = self._delicate(boxes, plain)
            # An If would say it better, but OpenVINO 2026.4 mixes up the memory of its results.
            end = ops.select(delicate, ints([0]), _dims(plain, [0]))
            other = self._loop(boxes, scores, delicate)
            rows = ops.concat([ops.slice(plain, ints([0]), end, ints([1])), other], 0)
        return rows, ops.gather_nd(scores, rows)

    # --- OpenVINO's operator --------------------------------------------------------------------------------------

    def plain(self, boxes: Tensor, scores: Tensor) -> tuple[Node, Node]:
        """The same for boxes that are not too small and a threshold that does not adapt."""
        boxes = boxes if self.normalized else ops.add(boxes, const([0, 0, 1, 1], Type.f32))
        smallest = np.finfo(np.float32).tiny
        above = max(np.nextafter(np.float32(self.iou_threshold), np.float32(np.inf)), smallest)
        rows, kept = _non_max_suppression(boxes, scores, above, self.score_threshold, self.top_k)
        count = _last_dim(scores)
        if self.top_k < 0 or (count is not None and count <= self.top_k):
            return rows, kept
        found = self._ranked(scores, rows, kept)
        return ops.gather(rows, found, ints(0)), ops.gather(kept, found, ints(0))

    def _ranked(self, scores: Tensor, rows: Tensor, kept: Tensor) -> Node:
        """Which rows are among the `top_k` best of their group: not behind the last of those in score or index."""
        groups = ops.reshape(scores, ops.concat([ints([-1]), _dims(scores, [2])], 0), False)
        takes_part = ops.greater(groups, const(self.score_threshold, Type.f32))
        counts = ops.reduce_sum(cast_to(takes_part, Type.i32), ints(1), False)
        too_many = ops.greater(counts, const(self.top_k, Type.i32))
        # Few groups have more, if any; the first one is always looked at, so that there is one.
        seen = ops.concat([positions(too_many), ints([0])], 0)
        value, index = self._last(ops.gather(groups, seen, ints(0)))
        value = ops.select(ops.gather(too_many, seen, ints(0)), value, const(-np.inf, Type.f32))
        no_limit = ops.broadcast(const(-np.inf, Type.f32), ops.shape_of(counts))
        limits = ops.scatter_update(no_limit, seen, value, ints(0))
        lasts = ops.scatter_update(cast_to(counts, Type.i64), seen, index, ints(0))
        group = ops.add(ops.multiply(column(rows, 0), _dim(scores, 1)), column(rows, 1))
        limit, last = ops.gather(limits, group, ints(0)), ops.gather(lasts, group, ints(0))
        tied = ops.logical_and(ops.equal(kept, limit), ops.less_equal(column(rows, 2), last))
        return positions(ops.logical_or(ops.greater(kept, limit), tied))

    def _last(self, groups: Tensor) -> tuple[Node, Node]:
        """Score and index of the last one of the `top_k` best of each group [T, N]; of equal ones the first count."""
        k = ops.minimum(ints(self.top_k), _dim(groups, 1))
        best_scores = ops.topk(groups, k, 1, "max", "none", index_element_type="i64").output(0)
        value = ops.reduce_min(best_scores, ints(1), True)
        better = ops.reduce_sum(cast_to(ops.greater(groups, value), Type.i64), ints(1), True)
        tied = ops.equal(groups, value)
        nth = ops.cum_sum(cast_to(tied, Type.i64), ints(1))
        taken = ops.logical_and(tied, ops.less_equal(nth, ops.subtract(k, better)))
        number = ops.range(ints(0), _dim(groups, 1), ints(1), "i64")
        index = ops.reduce_max(ops.select(taken, number, ints(-1)), ints(1), False)
        return ops.squeeze(value, ints(1)), index

    # --- as written -----------------------------------------------------------------------------------------------

    def _delicate(self, boxes: Tensor, rows: Tensor) -> Node:
        """Whether a kept box is so small that Paddle's overlap is not OpenVINO's."""
        box = ops.gather_nd(boxes, columns(rows, 0, 2))
        low, high = ops.variadic_split(box, ints(1), ints([2, 2])).outputs()
        bound = 0.0 if self.normalized else 1.0 / self.iou_threshold
        small = ops.less_equal(ops.subtract(high, low), const(bound, Type.f32))
        return ops.reduce_logical_or(small, ints([0, 1]), False)

    def _loop(self, boxes: Tensor, scores: Tensor, condition: Tensor | None = None) -> Node:
        """Round i decides on the i-th best box of every group at once; there is none unless `condition`."""
        rows, _ = _non_max_suppression(boxes, scores, 2.0, self.score_threshold, self.top_k, condition)
        groups = ops.multiply(_dim(scores, 0), _dim(scores, 1))
        group = ops.add(ops.multiply(column(rows, 0), _dim(scores, 1)), column(rows, 1))
        group = ops.concat([group, ops.unsqueeze(groups, ints(0))], 0)  # there may be none
        every = ops.range(ints(0), groups, ints(1), "i64")
        starts = ops.search_sorted(group, every)
        counts = ops.subtract(ops.search_sorted(group, every, right_mode=True), starts)  # [G]
        width = ops.reduce_max(ops.concat([counts, ints([1])], 0), ints(0), True)  # [1], never zero
        number = ops.range(ints(0), ops.squeeze(width, ints(0)), ints(1), "i64")  # [K]
        valid = ops.less(number, ops.unsqueeze(counts, ints(1)))  # [G, K]
        table = ops.select(valid, ops.add(ops.unsqueeze(starts, ints(1)), number), ints(0))  # [G, K] -> row
        box = ops.gather_nd(boxes, columns(rows, 0, 2))  # [M, 4]
        box = ops.concat([box, const(np.zeros((1, 4)), Type.f32)], 0)  # there may be none
        kept = self._rounds(ops.gather(box, table, ints(0)), valid, number, ops.squeeze(width, ints(0)))
        found = ops.gather_nd(table, ops.transpose(ops.non_zero(kept, "i64"), ints([1, 0])))
        return ops.gather(rows, found, ints(0))

    def _rounds(self, box: Tensor, valid: Tensor, number: Tensor, width: Tensor) -> Output:
        one = const(0 if self.normalized else 1, Type.f32)
        low, high = ops.variadic_split(box, ints(2), ints([2, 2])).outputs()  # [G, K, 2]
        size = ops.subtract(high, low)
        area = ops.reduce_prod(ops.add(size, one), ints(2), False)
        is_box = ops.reduce_logical_and(ops.greater_equal(size, const(0, Type.f32)), ints(2), False)
        area = ops.select(is_box, area, const(0, Type.f32))
        threshold = ops.broadcast(const(self.iou_threshold, Type.f32), ops.concat([_dims(valid, [0]), ints([1])], 0))
        nothing = ops.broadcast(const(False, Type.boolean), ops.shape_of(valid))

        i = ops.parameter([], Type.i64)
        state, limit = _parameters(nothing, threshold)
        fixed = (low, high, area, valid, number)
        low_, high_, area_, valid_, number_ = inner = _parameters(*fixed)
        at = ops.unsqueeze(i, ints(0))
        low_i, high_i, area_i, valid_i = (ops.gather(value, at, ints(1)) for value in (low_, high_, area_, valid_))
        apart = ops.logical_or(ops.greater(low_, high_i), ops.less(high_, low_i))
        apart = ops.reduce_logical_or(apart, ints(2), False)
        side = ops.add(ops.subtract(ops.minimum(high_, high_i), ops.maximum(low_, low_i)), one)
        inter = ops.reduce_prod(side, ints(2), False)
        overlap = ops.divide(inter, ops.subtract(ops.add(area_, area_i), inter))
        overlap = ops.select(apart, const(0, Type.f32), overlap)
        # 0 / 0 is not <= anything
        against = ops.logical_and(state, ops.logical_not(ops.less_equal(overlap, limit)))
        keep = ops.logical_and(valid_i, ops.logical_not(ops.reduce_logical_or(against, ints(1), True)))
        new = ops.logical_or(state, ops.logical_and(keep, ops.equal(number_, i)))
        adapts = ops.logical_and(keep, ops.greater(limit, const(0.5, Type.f32)))
        eta = min(self.eta, 1.0)
        new_limit = ops.select(adapts, ops.multiply(limit, const(eta, Type.f32)), limit)
        results = [Result(value.output(0)) for value in (const(True, Type.boolean), new, new_limit)]

        loop = ops.loop(_output(width), const(True, Type.boolean).output(0))
        loop.set_function(Model(results, [i, state, limit, *inner]))
        loop.set_special_body_ports([0, 0])
        loop.set_merged_input(state, _output(nothing), results[1].output(0))
        loop.set_merged_input(limit, _output(threshold), results[2].output(0))
        for parameter, value in zip(inner, fixed, strict=True):
            loop.set_invariant_input(parameter, _output(value))
        kept: Output = loop.get_iter_value(results[1].output(0), -1)
        loop.validate_and_infer_types()
        return kept


# --- choosing ---------------------------------------------------------------------------------------------------------


def positions(mask: Tensor) -> Node:
    """Where a 1-D mask is true, [M]."""
    return ops.squeeze(ops.non_zero(mask, "i64"), ints(0))


def best(image: Tensor, scores: Tensor, images: Tensor, limit: int) -> Node:
    """The positions, ascending, of the `limit` best scores of each image; of equal ones the first count.

    image [M]: the image of each score; images: how many there are, 0-D.
    """
    # One that never counts keeps TopK from being empty.
    image = ops.concat([image, ints([-1])], 0)
    scores = ops.concat([scores, const([-np.inf], Type.f32)], 0)
    own = ops.equal(image, ops.unsqueeze(ops.range(ints(0), images, ints(1), "i64"), ints(1)))
    table = ops.select(own, scores, const(-np.inf, Type.f32))  # [images, M + 1]
    size = ops.squeeze(ops.shape_of(scores, Type.i64), ints(0))
    k = ops.minimum(ints(limit), size)
    last = ops.reduce_min(ops.topk(table, k, 1, "max", "none", index_element_type="i64").output(0), ints(1), True)
    better = ops.greater(table, last)
    missing = ops.subtract(k, ops.reduce_sum(cast_to(better, Type.i64), ints(1), True))
    tied = ops.logical_and(own, ops.equal(table, last))
    first = ops.less_equal(ops.cum_sum(cast_to(tied, Type.i64), ints(1)), missing)
    chosen = ops.logical_or(better, ops.logical_and(tied, first))
    return positions(ops.reduce_logical_or(chosen, ints(0), False))


def count_images(image: Tensor, images: Tensor) -> Node:
    """How many entries each image has, int32 [images]."""
    own = ops.equal(image, ops.unsqueeze(ops.range(ints(0), images, ints(1), "i64"), ints(1)))
    return ops.reduce_sum(cast_to(own, Type.i32), ints(1), False)


def column(rows: Tensor, i: int) -> Node:
    """Column `i` of a matrix, 1-D."""
    return ops.gather(rows, ints(i), ints(1))


def columns(rows: Tensor, *which: int) -> Node:
    """Some columns of a matrix."""
    return ops.concat([ops.gather(rows, ints([i]), ints(1)) for i in which], 1)


def _non_max_suppression(
    boxes: Tensor,
    scores: Tensor,
    iou_threshold: float,
    score_threshold: float,
    top_k: int,
    condition: Tensor | None = None,
) -> tuple[Node, Node]:
    if _output(boxes).get_partial_shape()[2].is_dynamic:
        boxes = ops.reshape(boxes, ints([0, 0, 4]), True)
    limit = ints(top_k) if top_k >= 0 else ints(np.iinfo(np.int32).max)
    if condition is not None:
        limit = ops.select(condition, limit, ints(0))
    found = ops.non_max_suppression(
        boxes,
        scores,
        limit,
        const(iou_threshold, Type.f32),
        const(score_threshold, Type.f32),
        const(0, Type.f32),
        box_encoding="corner",
        sort_result_descending=False,
        output_type="i64",
    )
    return found.output(0), column(found.output(1), 2)


def _parameters(*values: Tensor) -> list[Node]:
    outputs = [_output(value) for value in values]
    return [ops.parameter(value.get_partial_shape(), value.get_element_type()) for value in outputs]


def _output(value: Tensor) -> Output:
    return value.output(0) if isinstance(value, Node) else value


def _dim(x: Tensor, axis: int) -> Node:
    """A dimension, 0-D; a constant where it is known."""
    return ops.squeeze(_dims(x, [axis]), ints(0))


def _dims(x: Tensor, axes: list[int]) -> Node:
    """Dimensions, 1-D; a constant where they are known."""
    shape = _output(x).get_partial_shape()
    if all(shape[axis].is_static for axis in axes):
        return ints([shape[axis].get_length() for axis in axes])
    return ops.gather(ops.shape_of(x, Type.i64), ints(axes), ints(0))


def _last_dim(x: Tensor) -> int | None:
    dim = _output(x).get_partial_shape()[2]
    return int(dim.get_length()) if dim.is_static else None
