"""What a command exits with, the same in all of them; docs/errors.md lists them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from paddle2ov.jobs.termination import Terminated, interruption

REFUSED = 1
"""No: the model is refused, or its results differ."""
FAILED = 2
"""It could not be done, or found out."""
TIES = 3
"""The results agree up to ties, choices that are as right as Paddle's."""
ROUNDING = 4
"""They differ by Paddle's own rounding."""
INTERRUPTED = 130
"""Ctrl-C, as a shell says so."""
UNREAD = 141
"""Nobody reads the output any more; a shell says so of what SIGPIPE ends."""
TERMINATED = 143
"""SIGTERM, as a shell says so."""


@contextmanager
def interruptible(message: str = "Interrupted.") -> Iterator[None]:
    """Ctrl-C, and SIGTERM where it is handled, end the command with this message, and with the status for it."""
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        cause = interruption(error)
        if cause is None:
            raise
        sys.stderr.write(f"{message}\n")
        sys.exit(TERMINATED if isinstance(cause, Terminated) else INTERRUPTED)
