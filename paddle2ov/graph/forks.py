"""What a forked process renews: threads are not in it, and locks that they held stay locked.

OpenVINO keeps threads for the life of a process: those of each compiled model, which an idle pool keeps for the next
one, and those that they share. A fork waits until no thread computes in OpenVINO, and empties the pool. The new process
begins with a Core of its own; what belongs to the old one is never destroyed there, as that waits for its threads.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections import Counter
from collections.abc import Callable
from typing import Protocol
from weakref import WeakSet


class Renewable(Protocol):
    """Something with locks, or with what OpenVINO compiled."""

    def after_fork(self) -> None:
        """Makes it usable in a forked process, which has one thread as this is called."""


class _Gate:
    """Counts the threads that compute in OpenVINO; a fork waits for all but its own, and keeps others out."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside: Counter[int] = Counter()
        self._closing = 0

    def __enter__(self) -> None:
        thread = threading.get_ident()
        with self._changed:
            # A fork that waits comes first: threads that compute without a pause would keep it waiting for ever.
            self._changed.wait_for(lambda: not self._closing or thread in self._inside)
            self._inside[thread] += 1

    def __exit__(self, *_: object) -> None:
        thread = threading.get_ident()
        with self._changed:
            self._inside[thread] -= 1
            if not self._inside[thread]:
                del self._inside[thread]
                self._changed.notify_all()

    def close(self) -> None:
        """Waits until no other thread is inside, and keeps them out."""
        self._changed.acquire()
        self._closing += 1
        self._changed.wait_for(lambda: not self._inside.keys() - {threading.get_ident()})

    def open(self) -> None:
        """Lets them in again."""
        self._closing -= 1
        self._changed.notify_all()
        self._changed.release()

    def after_fork(self) -> None:
        """Makes it as in a new process."""
        self._changed, self._closing = threading.Condition(), 0


computing = _Gate()
"""`with computing:` around what runs in OpenVINO without Python's lock: the process is not forked meanwhile."""

_renewed: WeakSet[Renewable] = WeakSet()
_generation = 0


def renew_after_fork(thing: Renewable) -> None:
    """Has `after_fork` of a thing called in processes that are forked while it is there."""
    _renewed.add(thing)


def keep_forever(thing: object) -> None:
    """Keeps a thing to the end of the process and beyond: not even the interpreter's end destroys it."""
    increment = ctypes.pythonapi.Py_IncRef
    increment.argtypes = [ctypes.py_object]
    increment(thing)


def has_lost_threads() -> bool:
    """Whether OpenVINO had threads when this process was forked."""
    return _generation > 0


def register(release_idle: Callable[[], bool], begin_anew: Callable[[], None]) -> None:
    """Prepares forks.

    Args:
        release_idle: ends the threads of OpenVINO that nothing uses; returns whether it had any.
        begin_anew: is called in the new process, before the things that are renewed.
    """
    had_threads = False

    def before() -> None:
        nonlocal had_threads
        computing.close()
        had_threads = release_idle()

    def after_in_child() -> None:
        global _generation
        computing.after_fork()
        if had_threads:
            _generation += 1
            begin_anew()
        for thing in list(_renewed):
            thing.after_fork()

    if hasattr(os, "register_at_fork"):  # which Windows does not have, nor forks
        os.register_at_fork(before=before, after_in_parent=computing.open, after_in_child=after_in_child)


__all__ = ["computing", "has_lost_threads", "keep_forever", "register", "renew_after_fork"]
