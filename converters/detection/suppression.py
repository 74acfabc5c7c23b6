"""Greedy non-maximum suppression as in Paddle, built on OpenVINO's NonMaxSuppression; used by several converters.

OpenVINO's operator has Paddle's order (group, score, then index) and its strict thresholds, with these adaptations:
- it suppresses at IoU >= threshold, Paddle above it: the next larger number is the threshold;
- it has no pixel boxes: one is added to the maximum corner of boxes that are not normalized;
- it has no `nms_top_k`: boxes beyond the best are dropped afterwards, which does not change the others, and only where
  some of them are among the best of their image;
- in Paddle pixel boxes less than a pixel apart do not overlap, and equal boxes of no area do: where two boxes are so
  small that this matters, and where the threshold adapts (eta < 1), `exact_suppression` is used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.detection.exact_suppression import Overlap
from paddle2ov.converters.detection.polygon_overlap import PolygonOverlap
from paddle2ov.converters.detection.rows import best_and_least, column, columns, indices_where
from paddle2ov.converters.graph.common import Tensor, cast_to, const, dim_of, dim_vector, ints, output_of
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.converters.indexing import exact_select
from paddle2ov.graph import arrays
from paddle2ov.graph.opset import ops


@dataclass(frozen=True)
class GreedyNms:
    """The attributes of a suppression.

    Attributes:
        iou_threshold: boxes that overlap a kept one by more are dropped.
        score_threshold: only scores above it are considered.
        top_k: how many of a group's best scores are considered; -1 for all.
        normalized: whether a side is the difference of coordinates; else one more (pixels).
        eta: factor on the threshold after each kept box, while it is above 0.5.
        points: corners of each polygon; 2 for boxes along the axes.
    """

    iou_threshold: float
    score_threshold: float = -np.inf
    top_k: int = -1
    normalized: bool = True
    eta: float = 1.0
    points: int = 2

    def __call__(self, boxes: Tensor, scores: Tensor, keep: int = -1) -> tuple[Tensor, Node]:
        """The boxes kept per group (p, q): boxes [P, N, 2 points], scores [P, Q, N] give rows [M, 3] and scores [M].

        Rows are (p, q, n), ordered by p, q, score (descending) and n; the best `keep` of each p, -1 for all.
        """
        if 0 in (self.top_k, keep):
            return replace(self, score_threshold=np.inf, top_k=-1)(boxes, scores)
        if (
            self.points > 2
            or (self.eta < 1 and self.iou_threshold > 0.5)
            or (self.iou_threshold <= 0 and not self.normalized)
        ):
            rows, _ = self._best(self._exact(boxes, scores), scores, keep)
        else:
            rows = self._settled(self.plain(boxes, scores), boxes, scores, keep)
        return rows, ops.gather_nd(scores, rows)

    def _settled(self, plain: Tensor, boxes: Tensor, scores: Tensor, keep: int) -> Tensor:
        """The best rows that OpenVINO kept, or others where `top_k` or its overlap of very small boxes matters.

        That takes four hundred nodes that hardly any image needs: they are the body of a loop of zero iterations, or
        one. (An If would be natural, but OpenVINO 2026.4 mixes up the memory of its results.)
        """
        # What is kept depends on better boxes only: those below the best rows do not matter.
        best, least = self._best(plain, scores, keep)
        is_limited = self._is_limited(scores)
        exceeds: Tensor = self._may_exceed_top_k(scores, least) if is_limited else const(False, Type.boolean)
        some = ops.logical_or(self.overlap.may_differ(boxes, best), exceeds)
        # A loop copies its inputs, needed or not.
        boxes, scores = (_all_or_none(some, value, axis) for value, axis in ((boxes, 1), (scores, 2)))
        others = [_all_or_none(exceeds, plain, 0), exceeds] if is_limited else []

        def settle(_: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], None]:
            (rows,), (boxes, scores, *others) = state, invariants
            if others:
                plain, exceeds = others
                found = self._ranked(scores, plain, ops.gather_nd(scores, plain))
                ranked = self._best(ops.gather(plain, found, ints(0)), scores, keep)[0]
                # Of the ranked ones there are none where they are not needed.
                rows = ops.concat([_all_or_none(ops.logical_not(exceeds), rows, 0), ranked], 0).output(0)
            disputed = self.overlap.disputed(boxes, scores, self.score_threshold, rows)
            exact = self._best(self._exact(boxes, scores, disputed), scores, keep)[0]
            return [ops.concat([_all_or_none(ops.logical_not(disputed), rows, 0), exact], 0)], None

        template = self, self.overlap.most_pairs, keep
        (rows,) = loop(cast_to(some, Type.i64), [best], [boxes, scores, *others], settle, template)
        return rows

    def _best(self, rows: Tensor, scores: Tensor, keep: int) -> tuple[Tensor, Tensor | None]:
        """The best `keep` rows of each p, and the least score of them [P, 1], -∞ for fewer; None for all rows."""
        if keep < 0:
            return rows, None
        found, least = best_and_least(column(rows, 0), ops.gather_nd(scores, rows), dim_of(scores, 0), keep)
        return ops.gather(rows, found, ints(0)), least

    def _is_limited(self, scores: Tensor) -> bool:
        """Whether a group may have more than `top_k` boxes."""
        count = _last_dim(scores)
        return self.top_k >= 0 and (count is None or count > self.top_k)

    def _may_exceed_top_k(self, scores: Tensor, least: Tensor | None) -> Node:
        """Whether a group has more than `top_k` scores that take part and are not below the best rows; 0-D."""
        if least is None:
            counted = ops.greater(scores, const(self.score_threshold, Type.f32))
        else:
            above = np.nextafter(np.float32(self.score_threshold), np.float32(np.inf))
            counted = ops.greater_equal(scores, ops.unsqueeze(ops.maximum(least, const(above, Type.f32)), ints(2)))
        ones = ops.select(counted, const(1, Type.f32), const(0, Type.f32))
        too_many = ops.greater(ops.reduce_sum(ones, ints(2), False), const(self.top_k, Type.f32))
        return ops.reduce_logical_or(too_many, ints([0, 1]), False)

    # --- OpenVINO's operator --------------------------------------------------------------------------------------

    def plain(self, boxes: Tensor, scores: Tensor) -> Output:
        """The same by OpenVINO's operator, for boxes that are not too small, a fixed threshold and any `top_k`."""
        boxes = boxes if self.normalized else ops.add(boxes, const([0, 0, 1, 1], Type.f32))
        smallest = np.finfo(np.float32).tiny
        above = max(np.nextafter(np.float32(self.iou_threshold), np.float32(np.inf)), smallest)
        rows, _ = _non_max_suppression(boxes, scores, above, self.score_threshold, self.top_k)
        return rows

    def _ranked(self, scores: Tensor, rows: Tensor, kept: Tensor) -> Node:
        """The rows among the `top_k` best of their group: not after the last of those by score or index."""
        groups = ops.reshape(scores, ops.concat([ints([-1]), dim_vector(scores, [2])], 0), False)
        takes_part = ops.greater(groups, const(self.score_threshold, Type.f32))
        ones = ops.select(takes_part, const(1, Type.f32), const(0, Type.f32))
        counts = cast_to(ops.reduce_sum(ones, ints(1), False), Type.i32)
        too_many = ops.greater(counts, const(self.top_k, Type.i32))
        # Few groups have more, if any; group 0 is always included, so that the list is not empty.
        seen = ops.concat([indices_where(too_many), ints([0])], 0)
        value, index = self._last(ops.gather(groups, seen, ints(0)))
        value = ops.select(ops.gather(too_many, seen, ints(0)), value, const(-np.inf, Type.f32))
        no_limit = ops.broadcast(const(-np.inf, Type.f32), ops.shape_of(counts))
        limits = ops.scatter_update(no_limit, seen, value, ints(0))
        lasts = ops.scatter_update(cast_to(counts, Type.i64), seen, index, ints(0))
        group = ops.add(ops.multiply(column(rows, 0), dim_of(scores, 1)), column(rows, 1))
        limit, last = ops.gather(limits, group, ints(0)), ops.gather(lasts, group, ints(0))
        tied = ops.logical_and(ops.equal(kept, limit), ops.less_equal(column(rows, 2), last))
        return indices_where(ops.logical_or(ops.greater(kept, limit), tied))

    def _last(self, groups: Tensor) -> tuple[Node, Node]:
        """Score and index of the last one of the `top_k` best of each group [T, N]; among equal ones the first win."""
        k = ops.minimum(ints(self.top_k), dim_of(groups, 1))
        best_scores = ops.topk(groups, k, 1, "max", "none", index_element_type="i64").output(0)
        value = ops.reduce_min(best_scores, ints(1), True)
        better = ops.reduce_sum(cast_to(ops.greater(groups, value), Type.i64), ints(1), True)
        tied = ops.equal(groups, value)
        nth = ops.cum_sum(cast_to(tied, Type.i64), ints(1))
        taken = ops.logical_and(tied, ops.less_equal(nth, ops.subtract(k, better)))
        number = ops.range(ints(0), dim_of(groups, 1), ints(1), "i64")
        index = ops.reduce_max(ops.select(taken, number, ints(-1)), ints(1), False)
        return ops.squeeze(value, ints(1)), index

    # --- as written -----------------------------------------------------------------------------------------------

    def _exact(self, boxes: Tensor, scores: Tensor, condition: Tensor | None = None) -> Node:
        """The same for any boxes; no rows unless `condition`."""
        # Nothing is suppressed here, so that the boxes do not matter. (Not a constant: if the scores are
        # constant too, the CPU plugin cannot compile it.)
        any_boxes = ops.slice(boxes, ints([0]), ints([4]), ints([1]), ints([2])) if self.points > 2 else boxes
        rows, _ = _non_max_suppression(any_boxes, scores, 2.0, self.score_threshold, self.top_k, condition)
        groups = ops.multiply(dim_of(scores, 0), dim_of(scores, 1))
        group = ops.add(ops.multiply(column(rows, 0), dim_of(scores, 1)), column(rows, 1))
        group = ops.concat([group, ops.unsqueeze(groups, ints(0))], 0)  # there may be none
        every = ops.range(ints(0), groups, ints(1), "i64")
        starts = ops.search_sorted(group, every)
        counts = ops.subtract(ops.search_sorted(group, every, right_mode=True), starts)  # [G]
        width = ops.reduce_max(ops.concat([counts, ints([1])], 0), ints(0), False)  # never zero
        number = ops.range(ints(0), width, ints(1), "i64")  # [K]
        valid = ops.less(number, ops.unsqueeze(counts, ints(1)))  # [G, K]
        table = ops.select(valid, ops.add(ops.unsqueeze(starts, ints(1)), number), ints(0))  # [G, K] -> row
        box = ops.gather_nd(boxes, columns(rows, 0, 2))  # [M, 2 points]
        box = ops.concat([box, const(arrays.zeros((1, 2 * self.points)), Type.f32)], 0)  # there may be none
        kept = self.overlap.choose(ops.gather(box, table, ints(0)), valid)
        found = ops.gather_nd(table, ops.transpose(ops.non_zero(kept, "i64"), ints([1, 0])))
        return ops.gather(rows, found, ints(0))

    @property
    def overlap(self) -> Overlap:
        """The test for boxes that overlap too much."""
        if self.points > 2:
            return PolygonOverlap(self.iou_threshold, self.normalized, self.eta, self.points)
        return Overlap(self.iou_threshold, self.normalized, self.eta)


def _non_max_suppression(
    boxes: Tensor,
    scores: Tensor,
    iou_threshold: float,
    score_threshold: float,
    top_k: int,
    condition: Tensor | None = None,
) -> tuple[Output, Node]:
    if output_of(boxes).get_partial_shape()[2].is_dynamic:
        boxes = ops.reshape(boxes, ints([0, 0, 4]), True)
    limit = ints(top_k) if top_k >= 0 else ints(np.iinfo(np.int32).max)
    if condition is not None:
        limit = exact_select(condition, limit, ints(0))
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


def _all_or_none(condition: Tensor, value: Tensor, axis: int) -> Node:
    """The value where the condition holds, else nothing of it along an axis."""
    end = ops.select(condition, dim_vector(value, [axis]), ints([0]))
    return ops.slice(value, ints([0]), end, ints([1]), ints([axis]))


def _last_dim(x: Tensor) -> int | None:
    dim = output_of(x).get_partial_shape()[2]
    return int(dim.get_length()) if dim.is_static else None
