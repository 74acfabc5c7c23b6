"""What the methods of the drop-in take: integers of Python and of NumPy, paths, bytes."""

from __future__ import annotations

import operator
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from paddle2ov.errors import ConversionInputError
from paddle2ov.program.paths import local_path

MAX_INT = 2**31 - 1
"""The largest number that Paddle takes for a size or a count."""


def integer(value: Any, least: int, refusal: str, most: int = MAX_INT) -> int:
    """An integer of at least so much, and at most so much, of Python or NumPy.

    Raises:
        ConversionInputError: it is none, or a bool; `refusal` is the message.
    """
    if not isinstance(value, bool | np.bool_):
        with suppress(TypeError):
            number = operator.index(value)
            if least <= number <= most:
                return number
    raise ConversionInputError(refusal)


def as_path(path: str | os.PathLike[str], what: str = "Config") -> Path | None:
    """The path; None for an empty one.

    Raises:
        ConversionInputError: it is not a path.
    """
    try:
        text = os.fsdecode(local_path(path))
    except TypeError:
        raise ConversionInputError(f"{what}: a path is expected, not {type(path).__name__}") from None
    return Path(text) if text else None


def contents(name: str, content: bytes | str, size: int) -> bytes:
    """So many bytes of the content of a file.

    Raises:
        ConversionInputError: it is not bytes, or fewer than its size says.
    """
    try:
        if isinstance(content, str):
            content = content.encode("latin-1", "surrogateescape")
        data = content if isinstance(content, bytes) else bytes(memoryview(content))
    except (TypeError, UnicodeEncodeError):
        raise ConversionInputError(f"set_model_buffer: {name} is not bytes, but {type(content).__name__}") from None
    refusal = f"set_model_buffer: {name} has {len(data)} bytes, its size is said to be {size!r}"
    return data[: integer(size, 0, refusal, len(data))]
