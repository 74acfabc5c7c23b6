"""Overlap of polygons, for detectors of rotated boxes; see `suppression`.

Paddle's overlap: `PolyIoU` of `paddle/phi/kernels/cpu/multiclass_nms3_kernel.cc`. Polygons are simple (no edge crosses
another one of the same polygon); convex or not, clockwise or not. No area or no common area is no overlap.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from openvino import Node, Type

from paddle2ov.converters.detection.exact_suppression import Overlap
from paddle2ov.converters.graph.common import Tensor, const
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import output_of

_NOTHING = 1e-6
"""A shared area below this fraction of a polygon's area is a rounding error."""


class PolygonOverlap(Overlap, frozen=True):
    """When two polygons overlap by more than a threshold.

    Attributes:
        points: number of corners of each.
    """

    points: int = 4

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


def _shared_area(one: Sequence[Tensor], other: Sequence[Tensor]) -> Node:
    """The area that two polygons share.

    A polygon's area is the signed sum of the areas below its edges. So the shared area is a signed sum, over pairs of
    edges, of the area below both; unlike that of a clipped polygon, it hardly changes when coinciding edges are moved
    by a rounding error.
    """
    origin = [ops.gather(values, ints([0]), ints(0)) for values in one[:2]] * 2
    edges = [
        [
            ops.unsqueeze(ops.subtract(values, base), ints(axis))
            for values, base in zip(polygon[:4], origin, strict=True)
        ]
        for polygon, axis in ((one, 1), (other, 0))
    ]
    left = functools.reduce(ops.maximum, [ops.minimum(x, x_) for x, _, x_, _ in edges])
    right = functools.reduce(ops.minimum, [ops.maximum(x, x_) for x, _, x_, _ in edges])
    zero, half = const(0, Type.f32), const(0.5, Type.f32)
    width = ops.maximum(ops.subtract(right, left), zero)
    at_left, at_right = ([_height(edge, x) for edge in edges] for x in (left, right))
    # The integral of the minimum of two heights is that of their mean minus half of their distance
    near, far = (functools.reduce(ops.subtract, heights) for heights in (at_left, at_right))
    size, size_ = ops.abs(near), ops.abs(far)
    both = ops.add(size, size_)
    squares = ops.add(ops.multiply(near, near), ops.multiply(far, far))
    crossing = ops.divide(squares, ops.maximum(both, const(float(np.finfo(np.float32).tiny), Type.f32)))
    apart = ops.select(ops.less(ops.multiply(ops.sign(near), ops.sign(far)), zero), crossing, both)
    below = ops.subtract(functools.reduce(ops.add, [*at_left, *at_right]), apart)
    ways = [ops.sign(ops.subtract(x_, x)) for x, _, x_, _ in edges]
    terms = ops.multiply(ops.multiply(width, below), functools.reduce(ops.multiply, ways))
    area = ops.multiply(ops.abs(ops.reduce_sum(terms, ints([0, 1]), False)), ops.multiply(half, half))
    # Rounding errors of polygons that do not touch do not count
    least = ops.multiply(ops.minimum(one[4], other[4]), const(_NOTHING, Type.f32))
    return ops.select(ops.greater(area, least), area, zero)


def _height(edge: Sequence[Tensor], at: Tensor) -> Node:
    """The edge's y at x = `at`."""
    x, y, x_, y_ = edge
    run = ops.subtract(x_, x)
    one = const(1, Type.f32)
    share = ops.divide(ops.subtract(at, x), ops.select(ops.equal(run, const(0, Type.f32)), one, run))
    share = ops.minimum(ops.maximum(share, const(0, Type.f32)), one)
    return ops.add(y, ops.multiply(share, ops.subtract(y_, y)))
