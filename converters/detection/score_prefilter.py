"""Filters the candidates of a suppression: boxes with a score above its threshold, in any class and any image.

All others are removed before it: OpenVINO's suppression then visits a few hundred scores instead of a million, and the
pass `gather_pushdown` decodes only the remaining boxes. The scores need not be computed for this: the input of their
monotonic functions (logits) is compared with the preimage of the threshold. That is lowered slightly, so that rounding
errors let too many boxes pass rather than too few, which does no harm: the suppression compares the scores themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from openvino import Node, Output, Type
from openvino.op import Constant

from paddle2ov.converters.detection.rows import indices_where
from paddle2ov.converters.graph.common import Tensor, cast_to, const, dim_of, index_range, reshape
from paddle2ov.graph import arrays
from paddle2ov.graph.constants import ints, ints_of, is_zero
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of, static_dims
from paddle2ov.graph.types import value_of


class Candidates(Struct, frozen=True):
    """Boxes [N, K, 4] and scores [N, classes, K], the index [K] of each among all boxes, and their total."""

    boxes: Output
    scores: Output
    index: Tensor
    total: Tensor

    def index_of(self, index: Tensor) -> Node:
        """image * total + number of candidates that are given as image * K + number among these."""
        index, count = cast_to(index, Type.i64), dim_of(self.index, 0)
        image = ops.divide(index, count)
        number = ops.gather(self.index, ops.subtract(index, ops.multiply(image, count)), ints(0))
        return ops.add(ops.multiply(image, self.total), number)


def score_prefilter(boxes: Output, scores: Output, threshold: float, background: int) -> Candidates | None:
    """The boxes [N, M, 4] that have a score [N, classes, M] above a threshold in any image, and maybe some others.

    None if every box may pass. Boxes keep their order, and the first one of each level is always kept, so that the
    result is not empty; a level is an input of the Concat that gives the scores.
    """
    if threshold < 0 or any(len(dims_of(one) or ()) != 3 for one in (boxes, scores)):
        return None
    try:
        masks = _Masks(background, scores).of(_Threshold(scores, 1, 2, 1, threshold))
    except _EveryBoxError:
        return None
    mask = ops.concat([_with_first(one) for one in masks], 0)
    index = indices_where(mask)
    few, their = ops.gather(boxes, index, ints(1)), ops.gather(scores, index, ints(2))
    return Candidates(few.output(0), their.output(0), index, dim_of(mask, 0))


def _with_first(mask: Tensor) -> Node:
    """The mask with the first entry set, if there is one."""
    # Not a Slice to the end: its length has an upper bound of 2 ** 31, for which OpenVINO plans memory.
    dims = static_dims(mask)
    if dims is not None:
        return ops.logical_or(mask, const(arrays.arange(dims[0]) == 0, Type.boolean))
    length = dim_of(mask, 0)
    return ops.logical_or(mask, ops.less(index_range(length), ints(1)))


class _EveryBoxError(Exception):
    """Every score is above the threshold."""


class _Threshold(Struct, frozen=True):
    """A box may pass where a value, which its scores are or increase with, is above a number.

    Attributes:
        value: the scores, or what they are computed from.
        class_axis: its axis of the classes.
        box_axis: the first of its axes of the boxes.
        box_axes: how many of these there are.
        number: the preimage of the scores' threshold, slightly lowered.
    """

    value: Output
    class_axis: int
    box_axis: int
    box_axes: int
    number: float

    @property
    def constant(self) -> Tensor:
        """The number, of the type of the value."""
        return const(self.number, self.value.get_element_type())

    @property
    def dims(self) -> list[int | None]:
        """The dimensions of the value."""
        return dims_of(self.value) or []


class _Masks:
    """Masks of the boxes that can survive, one for each level. A class `background` >= 0 is ignored."""

    def __init__(self, background: int, scores: Output) -> None:
        self._background = background
        self._scores = scores

    def of(self, scores: _Threshold) -> list[Node]:
        """The masks computed from `scores`."""
        node = scores.value.get_node()
        if _is_concat_of_levels(node, scores):
            return [mask for one in node.input_values() for mask in self.of(replace(scores, value=one))]
        step = _STEPS.get(node.get_type_name())
        before = step(node, scores) if step else None
        return self._masks_above(scores) if before is None else self.of(before)

    def _masks_above(self, scores: _Threshold) -> list[Node]:
        axes = range(scores.box_axis, scores.box_axis + scores.box_axes)
        others = [axis for axis in range(len(scores.dims)) if axis not in axes]
        node = scores.value.get_node()
        if node.get_type_name() == "Softmax" and node.get_attributes()["axis"] % len(scores.dims) == scores.class_axis:
            if scores.number <= 0:
                raise _EveryBoxError
            own = replace(scores, value=node.input_value(0), number=_lowered(math.log(scores.number)))
            masks = self._of_shares(own, others)
        elif scores.dims[scores.class_axis] == 1:
            masks = [self._of_one_class(scores, others)]
        elif scores.value == self._scores:
            masks = [self._any(scores, others)]
        else:
            masks = [ops.greater(self._largest(scores, others), scores.constant)]
        return [reshape(mask, [-1]) for mask in masks] if scores.box_axes > 1 else masks

    def _of_one_class(self, scores: _Threshold, axes: list[int]) -> Node:
        """Whether a score is above the threshold, without a reduction over the classes: OpenVINO's takes long."""
        passes = ops.greater(ops.squeeze(scores.value, ints(scores.class_axis)), scores.constant)
        left = [axis - (axis > scores.class_axis) for axis in axes if axis != scores.class_axis]
        return ops.reduce_logical_or(passes, ints(left), False)

    def _any(self, scores: _Threshold, axes: list[int]) -> Node:
        """Whether a score is above the threshold in any class; a NaN does not hide the others."""
        passes = ops.greater(scores.value, scores.constant)
        if self._background >= 0:
            number = ops.unsqueeze(index_range(dim_of(scores.value, 1)), ints(1))
            passes = ops.logical_and(passes, ops.not_equal(number, ints(self._background)))
        return ops.reduce_logical_or(passes, ints(axes), False)

    def _largest(self, scores: _Threshold, axes: list[int], keep: bool = False) -> Node:
        """The maximum over some axes, one of them the classes, without the background."""
        count, kind = scores.dims[scores.class_axis], scores.value.get_element_type()
        value: Tensor = scores.value
        if count is not None and 0 <= self._background < count and count > 1:
            # Adding -1e30 is faster than slicing the class off, which would copy the others one box at a time.
            shape = [count if axis == scores.class_axis else 1 for axis in range(len(scores.dims))]
            least = np.where(arrays.arange(count) == self._background, -1e30, 0.0).reshape(shape)
            value = ops.add(value, const(least, kind))
        return ops.reduce_max(value, ints(axes), keep)

    def _of_shares(self, scores: _Threshold, others: list[int]) -> list[Node]:
        """Masks from the input of a softmax: exp(x) / sum(exp) > t only if x - max(x) > log t."""
        if _is_concat_of_levels(scores.value.get_node(), scores):
            levels = scores.value.get_node().input_values()
            return [mask for one in levels for mask in self._of_shares(replace(scores, value=one), others)]
        width = scores.dims[scores.class_axis] or 0
        x = _map_of(scores.value) if (scores.box_axis, scores.class_axis) == (1, 2) else None
        if x is not None and self._background in (0, width - 1) and width > 1:
            passes = ops.greater(self._margin_in(x, width), const(scores.number, x.get_element_type()))
            return [ops.reduce_logical_or(passes, ints(0), False)]
        best = self._largest(scores, [scores.class_axis], keep=True)
        margin = ops.subtract(best, ops.reduce_max(scores.value, ints([scores.class_axis]), True))
        passes = ops.greater(margin, scores.constant)
        return [ops.reduce_logical_or(passes, ints(others), False)]

    def _margin_in(self, x: Output, width: int) -> Node:
        """max over the classes but the background, minus the max over all, where the classes are channels: [N, M]."""
        channels = (dims_of(x) or [])[1] or 0
        flat = ops.reshape(x, ints([0, channels, -1]), True)
        sizes = [width - 1, 1] if self._background else [1, width - 1]
        parts = ops.variadic_split(flat, ints(1), ints(sizes * (channels // width))).outputs()
        margins = []
        for pair in zip(parts[::2], parts[1::2], strict=True):
            others, background = pair if self._background else pair[::-1]
            ahead = ops.subtract(ops.reduce_max(others, ints([1]), True), background)
            margins.append(ops.minimum(ahead, const(0, x.get_element_type())))
        return ops.reshape(ops.transpose(ops.concat(margins, 1), ints([0, 2, 1])), ints([0, -1]), True)


def _is_concat_of_levels(node: Node, scores: _Threshold) -> bool:
    """Whether a Concat joins the boxes of several levels."""
    is_concat = node.get_type_name() == "Concat" and scores.box_axes == 1
    return bool(is_concat and node.get_attributes()["axis"] % len(scores.dims) == scores.box_axis)


def _map_of(rows: Output) -> Output | None:
    """The map [N, A * width, H, W] that a Transpose and a Reshape turn into rows [N, H * W * A, width]."""
    transpose = _source(rows, "Reshape")
    x = _source(transpose, "Transpose") if transpose is not None else None
    if transpose is None or x is None or ints_of(transpose.get_node().input_value(1)) != [0, 2, 3, 1]:
        return None
    before, after = (dims_of(one) or [None] for one in (x, rows))
    if None in (*before[1:], *after[1:]) or len(before) != 4 or len(after) != 3 or not after[2]:
        return None
    same = math.prod(dim or 0 for dim in before[1:]) == math.prod(dim or 0 for dim in after[1:])
    return x if same and (before[1] or 0) % after[2] == 0 else None


def _source(x: Output, kind: str) -> Output | None:
    """The first input of the node of `x` if that is of type `kind`."""
    node = x.get_node()
    return node.input_value(0) if node.get_type_name() == kind else None


# --- what scores increase with ----------------------------------------------------------------------------------------


def _lowered(threshold: float) -> float:
    return threshold - 1e-3 * (1 + abs(threshold))


def _sigmoid(node: Node, scores: _Threshold) -> _Threshold:
    return _before_sigmoid(scores, node.input_value(0))


def _before_sigmoid(scores: _Threshold, value: Output) -> _Threshold:
    if scores.number <= 0:
        raise _EveryBoxError
    above = min(scores.number, 1 - 1e-6)
    return replace(scores, value=value, number=_lowered(math.log(above) - math.log1p(-above)))


def _sqrt(node: Node, scores: _Threshold) -> _Threshold | None:
    if scores.number <= 0:
        return None
    return replace(scores, value=node.input_value(0), number=scores.number**2 * (1 - 1e-4))


def _add(node: Node, scores: _Threshold) -> _Threshold | None:
    found = _with_number(node)
    if found is None:
        return None
    value, number = found
    return replace(scores, value=value, number=scores.number - number - 1e-5 * (abs(scores.number) + abs(number)))


def _multiply(node: Node, scores: _Threshold) -> _Threshold | None:
    found = _with_number(node)
    if found is None:
        value = _object_score(node, scores)
        return replace(scores, value=value) if value is not None else None
    if found[1] <= 0:
        return None
    above = scores.number / found[1]
    return replace(scores, value=found[0], number=above - 1e-5 * abs(above))


def _with_number(node: Node) -> tuple[Output, float] | None:
    sides = node.input_values()
    for one, other in (sides, sides[::-1]):
        node = other.get_node()
        array = value_of(node) if isinstance(node, Constant) else None
        if array is not None and array.size == 1 and array.ndim <= len(dims_of(one) or ()):
            return one, float(array.reshape(()))
    return None


def _object_score(node: Node, scores: _Threshold) -> Output | None:
    """The second factor of sigmoid(class) * object: an upper bound of the scores with one value per box.

    It is used only if it is set to zero below a threshold of its own, as in YOLO: otherwise it lets most boxes pass.
    """
    for share, score in (node.input_values(), node.input_values()[::-1]):
        rows = _source(score, "Reshape") or score
        dims = dims_of(score) or []
        of_any_class = len(dims) == len(scores.dims) and dims[scores.class_axis] == 1
        if scores.number < 0 or _source(share, "Sigmoid") is None or not of_any_class:
            continue
        zeroed = _source(rows, "Select") is not None and is_zero(rows.get_node().input_value(1))
        if zeroed and (dims[scores.box_axis] == scores.dims[scores.box_axis] is not None or _of_one_map(share, score)):
            return score
    return None


def _of_one_map(share: Output, score: Output) -> bool:
    """Whether there are as many object scores as boxes, since both come from the cells of the same map [N, C, H, W].

    Sigmoid ← VariadicSplit ← Reshape [0, -1, width] ← Transpose ← [N, A, width, H * W] ← x, and Reshape [0, -1, 1] ←
    ... element by element ... ← Gather of A channels ← x.
    """
    part = _source(_source(share, "Sigmoid") or share, "VariadicSplit")
    rows = _source(part, "Reshape") if part is not None else None
    boxes = _source(rows, "Transpose") if rows is not None else None
    dims = dims_of(boxes) if boxes is not None else None
    if part is None or boxes is None or dims is None or len(dims) != 4 or (dims_of(part) or [None])[-1] != dims[2]:
        return False
    x = _source(boxes, "Reshape") or boxes
    x = _source(x, "VariadicSplit") or x
    waiting = [score]
    for _ in range(_MAX_BETWEEN):
        if not waiting:
            return False
        node = waiting.pop(0).get_node()
        if node.get_type_name() == "Gather" and node.input_value(0) == x:
            return ints_of(node.input_value(2)) == [1] and len(ints_of(node.input_value(1)) or ()) == dims[1]
        if node.get_type_name() in ("Multiply", "Power", "Reshape", "Select", "Sigmoid"):
            waiting += node.input_values()
    return False


_MAX_BETWEEN = 30


def _transpose(node: Node, scores: _Threshold) -> _Threshold | None:
    order = ints_of(node.input_value(1)) or []
    boxes = order[scores.box_axis : scores.box_axis + scores.box_axes]
    if not boxes or boxes != list(range(boxes[0], boxes[0] + scores.box_axes)):
        return None
    return replace(scores, value=node.input_value(0), class_axis=order[scores.class_axis], box_axis=boxes[0])


def _reshape(node: Node, scores: _Threshold) -> _Threshold | None:
    """[N, C, h · w] of [N, C, h, w], or [N, h · w, C] of [N, h, w, C]; of a sigmoid, that of the reshaped."""
    before, after = dims_of(node.input_value(0)) or [], scores.dims
    if scores.box_axes == 1 and len(after) == 3 and len(before) == 4 and after[scores.class_axis] is not None:
        first, classes = (2, 1) if scores.box_axis == 2 else (1, 3)
        height, width = before[first : first + 2]
        many = height * width if height is not None and width is not None else None
        same = many is not None and many == after[scores.box_axis]
        if same and before[classes] == after[scores.class_axis]:
            return replace(scores, value=node.input_value(0), class_axis=classes, box_axis=first, box_axes=2)
    logits = _source(node.input_value(0), "Sigmoid")
    if logits is None:
        return None
    special_zero = node.get_attributes()["special_zero"]
    return _before_sigmoid(scores, ops.reshape(logits, node.input_value(1), special_zero).output(0))


_STEPS: dict[str, Callable[[Node, _Threshold], _Threshold | None]] = {
    "Add": _add,
    "Multiply": _multiply,
    "Reshape": _reshape,
    "Sigmoid": _sigmoid,
    "Sqrt": _sqrt,
    "Transpose": _transpose,
}
