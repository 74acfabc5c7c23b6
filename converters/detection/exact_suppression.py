"""Greedy suppression by Paddle's definition of overlap, for boxes where OpenVINO's differs; see `suppression`.

Paddle's overlap (`JaccardOverlap` of `paddle/phi/kernels/cpu/multiclass_nms3_kernel.cc`): boxes that do not touch do
not overlap, even if both reach into one pixel; a box with reversed corners has no area; 0 / 0 exceeds any threshold.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from openvino import Node, Output, Type

from paddle2ov.converters.detection.rows import column, columns, indices_where
from paddle2ov.converters.graph.common import Tensor, cast_to, const, dim_of, dim_vector, ints
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.graph.opset import ops

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
        number = ops.range(ints(0), dim_of(indices, 0), ints(1), "i64")
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
        one = self._geometry(ops.unsqueeze(ops.gather_nd(boxes, own), ints(1)))
        other = self._geometry(ops.gather_nd(boxes, others))
        apart, inter = self._intersection(one, other)
        areas = ops.add(one[4], other[4])
        if self.normalized:
            unlike = ops.logical_and(ops.logical_not(apart), ops.less_equal(areas, const(0, Type.f32)))
        else:
            # Rounding must not decide: a little less than the threshold
            over = ops.greater(inter, ops.multiply(ops.subtract(areas, inter), const(0.99 * self.threshold, Type.f32)))
            flat, flat_ = (ops.logical_or(ops.less(x_, x), ops.less(y_, y)) for x, y, x_, y_, _ in (one, other))
            unlike = ops.logical_or(ops.logical_and(apart, over), ops.logical_or(flat, flat_))
        image, box = (ops.unsqueeze(column(own, i), ints(1)) for i in (0, 1))
        mine = ops.logical_and(ops.equal(image, column(others, 0)), ops.not_equal(box, column(others, 1)))
        return ops.logical_and(mine, unlike)

    # --- as written ---------------------------------------------------------------------------------------------------

    def choose(self, box: Tensor, valid: Tensor) -> Node:
        """Which boxes of each group are kept: box [G, K, 4], the best first, valid [G, K] -> [G, K]."""
        if self.eta < 1:
            return ops.convert(self._suppress_sequentially(box, valid, dim_of(valid, 1)), Type.boolean)
        width = dim_of(valid, 1)
        pairs = ops.multiply(dim_of(valid, 0), ops.multiply(width, width))
        few = ops.less_equal(pairs, ints(self.most_pairs))
        # One of the two has nothing to do: the first then computes one column, which the Select broadcasts.
        end = ops.unsqueeze(ops.select(few, width, ints(1)), ints(0))
        part, own = (ops.slice(value, ints([0]), end, ints([1]), ints([1])) for value in (box, valid))
        return ops.select(
            few,
            self._suppress_by_fixed_point(part, own),
            self._suppress_sequentially(box, valid, ops.select(few, ints(0), width)),
        )

    def _suppress_by_fixed_point(self, box: Tensor, valid: Tensor) -> Output:
        """The boxes that no better kept box suppresses; iteration r settles those at the end of r dependencies."""
        values = self._geometry(box)
        first, second = ([ops.unsqueeze(value, ints(axis)) for value in values] for axis in (-1, -2))
        number = ops.range(ints(0), dim_of(valid, 1), ints(1), "i64")
        better = ops.less(number, ops.unsqueeze(number, ints(1)))  # [K, K]
        against = ops.logical_and(self._exceeds_threshold(first, second, const(self.threshold, Type.f32)), better)
        matrix, own = cast_to(against, Type.f32), cast_to(ops.unsqueeze(valid, ints(2)), Type.f32)

        def settle(_: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Node], Node]:
            (kept,), (own, matrix) = state, invariants
            suppressed = ops.minimum(ops.matmul(matrix, kept, False, False), const(1, Type.f32))
            new = ops.multiply(own, ops.subtract(const(1, Type.f32), suppressed))
            return [new], ops.reduce_logical_or(ops.not_equal(new, kept), ints([0, 1, 2]), False)

        (kept,) = loop(ops.add(dim_of(valid, 1), ints(1)), [own], [own, matrix], settle)
        return ops.squeeze(ops.greater(kept, const(0, Type.f32)), ints(2)).output(0)

    def _suppress_sequentially(self, box: Tensor, valid: Tensor, rounds: Tensor) -> Output:
        """Iteration i decides on the i-th box of every group."""
        number = ops.range(ints(0), dim_of(valid, 1), ints(1), "i64")  # [K]
        threshold = ops.broadcast(const(self.threshold, Type.f32), ops.concat([dim_vector(valid, [0]), ints([1])], 0))
        nothing = ops.broadcast(const(False, Type.boolean), ops.shape_of(valid))

        def decide(i: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Node], None]:
            kept, limit = state
            *values, valid, number = invariants
            at = ops.unsqueeze(i, ints(0))
            *own, valid_i = (ops.gather(value, at, ints(-1)) for value in (*values, valid))
            against = ops.logical_and(kept, self._exceeds_threshold(own, values, limit))
            keep = ops.logical_and(valid_i, ops.logical_not(ops.reduce_logical_or(against, ints(1), True)))
            new = ops.logical_or(kept, ops.logical_and(keep, ops.equal(number, i)))
            adapts = ops.logical_and(keep, ops.greater(limit, const(0.5, Type.f32)))
            return [new, ops.select(adapts, ops.multiply(limit, const(min(self.eta, 1.0), Type.f32)), limit)], None

        kept, _ = loop(rounds, [nothing, threshold], [*self._geometry(box), valid, number], decide)
        return kept

    def exceeds(self, one: Tensor, other: Tensor) -> Node:
        """Whether boxes [N, size] overlap others [N, size] by more than the threshold: [N]; 0 / 0 is none."""
        first, second = self._geometry(one), self._geometry(other)
        some = ops.greater(ops.add(first[4], second[4]), const(0, Type.f32))
        return ops.logical_and(some, self._exceeds_threshold(first, second, const(self.threshold, Type.f32)))

    # --- the measure --------------------------------------------------------------------------------------------------

    @property
    def most_pairs(self) -> int:
        """How many pairs of boxes are held in memory at once."""
        return _MAX_PAIRS

    @property
    def _bound(self) -> float:
        """Boxes whose shorter side is at most this may overlap differently in OpenVINO."""
        return 0.0 if self.normalized else 1 / self.threshold

    @property
    def _one(self) -> float:
        return 0.0 if self.normalized else 1.0

    def _exceeds_threshold(self, one: Sequence[Tensor], other: Sequence[Tensor], threshold: Tensor) -> Node:
        """Whether boxes, given as `_geometry`, overlap by more than the threshold."""
        apart, inter = self._intersection(one, other)
        overlap = ops.divide(inter, ops.subtract(ops.add(other[4], one[4]), inter))
        # 0 / 0 is not <= anything
        return ops.logical_and(ops.logical_not(apart), ops.logical_not(ops.less_equal(overlap, threshold)))

    def _intersection(self, one: Sequence[Tensor], other: Sequence[Tensor]) -> tuple[Node, Node]:
        """Whether boxes do not touch, and the area that they share."""
        apart: list[Node] = []
        sides = []
        for i in (0, 1):
            apart += ops.greater(other[i], one[2 + i]), ops.less(other[2 + i], one[i])
            side = ops.subtract(ops.minimum(other[2 + i], one[2 + i]), ops.maximum(other[i], one[i]))
            sides.append(side if self.normalized else ops.add(side, const(1, Type.f32)))
        return functools.reduce(ops.logical_or, apart), functools.reduce(ops.multiply, sides)

    def _geometry(self, box: Tensor) -> list[Tensor]:
        """Left, top, right, bottom and area of boxes [..., 4], each [...]: a long last dimension is fast."""
        x, y, x_, y_ = (ops.squeeze(part, ints(-1)) for part in ops.split(box, ints(-1), 4).outputs())
        width, height = ops.subtract(x_, x), ops.subtract(y_, y)
        zero = const(0, Type.f32)
        is_box = ops.logical_and(ops.greater_equal(width, zero), ops.greater_equal(height, zero))
        if not self.normalized:
            width, height = (ops.add(side, const(1, Type.f32)) for side in (width, height))
        return [x, y, x_, y_, ops.select(is_box, ops.multiply(width, height), zero)]


def _shorter_sides(boxes: Tensor) -> Node:
    """The shorter side of boxes: [P, N, 4] -> [P, N]. A matrix product, as splitting the corners is slow."""
    differences = const(np.array([[-1, 0, 1, 0], [0, -1, 0, 1]]), Type.f32)
    return ops.reduce_min(ops.matmul(differences, boxes, False, True), ints(1), False)


def _true_indices(mask: Tensor) -> Node:
    """The indices at which a mask is true, one row for each."""
    return ops.transpose(ops.non_zero(mask, "i64"), ints([1, 0]))
