"""Measures of agreement between results, from 0 to 1, by which a loss of accuracy is reported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle2ov.comparison.differences import root_mean_square
from paddle2ov.program.settings import Settings
from paddle2ov.typing import AnyArray

Results = Sequence[AnyArray]
_MIN_SCORE = 0.3
_MIN_OVERLAP = 0.5
_BLANK = 0


@dataclass(frozen=True, slots=True)
class Measure:
    """How results are compared.

    Attributes:
        name: "labels", "text", "regions", "boxes" or "results".
        meaning: in words.
        agreement: of the results of one item with those that are wanted; 1 where they mean the same.
    """

    name: str
    meaning: str
    agreement: Callable[[Results, Results], float]


def measure_for(settings: Settings | None, results: Results) -> Measure:
    """The measure for what a model does, as far as its settings and its results for one item tell."""
    first = results[0]
    if settings is not None and first.dtype.kind == "f":
        if settings.postprocess == "Topk" and first.ndim == 2:
            return LABELS
        if settings.postprocess == "CTCLabelDecode" and first.ndim == 3:
            return TEXT
        if settings.postprocess == "DBPostProcess" and first.ndim == 4:
            return REGIONS
    return BOXES if _are_boxes(first) else RESULTS


def _are_boxes(result: AnyArray) -> bool:
    """Whether these may be rows of [class, score, x1, y1, x2, y2]."""
    if result.dtype.kind != "f" or result.ndim != 2 or result.shape[1] != 6 or not len(result):
        return False
    kinds, scores, corners = result[:, 0], result[:, 1], result[:, 2:]
    return bool(
        (kinds == kinds.round()).all()
        and (scores >= 0).all()
        and (scores <= 1).all()
        and (corners[:, :2] <= corners[:, 2:]).all()
    )


def _labels(found: Results, wanted: Results) -> float:
    """The part of the rows whose largest value is at the same place."""
    return float((found[0].argmax(-1) == wanted[0].argmax(-1)).mean()) if wanted[0].size else 1.0


def _text(found: Results, wanted: Results) -> float:
    """The part of the characters that are those that are wanted, by edit distance, of what the lines [N, T, C] say."""
    errors = characters = 0
    for scores, other in zip(found[0], wanted[0], strict=True):
        line = decoded(other)
        errors += edit_distance(decoded(scores), line)
        characters += len(line)
    return max(0.0, 1.0 - errors / characters) if characters else float(errors == 0)


def decoded(scores: AnyArray) -> list[int]:
    """Greedy CTC decoding of a line: the likeliest character of each step, repetitions merged, without blanks."""
    best = scores.argmax(-1)
    kept = best[np.flatnonzero(np.diff(best, prepend=-1))]
    return [int(item) for item in kept if item != _BLANK]


def edit_distance(a: Sequence[object], b: Sequence[object]) -> int:
    """The Levenshtein distance: the fewest deletions, insertions and substitutions."""
    row = list(range(len(b) + 1))
    for i, item in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (item != other))
    return row[-1]


def _regions(found: Results, wanted: Results) -> float:
    """The overlap of what is text: intersection over union of the pixels above 0.3."""
    a, b = found[0] > _MIN_SCORE, wanted[0] > _MIN_SCORE
    union = int((a | b).sum())
    return float((a & b).sum() / union) if union else 1.0


def _boxes(found: Results, wanted: Results) -> float:
    """The part of the boxes [class, score, x1, y1, x2, y2] of a score above 0.3 that are in both (F1, overlap 0.5)."""
    a, b = (results[0][results[0][:, 1] > _MIN_SCORE] for results in (found, wanted))
    if not len(a) or not len(b):
        return float(len(a) == len(b))
    overlap = _overlaps(a[:, 2:], b[:, 2:])
    overlap[a[:, :1] != b[:, 0]] = 0.0
    matched = 0
    while overlap.size and overlap.max() >= _MIN_OVERLAP:
        i, j = np.unravel_index(int(overlap.argmax()), overlap.shape)
        overlap[i], overlap[:, j] = 0.0, 0.0
        matched += 1
    return 2 * matched / (len(a) + len(b))


def _overlaps(a: AnyArray, b: AnyArray) -> NDArray[Any]:
    """Intersection over union of each pair of boxes."""
    low, high = np.maximum(a[:, None, :2], b[:, :2]), np.minimum(a[:, None, 2:], b[:, 2:])
    shared = np.clip(high - low, 0, None).prod(-1)
    areas = [np.clip(value[:, 2:] - value[:, :2], 0, None).prod(-1) for value in (a, b)]
    return np.asarray(shared / np.maximum(areas[0][:, None] + areas[1] - shared, 1e-9))


def _results(found: Results, wanted: Results) -> float:
    """1 less the root mean square of the errors, relative to that of the values; of the result that is worst."""
    worst = 0.0
    for array, other in zip(found, wanted, strict=True):
        if array.shape != other.shape:
            return 0.0
        if other.dtype.kind != "f":
            worst = max(worst, float((array != other).mean()) if array.size else 0.0)
            continue
        with np.errstate(invalid="ignore", over="ignore"):
            error, size = (root_mean_square(a) for a in (array.astype(np.float64) - other, other))
        worst = max(worst, error / max(size, 1e-9) if np.isfinite(error) else 1.0)
    return max(0.0, 1.0 - worst)


LABELS = Measure("labels", "pictures of the same class", _labels)
TEXT = Measure("text", "characters that are the same", _text)
REGIONS = Measure("regions", "overlap of the text regions", _regions)
BOXES = Measure("boxes", "boxes that are in both (F1 at an overlap of 0.5)", _boxes)
RESULTS = Measure("results", "1 less the relative error of the results (root mean square)", _results)
