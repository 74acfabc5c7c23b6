"""Special functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gen_models.activation import unary
from gen_models.harness.building import function
from gen_models.harness.marks import DIGITS, NEW_KERNEL, pir
from gen_models.harness.spec import Case, Op, case, tensor


def _of(
    name: str,
    low: float,
    high: float,
    *values: list[float],
    digits: Sequence[float] = (),
    more: Sequence[Case] = (),
    **marks: Any,
) -> Op:
    more = [*[case(x=tensor([len(value)], values=value)) for value in values], *more]
    more += [case(x=tensor([len(digits)], values=list(digits)), **DIGITS)] if digits else []
    return unary(name, name, low=low, high=high, module="", more=more, **marks)


_BESIDE_ZEROS = [number + side for number in (1, 2) for k in range(1, 8) for side in (10.0**-k, -(10.0**-k))]
_NEGATIVE = [-1e-30, -1e-5, -0.3, -0.7, -0.9999, -1.0001, -1.5, -1.9, -2.0001, -2.3]
_WIDE = [-30.0, -8.0, -3.75, -1e-3, 0.0, 1e-3, 3.75, 8.0, 30.0, 60.0, math.nan]


_LARGE = {"why": "values of a thousand and more that Paddle computes in float32", "rtol": 2e-4}
POLYGAMMA = [
    case(x=tensor([3, 4], low=0.1, high=20), n=1),
    case(x=tensor([3, 4], low=0.5, high=20, dims=[-1, 4]), n=2),
    case(x=tensor([4], low=1, high=9), n=3),
    case(x=tensor([], low=1, high=9), n=5),
    case(x=tensor([7], values=[0.01, 0.3, 1.0, 1.5, 30.0, 1e4, math.inf]), n=1),
    case(x=tensor([5], values=[-0.5, -1.25, -2.3, -10.7, -3.6]), n=1),
    case(x=tensor([4], values=[-0.5, -1.25, -2.3, -4.6]), n=2, **_LARGE),
    case(x=tensor([3], values=[0.0, -1.0, -4.0]), n=1),
    case(x=tensor([3], values=[0.0, -1.0, -4.0]), n=2),
    case(x=tensor([4], values=[1e5, 1e10, 1e15, 3e19]), n=1, **DIGITS),
    case(x=tensor([3], values=[1e3, 1e9, -math.inf]), n=3, **DIGITS),
]


OPS = [
    _of("erfinv", -0.99, 0.99, [0.0, 1.0, -1.0, 0.9999, -0.9999, 1.5, 1e-6, math.nan]),
    _of(
        "digamma",
        0.1,
        20,
        [0.01, 1.0, 1.4616321, 2.0, 100.0, 1e5],
        [-0.5, -1.5, -2.3, -10.7, -3.0],
        more=[case(x=tensor([1], values=[-0.0]), **pir("Paddle 2.6 has NaN there"))],
    ),
    Op("polygamma", function("polygamma"), *POLYGAMMA),
    _of(
        "lgamma",
        0.1,
        20,
        [0.01, 1.0, 1.5, 2.0, 100.0, 1e5, 1e20],
        [-0.5, -1.5, -2.3, -10.7, -3.0, 0.0, -math.inf],
        digits=[*_BESIDE_ZEROS, *_NEGATIVE],
    ),
    _of("gammaln", 0.1, 20, [0.01, 1.0, 1.5, 2.0, 100.0, 1e5], digits=_BESIDE_ZEROS, **NEW_KERNEL),
    *[_of(name, -6, 6, _WIDE) for name in ("i0", "i0e", "i1", "i1e")],
]
