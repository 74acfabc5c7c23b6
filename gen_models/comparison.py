"""Comparisons."""

import dataclasses
import math

from gen_models.harness.building import function
from gen_models.harness.marks import COMPLEX_HERE, pir
from gen_models.harness.spec import Op, case, int64s, paddle, tensor


def _integers(shape, dtype, **more):
    return tensor(shape, dtype, -3, 3, **more)


# Neighbours that are equal as float32; differences that do not fit into 32 bits.
_MANY_BITS = [2**24 + 1, 2**30 + 1, -(2**30) - 1, 2**31 - 1, -7]
_OTHER_BITS = [2**24, 2**30, -(2**30), -(2**31) + 1, 2**31 - 1]

_CASES = [
    case(x=tensor([2, 3, 4]), y=tensor([2, 3, 4])),
    case(x=_integers([3, 7], "int32"), y=_integers([3, 7], "int32")),
    case(x=_integers([3, 7], "int64", dims=[-1, 7]), y=_integers([3, 1], "int64")),
    case(x=_integers([3, 7], "int64"), y=_integers([], "int64")),
    case(x=_integers([], "int64"), y=_integers([], "int64")),
    case(x=_integers([3], "int64"), y=_integers([2, 4, 1], "int64")),
    case(x=tensor([3, 4], "bool"), y=tensor([4], "bool")),
    case(x=tensor([3, 4], "uint8", 0, 3), y=tensor([4], "uint8", 0, 3)),
    case(x=tensor([3, 4], "float64"), y=tensor([4], "float64")),
    case(
        x=tensor([6], values=[math.nan, 1.0, math.nan, math.inf, -math.inf, 0.0]),
        y=tensor([6], values=[1.0, math.nan, math.nan, math.inf, 3.0, -0.0]),
    ),
    case(x=tensor([0, 4]), y=tensor([0, 4]), **pir("Paddle 2.6 cannot compute with empty tensors")),
    *[
        case(x=tensor([5], kind, values=_MANY_BITS, dims=dims), y=tensor([5], kind, values=_OTHER_BITS, dims=dims))
        for kind, dims in (("int32", [5]), ("int32", [-1]), ("int64", [-1]))
    ],
    case(x=tensor([5, 1], "int64", values=_MANY_BITS), y=tensor([5], "int64", values=_MANY_BITS)),
    case(x=tensor([5], "int32", values=_MANY_BITS), y=tensor([], "int32", values=[2**24])),
]


_ORDER = [
    case(
        x=tensor([2, 4], "complex64", values=[1, 1j, 2 + 1j, 2 - 1j, 0, complex(0, math.nan), 1, 2]),
        y=tensor([4], "complex64", values=[1, 1j, 2, 2]),
        **COMPLEX_HERE,
    )
]


def _close(name):
    def build(x, y, *, relative=1e-5, absolute=1e-8, equal_nan=False):
        return getattr(paddle, name)(x, y, rtol=relative, atol=absolute, equal_nan=equal_nan)

    return build


_X = tensor([8], values=[1.0, 1.0, 0.0, math.nan, math.nan, math.inf, math.inf, 1.0])
_Y = tensor([8], values=[1.0, 1.1, 1e-9, math.nan, 1.0, math.inf, -math.inf, math.inf])
_CLOSE = [
    case(x=tensor([3, 4]), y=tensor([3, 4])),
    case(x=tensor([3], values=[1.0, 2.0, 3.0]), y=tensor([3], values=[1.000001, 2.0, 3.0])),
    case(x=_X, y=_Y, equal_nan=True),
    case(x=_X, y=_Y, relative=0.2, absolute=1e-6),
    case(x=tensor([3, 4], dims=[-1, 4]), y=tensor([3, 4], dims=[-1, 4]), relative=0.5, absolute=0.5),
    case(x=tensor([3, 4]), y=tensor([3, 4]), relative=0.0, absolute=2.1),
    case(x=tensor([]), y=tensor([])),
]


_CLOSE_COMPLEX = [
    case(x=tensor([9], "complex64"), y=tensor([9], "complex64"), relative=0.5, absolute=0.5, **COMPLEX_HERE),
    case(
        x=tensor([2], "complex64", values=[complex(0, math.nan), 1j]),
        y=tensor([2], "complex64", values=[1, 1]),
        **COMPLEX_HERE,
    ),
]


_NEAR = tensor([10], values=[0.0, 0.0, 0.0, 1e-10, math.inf, -math.inf, math.inf, math.nan, 3e-8, 1.0])
_NEARER = tensor([10], values=[1e-16, 9e-16, 2e-15, 1.00000002e-10, math.inf, math.inf, 1, math.nan, 4e-8, 1.0000001])
_TOLERANT = [
    case(x=_NEAR, y=_NEARER),
    case(x=_NEAR, y=dataclasses.replace(_NEARER, dims=(-1,))),
    case(x=_NEARER, y=tensor([], values=[0.0])),
    case(x=tensor([2], "float64", values=[0.0, 0.0]), y=tensor([2], "float64", values=[1e-16, 1e-9])),
]
_TOLERANT_COMPLEX = [
    case(
        x=tensor([4], "complex64", values=[0, 1e-16j, 1, complex(0, math.nan)]),
        y=tensor([4], "complex64", values=[1e-16, 2e-15j, 1 + 1e-16j, complex(0, math.nan)]),
        **COMPLEX_HERE,
    )
]

OPS = [
    *[
        Op(name, function(name), *_CASES, *_ORDER, *([*_TOLERANT, *_TOLERANT_COMPLEX] if name == "not_equal" else []))
        for name in ("not_equal", "less_than", "less_equal", "greater_than", "greater_equal")
    ],
    Op("equal", function("equal"), *_CASES, *_TOLERANT, *_TOLERANT_COMPLEX),
    Op(
        "equal_all",
        function("equal_all"),
        case(x=tensor([3, 4]), y=tensor([3, 4])),
        case(x=int64s(1, 2), y=int64s(1, 2)),
        case(x=int64s(1, 2, dims=[-1]), y=int64s(1, 2, dims=[-1])),
        case(x=tensor([2, 3], "int32"), y=tensor([3, 2], "int32")),
        case(x=tensor([2, 3], "int32", 1, 2), y=tensor([1, 3], "int32", 1, 2)),
        case(x=tensor([3], "bool", values=[1, 0, 1]), y=tensor([3], "bool", values=[1, 0, 1])),
        case(x=tensor([3]), y=tensor([])),
        case(x=tensor([], values=[2.0]), y=tensor([], values=[2.0])),
        *_TOLERANT,
        case(x=tensor([2], values=[0.0, 1.0], dims=[-1]), y=tensor([2], values=[1e-16, 1.0], dims=[-1])),
    ),
    Op("isclose", _close("isclose"), *_CLOSE, *_CLOSE_COMPLEX),
    Op("allclose", _close("allclose"), *_CLOSE),
]
