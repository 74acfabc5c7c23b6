"""Greedy suppression by Paddle's overlap, for polygons, and boxes where OpenVINO's differs; see `suppression`.

Paddle's overlap (`JaccardOverlap` of `paddle/phi/kernels/cpu/multiclass_nms3_kernel.cc`): boxes that do not touch do
not overlap, even if both reach into one pixel; a box with reversed corners has no area; 0 / 0 exceeds any threshold.
Of polygons (`PolyIoU`, there too): they are simple (no edge crosses another one of the same polygon); convex or not,
clockwise or not. No area or no common area is no overlap.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, const
from paddle2ov.converters.graph.dims import dim_of, index_range
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.terms import Term, abs_, maximum, minimum, select, sign


class Overlap(Struct, frozen=True):
    """When two boxes overlap by more than a threshold.

    Attributes:
        threshold: of the intersection over union.
        normalized: whether a side is the difference of coordinates; else one more (pixels).
        eta: factor on the threshold after each kept box, while it is above 0.5.
        points: corners of each polygon; 2 for boxes along the axes.
    """

    threshold: float
    normalized: bool = True
    eta: float = 1.0
    points: int = 2

    def any_narrow(self, out: Tensor) -> Node:
        """Whether a kept box (class, score, corners) is so narrow that OpenVINO's overlap may not be Paddle's; 0-D.

        If normalized, OpenVINO keeps what Paddle keeps and more: boxes of no area that touch, or have reversed corners.
        With pixels, boxes less than a pixel apart overlap in OpenVINO, by at most 1 / (side + 1) of either.
        """
        _, low, high = ops.variadic_split(out, ints(1), ints([2, 2, 2])).outputs()
        bound = 0.0 if self.normalized else max((1 + 1e-5) / self.threshold - 1, 0.0)
        is_wide = ops.greater(ops.subtract(high, low), const(bound, Type.f32))
        return ops.logical_not(ops.reduce_logical_and(is_wide, ints([0, 1]), False))

    def survivors(self, boxes: Tensor, scores: Tensor, most: int) -> Output:
        """Which boxes [P, Q, N, size] are kept for scores [P, Q, N], -∞ for none; of a row maybe only the best `most`.

        Each iteration takes the best box that is left for each row of scores, and drops those that overlap it. If the
        threshold adapts, that of a later box may be lower, so that boxes are compared one by one.
        """
        size = dim_of(scores, 2)
        number = index_range(size)
        none = ops.less(scores, const(-np.inf, Type.f32))
        adapts = [ops.select(none, scores, const(self.threshold, Type.f32))] if self.eta < 1 else []

        def take_best(_: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], Tensor]:
            (left, kept, *adapted), (number, boxes, *others) = state, invariants
            score, at = ops.topk(left, ints(1), 2, "max", "value", index_element_type="i64", stable=True).outputs()
            is_box, own = ops.greater(score, const(-np.inf, Type.f32)), ops.equal(number, at)
            box = ops.gather_nd(boxes, at, 2)  # [P, Q, size]
            limit: Tensor = adapted[0] if adapted else const(self.threshold, Type.f32)
            over = self._exceeds_threshold(self._geometry(ops.unsqueeze(box, ints(2))), others, limit)
            keeps, dropped, limits = is_box, ops.logical_or(own, over), list[Tensor]()
            if adapted:
                fails = ops.reduce_logical_or(ops.logical_and(kept, over), ints(2), True)
                keeps, dropped = ops.logical_and(is_box, ops.logical_not(fails)), own
                is_high = ops.logical_and(keeps, ops.greater(limit, const(0.5, Type.f32)))
                limits = [ops.select(is_high, ops.multiply(limit, const(self.eta, Type.f32)), limit)]
            rest = ops.select(dropped, const(-np.inf, Type.f32), left)
            return [rest, ops.logical_or(kept, ops.logical_and(own, keeps)), *limits], ops.reduce_logical_or(
                is_box, ints([0, 1, 2]), False
            )

        invariants = [number, boxes, *self._geometry(boxes)]
        trips = ints(most) if most >= 0 and not adapts else size
        return loop(trips, [scores, none, *adapts], invariants, take_best)[1]

    def exceeds(self, one: Tensor, other: Tensor) -> Node:
        """Whether boxes [N, size] overlap others [N, size] by more than the threshold: [N]; 0 / 0 is none."""
        first, second = self._geometry(one), self._geometry(other)
        some = ops.greater(ops.add(first[-1], second[-1]), const(0, Type.f32))
        return ops.logical_and(some, self._exceeds_threshold(first, second, const(self.threshold, Type.f32)))

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


_NOTHING = 1e-6
"""A shared area below this fraction of a polygon's area is a rounding error."""


class PolygonOverlap(Overlap, frozen=True):
    """When two polygons overlap by more than a threshold."""

    def _geometry(self, box: Tensor) -> list[Tensor]:
        """Start and end of the edges, x, y, x, y: [P, ...] each, and the area: of polygons [..., 2 P]."""
        rank = output_of(box).get_partial_shape().rank.get_length()
        corners = ops.transpose(box, ints([rank - 1, *range(rank - 1)]))
        x, y = (ops.gather(corners, ints(list(range(i, 2 * self.points, 2))), ints(0)) for i in (0, 1))
        following = ints([*range(1, self.points), 0])
        x_, y_ = (ops.gather(values, following, ints(0)) for values in (x, y))
        # Relative to the polygon's first corner: large coordinates would cancel
        sides = [ops.subtract(values, ops.gather(values, ints([0]), ints(0))) for values in (x, y)]
        sides_ = [ops.gather(values, following, ints(0)) for values in sides]
        cross = ops.subtract(ops.multiply(sides[0], sides_[1]), ops.multiply(sides[1], sides_[0]))
        area = ops.multiply(ops.abs(ops.reduce_sum(cross, ints(0), False)), const(0.5, Type.f32))
        return [x, y, x_, y_, area]

    def _exceeds_threshold(self, one: Sequence[Tensor], other: Sequence[Tensor], threshold: Tensor) -> Node:
        inter = _shared_area(one, other)
        overlap = ops.divide(inter, ops.subtract(ops.add(one[4], other[4]), inter))
        zero = const(0, Type.f32)
        some = functools.reduce(ops.logical_and, (ops.greater(area, zero) for area in (one[4], other[4], inter)))
        return ops.greater(ops.select(some, overlap, zero), threshold)


def _shared_area(one: Sequence[Tensor], other: Sequence[Tensor]) -> Output:
    """The area that two polygons share.

    A polygon's area is the signed sum of the areas below its edges. So the shared area is a signed sum, over pairs of
    edges, of the area below both; unlike that of a clipped polygon, it hardly changes when coinciding edges are moved
    by a rounding error.
    """
    origin = [ops.gather(values, ints([0]), ints(0)) for values in one[:2]] * 2
    first, second = (
        [
            Term(ops.unsqueeze(ops.subtract(values, base), ints(axis)))
            for values, base in zip(polygon, origin, strict=True)
        ]
        for polygon, axis in ((one[:4], 1), (other[:4], 0))
    )
    (x, _, x_, _), (u, _, u_, _) = first, second
    left, right = maximum(minimum(x, x_), minimum(u, u_)), minimum(maximum(x, x_), maximum(u, u_))
    at_left, at_right = ([_height(edge, at) for edge in (first, second)] for at in (left, right))
    # The integral of the minimum of two heights is that of their mean minus half of their distance
    near, far = at_left[0] - at_left[1], at_right[0] - at_right[1]
    both = abs_(near) + abs_(far)
    crossing = (near * near + far * far) / maximum(both, float(np.finfo(np.float32).tiny))
    apart = select(sign(near) * sign(far) < 0, crossing, both)
    below = at_left[0] + at_left[1] + at_right[0] + at_right[1] - apart
    parts = maximum(right - left, 0) * below * (sign(x_ - x) * sign(u_ - u))
    area = abs_(Term(ops.reduce_sum(parts.value, ints([0, 1]), False))) * 0.25
    # Rounding errors of polygons that do not touch do not count
    return select(area > minimum(Term(one[4]), Term(other[4])) * _NOTHING, area, 0).value


def _height(edge: Sequence[Term], at: Term) -> Term:
    """The edge's y at x = `at`."""
    x, y, x_, y_ = edge
    run = x_ - x
    share = (at - x) / select(run.equals(0), 1, run)
    return y + minimum(maximum(share, 0), 1) * (y_ - y)
