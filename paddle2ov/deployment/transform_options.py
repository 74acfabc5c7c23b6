"""The options of a transform in the settings, checked: numbers, sizes, choices. All raise ModelReadError."""

from __future__ import annotations

import math
from typing import Any, TypeGuard, TypeVar

from paddle2ov.deployment.sizes import MAX_SIDE
from paddle2ov.errors import ModelReadError
from paddle2ov.program.settings import Settings, Transform

_Word = TypeVar("_Word", bound=str)


class NotBuiltInError(Exception):
    """A transform cannot be built in and stays with the caller; the message is the reason."""


def fraction(settings: Settings, value: object) -> float:
    """A number, or a quotient as the settings write it: "1./255."."""
    if value is None:
        return 1.0 / 255.0
    if isinstance(value, str):
        try:
            above, _, below = value.partition("/")
            value = float(above) / (float(below) if below else 1.0)
        except (ValueError, ZeroDivisionError):
            value = None
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < abs(value) < 1e6:
        raise ModelReadError(f"{settings.path}: NormalizeImage: the scale is not a number")
    return float(value)


def numbers(settings: Settings, transform: Transform, key: str, default: tuple[float, ...]) -> tuple[float, ...]:
    """Three numbers, which may be given as one."""
    value = transform.options.get(key)
    if value is None:
        return default
    items = value if isinstance(value, list) else [value]
    items = items * 3 if len(items) == 1 else items
    numbers = [number for number in items if isinstance(number, int | float) and not isinstance(number, bool)]
    if (
        len(items) != 3
        or len(numbers) != 3
        or not all(abs(number) < 1e6 and math.isfinite(number) for number in numbers)
    ):
        raise ModelReadError(f"{settings.path}: {transform.name}: {key} is not three numbers: {str(value)[:80]}")
    if key == "std" and not all(abs(number) > 1e-12 for number in numbers):
        raise ModelReadError(f"{settings.path}: {transform.name}: std holds 0")
    return tuple(float(number) for number in numbers)


def is_side(value: object) -> TypeGuard[int]:
    """Whether this can be a number of pixels."""
    return type(value) is int and 1 <= value <= MAX_SIDE


def size_pair(
    settings: Settings, transform: Transform, key: str, default: tuple[int, int] | None = None
) -> tuple[int, int]:
    """Two numbers of pixels, which may be given as one."""
    value = transform.options.get(key, list(default) if default is not None else None)
    pair: list[Any] = value if isinstance(value, list) else [value] * 2
    if len(pair) != 2 or not all(is_side(side) for side in pair):
        raise ModelReadError(f"{settings.path}: {transform.name}: {key} is not a size: {str(value)[:80]}")
    return pair[0], pair[1]


def pixels(settings: Settings, transform: Transform, key: str) -> int:
    """A number of pixels."""
    value = transform.options.get(key)
    if not is_side(value):
        raise ModelReadError(f"{settings.path}: {transform.name}: {key} is not a number of pixels: {str(value)[:80]}")
    return value


def divisor(settings: Settings, transform: Transform, default: int | None = None) -> int:
    """The divisor that sizes are rounded up to multiples of; 1 by default."""
    if transform.options.get("size_divisor", default) is None:
        return 1
    return pixels(settings, transform, "size_divisor") if "size_divisor" in transform.options else default or 1


def round_up(size: int, divisor: int) -> int:
    """The next multiple of the divisor."""
    return math.ceil(size / divisor) * divisor


def choice(settings: Settings, transform: Transform, key: str, default: _Word, known: tuple[_Word, ...]) -> _Word:
    """One of the known words."""
    value = transform.options.get(key, default)
    for word in known:
        if value == word:
            return word
    raise ModelReadError(
        f"{settings.path}: {transform.name}: {key} {str(value)[:80]!r} is not one of {', '.join(known)}"
    )
