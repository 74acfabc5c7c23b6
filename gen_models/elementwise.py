"""Arithmetic of two tensors."""

from __future__ import annotations

import math
from typing import Any

from gen_models.harness.building import function, legacy_op, operator
from gen_models.harness.marks import DIGITS, F64, LEGACY, NEW_KERNEL, pir
from gen_models.harness.spec import Case, Op, TensorSpec, case, int32s, int64s, paddle, tensor

NEW_COMPLEX = pir("complex powers are new in Paddle 3")


def binary(name, function):
    """A builder that calls `paddle.<function>`, or writes the legacy operator with its attribute `axis`."""

    def build(x, y, *, axis=None):
        if axis is not None:
            return legacy_op(name, {"X": x, "Y": y}, {"Out": x.dtype}, {"axis": axis})
        return getattr(paddle, function)(x, y)

    return build


def _broadcasts(low: float | None = None, high: float | None = None, dtype: str = "float32") -> list[Case]:
    """Shapes that every binary operator must take."""

    def y(shape: list[int], **more: Any) -> TensorSpec:
        return tensor(shape, dtype, low, high, **more)

    return [
        case(x=tensor([2, 3, 4], dtype), y=y([2, 3, 4])),
        case(x=tensor([2, 3, 4], dtype), y=y([4])),
        case(x=tensor([3, 1], dtype), y=y([2, 1, 5])),
        case(x=tensor([2, 3], dtype), y=y([])),
        case(x=tensor([], dtype), y=y([])),
        case(x=tensor([2, 3, 4], dtype, dims=[-1, 3, -1]), y=y([3, 1], dims=[-1, 1])),
    ]


def _of_integers(low: int = -10, high: int = 10) -> list[Case]:
    return [
        case(x=tensor([3, 7], "int32", -30, 30), y=tensor([7], "int32", low, high)),
        case(x=tensor([3, 7], "int64", -30, 30, dims=[-1, 7]), y=tensor([3, 1], "int64", low, high)),
    ]


_AXIS = [
    case(x=tensor([2, 3, 4, 5]), y=tensor([3, 4]), axis=1, **LEGACY),
    case(x=tensor([2, 3, 4, 5], dims=[-1, 3, -1, 5]), y=tensor([3]), axis=1, **LEGACY),
    case(x=tensor([2, 3, 4]), y=tensor([2]), axis=0, **LEGACY),
    case(x=tensor([2, 3, 4]), y=tensor([4]), axis=-1, **LEGACY),
    case(x=tensor([2, 3, 4]), y=tensor([3, 4]), axis=1, **LEGACY),
]
_COMPLEX = [
    case(x=tensor([3, 4], "complex64"), y=tensor([3, 4], "complex64")),
    case(x=tensor([3, 4], "complex64", dims=[-1, 4]), y=tensor([3, 1], "complex64")),
    case(x=tensor([3, 4], "complex64"), y=tensor([4], "complex64")),
]
_ALL_INTEGERS = [
    case(x=tensor([40], "int32", -(2**31) + 1, 2**31), y=tensor([40], "int32", 1, 2**20)),
    case(x=tensor([40], "int64", -(2**31) + 1, 2**31), y=tensor([40], "int64", -300, -1)),
]
_NOT_ZERO = [1.0, -2.0, 3.0, 7.0, -5.0, 0.5, -0.25, 4.0, 2.5, -1.5]
_NANS = tensor([6], values=[math.nan, 1.0, math.nan, 2.0, math.inf, -3.0])
_MORE = tensor([6], values=[1.0, math.nan, math.nan, -2.0, 5.0, -math.inf])
_SIGNS_X = tensor([9], values=[0.0, -0.0, 0.0, -0.0, 1.0, -1.0, 1.0, -1.0, 2.0])
_SIGNS_Y = tensor([9], values=[1.0, 1.0, -1.0, -1.0, 0.0, 0.0, -0.0, 2.0, -3.0])


def _op(name: str, function: str, *cases: Case, **marks: Any) -> Op:
    return Op(name, binary(name, function), *cases, **marks)


_QUOTIENTS = [
    *_of_integers(1, 8),
    *_of_integers(-8, 0),
    case(x=int32s(7, -7, 7, -7, -6), y=int32s(2, 2, -2, -2, 3)),
    case(x=tensor([4, 10], low=-20, high=20), y=tensor([10], values=_NOT_ZERO)),
    case(x=tensor([6], values=[1.0, -1.0, 0.3, 7.5, -7.5, 5.0]), y=tensor([6], values=[0.1, 0.1, 0.1, 0.5, 2.0, -0.7])),
    case(x=tensor([6], low=-3, high=3), y=tensor([6], values=[0.1, -0.1, 0.3, 0.0, 2.0, -0.7])),
    case(x=tensor([40], low=-300, high=300), y=tensor([], values=0.7)),
]


def _columns(pairs: list[tuple[float, float]]) -> dict[str, TensorSpec]:
    return {
        name: tensor([len(pairs)], values=column) for name, column in zip("xy", zip(*pairs, strict=True), strict=True)
    }


_LIMITS = [-math.inf, math.inf, math.nan, 0.0, 1.5, -2.5]
_ENDLESS = _columns([(x, y) for x in _LIMITS for y in _LIMITS if y or not math.isinf(x)])  # Paddle 2 has no inf // 0
_FAR_APART = [1e5, -1e5, 3e-5, -1e-17, 1e-30, -1e-30, 1e34, -3e36]
_DIVISORS = (0.99, -3.0, 1e33, 3e37, -3e37, 3.4e38)
_VAST = _columns([(x, y) for x in _FAR_APART for y in _DIVISORS if abs(x / y) < 2**24])


OPS = [
    _op(
        "elementwise_add",
        "add",
        *_COMPLEX,
        *_broadcasts(),
        *_of_integers(),
        *_AXIS,
        case(x=tensor([3, 4], "float64"), y=tensor([4], "float64"), **F64),
        case(x=tensor([0, 4]), y=tensor([4]), **pir("Paddle 2.6 cannot add empty tensors")),
        case(x=tensor([3, 4], "bool"), y=tensor([4], "bool"), **NEW_KERNEL),
        case(x=tensor([3, 4], "uint8"), y=tensor([4], "uint8"), **NEW_KERNEL),
        case(x=tensor([3, 4], "int8"), y=tensor([4], "int8"), **NEW_KERNEL),
        case(x=tensor([3, 4], "uint8", 0, 256), y=tensor([4], "uint8", 0, 256), **NEW_KERNEL),
        case(x=tensor([3, 4], "int8", -128, 128), y=tensor([4], "int8", -128, 128), **NEW_KERNEL),
    ),
    _op(
        "elementwise_sub",
        "subtract",
        *_broadcasts(),
        *_of_integers(),
        *_AXIS,
        *_COMPLEX,
    ),
    _op(
        "elementwise_mul",
        "multiply",
        *_COMPLEX,
        *_broadcasts(),
        *_of_integers(),
        *_AXIS,
        case(x=tensor([3, 4], "bool"), y=tensor([4], "bool")),
    ),
    _op(
        "elementwise_div",
        "divide",
        *_COMPLEX,
        *_broadcasts(0.5, 2.0),
        case(x=tensor([10]), y=tensor([10], values=_NOT_ZERO)),
        case(x=tensor([5], values=[1.0, -1.0, 0.0, 2.0, -4.0]), y=tensor([5], values=[0.0, 0.0, 0.0, 1.0, -0.0])),
        *_of_integers(1, 6),
        case(x=tensor([3, 4], "bool"), y=tensor([4], "bool", values=[1, 1, 1, 1]), **NEW_KERNEL),
        case(x=int32s(7, -7, 7, -7, -6), y=int32s(2, 2, -2, -2, 3)),
        *_ALL_INTEGERS,
        case(x=tensor([2, 3, 4]), y=tensor([3], low=0.5), axis=1, **LEGACY),
    ),
    _op("elementwise_min", "minimum", *_broadcasts(), *_of_integers(), _AXIS[0]),
    _op("elementwise_max", "maximum", *_broadcasts(), *_of_integers(), _AXIS[0]),
    _op(
        "elementwise_mod",
        "remainder",
        *_QUOTIENTS,
        case(x=tensor([4], values=[7.0, -7.0, 7.5, -7.5]), y=tensor([4], values=[3.0, 3.0, -3.0, -3.0])),
        *_ALL_INTEGERS,
        case(x=tensor([], "int64", 1, 50), y=tensor([], "int64", 1, 9)),
        case(x=tensor([3, 4, 2], "int64", dims=[-1, -1, 2]), y=tensor([], "int64", 3, 4)),
        case(**_ENDLESS),
        case(**_VAST, **DIGITS),
        case(x=tensor([300], low=-1e5, high=1e5), y=tensor([300], low=0.3, high=3)),
        case(x=tensor([300], low=-1e6, high=1e6), y=tensor([300], low=-3, high=-0.3)),
        case(x=tensor([3, 4], "complex64", -9, 9, dims=[-1, 4]), y=tensor([4], "complex64"), **NEW_COMPLEX),
    ),
    _op(
        "elementwise_floordiv",
        "floor_divide",
        *_QUOTIENTS,
        case(x=tensor([8], "float16", -20, 20), y=tensor([8], "float16", 0.5, 3.0), **NEW_KERNEL),
        *_ALL_INTEGERS,
        case(x=tensor([6], "uint8", 1, 250), y=tensor([6], "uint8", 1, 9), **NEW_KERNEL),
        case(x=tensor([3], "int64", 1, 900), y=tensor([], "int64", 16, 17)),
        case(**_ENDLESS),
        case(**_VAST, **DIGITS),
        case(x=tensor([300], low=-1e5, high=1e5), y=tensor([300], low=0.3, high=3)),
    ),
    Op(
        "trunc_divide",
        lambda x, y: paddle.divide(x, y, rounding_mode="trunc"),
        case(x=tensor([3, 7], "int32", -30, 30), y=tensor([7], "int32", 1, 8)),
        case(x=tensor([3, 7], "int64", -30, 30, dims=[-1, 7]), y=tensor([3, 1], "int64", -8, 0)),
        case(x=tensor([4, 10], low=-20, high=20), y=tensor([10], values=_NOT_ZERO)),
        case(x=tensor([4], values=[1.0, -1.0, 7.5, -7.5]), y=tensor([4], values=[0.1, 0.1, 3.0, -3.0])),
        **NEW_KERNEL,
    ),
    _op(
        "elementwise_pow",
        "pow",
        *[
            case(x=tensor(c.arguments["x"].shape, low=0.1, high=3, dims=c.arguments["x"].dims), y=c.arguments["y"])
            for c in _broadcasts(-2, 2)
        ],
        case(x=tensor([3, 4], "complex64", dims=[-1, 4]), y=tensor([4], "complex64"), **NEW_COMPLEX),
        case(
            x=tensor([4], "complex64", values=[0, 0, 0, 0]),
            y=tensor([4], "complex64", values=[2, 0, -1, 1j]),
            **NEW_COMPLEX,
        ),
        case(x=tensor([3, 4], "int32", -4, 5), y=tensor([4], "int32", 0, 5)),
        case(x=int64s(3, 7, -2, 46340), y=int64s(19, 11, 31, 2)),
        case(x=int32s(1, -1, -1, 2, -2, 3), y=int32s(-1, -1, 40, -1, -3, -2)),
        case(x=tensor([3, 4], "int64", 1, 5), y=tensor([3, 1], "int64", 0, 5)),
        case(x=tensor([4], values=[-2.0, -3.0, 0.0, 0.0]), y=tensor([4], values=[3.0, 2.0, 0.0, 2.0])),
    ),
    _op("elementwise_fmin", "fmin", *_broadcasts(), *_of_integers(), case(x=_NANS, y=_MORE)),
    _op("elementwise_fmax", "fmax", *_broadcasts(), *_of_integers(), case(x=_NANS, y=_MORE)),
    _op(
        "elementwise_heaviside",
        "heaviside",
        *[c for c in _broadcasts() if len(c.arguments["x"].shape) >= len(c.arguments["y"].shape)],
        case(x=tensor([3, 1]), y=tensor([2, 1, 5]), **pir("Paddle 2.6 takes the longer one for x")),
        *_of_integers(),
        case(x=tensor([5], values=[0.0, -0.0, 1.0, -2.0, 0.0]), y=tensor([5])),
        case(x=int64s(0, 0, 2, dims=[-1]), y=int64s(2**24 + 1, 2**31 - 1, 5, dims=[-1])),
    ),
    _op(
        "atan2",
        "atan2",
        case(x=tensor([3, 7]), y=tensor([3, 7])),
        case(x=tensor([3, 7], dims=[-1, -1], low=-100, high=100), y=tensor([3, 7])),
        case(x=_SIGNS_X, y=_SIGNS_Y),
        case(
            x=tensor([4], values=[math.inf, -math.inf, 1.0, math.inf]),
            y=tensor([4], values=[1.0, 1.0, -math.inf, math.inf]),
        ),
        case(x=tensor([3, 7], "int32"), y=tensor([3, 7], "int32")),
        case(x=tensor([3], values=[math.nan, 0.0, math.nan]), y=tensor([3], values=[0.0, math.nan, math.nan])),
        case(x=tensor([]), y=tensor([])),
    ),
    _op(
        "copysign",
        "copysign",
        case(x=tensor([3, 7]), y=tensor([7])),
        case(x=_SIGNS_X, y=_SIGNS_Y),
        case(x=tensor([3, 1], "int32", dims=[-1, 1]), y=tensor([7], "int32")),
        case(x=tensor([3, 1], "int32", -(2**31) + 1, 2**31), y=tensor([7], "int32")),
        case(x=tensor([3], "int8", values=[-128, 127, -1]), y=tensor([2, 1], "int8", values=[-1, 1])),
        case(x=tensor([3, 1], "bool"), y=tensor([4], "bool")),
        **NEW_KERNEL,
    ),
    Op(
        "lerp",
        function("lerp"),
        case(x=tensor([3, 4]), y=tensor([3, 4]), weight=tensor([3, 4])),
        case(x=tensor([3, 4], dims=[-1, 4]), y=tensor([3, 4], dims=[-1, 4]), weight=tensor([4])),
        case(x=tensor([3, 4]), y=tensor([4]), weight=0.25),
        case(x=tensor([3, 1]), y=tensor([3, 1]), weight=tensor([2])),
    ),
    Op("minus", operator("minus", {"x": "X", "y": "Y"}), case(x=tensor([3, 4]), y=tensor([3, 4])), **LEGACY),
]
