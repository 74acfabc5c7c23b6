"""Paddle's data types: the names used in programs, the numbers used in legacy files, and their NumPy storage.

Source: `paddle/phi/core/framework/framework.proto` (VarType.Type) and `paddle/phi/common/data_type.h`.
"""

from __future__ import annotations

import numpy as np

LEGACY: dict[int, str] = {
    0: "bool",
    1: "int16",
    2: "int32",
    3: "int64",
    4: "float16",
    5: "float32",
    6: "float64",
    19: "uint64",
    20: "uint8",
    21: "int8",
    22: "bfloat16",
    23: "complex64",
    24: "complex128",
    32: "float8_e4m3fn",
    33: "float8_e5m2",
}
"""Number in a legacy program (also of integer `dtype` attributes) -> name."""

PIR_TYPES: dict[str, str] = {
    "t_bool": "bool",
    "t_i8": "int8",
    "t_ui8": "uint8",
    "t_i16": "int16",
    "t_i32": "int32",
    "t_i64": "int64",
    "t_f16": "float16",
    "t_bf16": "bfloat16",
    "t_f32": "float32",
    "t_f64": "float64",
    "t_c64": "complex64",
    "t_c128": "complex128",
    "t_f8e4m3fn": "float8_e4m3fn",
    "t_f8e5m2": "float8_e5m2",
    "t_index": "int64",
}
"""Element type of a PIR file, without its dialect -> name."""

_WITHOUT_NUMPY = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
STORAGE: dict[str, np.dtype[np.generic]] = {name: np.dtype(_WITHOUT_NUMPY.get(name, name)) for name in LEGACY.values()}
"""Name -> NumPy type that holds its bytes."""
