"""The bounds of slices, as OpenVINO's Slice understands them.

Paddle counts as OpenVINO does, but for slices backwards:
- from beyond the last element: both start at the last one, but OpenVINO gets the size wrong where it is unknown;
- from before the first element: none is left since Paddle 3; OpenVINO starts at the first element;
- to the end -1: in programs of Paddle 2 (`end_before_first`) that is before the first element, in others the last one.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to
from paddle2ov.converters.graph.dims import dim_vector, index_range, int_vector, shape_of
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.slices import BEFORE_FIRST, OPEN_END
from paddle2ov.graph.values import ConstantValue
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.folding import fold
from paddle2ov.translation.node_context import NodeContext


class Bound:
    """One bound (start, end or step) for each sliced axis: constants, or elements of a tensor; no name: `default`."""

    def __init__(self, node: NodeContext, name: str | None, count: int, default: int | None = None) -> None:
        self._node = node
        self._name = name or ""
        self._tensor: Output | None = None
        self.known: list[int] | None = None
        if name is None:
            self.known = [default or 0] * count
        elif node.is_known(name):
            self.known = node.get_ints(name) if default is None else node.get_ints(name, []) or [default] * count
            node.require(len(self.known) == count, f"{count} axes are sliced", **{name: self.known})

    def select(self, positions: list[int]) -> Tensor:
        """The bounds at some positions, as a 1-D tensor."""
        if self.known is not None:
            return ints([self.known[i] for i in positions])
        if self._tensor is None:
            self._tensor = int_vector(self._node, self._name)
        shape = self._tensor.get_partial_shape()
        if shape.is_static and list(range(shape[0].get_length())) == positions:
            return self._tensor
        return ops.gather(self._tensor, ints(positions), ints(0))

    def scalar(self, position: int) -> Tensor:
        """The computed bound at one position, 0-D."""
        if self._node.get_input_size(self._name) > 1:
            return ops.reshape(cast_to(self._node.get_input(self._name, position), Type.i64), ints([]), False)
        return ops.reshape(self.select([position]), ints([]), False)


class SliceBounds:
    """Where a slice of x starts and ends along its axes, and its steps.

    Args:
        node: the operator.
        x: the tensor.
        axes: the axes that are sliced.
        dropped: those of which a single index is meant: the last one comes as the bounds -1 and 0.
        steps: the name of the steps; None where all are 1.
    """

    def __init__(
        self, node: NodeContext, x: Output, axes: list[int], dropped: list[int], steps: str | None = None
    ) -> None:
        self._node, self._x, self._axes, self._dropped = node, x, axes, dropped
        self.starts, self.ends = Bound(node, "starts", len(axes)), Bound(node, "ends", len(axes))
        self.steps = Bound(node, steps, len(axes), 1)
        if self.starts.known is not None and self.ends.known is not None:
            each = zip(axes, self.starts.known, self.ends.known, strict=True)
            self.ends.known = [OPEN_END if axis in dropped and (a, b) == (-1, 0) else b for axis, a, b in each]

    def is_known(self) -> bool:
        """Whether all bounds are known."""
        return None not in (self.starts.known, self.ends.known, self.steps.known)

    def is_whole(self, i: int) -> bool:
        """Whether all of an axis is taken, in its order."""
        if self.starts.known is None or self.ends.known is None or self.steps.known is None:
            return False
        dim = self._x.get_partial_shape()[self._axes[i]]
        end = int(dim.get_length()) if dim.is_static else OPEN_END
        return self.starts.known[i] == 0 and self.steps.known[i] == 1 and self.ends.known[i] >= end

    def may_go_backwards(self) -> bool:
        """Whether a step may be negative."""
        return self.steps.known is None or min(self.steps.known, default=1) < 0

    def may_start_early(self, positions: list[int]) -> bool:
        """Whether a slice backwards may start before the first element, which leaves none."""
        if self._node.semantics.end_before_first:
            return False
        for i in positions:
            if self.steps.known is not None and self.steps.known[i] > 0:
                continue
            dim = self._x.get_partial_shape()[self._axes[i]]
            least = -int(dim.get_length()) if dim.is_static else -1
            if self.starts.known is None or self.starts.known[i] < least:
                return True
        return False

    def select(self, positions: list[int]) -> tuple[Tensor, Tensor, Tensor]:
        """Start, end and step of a Slice along some of the axes."""
        start, step = self._start(positions), self.steps.select(positions)
        end = self._end_of_index(positions, start, self._end(positions))
        if self.may_start_early(positions):
            end = _empty_before_first(self._sizes(positions), start, end, step)
        return start, end, step

    def clamped(self, positions: list[int], end: Tensor, step: Tensor) -> Tensor:
        """The ends; in Paddle 2 one before the first element, unless it is open, is the first element."""
        if not (self._node.semantics.end_before_first and self.may_go_backwards()):
            return end
        if self.ends.known is not None and min(self.ends.known) >= -1:
            return end
        bounded = ops.logical_and(ops.less(step, ints(0)), ops.greater(end, ints(BEFORE_FIRST)))
        first = ops.maximum(end, ops.subtract(ints(0), self._sizes(positions)))
        return _select_bounds(bounded, first, end)

    def _sizes(self, positions: list[int]) -> Tensor:
        return dim_vector(self._x, [self._axes[i] for i in positions])

    def _start(self, positions: list[int]) -> Tensor:
        """The starts; a slice backwards from beyond the last element starts at the last one.

        From 2^31 - 1 OpenVINO counts up to 2^31 elements of an unknown dimension, which its CPU plugin takes for fewer
        than none.
        """
        if self.starts.known is None or self.steps.known is None:
            return self.starts.select(positions)
        both = [(self.starts.known[i], self.steps.known[i]) for i in positions]
        return ints([-1 if start >= OPEN_END and step < 0 else start for start, step in both])

    def _end(self, positions: list[int]) -> Tensor:
        """The ends; where `end_before_first` holds, the end -1 of a slice backwards is before the first element."""
        if not (self._node.semantics.end_before_first and self.may_go_backwards()):
            return self.ends.select(positions)
        if self.steps.known is not None and self.ends.known is not None:
            both = [(self.ends.known[i], self.steps.known[i]) for i in positions]
            return ints([BEFORE_FIRST if end == -1 and step < 0 else end for end, step in both])
        end, step = self.ends.select(positions), self.steps.select(positions)
        before = ops.logical_and(ops.equal(end, ints(-1)), ops.less(step, ints(0)))
        return _select_bounds(before, ints(BEFORE_FIRST), end)

    def _end_of_index(self, positions: list[int], start: Tensor, end: Tensor) -> Tensor:
        """The ends; open after the index -1 of a dropped axis."""
        is_index = [self._axes[i] in self._dropped for i in positions]
        if not any(is_index) or (self.starts.known is not None and self.ends.known is not None):
            return end
        last = ops.logical_and(ops.equal(start, ints(-1)), ops.equal(end, ints(0)))
        return _select_bounds(ops.logical_and(last, ops.constant(np.array(is_index))), ints(OPEN_END), end)


@works_around("slice_backwards_before_first")
def _empty_before_first(sizes: Tensor, start: Tensor, end: Tensor, step: Tensor) -> Node:
    """The ends, such that a slice backwards from before the first element is empty.

    OpenVINO's Slice would start at the first element.
    """
    before = ops.less(start, ops.negative(sizes))  # the sum of both overflows where the start is the greatest integer
    return _select_bounds(ops.logical_and(before, ops.less(step, ints(0))), ints(OPEN_END), end)


@works_around("integer_select_in_float32", "slice_of_constants_not_folded")
def _select_bounds(condition: Tensor, bounds: Tensor, otherwise: Tensor) -> Node:
    """`bounds` [n] where the condition holds, else `otherwise`; one of the two may be a scalar.

    No Select: OpenVINO's CPU plugin fuses it in float32, which rounds an open bound. No arithmetic: OpenVINO (2026.4)
    infers wrong limits for the sizes of a Slice backwards from it. No GatherElements: it does not fold it, and a Slice
    of constants by what is constant but not folded does not compile.
    """
    known = [fold(value if isinstance(value, Node) else value.get_node()) for value in (condition, bounds, otherwise)]
    mask, chosen, others = (item.values() if isinstance(item, ConstantValue) else None for item in known)
    if mask is not None and chosen is not None and others is not None:
        return ints(np.where(mask, chosen, others).tolist())
    size = shape_of(condition)
    either = ops.concat([ops.broadcast(value, size) for value in (otherwise, bounds)], 0)
    positions = index_range(ops.squeeze(size, ints(0)))
    places = ops.add(ops.multiply(ops.convert(condition, Type.i64), size), positions)
    return ops.gather(either, places, ints(0))
