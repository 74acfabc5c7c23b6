"""What results are compared with."""

from __future__ import annotations

from dataclasses import dataclass

from paddle2ov.typing import AnyArray


@dataclass(frozen=True, slots=True)
class Expected:
    """What Paddle recorded of one result.

    Attributes:
        name: the result's name.
        dtype: Paddle's data type.
        array: the values; those of bfloat16 are its bits, as unsigned integers.
        lengths: of the sequences in it (LoD), int64 [count]; None if it holds none.
    """

    name: str
    dtype: str
    array: AnyArray
    lengths: AnyArray | None = None


__all__ = ["Expected"]
