"""Checks of attribute types: the value in a file need not be of the type that a converter expects.

Older writers store some integers as floats and some booleans as integers; such values are accepted if exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

_MAX_SHOWN = 80
_NUMBERS = (bool, int, float, np.integer, np.floating, np.bool_)
_PLAIN = frozenset((bool, int, float))
_LISTS = (list, tuple, np.ndarray)
_SHOWN_ATTRIBUTES = 12


def fits(value: Any, default: object) -> bool:
    """Whether a value is of the type of its default; without a default (or None) any value fits."""
    if isinstance(default, bool):
        return isinstance(value, int | np.bool_) and value in (0, 1)
    if isinstance(default, int | float):
        return isinstance(value, (*_NUMBERS, complex))
    if isinstance(default, str):
        return isinstance(value, str)
    if isinstance(default, list | tuple):
        return isinstance(value, _LISTS + _NUMBERS)  # scales of old interpolations are single numbers
    return True


def is_integral(value: object) -> bool:
    """Whether a value is an integer, of whatever type."""
    return isinstance(value, _NUMBERS) and math.isfinite(value) and value == int(value)


def is_number(value: object) -> bool:
    """Whether a value is a number, including NaN and infinities."""
    return isinstance(value, _NUMBERS)


def are_numbers(value: object) -> bool:
    """Whether a value is a number, or nested lists of numbers."""
    if isinstance(value, list | tuple):
        return _PLAIN.issuperset(map(type, value)) or all(are_numbers(item) for item in value)
    return isinstance(value, (*_NUMBERS, complex, np.ndarray))


def from_text(value: object) -> Any:
    """The number in a string (`isclose` stores its tolerances so); any other value unchanged."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def is_undefined_dtype(value: object) -> bool:
    """Whether a data type attribute is undefined: it is absent, -1 (legacy) or "Undefined(ALL_DTYPE)" (PIR)."""
    return value is None or value == -1 or (isinstance(value, str) and value.lower().startswith("undefined"))


def abbreviated(value: object) -> str:
    """The value for a message, truncated if it is long."""
    text = repr(value[:_MAX_SHOWN]) if isinstance(value, str | list | tuple) else repr(value)
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 3] + "..."


def abbreviated_attributes(attributes: Mapping[str, Any], names: Iterable[str]) -> str:
    """Those of the attributes in `names`, with their values, for a message."""
    texts = [f"{name}={abbreviated(attributes[name])}" for name in sorted(attributes.keys() & set(names))]
    more = ["..."] if len(texts) > _SHOWN_ATTRIBUTES else []
    return ", ".join(texts[:_SHOWN_ATTRIBUTES] + more)
