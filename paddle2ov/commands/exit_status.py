"""What a command exits with, the same in all of them; docs/errors.md lists them."""

from __future__ import annotations

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
