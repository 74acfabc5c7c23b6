"""Garbage collection while a model is converted."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from paddle2ov.graph.forks import renew_after_fork

_ALLOCATIONS = 100_000


class _RareCollections:
    """How many conversions run, and the thresholds to restore after the last of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = 0
        self._thresholds = gc.get_threshold()
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Forgets the conversions of threads that are gone."""
        self._lock = threading.Lock()
        if self._running:
            self._running = 0
            gc.set_threshold(*self._thresholds)

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Within, garbage is collected once in 100,000 allocations instead of in hundreds.

        A conversion allocates many objects that live as long as it runs, which each collection would traverse, and
        leaves few cycles behind. Collection is not disabled, as the threads of a service may convert without a break.
        """
        with self._lock:
            if not self._running:
                self._thresholds = gc.get_threshold()
                if 0 < self._thresholds[0] < _ALLOCATIONS:
                    gc.set_threshold(_ALLOCATIONS, *self._thresholds[1:])
            self._running += 1
        try:
            yield
        finally:
            with self._lock:
                self._running = max(self._running - 1, 0)  # 0 already if it forked inside
                if not self._running:
                    gc.set_threshold(*self._thresholds)


rare_collections = _RareCollections()
