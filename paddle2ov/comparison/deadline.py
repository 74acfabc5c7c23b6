"""The time limit of `verify`, at which it reports what it has found so far."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic


class TimeUpError(Exception):
    """The time that `verify` was given is up; whatever asks Paddle may raise it."""


class Deadline:
    """A point in time, this many seconds from now, or none."""

    def __init__(self, seconds: float | None = None) -> None:
        self._end = None if seconds is None else monotonic() + seconds

    def check(self) -> None:
        """Raises `TimeUpError` if the time is up."""
        if self._end is not None and monotonic() >= self._end:
            raise TimeUpError

    @contextmanager
    def calling(self, stop: Callable[[], None]) -> Iterator[None]:
        """Calls a function when the time is up, if the block still runs then."""
        if self._end is None:
            yield
            return
        timer = threading.Timer(max(self._end - monotonic(), 0), stop)
        timer.daemon = True  # Ctrl-C may come before it is cancelled; the interpreter would wait for it at its end
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
