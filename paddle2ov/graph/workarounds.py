"""Marks the places that work around OpenVINO."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_Place = TypeVar("_Place", bound=Callable[..., object])


def works_around(*faults: str) -> Callable[[_Place], _Place]:
    """Marks a function or class that works around faults of OpenVINO, by their names in `tools/faults`.

    Each of them has a graph there that shows it; `make faults` tells where OpenVINO computes that graph right.
    """

    def mark(place: _Place) -> _Place:
        return place

    return mark
