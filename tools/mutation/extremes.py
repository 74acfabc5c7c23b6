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
STRINGS = (
    "",
    "\0",
    "x",
    "NaN",
    "-1",
    "/",
    "..",
    "../../etc/passwd",
    "NCHW",
    "NHWC",
    "SAME",
    "VALID",
    "max",
    "sum",
    "é",
    "x" * 10_000,
)
EQUATIONS = (
    "...",
    "->",
    "i,i->",
    "ij,jk->ik",
    "a" * 60,
    ",".join("a" * 200),
    "i...,...i->...",
    "ii->i",
    "a,b,c,d,e,f,g->",
    "->a",
)
DTYPES = (
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "complex64",
    "complex128",
)
LENGTHS = (0, 1, 2, 3, 5, 8, 9, 33, 64, 65, 1000, 100_000)
"""Of lists."""
_MAX_CHARACTERS = 10_000_000
"""Of a list: larger ones make files that are refused unread."""
DIMS = (
    *(0, 0, 0, -1, -1, 1, 1, 2, 3, 5, 7, 64, 65, 1000, 65_536, 10**6),
    *(2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, -2, -(2**31), -(2**63)),
)
RANKS = (0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 64, 65, 1000)


def integer(rng: Random) -> int:
    return rng.choice(INTS) if rng.random() < 0.9 else rng.randint(-(2**63), 2**63 - 1)


def near(rng: Random, value: int) -> int:
    """An integer not far from one that fits."""
    return value + rng.choice((-2, -1, 1, 2, 10)) if rng.random() < 0.7 else -value


def number(rng: Random) -> float:
    return rng.choice(FLOATS)


def text(rng: Random) -> str:
    return rng.choice(EQUATIONS if rng.random() < 0.3 else STRINGS)


def shape(rng: Random, given: list[int]) -> list[int]:
    """A shape that differs from the given one in one dimension, in its rank, or in everything."""
    dims = list(given)
    draw = rng.random()
    if dims and draw < 0.6:
        dims[rng.randrange(len(dims))] = rng.choice(DIMS)
    elif dims and draw < 0.7:
        del dims[rng.randrange(len(dims))]
    elif draw < 0.85:
        dims.insert(rng.randint(0, len(dims)), rng.choice(DIMS))
    else:
        dims = [rng.choice(DIMS) for _ in range(rng.choice(RANKS))]
    return dims


def resized(rng: Random, values: list[Any], make: Any) -> list[Any]:
    """A list with other values or of another length."""
    draw = rng.random()
    changed = list(values)
    if changed and draw < 0.55:
        changed[rng.randrange(len(changed))] = make()
    elif draw < 0.65:
        changed = []
    elif draw < 0.75:
        changed.append(make())
    elif changed and draw < 0.85:
        changed.pop()
    else:
        element, length = changed[0] if changed else make(), rng.choice(LENGTHS)
        changed = [element] * min(length, _MAX_CHARACTERS // max(len(str(element)), 1))
    return changed
