"""Greedy suppression of polygons, as rotated detectors need it; see `suppression`.

Paddle's overlap: `PolyIoU` of `paddle/phi/kernels/cpu/multiclass_nms3_kernel.cc`. Polygons are simple (no edge crosses
another one of the same polygon); convex or not, clockwise or not. No area or no common area is no overlap.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from openvino import Node, Type

from paddle2ov.converters.detection.exact_suppression import Overlap
from paddle2ov.converters.graph.common import Tensor, const, ints, output_of
from paddle2ov.graph.opset import ops

_MOST_EDGE_PAIRS = 1 << 22
"""More pairs of edges are not held in memory at once."""

_NOTHING = 1e-6
"""This share of a polygon's area is rounding."""


@dataclass(frozen=True)
class PolygonOverlap(Overlap):
    """When two polygons overlap by more than a threshold.

    Attributes:
        points: how many corners each has.
    """

    points: int = 4

    @property
    def _most_pairs(self) -> int:
        return _MOST_EDGE_PAIRS // self.points**2

    def _measured(self, box: Tensor) -> list[Tensor]:
        """Start and end of the edges, x, y, x, y: [P, ...] each, and the area: of polygons [..., 2 P]."""
        rank = output_of(box).get_partial_shape().rank.get_length()
        corners = ops.transpose(box, ints([rank - 1, *range(rank - 1)]))
        x, y = (ops.gather(corners, ints(list(range(i, 2 * self.points, 2))), ints(0)) for i in (0, 1))
        following = ints([*range(1, self.points), 0])
        x_, y_ = (ops.gather(values, following, ints(0)) for values in (x, y))
        # About the polygon's own first corner, so that a far place does not cost the area its digits
        sides = [ops.subtract(values, ops.gather(values, ints([0]), ints(0))) for values in (x, y)]
        sides_ = [ops.gather(values, following, ints(0)) for values in sides]
        turned = ops.subtract(ops.multiply(sides[0], sides_[1]), ops.multiply(sides[1], sides_[0]))
        area = ops.multiply(ops.abs(ops.reduce_sum(turned, ints(0), False)), const(0.5, Type.f32))
        return [x, y, x_, y_, area]

    def _over(self, one: Sequence[Tensor], other: Sequence[Tensor], threshold: Tensor) -> Node:
        inter = _shared_area(one, other)
        overlap = ops.divide(inter, ops.subtract(ops.add(one[4], other[4]), inter))
        zero = const(0, Type.f32)
        some = functools.reduce(ops.logical_and, (ops.greater(area, zero) for area in (one[4], other[4], inter)))
        return ops.greater(ops.select(some, overlap, zero), threshold)


def _shared_area(one: Sequence[Tensor], other: Sequence[Tensor]) -> Node:
    """The area that two polygons share.

    A polygon is what lies below its edges that go one way, without what lies below those that go the other way. So the
    shared area is a sum, over pairs of edges, of what lies below both; and unlike a polygon that is clipped, it hardly
    changes when edges that coincide are moved by a rounding error.
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
    # The integral of the lesser of two heights is that of their mean less that of half their distance
    near, far = (functools.reduce(ops.subtract, heights) for heights in (at_left, at_right))
    size, size_ = ops.abs(near), ops.abs(far)
    both = ops.add(size, size_)
    squares = ops.add(ops.multiply(near, near), ops.multiply(far, far))
    crossing = ops.divide(squares, ops.maximum(both, const(float(np.finfo(np.float32).tiny), Type.f32)))
    apart = ops.select(ops.less(ops.multiply(ops.sign(near), ops.sign(far)), zero), crossing, both)
    below = ops.subtract(functools.reduce(ops.add, [*at_left, *at_right]), apart)
    ways = [ops.sign(ops.subtract(x_, x)) for x, _, x_, _ in edges]
    parts = ops.multiply(ops.multiply(width, below), functools.reduce(ops.multiply, ways))
    area = ops.multiply(ops.abs(ops.reduce_sum(parts, ints([0, 1]), False)), ops.multiply(half, half))
    # What rounding leaves of polygons that do not touch is not shared
    least = ops.multiply(ops.minimum(one[4], other[4]), const(_NOTHING, Type.f32))
    return ops.select(ops.greater(area, least), area, zero)


def _height(edge: Sequence[Tensor], at: Tensor) -> Node:
    """The edge's y at some x of its own."""
    x, y, x_, y_ = edge
    run = ops.subtract(x_, x)
    one = const(1, Type.f32)
    share = ops.divide(ops.subtract(at, x), ops.select(ops.equal(run, const(0, Type.f32)), one, run))
    share = ops.minimum(ops.maximum(share, const(0, Type.f32)), one)
    return ops.add(y, ops.multiply(share, ops.subtract(y_, y)))
