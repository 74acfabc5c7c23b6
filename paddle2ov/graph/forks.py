"""What a forked process renews: threads are not in it, and locks that they held stay locked.

OpenVINO keeps threads for the life of a process: those of each compiled model, which an idle pool keeps for the next
one, and those that they share. A fork waits until no thread computes in OpenVINO, empties the pool, and waits until the
threads that are left sleep: one that is about to holds a lock, which the new process would wait for. The new process
begins with a Core of its own; what belongs to the old one is never destroyed there, as that waits for its threads.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import get_ident
from typing import Protocol
from weakref import WeakSet


class Renewable(Protocol):
    """Something with locks, or with what OpenVINO compiled."""

    def after_fork(self) -> None:
        """Makes it usable in a forked process, which has one thread as this is called."""


class _Gate:
    """Counts the threads that compute in OpenVINO; a fork waits for all but its own, and keeps others out.

    Entering takes no lock: a thread notes that it is inside before it looks for a fork that waits, and a fork says that
    it waits before it looks who is inside.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside: dict[int, int] = {}
        self._closing = 0
        self._closed_by: int | None = None

    def __enter__(self) -> None:
        thread = get_ident()
        count = self._inside.get(thread, 0)
        self._inside[thread] = count + 1
        if self._closing and not count:
            self._let_pass(thread)

    def _let_pass(self, thread: int) -> None:
        """A fork that waits comes first: threads that compute without a pause would keep it waiting for ever."""
        with self._changed:
            del self._inside[thread]
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._closing)
            self._inside[thread] = 1

    def __exit__(self, *_: object) -> None:
        thread = get_ident()
        count = self._inside[thread] - 1
        if count:
            self._inside[thread] = count
            return
        del self._inside[thread]
        if self._closing:
            with self._changed:
                self._changed.notify_all()

    def close(self) -> None:
        """Waits until no other thread is inside, and keeps them out."""
        self._changed.acquire()
        self._closing += 1
        self._changed.wait_for(lambda: not set(self._inside) - {get_ident()})
        self._closed_by = get_ident()

    def open(self) -> None:
        """Lets them in again, unless this thread began to fork before there was a gate to close."""
        if self._closed_by != get_ident():
            return
        self._closed_by = None
        self._closing -= 1
        self._changed.notify_all()
        self._changed.release()

    def after_fork(self) -> None:
        """Makes it as in a new process."""
        self._changed, self._closing, self._closed_by = threading.Condition(), 0, None


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


_SETTLING = 2.0
"""How long (s) a fork waits for threads that are not Python's; those of OpenVINO sleep after milliseconds."""
_others: set[int] = set()
"""Threads that did not sleep for so long: they belong to other libraries."""


def _settle() -> None:
    """Waits until the threads that are not Python's sleep, as far as Linux tells."""
    end, are_asleep = time.monotonic() + _SETTLING, 0
    while are_asleep < 2:  # one that was seen asleep may have been woken by one that was seen later
        busy = _awake() - _others
        if busy and time.monotonic() > end:
            _others.update(busy)
            return
        are_asleep = 0 if busy else are_asleep + 1
        time.sleep(0.0005)


def _awake() -> set[int]:
    """The threads that are not Python's and that run, or wait to."""
    known, awake = {thread.native_id for thread in threading.enumerate()}, set[int]()
    for task in Path("/proc/self/task").glob("*/stat"):
        number = int(task.parent.name)
        with suppress(OSError):  # it has ended
            if number not in known and task.read_text(errors="replace").rpartition(")")[2].split()[0] in "RD":
                awake.add(number)
    return awake


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
        if had_threads:
            _settle()

    def after_in_child() -> None:
        global _generation
        computing.after_fork()
        _others.clear()
        if had_threads:
            _generation += 1
            begin_anew()
        for thing in list(_renewed):
            thing.after_fork()

    if hasattr(os, "register_at_fork"):  # which Windows does not have, nor forks
        os.register_at_fork(before=before, after_in_parent=computing.open, after_in_child=after_in_child)
