"""Records as plain data, for JSON."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any


def plain(value: Any) -> Any:
    """Dataclasses (by their own `to_dict`, where they have one), mappings, sequences and paths as JSON has them.

    Infinite numbers and NaN, which JSON has not, are None.
    """
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if dataclasses.is_dataclass(value):
        return {item.name: plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value


def size(count: int) -> str:
    """A number of bytes in words."""
    return f"{count / 1e6:.1f} MB" if count >= 1e5 else f"{count / 1e3:.1f} KB" if count >= 1000 else f"{count} bytes"


__all__ = ["plain", "size"]
