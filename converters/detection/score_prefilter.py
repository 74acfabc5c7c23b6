"""Filters the candidates of a suppression: boxes with a score above its threshold, in any class and any image.

All others are removed before it: `gather_pushdown` then decodes a few hundred boxes instead of ten thousand.
The scores need not be computed for this: what they increase with (logits) is compared with a threshold of its own.
That is lowered slightly, so that rounding errors let too many boxes pass rather than too few, which does no harm: the
suppression compares the scores themselves.

From the scores `_masks` goes up through nodes that move values (Concat of levels, Reshape, Transpose) or are monotonic
(Sigmoid, Softmax, the product with an object's score), and compares there. Small heads are left as they are, and those
of unknown size: a hundred nodes more take longer to compile than they save.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from openvino import Node, Output, Type

from paddle2ov.converters.detection.rows import indices_where
from paddle2ov.converters.graph.common import Tensor, cast_to, const, folded, reshape
from paddle2ov.converters.graph.dims import dim_of, index_range
from paddle2ov.graph import arrays
from paddle2ov.graph.constants import ints_of, is_zero
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of

_LEAST_SCORES = 100_000
"""How many scores of an image are worth a filter: PicoDet has 170,000 at 320 x 320, with 80 classes."""

_MAX_ANCHORS = 100
"""How many boxes of each position of a map are looked at one by one; SSD has six."""


class Candidates(Struct, frozen=True):
    """Boxes [N, K, 4] and scores [N, classes, K], the index [K] of each among all boxes, and their total."""

    boxes: Output
    scores: Output
    index: Tensor
    total: int

    def index_of(self, index: Tensor) -> Node:
        """image * total + number of candidates that are given as image * K + number among these."""
        index, count = cast_to(index, Type.i64), dim_of(self.index, 0)
        image = ops.divide(index, count)
        number = ops.gather(self.index, ops.subtract(index, ops.multiply(image, count)), ints(0))
        return ops.add(ops.multiply(image, ints(self.total)), number)


def score_prefilter(boxes: Output, scores: Output, threshold: float, background: int) -> Candidates | None:
    """The boxes [N, M, 4] that have a score [N, classes, M] above a threshold in any image, and maybe some others.

    None where it does not pay. Boxes keep their order; the first one of each level is always among them.
    """
    scores_dims, boxes_dims = dims_of(scores) or [], dims_of(boxes) or []
    if len(scores_dims) != 3 or len(boxes_dims) != 3 or threshold <= 0:
        return None
    classes, total = scores_dims[1], scores_dims[2] or boxes_dims[1]
    if classes is None or total is None or classes * total < _LEAST_SCORES:
        return None
    masks = _masks(_Threshold(scores, 1, 2, 1, threshold), background)
    index = indices_where(ops.concat([_with_first(mask) for mask in masks], 0))
    few, their = ops.gather(boxes, index, ints(1)), ops.gather(scores, index, ints(2))
    return Candidates(few.output(0), their.output(0), index, total)


def _with_first(mask: Node) -> Node:
    """The mask with the first entry set."""
    # Not a Slice to the end: its length has an upper bound of 2 ** 31, for which OpenVINO plans memory.
    return ops.logical_or(mask, folded(ops.less(index_range(dim_of(mask, 0)), ints(1))))


class _Threshold(Struct, frozen=True):
    """A box may pass where a value, which its scores are or increase with, is above a number.

    Attributes:
        value: the scores, or what they are computed from.
        class_axis: its axis of the classes.
        box_axis: the first of its axes of the boxes.
        box_axes: how many of these there are.
        number: the threshold of the value.
    """

    value: Output
    class_axis: int
    box_axis: int
    box_axes: int
    number: float

    @property
    def dims(self) -> list[int | None]:
        """The dimensions of the value."""
        return dims_of(self.value) or []

    @property
    def other_axes(self) -> list[int]:
        """The axes of images and classes."""
        return [axis for axis in range(len(self.dims)) if not 0 <= axis - self.box_axis < self.box_axes]

    def levels(self) -> list[_Threshold]:
        """The same for each input of a Concat along the boxes; itself where it is none."""
        node = self.value.get_node()
        if node.get_type_name() != "Concat" or self.box_axes > 1:
            return [self]
        if node.get_attributes()["axis"] % len(self.dims) != self.box_axis:
            return [self]
        return [level for value in node.input_values() for level in replace(self, value=value).levels()]


def _masks(scores: _Threshold, background: int) -> list[Node]:
    """Masks of the boxes that may pass, one for each level."""
    masks = []
    for level in scores.levels():
        node = level.value.get_node()
        step = _STEPS.get(node.get_type_name())
        before = step(node, level) if step else None
        if before is not None:
            masks += _masks(before, background)
        elif node.get_type_name() == "Softmax" and node.get_attributes()["axis"] % len(level.dims) == level.class_axis:
            logits = replace(level, value=node.input_value(0), number=_lowered(math.log(level.number)))
            masks += [_mask_of_logits(level, background) for level in logits.levels()]
        else:
            masks.append(_mask(level, background))
    return masks


def _mask(scores: _Threshold, background: int) -> Node:
    """Whether a box's value is above the number in any image, and in any class but the background."""
    classes = scores.dims[scores.class_axis] or 1
    numbers = arrays.full(
        [classes if axis == scores.class_axis else 1 for axis in range(len(scores.dims))], scores.number
    )
    if 0 <= background < classes > 1:
        numbers.reshape(-1)[background] = np.inf
    passes = ops.greater(scores.value, const(numbers, scores.value.get_element_type()))
    mask = ops.reduce_logical_or(passes, ints(scores.other_axes), False)
    return reshape(mask, [-1]) if scores.box_axes > 1 else mask


# --- Softmax ----------------------------------------------------------------------------------------------------------


def _mask_of_logits(logits: _Threshold, background: int) -> Node:
    """Whether x - max(x) > log t in any class but the background; otherwise exp(x) / sum(exp) > t cannot be."""
    width, kind = logits.dims[logits.class_axis] or 0, logits.value.get_element_type()
    x = _map_of(logits.value) if (logits.box_axis, logits.class_axis) == (1, 2) else None
    if x is not None and background in (0, width - 1) and width > 1:
        margin = _margin_in(x, width, background)
        return ops.reduce_logical_or(ops.greater(margin, const(logits.number, kind)), ints(0), False)
    largest = ops.reduce_max(logits.value, ints([logits.class_axis]), True)
    return _mask(replace(logits, value=ops.subtract(logits.value, largest).output(0)), background)


def _map_of(rows: Output) -> Output | None:
    """The map [N, A * width, H, W] that a Transpose and a Reshape turn into rows [N, H * W * A, width]."""
    transpose = _source(rows, "Reshape")
    x = _source(transpose, "Transpose") if transpose is not None else None
    if transpose is None or x is None or ints_of(transpose.get_node().input_value(1)) != [0, 2, 3, 1]:
        return None
    before, after = (dims_of(value) or [None] for value in (x, rows))
    if None in (*before[1:], *after[1:]) or len(before) != 4 or len(after) != 3 or not after[2]:
        return None
    same = math.prod(dim or 0 for dim in before[1:]) == math.prod(dim or 0 for dim in after[1:])
    anchors, rest = divmod(before[1] or 0, after[2])
    return x if same and not rest and anchors <= _MAX_ANCHORS else None


def _margin_in(x: Output, width: int, background: int) -> Node:
    """max over the classes but the background, minus the max over all, where the classes are channels: [N, M]."""
    channels = (dims_of(x) or [])[1] or 0
    flat = ops.reshape(x, ints([0, channels, -1]), True)
    sizes = [width - 1, 1] if background else [1, width - 1]
    parts = ops.variadic_split(flat, ints(1), ints(sizes * (channels // width))).outputs()
    margins = []
    for pair in zip(parts[::2], parts[1::2], strict=True):
        others, own = pair if background else pair[::-1]
        ahead = ops.subtract(ops.reduce_max(others, ints([1]), True), own)
        margins.append(ops.minimum(ahead, const(0, x.get_element_type())))
    return ops.reshape(ops.transpose(ops.concat(margins, 1), ints([0, 2, 1])), ints([0, -1]), True)


def _source(x: Output, kind: str) -> Output | None:
    """The first input of the node of `x` if that is of type `kind`."""
    node = x.get_node()
    return node.input_value(0) if node.get_type_name() == kind else None


# --- one node up ------------------------------------------------------------------------------------------------------


def _lowered(threshold: float) -> float:
    return threshold - 1e-3 * (1 + abs(threshold))


def _sigmoid(node: Node, scores: _Threshold) -> _Threshold:
    share = min(scores.number, 1 - 1e-6)
    return replace(scores, value=node.input_value(0), number=_lowered(math.log(share) - math.log1p(-share)))


def _multiply(node: Node, scores: _Threshold) -> _Threshold | None:
    """sigmoid(class) * object → object, an upper bound of the scores with one value per box.

    It is used only if it is set to zero below a threshold of its own, as in YOLO: otherwise it lets most boxes pass.
    """
    for share, score in (node.input_values(), node.input_values()[::-1]):
        rows, dims = _source(score, "Reshape") or score, dims_of(score) or []
        of_any_class = len(dims) == len(scores.dims) and dims[scores.class_axis] == 1
        zeroed = _source(rows, "Select") is not None and is_zero(rows.get_node().input_value(1))
        if _source(share, "Sigmoid") is not None and of_any_class and zeroed:
            return replace(scores, value=score) if dims[scores.box_axis] == scores.dims[scores.box_axis] else None
    return None


def _transpose(node: Node, scores: _Threshold) -> _Threshold | None:
    order = ints_of(node.input_value(1)) or []
    boxes = order[scores.box_axis : scores.box_axis + scores.box_axes]
    if not boxes or boxes != list(range(boxes[0], boxes[0] + scores.box_axes)):
        return None
    return replace(scores, value=node.input_value(0), class_axis=order[scores.class_axis], box_axis=boxes[0])


def _reshape(node: Node, scores: _Threshold) -> _Threshold | None:
    """[N, C, h · w] of [N, C, h, w], or [N, h · w, C] of [N, h, w, C]; of a sigmoid, that of the reshaped."""
    before, after = dims_of(node.input_value(0)) or [], scores.dims
    if scores.box_axes == 1 and len(after) == 3 and len(before) == 4:
        first, classes = (2, 1) if scores.box_axis == 2 else (1, 3)
        sides = before[first : first + 2]
        same = None not in sides and math.prod(side or 0 for side in sides) == after[scores.box_axis]
        if same and before[classes] == after[scores.class_axis] is not None:
            return replace(scores, value=node.input_value(0), class_axis=classes, box_axis=first, box_axes=2)
    logits = _source(node.input_value(0), "Sigmoid")
    if logits is None:
        return None
    reshaped = ops.reshape(logits, node.input_value(1), node.get_attributes()["special_zero"])
    return _sigmoid(ops.sigmoid(reshaped), scores)


_STEPS: dict[str, Callable[[Node, _Threshold], _Threshold | None]] = {
    "Multiply": _multiply,
    "Reshape": _reshape,
    "Sigmoid": _sigmoid,
    "Transpose": _transpose,
}
"""Node type -> the threshold of what it reads."""
