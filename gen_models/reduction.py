"""Reductions and norms over axes."""

from __future__ import annotations

import math

from gen_models.harness.building import function, operator
from gen_models.harness.marks import COMPLEX_HERE, COMPUTED, F64, NEW, pir
from gen_models.harness.spec import Case, Op, case, int32s, int64s, paddle, tensor

NO_FUNCTION_IN_2 = pir("Paddle 2.6 has no function for it, or none that takes this")


def _reduce(name):
    def build(x, *, axis=None, keepdim=False, less=None, **attributes):
        out = getattr(paddle, name)(x, axis=axis, keepdim=keepdim, **attributes)
        return out if less is None else out - less  # OpenVINO fuses arithmetic into reductions

    return build


def _common(dtype: str = "float32") -> list[Case]:
    """Every form of axis, on every rank."""
    return [
        case(x=tensor([2, 3, 4], dtype)),
        case(x=tensor([2, 3, 4], dtype), keepdim=True),
        case(x=tensor([2, 3, 4], dtype), axis=1),
        case(x=tensor([2, 3, 4], dtype), axis=-1, keepdim=True),
        case(x=tensor([2, 3, 4, 5], dtype), axis=[0, -1]),
        case(x=tensor([2, 3, 4, 5], dtype), axis=[-2, 1], keepdim=True),
        case(x=tensor([2, 3, 4], dtype), axis=[0, 1, 2]),
        case(x=tensor([2, 3, 4], dtype), axis=[]),
        case(x=tensor([5], dtype), axis=0),
        case(x=tensor([5], dtype, dims=[-1])),
        case(x=tensor([], dtype)),
        case(x=tensor([2, 3, 4], dtype, dims=[-1, -1, 4]), axis=[1]),
        case(x=tensor([2, 3, 4, 5], dtype, dims=[-1, 3, -1, -1]), axis=[2, 3], keepdim=True),
        case(x=tensor([1, 2, 3, 2, 3], dtype), axis=[1, 3]),
    ]


_NOTHING = pir("new in Paddle 3; at run time the maximum of nothing is not 0")
_NOT_EMPTY = pir("Paddle 2.6 does not reduce empty tensors")
EMPTY = [
    case(x=tensor([0, 3]), **_NOT_EMPTY),
    case(x=tensor([2, 0]), axis=0, **_NOT_EMPTY),
    case(x=tensor([2, 0]), axis=1, **_NOT_EMPTY),
]


def _computed(dtype: str = "float32") -> list[Case]:
    """Axes that are tensors, known at run time only."""
    return [
        case(x=tensor([2, 3, 4], dtype), axis=tensor([], "int64", values=1), **COMPUTED),
        case(x=tensor([2, 3, 4], dtype), axis=int32s(-1), keepdim=True, **COMPUTED),
        case(x=tensor([2, 3, 4, 5], dtype, dims=[-1, 3, -1, 5]), axis=int64s(-1, 1), **COMPUTED),
        case(x=tensor([2, 3, 4], dtype), axis=int64s(2, 0), keepdim=True, **COMPUTED),
        case(x=tensor([2, 3], dtype), axis=[tensor([], "int64", values=0), 1], **COMPUTED),
    ]


FUSED = [
    case(x=tensor([6, 5, 2], "int64"), axis=1, less=1),
    case(x=tensor([6, 5, 2], "int64", dims=[-1, -1, 2]), axis=-1, keepdim=True, less=1),
    case(x=tensor([6, 5, 2], "int32"), axis=[1, 2], less=1),
    case(x=tensor([6, 5, 2], "int64"), axis=0, less=1),
]

# Beyond 24 bits; the greatest integer stands for nothing found.
_MANY_BITS = [[2**24 + 1, 2**24, -(2**24) - 1], [2**30 + 1, 2**31 - 1, -7], [-(2**30) - 1, -(2**30) + 2, 2**24 + 3]]
_ADDENDS = [[2**24 + 1, 2**24, 3], [2**30 + 1, -7, 2**24 + 1], [-(2**30) - 1, 2**25 + 5, -(2**24) - 3]]


def _exact(dtype: str, values: list[list[int]]) -> list[Case]:
    return [
        case(x=tensor([3, 3], dtype, values=values), axis=1),
        case(x=tensor([3, 3], dtype, values=values, dims=[-1, -1]), axis=[0, 1], keepdim=True),
        case(x=tensor([3, 3], dtype, values=values, dims=[-1, 3]), axis=0),
        case(x=tensor([0, 3], dtype, dims=[-1, -1]), axis=0, **_NOT_EMPTY),
    ]


SUM = [
    *_common(),
    *_exact("int32", _ADDENDS),
    *_exact("int64", _ADDENDS),
    *_computed(),
    *_computed("int32")[:2],
    *FUSED,
    case(x=tensor([8, 16, 4], "bool"), axis=1, less=1),
    *EMPTY,
    case(x=tensor([3, 4], "int32"), axis=0),
    case(x=tensor([3, 4], "int64")),
    case(x=tensor([3, 4], "bool"), axis=1),
    case(x=tensor([3, 4], "bool")),
    case(x=tensor([], "int32")),
    case(x=tensor([3, 2], "bool", values=[[0, 0], [0, 1], [1, 1]]), axis=1, dtype="bool"),
    case(x=tensor([3, 4], dims=[-1, 4]), dtype="bool"),
    case(x=tensor([3, 4], "int32"), axis=0, dtype="int32"),
    case(x=tensor([3, 4], "int32"), axis=0, dtype="float32"),
    case(x=tensor([3, 4]), axis=0, dtype="float64"),
    case(x=tensor([3, 4], low=-9, high=9), axis=1, dtype="int64"),
    case(x=tensor([3, 4], "float64"), axis=1, **F64),
    case(x=tensor([2, 2], values=[[1.0, math.inf], [math.nan, -math.inf]]), axis=1),
    case(x=tensor([2, 3], "complex64"), axis=0),
    case(x=tensor([2, 3], "complex64"), axis=-1, keepdim=True),
]

MEAN = [
    *_common(),
    *_computed()[:3],
    case(x=tensor([3, 4], "float64"), axis=1, **F64),
    case(x=tensor([2, 3, 4, 4], dims=[-1, 3, -1, -1]), axis=[2, 3], keepdim=True),
    case(x=tensor([2, 3], "complex64"), axis=1, **NO_FUNCTION_IN_2),
    case(x=tensor([3, 2], "bool", values=[[0, 0], [0, 1], [1, 1]]), axis=1, **pir("Paddle 2.6 takes no bool")),
]

EXTREME = [
    *_common(),
    *_exact("int32", _MANY_BITS)[:3],
    *_exact("int64", _MANY_BITS)[:3],
    case(x=tensor([3, 4], "int32"), axis=0),
    case(x=tensor([3, 4], "int64"), keepdim=True),
    case(x=tensor([3, 4], "float64"), axis=1, **F64),
    case(x=tensor([2, 3], values=[[1.0, math.inf, 2.0], [-math.inf, -3.0, -4.0]]), axis=1),
]

LOGICAL = [
    *_common("bool"),
    case(x=tensor([2, 2], "bool", values=[[True, False], [True, True]]), axis=1),
    case(x=tensor([3, 4], "int32", low=-1, high=2), axis=1, **NO_FUNCTION_IN_2),
    case(x=tensor([3, 4], "float32", values=[[0.0, 0.5, -0.2, 0.0]] * 3), axis=0, **NO_FUNCTION_IN_2),
    case(x=tensor([2, 2], "float32", values=[[0.0, math.nan], [-0.0, 1e-30]]), axis=0, **NO_FUNCTION_IN_2),
    case(x=tensor([3, 4], "int64", low=-1, high=2), **NO_FUNCTION_IN_2),
    case(x=tensor([], "bool", values=True)),
    case(x=tensor([2, 2], "complex64", values=[[0, 1j], [1, 0]]), axis=1, **NO_FUNCTION_IN_2),
]

PROD = [
    *_common(),
    case(x=tensor([3, 4], "int64", low=-3, high=4), axis=0),
    case(x=tensor([3, 4], "int32", low=-3, high=4), axis=[0, 1], keepdim=True),
    case(x=tensor([3, 4], "int32", low=-3, high=4), axis=0, dtype="float32"),
    *_computed()[2:4],
    case(x=tensor([2, 3, 4], "complex64", dims=[-1, 3, -1]), axis=[0, -1], **COMPLEX_HERE),
    case(x=tensor([3, 4], "complex64"), axis=1, keepdim=True, **COMPLEX_HERE),
    case(x=tensor([2, 0], "complex64"), axis=1, **COMPLEX_HERE),
]


MEAN_ALL = [case(x=tensor(shape)) for shape in ([2, 3], [], [5])] + [case(x=tensor([2, 3, 4], dims=[-1, 3, -1]))]

LOGSUMEXP = [
    case(x=tensor([2, 3, 4])),
    case(x=tensor([2, 3, 4]), axis=1),
    case(x=tensor([2, 3, 4], dims=[-1, -1, -1]), axis=[0, -1], keepdim=True),
    case(x=tensor([2, 3]), keepdim=True),
    case(x=tensor([])),
    case(x=tensor([4], low=80.0, high=200.0), axis=0),
    case(x=tensor([2, 2], values=[[-math.inf, 1.0], [-100.0, 100.0]]), axis=1),
    case(x=tensor([1, 2, 3, 2], "float64"), axis=[1, 2, 3], **F64),
]


FROBENIUS_NORM = [
    case(x=tensor([2, 3, 4]), axis=[-2, -1]),
    case(x=tensor([2, 3, 4], dims=[-1, -1, 4]), axis=[0, 1], keepdim=True),
    case(x=tensor([2, 3, 4]), axis=[0, 1], reduce_all=True),
    case(x=tensor([2, 3, 4], "complex64"), axis=[-2, -1], **COMPLEX_HERE),
]


_ZEROS = [[0.0, 1.0, -2.0, 0.0], [3.0, 0.0, 0.0, -0.5], [0.0, 0.0, 0.0, 0.0]]

P_NORM = [
    *(
        case(x=tensor([3, 4], dims=[-1, 4]), p=p, axis=axis, keepdim=keepdim)
        for p in (2.0, 1.0, 0.0, math.inf, -math.inf, 3.0, 0.5, -1.5)
        for axis, keepdim in ((-1, False), (0, True))
    ),
    *(case(x=tensor([3, 4], values=_ZEROS), p=p) for p in (0.0, 1.0, 2.0, 3.0, -math.inf)),
    *(case(x=tensor([0, 3]), p=p, axis=0, dynamic=False, **_NOTHING) for p in (math.inf, -1.0)),
    *(case(x=tensor([2, 3, 4]), p=p, asvector=True) for p in (2.0, 0.0, math.inf, 4.0)),
    case(x=tensor([2, 3, 4]), asvector=True, keepdim=True),
    case(x=tensor([5]), axis=0),
    case(x=tensor([5], dims=[-1]), axis=0, keepdim=True),
    case(x=tensor([2, 3]), axis=1, epsilon=0.5),
    case(x=tensor([2, 3], "float64"), axis=1, **F64),
]


NORM = [
    case(x=tensor([2, 3, 4])),
    case(x=tensor([2, 3, 4], dims=[-1, -1, -1]), axis=1),
    case(x=tensor([2, 3]), axis=0, epsilon=0.3),
]


WHOLE = [case(x=tensor([2, 3, 4])), case(x=tensor([2, 3], dims=[-1, -1])), case(x=tensor([7]))]


RENORM = [
    case(x=tensor([2, 3, 4], low=-3.0, high=3.0), p=2.0, axis=0, max_norm=5.0),
    case(x=tensor([2, 3, 4], low=-3.0, high=3.0, dims=[-1, -1, -1]), p=1.0, axis=1, max_norm=9.0),
    case(x=tensor([2, 3, 4], low=-3.0, high=3.0), p=3.0, axis=-1, max_norm=2.5),
    case(x=tensor([2, 3], low=-3.0, high=3.0, dims=[-1, -1]), p=math.inf, axis=0, max_norm=0.5),
    case(x=tensor([2, 3], low=-3.0, high=3.0), p=-math.inf, axis=0, max_norm=2.0),
    case(x=tensor([2, 3], low=-3.0, high=3.0, dims=[-1, -1]), p=0.0, axis=0, max_norm=2.0),
    case(x=tensor([2, 1], low=-3.0, high=3.0), p=0.0, axis=0, max_norm=0.5),
    case(x=tensor([2, 2], values=[[0, 2], [3, 1]]), p=-1.0, axis=0, max_norm=0.5),
]


def _nansum(x, *, axis, keepdim=False, dtype=None):
    return paddle._C_ops.nansum(x, axis, dtype and getattr(paddle.base.core.DataType, dtype), keepdim)


REDUCE_AS = [
    *(case(x=tensor([2, 3, 4]), target=target) for target in (tensor([3, 4]), tensor([1, 4]), tensor([2, 1, 1]))),
    case(x=tensor([3, 4]), target=tensor([3, 4])),
    case(x=tensor([3, 4]), target=tensor([])),
    case(x=tensor([2, 3, 4], dims=[-1, 3, -1]), target=tensor([3, 1], dims=[3, -1])),
    case(x=tensor([2, 3, 4], "int32", dims=[-1, 3, 4]), target=tensor([3, 1], "int32")),
    case(x=tensor([3, 4], "bool"), target=tensor([3, 1], "bool")),
    case(x=tensor([3, 4], "int64"), target=tensor([4], "int64")),
    case(x=tensor([3, 4], "complex64"), target=tensor([4], "complex64")),
]


NANSUM = [
    case(x=tensor([2, 3], values=[[1, math.nan, 3], [math.nan] * 3], dims=[-1, 3]), axis=[1]),
    case(x=tensor([2, 2], values=[[1, math.nan], [2, 4]]), axis=[], keepdim=True, dtype="FLOAT64"),
    case(x=tensor([2, 3], "int64"), axis=[0]),
]


_AXES = {"axis": "dim", "keepdim": "keep_dim"}
_P_NORM = {"p": 2.0, "axis": -1, "epsilon": 1e-12, "keepdim": False, "asvector": False}
_NORM = {"axis": -1, "epsilon": 1e-10, "is_test": True}

OPS = [
    Op("renorm", function("renorm"), *RENORM),
    Op("reduce_as", function("reduce_as"), *REDUCE_AS, **NEW),
    Op("reduce_sum", _reduce("sum"), *SUM),
    Op("reduce_mean", _reduce("mean"), *MEAN),
    Op("reduce_max", _reduce("max"), *EXTREME, *FUSED, *_computed()[:2]),
    Op("reduce_min", _reduce("min"), *EXTREME, *_computed("int64")[:2]),
    Op("reduce_amax", _reduce("amax"), *EXTREME),
    Op("reduce_amin", _reduce("amin"), *EXTREME, *FUSED),
    Op("reduce_prod", _reduce("prod"), *PROD, *FUSED[:2], is_varied=False),  # integers overflow
    Op("reduce_all", _reduce("all"), *LOGICAL),
    Op("reduce_any", _reduce("any"), *LOGICAL),
    Op("mean", operator("mean", pir_name="mean_all"), *MEAN_ALL),
    Op("logsumexp", _reduce("logsumexp"), *LOGSUMEXP),
    Op("nansum", _nansum, *NANSUM, **NEW),
    Op(
        "frobenius_norm",
        operator("frobenius_norm", names=_AXES, axis=None, keepdim=False, reduce_all=False),
        *FROBENIUS_NORM,
    ),
    Op("p_norm", operator("p_norm", names={"p": "porder"}, **_P_NORM), *P_NORM),
    Op("norm", operator("norm", outputs={"Out": "", "Norm": ""}, results=1, **_NORM), *NORM),
    Op("squared_l2_norm", operator("squared_l2_norm"), *WHOLE),
    Op("l1_norm", operator("l1_norm"), *WHOLE),
]
