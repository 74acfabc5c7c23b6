"""Arrays of other types than the input that they are given to."""

from __future__ import annotations

import numpy as np

from paddle2ov.typing import AnyArray

_DIGITS = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}
"""How many bits of an integer a type keeps."""


def as_type(array: AnyArray, name: str) -> AnyArray:
    """The array as another type, whose numbers are the same; float32 is rounded to float16 and bfloat16.

    The type has Paddle's name; an array for bfloat16 is float32.

    Raises:
        TypeError: no array of its type can be converted.
        ValueError: a number would change; it is the message.
    """
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8 or name.startswith("float8"):
        raise TypeError
    target = np.dtype("float32" if name == "bfloat16" else name)
    with np.errstate(over="ignore", invalid="ignore"):
        converted = array.astype(target)
        lost = array[_lost(array, converted, name)]
    if lost.size:
        raise ValueError(str(lost[0]))
    return converted


def _lost(array: AnyArray, converted: AnyArray, name: str) -> AnyArray:
    """Where a number would change."""
    if converted.dtype.kind == "f":
        if array.dtype.kind != "f":
            limit = 2 ** _DIGITS[name]
            return _outside(array, -limit, limit)
        if array.dtype.itemsize == 4:
            return np.asarray(np.isfinite(array) != np.isfinite(converted))
        return np.asarray((array != converted) & ~np.isnan(array))
    least, most = (0, 1) if name == "bool" else (np.iinfo(name).min, np.iinfo(name).max)
    if array.dtype.kind != "f":
        return _outside(array, int(least), int(most))
    wide = array.astype(np.float64)  # which tells -2^63 and 2^63 from their neighbours, as far as it has these
    return np.asarray((wide != np.rint(wide)) | ~((wide >= float(least)) & (wide < float(int(most) + 1))))


def _outside(array: AnyArray, least: int, most: int) -> AnyArray:
    """Where integers are out of range; the limits are numbers of the array's own type."""
    own = (0, 1) if array.dtype.kind == "b" else (np.iinfo(array.dtype).min, np.iinfo(array.dtype).max)
    low, high = max(least, int(own[0])), min(most, int(own[1]))
    return np.asarray((array < array.dtype.type(low)) | (array > array.dtype.type(high)))
