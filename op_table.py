"""The index of the house: which converter each Paddle operator has.

Keys are Paddle's operator names as in legacy programs, or PIR's own where only PIR has the operator; sorted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddle2ov.converters import (
    creation,
    search,
)

if TYPE_CHECKING:
    from paddle2ov.registry import Converter

OP_TABLE: dict[str, Converter] = {
    "fill_constant": creation.fill_constant,
    "full_int_array": creation.full_int_array,
    "top_k_v2": search.top_k_v2,
}
