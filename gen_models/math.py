"""Functions of one number."""

from __future__ import annotations

import math
from typing import Any

from gen_models.activation import COMPLEX, ON_CUTS, PLANE, SIZES, WIDE, unary
from gen_models.harness.building import function, operator
from gen_models.harness.marks import COMPLEX_HERE, DIGITS, LEGACY, NEW_KERNEL, pir
from gen_models.harness.spec import Case, Op, TensorSpec, case, paddle, tensor

INTEGER = pir("Paddle 2.6 takes no integers")


def _of(name: str, low: float, high: float, more: list[Case] | None = None, build: Any = None) -> Op:
    return unary(name, name, low=low, high=high, module="", more=more, build=build)


def _log1p(x, *, of="", kind=""):
    """`of`: a function to be taken first; `kind`: the type to compute in."""
    if kind:
        return paddle.log1p(x.astype(kind)).astype("float32")
    return paddle.log1p(getattr(paddle, of)(x) if of else x)


def _values(*values: float) -> TensorSpec:
    return tensor([len(values)], values=values)


def _integers(low: int = -10, high: int = 10, **more: Any) -> list[Case]:
    return [case(x=tensor([3, 4], kind, low, high), **{**INTEGER, **more}) for kind in ("int32", "int64")]


_OF_8_BITS = pir("Paddle 2.6 has no kernel; bfloat16 has 8 bits, but small values have them too", atol=0.0, rtol=1e-2)
_TINY = [1e-7, -1e-7, 1e-4, -1e-4, 0.0, 0.3, -0.3, 0.6, -0.6]
_SMALL = [case(x=_values(*[sign * x for x in SIZES[:31] for sign in (1, -1) if sign * x > -1]), **DIGITS)]
_CLASSES = _values(math.nan, math.inf, -math.inf, 0.0, 1e38, -1e-38)


def _legacy_test(name: str) -> Op:
    return Op(
        name,
        operator(name, outputs={"Out": "bool"}),
        case(x=tensor([3, 4])),
        case(x=tensor([3], values=[math.nan, 1.0, 2.0])),
        case(x=tensor([3], values=[math.inf, 1.0, 2.0], dims=[-1])),
        **LEGACY,
    )


def _classes(name: str, called: str) -> Op:
    return Op(
        name,
        function(called),
        case(x=_CLASSES),
        case(x=tensor([3, 4], dims=[-1, 4])),
        case(x=tensor([], values=[math.nan])),
        case(x=tensor([3, 4], "int32")),
        case(x=tensor([3, 4], "int64", dims=[-1, 4])),
        *COMPLEX,
        case(
            x=tensor([4], "complex64", values=[complex(0, math.nan), complex(math.inf, 1), -math.inf, 2j]), **NEW_KERNEL
        ),
    )


_VAST = tensor(
    [8],
    "complex64",
    values=[1e18j, 3e18 + 4e18j, -3e25 + 4e25j, 1e37 - 2e37j, 3e-18 - 4e-18j, 1e-25 + 1e-25j, -1e-36 - 3e-36j, 5j],
)
"""Complex numbers whose squares are infinite or 0."""
_BESIDE_1 = tensor([6], "complex64", values=[1 + 1e-3j, -1 + 1e-20j, 1 - 1e-6j, 1.001j, 0.3 + 1.1j, 0.9999 + 1e-9j])
_ON_AXIS = tensor([4], "complex64", values=[complex(x, -0.0) for x in (-2, 2, 0.5, -0.5)])
_FAR = [case(x=_VAST, **{**DIGITS, **COMPLEX_HERE})]
_CLOSE = [case(x=_BESIDE_1, **{**DIGITS, **COMPLEX_HERE})]
_STEEP = [case(x=WIDE, **{**DIGITS, **COMPLEX_HERE})]
PLANES = [case(x=x, **COMPLEX_HERE) for x in (PLANE, ON_CUTS, _BESIDE_1, _VAST, _ON_AXIS)]
_HALVES = _values(0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, -0.49999997, 8388609.0, 1e10, -3.7, 3.2)

OPS = [
    _of("exp", -4, 4, [case(x=_values(-math.inf, -100.0, 0.0, 80.0)), *_integers()]),
    _of("expm1", -4, 4, [case(x=_values(*_TINY, -100.0, 80.0)), *_SMALL, *_integers(), *COMPLEX]),
    _of("log", 0.01, 10, [case(x=_values(0.0, 1e-30, 1e30)), *_integers(1), *COMPLEX, *_FAR, *_CLOSE]),
    _of("log2", 0.01, 10, [case(x=_values(0.0, 1e-30, 1e30)), *_integers(1), *COMPLEX, *_FAR, *_CLOSE]),
    _of("log10", 0.01, 10, [case(x=_values(0.0, 1e-30, 1e30)), *_integers(1), *COMPLEX, *_FAR, *_CLOSE]),
    _of(
        "log1p",
        -0.9,
        10,
        [
            case(x=_values(*_TINY, 1e30, math.inf)),
            *_SMALL,
            case(x=_values(*SIZES[30:], math.inf, -math.inf, math.nan, -1.0), **DIGITS),
            case(x=_values(-0.99, -0.9999, -0.9999999), **DIGITS),
            case(x=_values(-60.0, -30.0, -17.0, -9.0, -3.0, 0.0, 3.0, 80.0, 100.0), of="exp", **DIGITS),
            case(x=_values(*[2.0**k for k in range(-30, 5, 3)]), kind="bfloat16", **_OF_8_BITS),
            case(x=_values(*[-(2.0**k) for k in range(-30, 0, 3)]), kind="bfloat16", **_OF_8_BITS),
            *_integers(1),
            *COMPLEX,
        ],
        _log1p,
    ),
    _of("sqrt", 0, 10, [case(x=_values(0.0, 1e-30, 1e30)), *_integers(1), *COMPLEX, *_FAR]),
    _of("rsqrt", 0.1, 10, _integers(1)),
    _of("square", -4, 4, [case(x=tensor([3, 4], "int32")), case(x=tensor([3, 4], "int64"))]),
    _of(
        "abs",
        -4,
        4,
        [
            case(x=tensor([3, 4], "complex64")),
            case(x=tensor([3, 4], "int32")),
            case(x=tensor([3, 4], "int64")),
            *_FAR,
        ],
    ),
    _of(
        "sign",
        -4,
        4,
        [
            case(x=_values(0.0, -0.0, math.inf, -math.inf)),
            *_integers(),
            case(x=tensor([3], "complex64", values=[0, 1 + 1j, -3j]), **COMPLEX_HERE),
        ],
    ),
    _of("reciprocal", 0.5, 4, [case(x=_values(0.0, -0.0, -2.0)), *_integers(1), *_FAR]),
    _of("floor", -4, 4, [case(x=_HALVES), *_integers()]),
    _of("ceil", -4, 4, [case(x=_HALVES), *_integers()]),
    _of("trunc", -4, 4, [case(x=_HALVES), *_integers(formats=("pir", "legacy"))]),
    Op(
        "round",
        function("round"),
        case(x=_HALVES),
        case(x=tensor([3, 7], low=-20, high=20, dims=[-1, 7])),
        case(x=tensor([], low=-20, high=20)),
        *[
            case(x=tensor([3, 4], low=-200, high=200), decimals=decimals, **NEW_KERNEL)
            for decimals in (0, 1, 2, -1, -2)
        ],
        case(x=PLANE, **COMPLEX_HERE),
        case(x=tensor([3, 4], "int32", -200, 200), decimals=-1, **NEW_KERNEL),
        *_integers(),
    ),
    *[_of(name, -4, 4, PLANES) for name in ("atan", "asinh")],
    *[_of(name, -4, 4, COMPLEX) for name in ("sin", "cos", "sinh", "cosh")],
    _of("tan", -1.4, 1.4, [*COMPLEX, *_STEEP]),
    _of("asin", -1, 1, PLANES),
    _of("acos", -1, 1, PLANES),
    _of("acosh", 1, 5, PLANES),
    _of("atanh", -0.95, 0.95, PLANES),
    _of("erf", -4, 4, [case(x=_values(-10.0, 10.0, 0.0, 1e-6)), *_SMALL, case(x=_values(*_TINY), **DIGITS)]),
    Op(
        "logit",
        function("logit"),
        case(x=tensor([3, 4], low=0.01, high=0.99)),
        case(x=tensor([3, 4], low=0.01, high=0.99, dims=[-1, 4]), eps=1e-6),
        case(x=_values(0.0, 1.0, -1.0, 2.0, 0.5), eps=0.1),
        case(x=_values(0.0, 1.0, -1.0, 2.0, 0.5), eps=0.0),
        case(x=tensor([], low=0.1, high=0.9), eps=0.01),
    ),
    _classes("isnan_v2", "isnan"),
    _classes("isinf_v2", "isinf"),
    _classes("isfinite_v2", "isfinite"),
    *[_legacy_test(name) for name in ("isnan", "isinf")],
]
