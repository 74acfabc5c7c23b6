"""Whether two results of a sort or a selection differ only in the order of entries whose scores are equal.

Decided from the values that the operator read and wrote on both sides. Of a sort, OpenVINO's result must be right for
what OpenVINO read, to the last bit; of a suppression, the same rows must be there, with scores that fall as Paddle's.
Where another entry stands than in Paddle, Paddle's own scores of the two must be equal within the tolerance.
`ORDER_CHECKS` holds a function for each operator, which returns None where the values do not show that; the trait of
its row decides which.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from paddle2ov.comparison.differences import distances, scale_of
from paddle2ov.program.model import Operator
from paddle2ov.program.traits import with_trait
from paddle2ov.typing import AnyArray


@dataclass(frozen=True, slots=True)
class Reordering:
    """How far two orders are apart.

    Attributes:
        moved: how many entries stand elsewhere, or are another of several with the score of the last selected one.
        entries: how many there are.
        gap: the largest difference of two scores that changed indices, as a fraction of the largest score.
    """

    moved: int
    entries: int
    gap: float


@dataclass(frozen=True, slots=True)
class ObservedOperator:
    """What an operator read and wrote, by variable: arrays of Paddle and of OpenVINO, bfloat16 as float32."""

    operator: Operator
    paddle: Mapping[str, AnyArray]
    openvino: Mapping[str, AnyArray]
    tolerance: float

    def read(self, port: str) -> tuple[AnyArray, AnyArray] | None:
        """An input on both sides; None where one is not known."""
        return self._both(self.operator.inputs, port)

    def wrote(self, port: str) -> tuple[AnyArray, AnyArray] | None:
        """A result on both sides; None where one is not known."""
        return self._both(self.operator.outputs, port)

    def number(self, name: str, default: int) -> int:
        """An attribute, or an operand as Paddle computes it."""
        variable = next(iter(self.operator.inputs.get(name, ())), None)
        value = self.paddle.get(variable) if variable else self.operator.attributes.get(name)
        return default if value is None else int(np.asarray(value).reshape(-1)[0])

    def limit(self, scores: AnyArray) -> float:
        """The largest difference of scores that count as equal; integers must be equal."""
        return self.tolerance * scale_of(scores) if scores.dtype.kind == "f" else 0.0

    def _both(self, ports: Mapping[str, list[str]], port: str) -> tuple[AnyArray, AnyArray] | None:
        (name,) = ports.get(port) or ("",)
        if name not in self.paddle or name not in self.openvino:
            return None
        return self.paddle[name], self.openvino[name]


def _top_k(seen: ObservedOperator) -> Reordering | None:
    ascending = not seen.operator.attributes.get("largest", True)
    in_order = bool(seen.operator.attributes.get("sorted", True))
    return _indices(seen, "indices", seen.number("axis", -1), ascending, in_order)


def _argsort(seen: ObservedOperator) -> Reordering | None:
    ascending = not seen.operator.attributes.get("descending", False)
    stable = bool(seen.operator.attributes.get("stable", False))
    return _indices(seen, "indices", seen.number("axis", -1), ascending, stable=stable)


def _arg_extreme(seen: ObservedOperator, ascending: bool) -> Reordering | None:
    flat, keep = (bool(seen.operator.attributes.get(name, False)) for name in ("flatten", "keepdims"))
    axis = 0 if flat else seen.number("axis", -1)
    return _indices(seen, "out", axis, ascending, flat=flat, squeezed=not keep)


def _indices(
    seen: ObservedOperator,
    port: str,
    axis: int,
    ascending: bool,
    in_order: bool = True,
    stable: bool = False,
    flat: bool = False,
    squeezed: bool = False,
) -> Reordering | None:
    """`port` holds the indices of the extreme elements of x along an axis."""
    scores, indices, values = seen.read("x"), seen.wrote(port), seen.wrote("out") if port != "out" else None
    if scores is None or indices is None or scores[0].ndim == 0 or any(np.isnan(x).any() for x in scores):
        return None
    paddle, ours = ((x.reshape(-1) if flat else x).astype(np.float64) for x in scores)
    p, o = indices
    if flat:
        p, o = p.reshape(-1), o.reshape(-1)
    elif squeezed:
        p, o = np.expand_dims(p, axis), np.expand_dims(o, axis)
    if p.shape != o.shape or (o < 0).any() or (o >= ours.shape[axis]).any():
        return None
    if (np.diff(np.sort(o, axis), axis=axis) == 0).any():
        return None  # an element twice
    # OpenVINO's choice is right for what OpenVINO read: the best ones, in their order.
    key = ours if ascending else -ours
    chosen = np.take_along_axis(key, o, axis)
    best = np.take(np.sort(key, axis), np.arange(o.shape[axis]), axis)
    if not np.array_equal(chosen if in_order else np.sort(chosen, axis), best):
        return None
    if stable and (np.diff(o, axis=axis)[np.diff(chosen, axis=axis) == 0] < 0).any():
        return None
    if values is not None and not np.array_equal(values[1], np.take_along_axis(ours, o, axis).astype(values[1].dtype)):
        return None
    first, second = np.take_along_axis(paddle, p, axis), np.take_along_axis(paddle, o, axis)
    if not in_order:
        first, second = np.sort(first, axis), np.sort(second, axis)
    gap = float(distances(first, second).max(initial=0.0))
    if gap > seen.limit(scores[0]):
        return None
    return Reordering(int((p != o).sum()), p.size, gap / scale_of(scores[0]))


def _nms(seen: ObservedOperator) -> Reordering | None:
    """Rows (label, score, box), by label and score; `index` says where the box stood."""
    rows = seen.wrote("out")
    if rows is None or rows[0].ndim != 2 or rows[0].shape[1] != 6:
        return None
    index = seen.wrote("index")
    count = seen.wrote("nms_rois_num") or seen.wrote("roisnum")
    names = [np.zeros((len(x), 0)) if index is None else index[i].reshape(-1, 1) for i, x in enumerate(rows)]
    sides = [
        np.concatenate([x[:, 1:2], x[:, 2:], x[:, :1], name], 1).astype(np.float64)
        for x, name in zip(rows, names, strict=True)
    ]
    return _rows(seen, sides, exact=1 + names[0].shape[1], count=count, images=seen.read("bboxes"))


def _proposals(seen: ObservedOperator) -> Reordering | None:
    """Rows (box) with their scores, by score."""
    boxes, scores = seen.wrote("rpn_rois"), seen.wrote("rpn_roi_probs")
    if boxes is None or scores is None:
        return None
    sides = [
        np.concatenate([s.reshape(-1, 1), b.reshape(-1, 4)], 1).astype(np.float64)
        for b, s in zip(boxes, scores, strict=True)
    ]
    return _rows(seen, sides, exact=0, count=seen.wrote("rpn_rois_num"), images=seen.read("scores"))


def _rows(
    seen: ObservedOperator,
    sides: list[AnyArray],
    exact: int,
    count: tuple[AnyArray, AnyArray] | None,
    images: tuple[AnyArray, AnyArray] | None,
) -> Reordering | None:
    """Rows (score, box ..., what must be equal ...): the same ones for each image, whose scores stand in one order."""
    paddle, ours = sides
    if paddle.shape != ours.shape:
        return None
    if count is None:  # a program that does not say how many rows each image has
        if images is None or images[0].shape[0] != 1:
            return None
        numbers = [len(paddle)]
    elif not np.array_equal(count[0], count[1]) or int(count[0].sum()) != len(paddle):
        return None
    else:
        numbers = [int(value) for value in count[0].reshape(-1)]
    width = paddle.shape[1] - exact
    limits = np.zeros(paddle.shape[1])
    limits[0] = seen.tolerance * scale_of(paddle[:, 0])
    limits[1:width] = seen.tolerance * scale_of(paddle[:, 1:width])
    # Position by position, the scores and the labels (the first of what must be equal) agree.
    fixed = [0, width] if exact else [0]
    if (np.abs(paddle - ours)[:, fixed] > limits[fixed]).any():
        return None
    # OpenVINO's scores fall where Paddle's do.
    same = np.ones(max(len(paddle) - 1, 0), bool) if not exact else paddle[1:, width] == paddle[:-1, width]
    if (same & (np.diff(paddle[:, 0]) <= 0) & (np.diff(ours[:, 0]) > 0)).any():
        return None
    moved, gap, start = 0, 0.0, 0
    for number in numbers:
        indices = _match_rows(paddle[start : start + number], ours[start : start + number], limits)
        if indices is None:
            return None
        away = np.flatnonzero(indices != np.arange(number))
        moved += len(away)
        scores = paddle[start : start + number, 0]
        gap = float(distances(scores[away], scores[indices[away]]).max(initial=gap))
        start += number
    return Reordering(moved, len(paddle), gap / scale_of(paddle[:, 0])) if gap <= limits[0] else None


def _match_rows(paddle: AnyArray, ours: AnyArray, limits: AnyArray) -> AnyArray | None:
    """The index in Paddle of each of our rows; None where one is missing. Rows keep their index if they can."""
    alike = (np.abs(paddle - ours) <= limits).all(1)
    indices = np.where(alike, np.arange(len(paddle)), -1)
    free = list(np.flatnonzero(~alike))
    for row in np.flatnonzero(~alike):
        distance = np.abs(paddle[free] - ours[row])
        fits = (distance <= limits).all(1)
        if not fits.any():
            return None
        indices[row] = free.pop(int(np.argmin(np.where(fits, distance.max(1), np.inf))))
    return indices


_CHECKS: dict[str, Callable[[ObservedOperator], Reordering | None]] = {
    "proposes": _proposals,
    "selects the largest": partial(_arg_extreme, ascending=False),
    "selects the smallest": partial(_arg_extreme, ascending=True),
    "selects the top": _top_k,
    "sorts": _argsort,
    "suppresses": _nms,
}
ORDER_CHECKS = {key: check for trait, check in _CHECKS.items() for key in with_trait(trait)}
