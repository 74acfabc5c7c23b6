"""Running sums, products, extremes."""

import math

from gen_models.harness.building import function, operator
from gen_models.harness.marks import COMPLEX_HERE, DIGITS, F64, pir
from gen_models.harness.spec import Op, case, int32s, tensor


def _scan(name):
    return operator(name, axis=-1, flatten=False, exclusive=False, reverse=False)


SCAN = [
    *(
        case(x=tensor([3, 5]), axis=axis, exclusive=exclusive, reverse=reverse)
        for axis in (0, -1)
        for exclusive in (False, True)
        for reverse in (False, True)
    ),
    case(x=tensor([2, 3, 4]), axis=1),
    case(x=tensor([2, 3, 4], dims=[-1, -1, -1]), axis=1),
    case(x=tensor([2, 7, 4], dims=[-1, -1, -1]), axis=1, exclusive=True, reverse=True),
    case(x=tensor([2, 3, 4]), flatten=True),
    case(x=tensor([2, 3], dims=[-1, -1]), flatten=True, reverse=True),
    case(x=tensor([1])),
    case(x=tensor([1, 1], dims=[-1, 1]), exclusive=True),
    case(x=tensor([1, 3]), axis=0, exclusive=True),
    case(x=tensor([]), axis=0),
    case(x=tensor([3, 5], "float64"), **F64),
]

CUMSUM = [
    *SCAN,
    case(x=tensor([3, 5], "int32"), axis=0),
    case(x=tensor([3, 5], "int64"), axis=1, exclusive=True),
    case(x=tensor([0, 3]), axis=0),
    *(
        case(
            x=tensor([2, 3, 4], dims=[-1, 3, -1]),
            axis=int32s(axis),
            exclusive=exclusive,
            reverse=reverse,
            **pir("Paddle 2.6 takes no axis from a tensor"),
        )
        for axis, exclusive, reverse in ((1, False, False), (-3, True, False), (2, False, True))
    ),
]

LOGCUMSUMEXP = [
    *SCAN,
    case(x=tensor([6], values=[-math.inf, -math.inf, 1.0, -200.0, 90.0, 3.0])),
    case(x=tensor([6], values=[-1.0, 500.0, 1.0, -math.inf, 90.0, 3.0]), reverse=True),
    case(x=tensor([3, 17], low=-30.0, high=30.0)),
    case(x=tensor([6, 2], values=[[0.0, -x] for x in (3.0, 9.0, 15.0, 18.0, 30.0, 60.0)]), **DIGITS),
    case(x=tensor([3, 2], values=[[-3.0, 0.0], [-20.0, 0.0], [-70.0, 0.0]]), axis=1, reverse=True, **DIGITS),
]

_OPTIONS = pir("exclusive and reverse are attributes of Paddle 3")
CUMPROD = [
    case(x=tensor([3, 5], low=-2.0, high=2.0), dim=0),
    case(x=tensor([3, 5], low=-2.0, high=2.0, dims=[-1, -1]), dim=-1),
    case(x=tensor([2, 9, 3], low=-2.0, high=2.0, dims=[-1, -1, 3]), dim=1),
    case(x=tensor([3, 4], "int32", low=-3, high=4), dim=1),
    case(x=tensor([3, 4], "int64", low=-3, high=4), dim=0),
    case(x=tensor([1]), dim=0),
    case(x=tensor([]), dim=0),
    case(x=tensor([6], values=[1.0, 0.0, math.inf, 2.0, 1.0, -1.0]), dim=0),
    case(x=tensor([3, 5], "float64"), dim=1, **F64),
    case(x=tensor([3, 5], "complex64", dims=[-1, 5]), dim=0, **COMPLEX_HERE),
    case(x=tensor([3, 5], "complex64"), dim=-1, exclusive=True, reverse=True, **COMPLEX_HERE),
    case(x=tensor([], "complex64"), dim=0, **COMPLEX_HERE),
    *(
        case(x=tensor([2, 5], low=-2.0, high=2.0), dim=1, exclusive=exclusive, reverse=reverse, **_OPTIONS)
        for exclusive, reverse in ((True, False), (False, True), (True, True))
    ),
    case(x=tensor([2, 5], "int32", low=-3, high=4, dims=[-1, -1]), dim=1, exclusive=True, reverse=True, **_OPTIONS),
]


EXTREME = [
    case(x=tensor([3, 5])),
    case(x=tensor([3, 5]), axis=0),
    case(x=tensor([3, 5], dims=[-1, -1]), axis=-1, dtype="int32"),
    case(x=tensor([2, 9, 3], dims=[-1, -1, -1]), axis=1),
    case(x=tensor([20], "int32", low=0, high=3), axis=0),
    case(x=tensor([2, 10], "int64", low=-2, high=2), axis=1),
    case(x=int32s(2**24, 2**24 + 1, 2**24, 2**30 + 1, 2**30, 1 - 2**31, dims=[-1]), axis=0),
    case(x=tensor([7], values=[1.0, 1.0, math.nan, 5.0, math.nan, -math.inf, 7.0]), axis=0),
    case(x=tensor([7], values=[math.inf, -math.inf, -math.inf, math.inf, 2.0, math.inf, 7.0]), axis=0),
    case(x=tensor([]), axis=0),
    case(x=tensor([1]), axis=0),
    case(x=tensor([3, 5], "float64"), axis=1, **F64),
]

OPS = [
    Op("cumsum", _scan("cumsum"), *CUMSUM),
    Op("logcumsumexp", _scan("logcumsumexp"), *LOGCUMSUMEXP),
    Op("cumprod", operator("cumprod", dim=0, exclusive=False, reverse=False), *CUMPROD),
    Op("cummax", function("cummax"), *EXTREME),
    Op("cummin", function("cummin"), *EXTREME),
]
