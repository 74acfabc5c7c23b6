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

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from openvino import Node, Output, Type

from paddle2ov.converters.detection.exact_suppression import Overlap
from paddle2ov.converters.detection.polygon_overlap import PolygonOverlap
from paddle2ov.converters.detection.rows import best_and_least, column, columns, indices_where
from paddle2ov.converters.graph.common import Tensor, cast_to, const, dim_of, index_range
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.converters.graph.selection import exact_select
from paddle2ov.graph import arrays
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.slices import slice_along


class GreedyNms(Struct, frozen=True):
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
            rows, _ = self._best(self._by_definition(boxes, scores, self._candidates(boxes, scores)), scores, keep)
        else:
            rows = self._corrected(self.by_openvino(boxes, scores), boxes, scores, keep)
        return rows, ops.gather_nd(scores, rows)

    def _corrected(self, rows: Tensor, boxes: Tensor, scores: Tensor, keep: int) -> Tensor:
        """The best rows that OpenVINO kept, or others if `top_k` matters, or OpenVINO's overlap of very small boxes.

        This takes two hundred nodes that hardly any image needs: they are the body of a loop that runs zero times or
        once. (An If would be natural, but OpenVINO 2026.4 mixes up the memory of its results.)
        """
        # What is kept depends on better boxes only: those below the best rows do not matter.
        best, least = self._best(rows, scores, keep)
        some: Tensor = self.overlap.may_differ(boxes, best)
        exceeds = [self._may_exceed_top_k(scores, least)] if self._is_limited(scores) else []
        some = ops.logical_or(some, exceeds[0]) if exceeds else some
        # A loop copies its inputs, needed or not.
        end = _end_if(some)
        boxes, scores = (_until(end, value, axis) for value, axis in ((boxes, 1), (scores, 2)))

        def correct(_: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], None]:
            (kept,), (boxes, scores, *exceeds) = state, invariants
            candidates = self._candidates(boxes, scores)
            if exceeds:
                again = self.by_openvino(boxes, _scores_of(candidates, scores), exceeds[0])
                kept = _either(exceeds[0], again, kept).output(0)
            disputed = self.overlap.disputed(boxes, candidates, kept)
            exact = self._by_definition(boxes, scores, _until(_end_if(disputed), candidates, 0))
            return [self._best(_either(disputed, exact, kept), scores, keep)[0]], None

        (rows,) = loop(cast_to(some, Type.i64), [best], [boxes, scores, *exceeds], correct, template=(self, keep))
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
        at_least: Tensor = const(np.nextafter(np.float32(self.score_threshold), np.float32(np.inf)), Type.f32)
        if least is not None:
            at_least = ops.unsqueeze(ops.maximum(least, at_least), ints(2))
        # Boxes that have no such score in any group are left out first: a mask of bytes is faster than numbers to add.
        some = ops.reduce_logical_or(ops.greater_equal(scores, at_least), ints([0, 1]), False)
        few = ops.gather(scores, indices_where(some), ints(2))
        ones = ops.select(ops.greater_equal(few, at_least), const(1, Type.f32), const(0, Type.f32))
        too_many = ops.greater(ops.reduce_sum(ones, ints(2), False), const(self.top_k, Type.f32))
        return ops.reduce_logical_or(too_many, ints([0, 1]), False)

    # --- OpenVINO's operator --------------------------------------------------------------------------------------

    def by_openvino(self, boxes: Tensor, scores: Tensor, condition: Tensor | None = None) -> Output:
        """The same by OpenVINO's operator, for boxes that are not too small, a fixed threshold and any `top_k`.

        There are no rows unless `condition` holds.
        """
        boxes = boxes if self.normalized else ops.add(boxes, const([0, 0, 1, 1], Type.f32))
        smallest = np.finfo(np.float32).tiny
        above = max(np.nextafter(np.float32(self.iou_threshold), np.float32(np.inf)), smallest)
        rows, _ = _non_max_suppression(boxes, scores, above, self.score_threshold, self.top_k, condition)
        return rows

    # --- as written -----------------------------------------------------------------------------------------------

    def _candidates(self, boxes: Tensor, scores: Tensor) -> Output:
        """The rows (p, q, n) of the boxes that take part, the best first in each group."""
        # Nothing is suppressed here, so that the boxes do not matter. (Not a constant: if the scores are
        # constant too, the CPU plugin cannot compile it.)
        any_boxes = slice_along(boxes, ints([0]), ints([4]), 2) if self.points > 2 else boxes
        return _non_max_suppression(any_boxes, scores, 2.0, self.score_threshold, self.top_k)[0]

    def _by_definition(self, boxes: Tensor, scores: Tensor, rows: Tensor) -> Node:
        """The same for any boxes, of `_candidates`."""
        groups = ops.multiply(dim_of(scores, 0), dim_of(scores, 1))
        group = ops.add(ops.multiply(column(rows, 0), dim_of(scores, 1)), column(rows, 1))
        group = ops.concat([group, ops.unsqueeze(groups, ints(0))], 0)  # there may be none
        every = index_range(groups)
        starts = ops.search_sorted(group, every)
        counts = ops.subtract(ops.search_sorted(group, every, right_mode=True), starts)  # [G]
        width = ops.reduce_max(ops.concat([counts, ints([1])], 0), ints(0), False)  # never zero
        number = index_range(width)  # [K]
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


_BEYOND_ANY_DIM = 1 << 30
"""Beyond the end of any dimension, and a number that a Select in float32 keeps."""


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


def _scores_of(rows: Tensor, scores: Tensor) -> Node:
    """The scores of some rows; -∞ elsewhere."""
    nothing = ops.broadcast(const(-np.inf, Type.f32), ops.shape_of(scores))
    return ops.scatter_nd_update(nothing, rows, ops.gather_nd(scores, rows))


def _end_if(condition: Tensor) -> Node:
    """The end of a Slice that takes everything if the condition holds, else nothing; [1]."""
    return ops.select(condition, ints([_BEYOND_ANY_DIM]), ints([0]))


def _until(end: Tensor, value: Tensor, axis: int) -> Node:
    """The value up to an end along an axis."""
    return slice_along(value, ints([0]), end, axis)


def _either(condition: Tensor, rows: Tensor, others: Tensor) -> Node:
    """`rows`, which are empty unless the condition holds, else `others`."""
    return ops.concat([_until(_end_if(ops.logical_not(condition)), others, 0), rows], 0)


def _last_dim(x: Tensor) -> int | None:
    dim = output_of(x).get_partial_shape()[2]
    return int(dim.get_length()) if dim.is_static else None
