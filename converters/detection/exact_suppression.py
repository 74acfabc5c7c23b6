"""Greedy suppression by Paddle's definition of overlap, for boxes where OpenVINO's differs; see `suppression`.

Paddle's overlap (`JaccardOverlap` of `paddle/phi/kernels/cpu/multiclass_nms3_kernel.cc`): boxes that do not touch do
not overlap, even if both reach into one pixel; a box with reversed corners has no area; 0 / 0 exceeds any threshold.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from openvino import Node, Output, Type

from paddle2ov.converters.detection.rows import column, columns, indices_where
from paddle2ov.converters.graph.common import Tensor, const, dim_of, dim_vector, index_range
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import output_of

_MAX_PAIRS = 1 << 22
"""The largest number of pairs of boxes that is held in memory at once."""


class Overlap(Struct, frozen=True):
    """When two boxes overlap by more than a threshold.

    Attributes:
        threshold: of the intersection over union.
        normalized: whether a side is the difference of coordinates; else one more (pixels).
        eta: factor on the threshold after each kept box, while it is above 0.5.
    """

    threshold: float
    normalized: bool
    eta: float = 1.0

    # --- where OpenVINO's overlap differs -----------------------------------------------------------------------------

    def may_differ(self, boxes: Tensor, rows: Tensor) -> Node:
        """Whether `disputed` has anything to check: a small box that was kept, or a reversed one; 0-D."""
        side = _shorter_sides(boxes)
        own = ops.less_equal(ops.gather_nd(side, columns(rows, 0, 2)), const(self._bound, Type.f32))
        is_reversed = ops.less(side, const(-self._one, Type.f32))
        return ops.logical_or(
            ops.reduce_logical_or(own, ints(0), False), ops.reduce_logical_or(is_reversed, ints([0, 1]), False)
        )

    def disputed(self, boxes: Tensor, scores: Tensor, score_threshold: float, rows: Tensor) -> Node:
        """Whether a box that OpenVINO kept may overlap another one of its group by one definition only; 0-D.

        boxes [P, N, 4]; scores [P, Q, N]; rows (p, q, n): what OpenVINO kept.

        With pixels, boxes with a gap of less than one between them overlap, for OpenVINO, by more than the threshold
        only if both are narrower than 1 / threshold; and likewise where a side is between -1 and 0. If normalized,
        only boxes without area differ. Reversed corners are always disputed.
        """
        least = const(score_threshold, Type.f32)
        side = _shorter_sides(boxes)
        is_small = ops.less_equal(side, const(self._bound, Type.f32))  # [P, N]
        own = ops.gather(rows, indices_where(ops.gather_nd(is_small, columns(rows, 0, 2))), ints(0))  # [T, 3]
        is_reversed = ops.less(side, const(-self._one, Type.f32))
        indices = _true_indices(is_small)  # [U, 2]
        best = ops.reduce_max(ops.gather(scores, column(indices, 1), ints(2)), ints(1), False)  # [P, U]
        number = index_range(dim_of(indices, 0))
        best = ops.gather_nd(best, ops.concat([columns(indices, 0), ops.unsqueeze(number, ints(1))], 1))
        indices = ops.gather(indices, indices_where(ops.greater(best, least)), ints(0))
        reversed_ = ops.reduce_logical_or(ops.gather_nd(is_reversed, indices), ints(0), False)

        many = ops.greater(ops.multiply(dim_of(own, 0), dim_of(indices, 0)), ints(_MAX_PAIRS))
        others = ops.slice(indices, ints([0]), ops.select(many, ints([0]), dim_vector(indices, [0])), ints([1]))
        pairs = _true_indices(self._may_disagree(boxes, columns(own, 0, 2), others))
        group = ops.gather(columns(own, 0, 1), column(pairs, 0), ints(0))
        box = ops.gather(columns(others, 1), column(pairs, 1), ints(0))
        rivals = ops.greater(ops.gather_nd(scores, ops.concat([group, box], 1)), least)
        return ops.logical_or(ops.logical_or(ops.reduce_logical_or(rivals, ints(0), False), reversed_), many)

    def _may_disagree(self, boxes: Tensor, own: Tensor, others: Tensor) -> Node:
        """For which small boxes (image, index), own [T, 2] and others [U, 2], the two overlaps may disagree: [T, U]."""
        one = self._corners(ops.unsqueeze(ops.gather_nd(boxes, own), ints(1)), -1)
        other = self._corners(ops.gather_nd(boxes, others), -1)
        apart, inter = self._intersection(one, other, -1)
        areas = ops.add(one[-1], other[-1])
        if self.normalized:
            unlike = ops.logical_and(ops.logical_not(apart), ops.less_equal(areas, const(0, Type.f32)))
        else:
            # Rounding must not decide: a little less than the threshold
            over = ops.greater(inter, ops.multiply(ops.subtract(areas, inter), const(0.99 * self.threshold, Type.f32)))
            (start, end, _), (start_, end_, _) = one, other
            is_reversed = ops.logical_or(ops.less(end, start), ops.less(end_, start_))
            is_reversed = ops.reduce_logical_or(is_reversed, ints(-1), False)
            unlike = ops.logical_or(ops.logical_and(apart, over), is_reversed)
        image, box = (ops.unsqueeze(column(own, i), ints(1)) for i in (0, 1))
        mine = ops.logical_and(ops.equal(image, column(others, 0)), ops.not_equal(box, column(others, 1)))
        return ops.logical_and(mine, unlike)

    # --- as written ---------------------------------------------------------------------------------------------------

    def choose(self, box: Tensor, valid: Tensor) -> Output:
        """Which boxes of each group are kept: box [G, K, 4], the best first, valid [G, K] -> [G, K].

        Iteration i decides on the i-th box of every group. (Matrices of all pairs take as long where there are many.)
        """
        count = dim_of(valid, 1)
        number = index_range(count)  # [K]
        nothing = ops.broadcast(const(False, Type.boolean), ops.shape_of(valid))
        adaptive: list[Tensor] = []
        if self.eta < 1:
            shape = ops.concat([dim_vector(valid, [0]), ints([1])], 0)
            adaptive = [ops.broadcast(const(self.threshold, Type.f32), shape)]

        def decide(i: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Node], None]:
            kept, *adapted = state
            *values, valid, number = invariants
            limit = adapted[0] if adapted else const(self.threshold, Type.f32)
            at = ops.unsqueeze(i, ints(0))
            *own, valid_i = (ops.gather(value, at, ints(-1)) for value in (*values, valid))
            against = ops.logical_and(kept, self._exceeds_threshold(own, values, limit))
            keep = ops.logical_and(valid_i, ops.logical_not(ops.reduce_logical_or(against, ints(1), True)))
            new = ops.logical_or(kept, ops.logical_and(keep, ops.equal(number, i)))
            adapts = (ops.logical_and(keep, ops.greater(one, const(0.5, Type.f32))) for one in adapted)
            smaller = (ops.multiply(one, const(self.eta, Type.f32)) for one in adapted)
            return [new, *map(ops.select, adapts, smaller, adapted)], None

        kept, *_ = loop(count, [nothing, *adaptive], [*self._geometry(box), valid, number], decide)
        return kept

    def exceeds(self, one: Tensor, other: Tensor) -> Node:
        """Whether boxes [N, size] overlap others [N, size] by more than the threshold: [N]; 0 / 0 is none."""
        first, second = self._geometry(one), self._geometry(other)
        some = ops.greater(ops.add(first[-1], second[-1]), const(0, Type.f32))
        return ops.logical_and(some, self._exceeds_threshold(first, second, const(self.threshold, Type.f32)))

    # --- the measure --------------------------------------------------------------------------------------------------

    @property
    def _bound(self) -> float:
        """Boxes whose shorter side is at most this may overlap differently in OpenVINO."""
        return 0.0 if self.normalized else 1 / self.threshold

    @property
    def _one(self) -> float:
        return 0.0 if self.normalized else 1.0

    def _exceeds_threshold(self, one: Sequence[Tensor], other: Sequence[Tensor], threshold: Tensor) -> Node:
        """Whether boxes, given as `_geometry`, overlap by more than the threshold."""
        apart, inter = self._intersection(one, other, 0)
        overlap = ops.divide(inter, ops.subtract(ops.add(other[-1], one[-1]), inter))
        # 0 / 0 is not <= anything
        return ops.logical_and(ops.logical_not(apart), ops.logical_not(ops.less_equal(overlap, threshold)))

    def _intersection(self, one: Sequence[Tensor], other: Sequence[Tensor], axis: int) -> tuple[Node, Node]:
        """Whether boxes, given as `_corners` along the axis, do not touch, and the area that they share."""
        (start, end, _), (start_, end_, _) = one, other
        apart = ops.logical_or(ops.greater(start_, end), ops.less(end_, start))
        sides = self._with_pixel(ops.subtract(ops.minimum(end_, end), ops.maximum(start_, start)))
        return ops.reduce_logical_or(apart, ints(axis), False), ops.reduce_prod(sides, ints(axis), False)

    def _geometry(self, box: Tensor) -> list[Tensor]:
        """The least and the largest corner [2, ...], and the area [...], of boxes [..., 4]: long last axes are fast."""
        rank = output_of(box).get_partial_shape().rank.get_length()
        return self._corners(ops.transpose(box, ints([rank - 1, *range(rank - 1)])), 0)

    def _corners(self, box: Tensor, axis: int) -> list[Tensor]:
        """The least and the largest corner, 2 along an axis, and the area, of boxes that have 4 along it."""
        start, end = ops.split(box, ints(axis), 2).outputs()
        sides, zero = ops.subtract(end, start), const(0, Type.f32)
        is_box = ops.reduce_logical_and(ops.greater_equal(sides, zero), ints(axis), False)
        return [start, end, ops.select(is_box, ops.reduce_prod(self._with_pixel(sides), ints(axis), False), zero)]

    def _with_pixel(self, sides: Node) -> Node:
        return sides if self.normalized else ops.add(sides, const(1, Type.f32))


def _shorter_sides(boxes: Tensor) -> Node:
    """The shorter side of boxes: [P, N, 4] -> [P, N]. A matrix product, as splitting the corners is slow."""
    differences = const(np.array([[-1, 0, 1, 0], [0, -1, 0, 1]]), Type.f32)
    return ops.reduce_min(ops.matmul(differences, boxes, False, True), ints(1), False)


def _true_indices(mask: Tensor) -> Node:
    """The indices at which a mask is true, one row for each."""
    return ops.transpose(ops.non_zero(mask, "i64"), ints([1, 0]))
