"""Logical and bitwise operators."""

import math

from gen_models.harness.building import function
from gen_models.harness.marks import COMPLEX_HERE, pir
from gen_models.harness.spec import Op, case, int32s, tensor

_CORNERS = [[0, 1j, 1, 1 + 1j], [-0.0, 2j, 0.5, 0]]
NEW = pir("Paddle 2.6 has no such operator")


_LOGICAL = [
    case(x=tensor([3, 4], "bool"), y=tensor([3, 4], "bool")),
    case(x=tensor([3, 4], "bool", dims=[-1, 4]), y=tensor([4], "bool")),
    case(x=tensor([], "bool"), y=tensor([], "bool")),
    case(x=tensor([3, 7], "int32", -1, 2), y=tensor([7], "int32", -1, 2)),
    case(x=tensor([3, 7], "int64", -1, 2), y=tensor([3, 1], "int64", -1, 2)),
    case(x=tensor([4], values=[0.0, 0.5, math.nan, -0.0]), y=tensor([4], values=[0.0, 0.0, 1.0, 2.0])),
    case(x=tensor([4], "int8", values=[0, 1, -128, 0]), y=tensor([4], "int8", values=[0, 0, 1, 2])),
    case(x=tensor([7], "int32", -1, 2), y=tensor([2, 3, 1], "int32", -1, 2)),
    case(x=tensor([2, 4], "complex64", values=_CORNERS), y=tensor([4], values=[0.0, 0.5, -0.0, 0.0]), **COMPLEX_HERE),
]
_BITWISE = [
    case(x=tensor([3, 4], "bool"), y=tensor([4], "bool")),
    *[
        case(x=tensor([3, 4], kind, low, 100), y=tensor([4], kind, low, 100))
        for kind, low in (("int32", -100), ("int64", -100), ("uint8", 0), ("int8", -100), ("int16", -100))
    ],
    case(x=tensor([3, 4], "int32", dims=[-1, 4]), y=tensor([3, 1], "int32", dims=[-1, 1])),
    case(x=tensor([], "int64"), y=tensor([], "int64")),
]
_SHIFT = [
    *[
        case(x=tensor([3, 4], kind, low, 40), y=tensor([4], kind, 0, 4))
        for kind, low in (("int32", -40), ("int64", -40), ("uint8", 0), ("int8", -40), ("int16", -40))
    ],
    case(x=tensor([3, 4], "int32", -40, 40), y=tensor([4], "int32", 0, 4), is_arithmetic=False, is_varied=False),
    case(x=tensor([3, 4], "int8", -40, 40), y=tensor([4], "int8", 0, 4), is_arithmetic=False, is_varied=False),
    case(x=tensor([3, 4], "uint8", 0, 250), y=tensor([4], "uint8", 0, 8), is_arithmetic=False, is_varied=False),
    case(x=tensor([3, 4], "int32", -40, 40, dims=[-1, 4]), y=tensor([3, 1], "int32", 0, 4)),
    case(x=int32s(5, -5, 5, -5), y=int32s(31, 31, 32, 40)),
    case(x=int32s(2**24 + 1, 2**26 + 1, -(2**25) - 3, dims=[-1]), y=int32s(4, 0, 1, dims=[-1])),
    case(x=tensor([4], "int8", values=[5, -5, 5, -5]), y=tensor([4], "int8", values=[7, 7, 8, 40])),
]
_NOT = [
    case(x=tensor([3, 4], "bool")),
    case(x=tensor([3, 4], "int32", -1, 2, dims=[-1, 4])),
    case(x=tensor([], "bool")),
    case(x=tensor([3, 4], "int64", -1, 2)),
]


OPS = [
    *[Op(name, function(name), *_LOGICAL) for name in ("logical_and", "logical_or", "logical_xor")],
    Op(
        "logical_not",
        function("logical_not"),
        *_NOT,
        case(x=tensor([4], values=[0.0, 0.5, math.nan, -0.0])),
        case(x=tensor([2, 4], "complex64", values=_CORNERS), **COMPLEX_HERE),
    ),
    *[Op(name, function(name), *_BITWISE) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")],
    Op("bitwise_not", function("bitwise_not"), *_NOT, case(x=tensor([3, 4], "uint8")), case(x=tensor([3], "int8"))),
    *[Op(name, function(name), *_SHIFT, **NEW) for name in ("bitwise_left_shift", "bitwise_right_shift")],
]
