"""Which boxes can survive a suppression: those with a score above its threshold, in any class and any image.

The scores need not be computed for that. What they are a growing function of is compared with what the threshold comes
from, a little lowered, so that rounding lets rather too many boxes through: those do no harm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from openvino import Node, Output
from openvino.op import Constant

from paddle2ov.converters.detection.choice import Cells, axis_before, cells_of, dims_list, key_of
from paddle2ov.converters.graph.common import const, ints, reshape
from paddle2ov.graph.opset import ops
from paddle2ov.graph.types import value_of


@dataclass(frozen=True)
class _Scores:
    """Scores, or what they grow with: the axis of the classes, the first of the boxes' axes and how many those are."""

    value: Output
    classes: int
    boxes: int
    spread: int
    above: float


class Survivors:
    """Finds the boxes that can survive.

    Args:
        background: a class that does not count, or -1.
        ends: friendly names of nodes that are not looked behind.

    Attributes:
        read: the outputs that are compared, as `key_of` names them.
    """

    def __init__(self, background: int, ends: frozenset[str]) -> None:
        self._background = background
        self._ends = ends
        self.read: set[tuple[str, int]] = set()

    def __call__(self, scores: Output, threshold: float) -> list[Node]:
        """Masks of the boxes, one for each part that scores [N, classes, M] are joined of."""
        return self._masks(_Scores(scores, 1, 2, 1, threshold))

    def _masks(self, at: _Scores) -> list[Node]:
        node = at.value.get_node()
        if node.get_friendly_name() not in self._ends:
            if node.get_type_name() == "Concat":
                axis = node.get_attributes()["axis"] % len(dims_list(at.value))
                if axis == at.boxes and at.spread == 1:
                    return [mask for one in node.input_values() for mask in self._masks(replace(at, value=one))]
            step = _STEPS.get(node.get_type_name())
            before = step(node, at) if step else None
            if before is not None:
                return self._masks(before)
        return self._compared(at)

    def _compared(self, at: _Scores) -> list[Node]:
        rank = len(dims_list(at.value))
        axes = range(at.boxes, at.boxes + at.spread)
        others = [axis for axis in range(rank) if axis not in axes]
        node = at.value.get_node()
        is_softmax = node.get_type_name() == "Softmax" and node.get_friendly_name() not in self._ends
        if is_softmax and at.above > 0 and node.get_attributes()["axis"] % rank == at.classes:
            masks = self._of_shares(replace(at, value=node.input_value(0), above=_lowered(math.log(at.above))), others)
        else:
            self.read.add(key_of(at.value))
            best = self._best(at.value, at.classes, others, False)
            masks = [ops.greater(best, const(at.above, at.value.get_element_type()))]
        return [reshape(mask, [-1]) for mask in masks] if at.spread > 1 else masks

    def _of_shares(self, at: _Scores, others: list[int]) -> list[Node]:
        """Masks by what a softmax is taken of: exp(x) / sum(exp) > t only if x - max(x) > log t."""
        node = at.value.get_node()
        own = node.get_friendly_name() not in self._ends
        if own and node.get_type_name() == "Concat" and at.spread == 1:
            rank = len(dims_list(at.value))
            if node.get_attributes()["axis"] % rank == at.boxes:
                parts = [self._of_shares(replace(at, value=one), others) for one in node.input_values()]
                return [mask for part in parts for mask in part]
        cells = cells_of(at.value) if own and (at.boxes, at.classes) == (1, 2) else None
        if cells is not None and self._background in (0, cells.width - 1) and cells.width > 1:
            self.read.add(key_of(cells.x))
            margin = self._margin_in(cells)
            others = [0]
        else:
            self.read.add(key_of(at.value))
            best = self._best(at.value, at.classes, [at.classes], True)
            margin = ops.subtract(best, ops.reduce_max(at.value, ints([at.classes]), True))
        mask = ops.greater(margin, const(at.above, at.value.get_element_type()))
        return [ops.reduce_logical_or(mask, ints(others), False)]

    def _margin_in(self, cells: Cells) -> Node:
        """By how much the best class but the background is ahead of all, read where the classes lie: [N, H * W * A]."""
        flat = ops.reshape(cells.x, ints([0, cells.anchors * cells.width, cells.size]), True)
        sizes = [cells.width - 1, 1] if self._background else [1, cells.width - 1]
        parts = ops.variadic_split(flat, ints(1), ints(sizes * cells.anchors)).outputs()
        margins = []
        for pair in zip(parts[::2], parts[1::2], strict=True):
            others, background = pair if self._background else pair[::-1]
            ahead = ops.subtract(ops.reduce_max(others, ints([1]), True), background)
            margins.append(ops.minimum(ahead, const(0, cells.x.get_element_type())))
        return ops.reshape(ops.transpose(ops.concat(margins, 1), ints([0, 2, 1])), ints([0, -1]), True)

    def _best(self, value: Output, classes: int, axes: list[int], keep: bool) -> Node:
        """The largest over some axes, one of them the classes, the background aside."""
        count = dims_list(value)[classes]
        background = self._background
        if background < 0 or count is None or background >= count or count == 1:
            return _largest(value, axes, keep)
        # A sum takes less time than to leave the class out, which would copy the others one box at a time.
        shape = [count if axis == classes else 1 for axis in range(len(dims_list(value)))]
        least = np.where(np.arange(count) == background, -1e30, 0.0).reshape(shape)
        return _largest(ops.add(value, const(least, value.get_element_type())).output(0), axes, keep)


def _largest(value: Output, axes: list[int], keep: bool) -> Node:
    found: Node = ops.reduce_max(value, ints(axes), keep)
    return found


# --- what scores grow with --------------------------------------------------------------------------------------------


def _lowered(threshold: float) -> float:
    return threshold - 1e-3 * (1 + abs(threshold))


def _sigmoid(node: Node, at: _Scores, value: Output | None = None) -> _Scores | None:
    if at.above <= 0:
        return None
    above = min(at.above, 1 - 1e-6)
    return replace(at, value=value or node.input_value(0), above=_lowered(math.log(above) - math.log1p(-above)))


def _sqrt(node: Node, at: _Scores) -> _Scores | None:
    return replace(at, value=node.input_value(0), above=at.above**2 * (1 - 1e-4)) if at.above > 0 else None


def _add(node: Node, at: _Scores) -> _Scores | None:
    found = _with_number(node)
    if found is None:
        return None
    value, number = found
    return replace(at, value=value, above=at.above - number - 1e-5 * (abs(at.above) + abs(number)))


def _multiply(node: Node, at: _Scores) -> _Scores | None:
    found = _with_number(node)
    if found is None or found[1] <= 0:
        return None
    above = at.above / found[1]
    return replace(at, value=found[0], above=above - 1e-5 * abs(above))


def _with_number(node: Node) -> tuple[Output, float] | None:
    sides = node.input_values()
    for one, other in (sides, sides[::-1]):
        node = other.get_node()
        array = value_of(node) if isinstance(node, Constant) else None
        if array is not None and array.size == 1 and array.ndim <= len(dims_list(one)):
            return one, float(array.reshape(()))
    return None


def _transpose(node: Node, at: _Scores) -> _Scores | None:
    boxes, classes = axis_before(node, at.boxes, at.spread), axis_before(node, at.classes, 1)
    if boxes is None or classes is None:
        return None
    return replace(at, value=node.input_value(0), classes=classes, boxes=boxes)


def _reshape(node: Node, at: _Scores) -> _Scores | None:
    """[N, C, h · w] of [N, C, h, w], or [N, h · w, C] of [N, h, w, C]; of a sigmoid, that of the reshaped."""
    before, after = dims_list(node.input_value(0)), dims_list(at.value)
    if at.spread == 1 and len(after) == 3 and len(before) == 4 and after[at.classes] is not None:
        first, classes = (2, 1) if at.boxes == 2 else (1, 3)
        height, width = before[first : first + 2]
        known = height is not None and width is not None
        if known and (height or 0) * (width or 0) == after[at.boxes] and before[classes] == after[at.classes]:
            return replace(at, value=node.input_value(0), classes=classes, boxes=first, spread=2)
    source = node.input_value(0).get_node()
    if source.get_type_name() != "Sigmoid" or at.above <= 0:
        return None
    same = node.get_attributes()["special_zero"]
    return _sigmoid(source, at, ops.reshape(source.input_value(0), node.input_value(1), same).output(0))


_STEPS = {
    "Add": _add,
    "Multiply": _multiply,
    "Reshape": _reshape,
    "Sigmoid": _sigmoid,
    "Sqrt": _sqrt,
    "Transpose": _transpose,
}
