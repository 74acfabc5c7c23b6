"""Types that all packages share, and what type checkers cannot tell."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np

AnyArray: TypeAlias = np.ndarray[Any, np.dtype[Any]]
"""A NumPy array of any type and rank."""
_T = TypeVar("_T")


def known(value: _T | None) -> _T:
    """A value that is not None, as the caller has found out before."""
    assert value is not None
    return value
