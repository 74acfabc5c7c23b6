"""Spare predictors, for threads that find the one they share busy."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from paddle2ov.graph.forks import renew_after_fork

T = TypeVar("T")


class Spare(Generic[T]):
    """A bounded number of things that threads borrow, made when first needed; who finds all of them lent waits."""

    def __init__(self, make: Callable[[], T], bound: int) -> None:
        self.bound = bound
        self._make = make
        self._free = threading.Semaphore(bound)
        self._idle: list[T] = []  # the one that was used last is at the end, and lent first
        renew_after_fork(self)

    def after_fork(self) -> None:
        """Forgets what is lent to threads that are gone."""
        self._free = threading.Semaphore(self.bound)

    @contextmanager
    def borrow(self) -> Iterator[T]:
        """One for this thread alone."""
        with self._free:
            try:
                item = self._idle.pop()
            except IndexError:
                item = self._make()
            try:
                yield item
            finally:
                self._idle.append(item)
