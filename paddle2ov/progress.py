"""What is called as work goes on, and how times that are estimated are said."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

StageProgress = Callable[[str, int, int], None]
"""Called with (what is done, how much of it is done, how much there is)."""
_SECONDS = 30.0
"""How often a line tells of work that goes on."""
_UNITS = (("h", 3600), ("min", 60), ("s", 1))


def rough_time(seconds: float) -> str:
    """A time in one digit, as an estimate has no more: "40 s", "3 min"."""
    unit, size = next((item for item in _UNITS if seconds >= 1.5 * item[1]), _UNITS[-1])
    return f"{max(1, float(f'{seconds / size:.1g}')):.0f} {unit}"


class LoggedStages:
    """Tells in a line now and then how far work is, for files and logs. Called as `StageProgress` says."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock, self._told = stream, clock, clock()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Writes a line, unless one was written a short while ago; 0 in all is not known."""
        if self._clock() - self._told >= _SECONDS:
            self._told = self._clock()
            self._stream.write(f"{what}: {done} of {total}\n" if total else f"{what}: {done}\n")
            self._stream.flush()
