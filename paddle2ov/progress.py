"""What is called as work goes on, and how times that are estimated are said."""

from __future__ import annotations

from collections.abc import Callable

StageProgress = Callable[[str, int, int], None]
"""Called with (what is done, how much of it is done, how much there is)."""
_UNITS = (("h", 3600), ("min", 60), ("s", 1))


def rough_time(seconds: float) -> str:
    """A time in one digit, as an estimate has no more: "40 s", "3 min"."""
    unit, size = next((item for item in _UNITS if seconds >= 1.5 * item[1]), _UNITS[-1])
    return f"{max(1, float(f'{seconds / size:.1g}')):.0f} {unit}"
