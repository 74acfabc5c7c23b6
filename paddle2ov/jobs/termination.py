"""Handles SIGTERM, which batch systems and containers send, as Ctrl-C: the process cleans up before it ends."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType

from paddle2ov.errors import Paddle2OVError


class Terminated(KeyboardInterrupt):
    """SIGTERM was received; handlers of KeyboardInterrupt (Ctrl-C) handle it too."""


@contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM raises `Terminated` inside; if that is not handled, the previous handler of the signal is called.

    A second one ends the process at once, as one does in a process that is forked meanwhile, such as that with which
    OpenVINO's telemetry sends. Nothing changes outside the main thread, which alone may handle signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    process = os.getpid()

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if os.getpid() == process:
            raise Terminated
        signal.raise_signal(signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, end) or signal.SIG_DFL
    try:
        yield
    except Terminated:
        signal.signal(signal.SIGTERM, before)
        signal.raise_signal(signal.SIGTERM)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def interruption(error: BaseException | None) -> KeyboardInterrupt | None:
    """What led to an error, if that is an interruption.

    A library whose import it ends may raise an ImportError, which may become an error of ours. Other errors have
    reasons of their own, as those of a script that cleans up.
    """
    seen: set[int] = set()
    while isinstance(error, ImportError | Paddle2OVError) and id(error) not in seen:
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return error if isinstance(error, KeyboardInterrupt) else None


@contextmanager
def merged_interrupts() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt once a second at most; afterwards it ends the process at once.

    A terminal and what started the command may both send SIGINT: the second would interrupt cleaning up, and the
    interpreter's own end would answer it with a traceback. Nothing changes where it is ignored or handled otherwise.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    last = -math.inf

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal last
        if monotonic() - last > 1:
            last = monotonic()
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


_quiet_forks = 0


@contextmanager
def quiet_forks() -> Iterator[None]:
    """Processes that are forked inside end at Ctrl-C without a word, as that with which OpenVINO's telemetry sends."""
    global _quiet_forks
    _quiet_forks += 1
    try:
        yield
    finally:
        _quiet_forks -= 1


def _after_fork() -> None:
    if _quiet_forks:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_after_fork)
