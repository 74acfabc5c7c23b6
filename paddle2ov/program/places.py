"""Errors of readers, with the place of the operator in the file."""

from __future__ import annotations

from paddle2ov.errors import ModelReadError

MALFORMED = (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError)
"""What a reader raises where a record does not hold what it is expected to hold."""


class PlacedReadError(ModelReadError):
    """An operator cannot be read; the message begins with its place, the innermost one."""


def placed(error: Exception, block: int, operator: int, name: str) -> PlacedReadError:
    """An error of reading the operator of that name; `PlacedReadError` itself is not to be placed again."""
    reason = str(error) if isinstance(error, ModelReadError) else f"malformed: {error!r:.200}"
    return PlacedReadError(f"block {block}, operator {operator} ({name}): {reason}")
