"""Types that all packages share."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

AnyArray: TypeAlias = np.ndarray[Any, np.dtype[Any]]
"""A NumPy array of any type and rank."""
