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


__all__ = ["plain"]
