"""How far two results that a user sees are apart."""

from __future__ import annotations

from typing import Any

TOLERANCE = 1e-3  # of a number of that size, or of 1


def difference(theirs: Any, ours: Any) -> float | None:
    """The largest difference of two numbers, as a part of them or of 1; None where anything else differs."""
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        parts = [difference(*pair) for pair in zip(theirs, ours, strict=True)]
        return None if None in parts else max((part for part in parts if part is not None), default=0.0)
    if isinstance(theirs, dict) and isinstance(ours, dict) and theirs.keys() == ours.keys():
        return difference([*theirs.values()], [ours[key] for key in theirs])
    if isinstance(theirs, float) and isinstance(ours, float):
        return abs(theirs - ours) / max(1.0, abs(theirs))
    return 0.0 if type(theirs) is type(ours) and theirs == ours else None
