"""Names of models as they are shown and stored: file names may hold anything but "/" and a zero byte."""

from __future__ import annotations

import re
from collections.abc import Iterable

from paddle2ov.errors import escaped

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def printable(text: str) -> str:
    """The text on one line and as valid UTF-8: control characters, and bytes that are no UTF-8, are escaped."""
    return _UNPRINTABLE.sub(escaped, text)


def valid(text: str) -> str:
    """The text as valid UTF-8, on as many lines as it has."""
    return re.sub("[\ud800-\udfff]", escaped, text)


def distinct(names: Iterable[str]) -> list[str]:
    """The names in order; a repeated one gets a number: "a", "a (2)"."""
    taken: set[str] = set()
    numbered = []
    for name in names:
        number, new = 1, name
        while new in taken:
            number += 1
            new = f"{name} ({number})"
        taken.add(new)
        numbered.append(new)
    return numbered
