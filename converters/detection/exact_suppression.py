"""Greedy suppression by Paddle's definition of overlap, for boxes where OpenVINO's differs; see `suppression`.

Paddle's overlap (`JaccardOverlap` of `paddle/phi/kernels/cpu/multiclass_nms3_kernel.cc`): boxes that do not touch do
not overlap, even if both reach into one pixel; a box with reversed corners has no area; 0 / 0 exceeds any threshold.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from openvino import Node, Output, Type

from paddle2ov.converters.detection.rows import columns, indices_where
from paddle2ov.converters.graph.common import Tensor, const, dim_of, dim_vector, index_range
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.slices import slice_along

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

    def disputed(self, boxes: Tensor, candidates: Tensor, kept: Tensor) -> Node:
        """Whether a box that was kept may overlap another one of its group by one definition only; 0-D.

        boxes [P, N, 4]; rows (p, q, n) of those that take part, and of those that OpenVINO kept.

        With pixels, boxes with a gap of less than one between them overlap, for OpenVINO, by more than the threshold
        only if both are narrower than 1 / threshold. If normalized, only boxes without area that touch differ.
        Reversed corners are always disputed.
        """
        own, own_box, _ = self._small(boxes, kept)  # [T, 3], [T, 4]
        others, other_box, side = self._small(boxes, candidates)  # [U, 3], [U, 4]
        is_reversed = ops.reduce_logical_or(ops.less(side, const(0, Type.f32)), ints(0), False)
        many = ops.greater(ops.multiply(dim_of(own, 0), dim_of(others, 0)), ints(_MAX_PAIRS))
        end = ops.select(many, ints([0]), dim_vector(others, [0]))
        others, other_box = (slice_along(one, ints([0]), end, 0) for one in (others, other_box))
        # The largest gap between two boxes along either axis, negative where they overlap: [T, U]
        starts = ops.multiply(own_box, const([1, 1, -1, -1], Type.f32))
        ends = ops.multiply(ops.gather(other_box, ints([2, 3, 0, 1]), ints(1)), const([1, 1, -1, -1], Type.f32))
        gap = ops.reduce_max(ops.subtract(ops.unsqueeze(starts, ints(1)), ends), ints(2), False)
        differs = ops.less_equal(gap, const(self._one, Type.f32))
        if not self.normalized:
            differs = ops.logical_and(differs, ops.greater(gap, const(0, Type.f32)))
        alike = ops.equal(ops.unsqueeze(own, ints(1)), others)  # of one group, but not the same box
        alike = ops.reduce_logical_and(ops.equal(alike, const([True, True, False], Type.boolean)), ints(2), False)
        pairs = ops.reduce_logical_or(ops.logical_and(differs, alike), ints([0, 1]), False)
        return ops.logical_or(ops.logical_or(pairs, is_reversed), many)

    def _small(self, boxes: Tensor, rows: Tensor) -> tuple[Node, Node, Node]:
        """Those rows (p, q, n) whose box is small, their boxes, and the shorter sides of the boxes of all rows."""
        box = ops.gather_nd(boxes, columns(rows, 0, 2))
        side = _shorter_sides(box)
        found = indices_where(ops.less_equal(side, const(self._bound, Type.f32)))
        return ops.gather(rows, found, ints(0)), ops.gather(box, found, ints(0)), side

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
        apart, inter = self._intersection(one, other)
        overlap = ops.divide(inter, ops.subtract(ops.add(other[-1], one[-1]), inter))
        # 0 / 0 is not <= anything
        return ops.logical_and(ops.logical_not(apart), ops.logical_not(ops.less_equal(overlap, threshold)))

    def _intersection(self, one: Sequence[Tensor], other: Sequence[Tensor]) -> tuple[Node, Node]:
        """Whether boxes, given as `_geometry`, do not touch, and the area that they share."""
        (start, end, _), (start_, end_, _) = one, other
        apart = ops.logical_or(ops.greater(start_, end), ops.less(end_, start))
        sides = self._with_pixel(ops.subtract(ops.minimum(end_, end), ops.maximum(start_, start)))
        return ops.reduce_logical_or(apart, ints(0), False), ops.reduce_prod(sides, ints(0), False)

    def _geometry(self, box: Tensor) -> list[Tensor]:
        """The least and the largest corner [2, ...], and the area [...], of boxes [..., 4]: long last axes are fast."""
        rank = output_of(box).get_partial_shape().rank.get_length()
        start, end = ops.split(ops.transpose(box, ints([rank - 1, *range(rank - 1)])), ints(0), 2).outputs()
        sides, zero = ops.subtract(end, start), const(0, Type.f32)
        is_box = ops.reduce_logical_and(ops.greater_equal(sides, zero), ints(0), False)
        return [start, end, ops.select(is_box, ops.reduce_prod(self._with_pixel(sides), ints(0), False), zero)]

    def _with_pixel(self, sides: Node) -> Node:
        return sides if self.normalized else ops.add(sides, const(1, Type.f32))


def _shorter_sides(boxes: Tensor) -> Node:
    """The shorter side of boxes: [..., N, 4] -> [..., N]. A matrix product, as splitting the corners is slow."""
    differences = const(np.array([[-1, 0, 1, 0], [0, -1, 0, 1]]), Type.f32)
    return ops.reduce_min(ops.matmul(differences, boxes, False, True), ints(-2), False)
