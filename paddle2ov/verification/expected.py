"""What results are compared with."""

from __future__ import annotations

from dataclasses import dataclass

from paddle2ov.typing import AnyArray


@dataclass(frozen=True, slots=True)
class Expected:
    """What Paddle recorded of one result. bfloat16 values are its bits, as unsigned integers."""

    name: str
    dtype: str
    array: AnyArray


__all__ = ["Expected"]
