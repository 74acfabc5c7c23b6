"""The options of a transform in the settings, checked: numbers, sizes, choices."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard, TypeVar

from paddle2ov.deployment.sizes import MAX_SIDE
from paddle2ov.errors import ModelReadError
from paddle2ov.program.settings import Settings

_Word = TypeVar("_Word", bound=str)


class NotBuiltInError(Exception):
    """A transform cannot be built in and stays with the caller; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Options:
    """A transform of the settings. What its methods cannot read is a `ModelReadError`."""

    settings: Settings
    name: str
    values: Mapping[str, Any]

    @property
    def toolkit(self) -> str:
        """The toolkit that the settings are for."""
        return self.settings.toolkit

    @property
    def is_paddlex(self) -> bool:
        """Whether the file is PaddleX's (`inference.yml`)."""
        return self.settings.path.stem == "inference"

    def has(self, key: str) -> bool:
        """Whether an option is there."""
        return key in self.values

    def get(self, key: str, default: object = None) -> Any:
        """An option as it stands there."""
        return self.values.get(key, default)

    def invalid(self, reason: str) -> ModelReadError:
        """The error that names the file and the transform."""
        return ModelReadError(f"{self.settings.path}: {self.name}: {reason}")

    def scale(self) -> float:
        """A number, or a quotient as the settings write it: "1./255."."""
        value = self.get("scale")
        if value is None:
            return 1.0 / 255.0
        if isinstance(value, str):
            try:
                above, _, below = value.partition("/")
                value = float(above) / (float(below) if below else 1.0)
            except (ValueError, ZeroDivisionError):
                value = None
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < abs(value) < 1e6:
            raise self.invalid("the scale is not a number")
        return float(value)

    def numbers(self, key: str, default: tuple[float, ...]) -> tuple[float, ...]:
        """Three numbers, which may be given as one."""
        value = self.get(key)
        if value is None:
            return default
        items = value if isinstance(value, list) else [value]
        items = items * 3 if len(items) == 1 else items
        numbers = [item for item in items if isinstance(item, int | float) and not isinstance(item, bool)]
        if len(items) != 3 or len(numbers) != 3 or not all(abs(x) < 1e6 and math.isfinite(x) for x in numbers):
            raise self.invalid(f"{key} is not three numbers: {str(value)[:80]}")
        if key == "std" and not all(abs(number) > 1e-12 for number in numbers):
            raise self.invalid("std holds 0")
        return tuple(float(number) for number in numbers)

    def size_pair(self, key: str, default: tuple[int, int] | None = None) -> tuple[int, int]:
        """Two numbers of pixels, which may be given as one."""
        value = self.get(key, list(default) if default is not None else None)
        pair: list[Any] = value if isinstance(value, list) else [value] * 2
        if len(pair) != 2 or not all(is_side(side) for side in pair):
            raise self.invalid(f"{key} is not a size: {str(value)[:80]}")
        return pair[0], pair[1]

    def pixels(self, key: str, default: int | None = None) -> int:
        """A number of pixels."""
        value = self.get(key, default)
        if not is_side(value):
            raise self.invalid(f"{key} is not a number of pixels: {str(value)[:80]}")
        return value

    def divisor(self, default: int | None = None) -> int:
        """The divisor that sizes are rounded up to multiples of; 1 by default."""
        return 1 if self.get("size_divisor", default) is None else self.pixels("size_divisor", default)

    def choice(self, key: str, default: _Word, known: tuple[_Word, ...]) -> _Word:
        """One of the known words."""
        value = self.get(key, default)
        for word in known:
            if value == word:
                return word
        raise self.invalid(f"{key} {str(value)[:80]!r} is not one of {', '.join(known)}")

    def switch(self, key: str, default: bool) -> bool:
        """Whether an option is on."""
        value = self.get(key, default)
        if not isinstance(value, bool):
            raise self.invalid(f"{key} is neither true nor false: {str(value)[:80]}")
        return value


def is_side(value: object) -> TypeGuard[int]:
    """Whether this can be a number of pixels."""
    return type(value) is int and 1 <= value <= MAX_SIDE


def round_up(size: int, divisor: int) -> int:
    """The next multiple of the divisor."""
    return math.ceil(size / divisor) * divisor
