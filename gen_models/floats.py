"""Neighbours of floating-point numbers, and rounding to integers."""

from __future__ import annotations

from typing import Any

from gen_models.harness.building import function
from gen_models.harness.marks import NEW
from gen_models.harness.spec import Op, case, tensor

_EXACT = {"atol": 0.0, "rtol": 0.0, "why": "the next number is one unit away"}

_SPECIAL = [-0.0, 1.0, 1.0, -1.0, "inf", "inf", "-inf", 1.0, "nan", 2.0, 8388608.0, 1e-30, 3.4028235e38]
_TOWARDS = [0.0, 2.0, 0.0, 1.0, 0.0, "inf", "inf", "inf", 1.0, "nan", 0.0, 1.0, "inf"]


def _floats(values: list[Any]) -> list[float]:
    return [float(value) for value in values]


OPS = [
    Op(
        "nextafter",
        function("nextafter"),
        case(x=tensor([3, 4]), y=tensor([3, 4]), **_EXACT),
        case(x=tensor([13], values=_floats(_SPECIAL)), y=tensor([13], values=_floats(_TOWARDS)), **_EXACT),
        case(x=tensor([6], values=[2.0**k for k in (-20, -3, 0, 1, 9, 30)]), y=tensor([6], values=[0.0] * 6), **_EXACT),
        case(x=tensor([2, 3], dims=[-1, 3], low=-9, high=9), y=tensor([2, 3]), **_EXACT),
    ),
    Op(
        "rint",
        function("_C_ops.rint"),
        case(x=tensor([3, 4], low=-5, high=5)),
        case(x=tensor([8], values=[0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.0, 1e9])),
        case(x=tensor([2, 3], dims=[-1, -1], low=-99, high=99)),
        case(x=tensor([])),
        **NEW,
    ),
]
