"""Values at the edges of what a field may hold, and beyond."""

from __future__ import annotations

import math
from random import Random
from typing import Any

INTS = (
    *(0, 1, -1, 2, -2, 3, -3, 7, 8, 16, 64, 127, 128, 255, 256, -128, -129, 1000, 65_535, 65_536, 100_000, 1_000_003),
    *(2**31 - 1, 2**31, 2**31 + 1, -(2**31), -(2**31) - 1, 2**32, 2**53, 2**62, 2**63 - 1, -(2**63), -(2**62)),
)
BEYOND = (2**63, 2**64, -(2**64), 10**30)
"""Integers that no field of a program holds; JSON can spell them."""
FLOATS = (
    *(math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 1e-45, 5e-324, 1e-30, -1e-30, 1e10, -1e10, 3.4e38),
    *(1e300, -1e300, 1.7976931348623157e308, 2.0**31, 2.0**63, 1.5),
)
DTYPES = (
    *("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "bfloat16"),
    *("complex64", "complex128", "UNDEFINED", "pstring", "int4"),
)
EQUATIONS = (
    *("...", "->", "i,i->", "ij,jk->ik", "a" * 60, ",".join("a" * 200), "i...,...i->...", "ii->i", "a,b,c,d,e,f,g->"),
    "->a",
)
WORDS = (
    *("", "\0", "x", "NaN", "-1", "/", "..", "../../etc/passwd", "NCHW", "NHWC", "SAME", "VALID", "max", "sum", "é"),
    *("x" * 10_000, "@EMPTY@"),
)
NO_UTF8 = b"\xff\xfe"
LENGTHS = (0, 1, 2, 3, 5, 8, 9, 33, 64, 65, 1000, 100_000)
"""Of lists."""
MAX_CHARACTERS = 10_000_000
"""Of a list: larger ones make files that are refused unread."""
DIMS = (
    *(0, 0, 0, -1, -1, 1, 1, 2, 3, 5, 7, 64, 65, 1000, 65_536, 10**6),
    *(2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, -2, -(2**31), -(2**63)),
)
RANKS = (0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 64, 65, 1000)
OTHERS: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 0.5, 1e300, "", "x", [], {}, [[]], [0], {"#": ""}, {"%": 0}),
    *INTS,
    *BEYOND,
)
"""Values of any type."""


def extreme(rng: Random, value: Any) -> Any:
    """Another value of the same type; of lists, another length or another element."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return _integer(rng, value)
    if isinstance(value, float):
        return rng.choice(FLOATS)
    if isinstance(value, str):
        return rng.choice(rng.choice((WORDS, WORDS, DTYPES, EQUATIONS)))
    if isinstance(value, bytes):
        return NO_UTF8 if rng.random() < 0.1 else rng.choice(rng.choice((WORDS, EQUATIONS))).encode()
    return resized(rng, value) if isinstance(value, list) else rng.choice(OTHERS)


def _integer(rng: Random, value: int) -> int:
    draw = rng.random()
    if draw < 0.2:
        return -value if draw < 0.06 else value + rng.choice((-2, -1, 1, 2, 10))
    if draw < 0.9:
        return rng.choice(INTS)
    return rng.choice(BEYOND) if draw < 0.94 else rng.randint(-(2**63), 2**63 - 1)


def shape(rng: Random, dims: list[int]) -> list[int]:
    """A shape that differs in one dimension, in its rank, or in everything."""
    changed = list(dims)
    draw = rng.random()
    if changed and draw < 0.6:
        changed[rng.randrange(len(changed))] = rng.choice(DIMS)
    elif changed and draw < 0.7:
        del changed[rng.randrange(len(changed))]
    elif draw < 0.85:
        changed.insert(rng.randint(0, len(changed)), rng.choice(DIMS))
    else:
        changed = [rng.choice(DIMS) for _ in range(rng.choice(RANKS))]
    return changed


def resized(rng: Random, values: list[Any]) -> list[Any]:
    """A list with another element, in another order or of another length."""
    draw = rng.random()
    changed = list(values)
    if changed and draw < 0.45:
        place = rng.randrange(len(changed))
        changed[place] = extreme(rng, changed[place])
    elif changed and draw < 0.55:
        changed.pop(rng.randrange(len(changed)))
    elif draw < 0.65:
        rng.shuffle(changed)
    elif draw < 0.75:
        changed.clear()
    elif draw < 0.85:
        changed.append(rng.choice(changed) if changed else rng.choice(INTS))
    else:
        element, length = changed[0] if changed else rng.choice(INTS), rng.choice(LENGTHS)
        changed = [element] * min(length, MAX_CHARACTERS // max(len(str(element)), 1))
    return changed
