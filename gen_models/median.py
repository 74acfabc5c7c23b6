"""Medians."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gen_models.harness.building import function
from gen_models.harness.marks import pir
from gen_models.harness.spec import Op, TensorSpec, case, tensor

NEW = pir("in Paddle 2.6 a median is several operators, and has no mode")
OLD_CRASHES = pir("Paddle 2.6 crashes when it runs a saved nanmedian")
_HOLES = [[1.0, math.nan, 3.0, 2.0], [4.0, 9.0, 5.0, -1.0], [math.nan, math.nan, math.nan, 7.0]]


def _with_holes(*shape: int, dims: Any = None) -> TensorSpec:
    values = np.random.default_rng(0).uniform(-1, 1, shape)
    return tensor(shape, values=np.where(np.abs(values) < 0.3, np.nan, values), dims=dims)


MEDIAN = [
    case(x=tensor([3, 4])),
    case(x=tensor([3, 5]), keepdim=True),
    case(x=tensor([3, 5], dims=[-1, -1]), axis=0, keepdim=True),
    case(x=tensor([2, 3, 4]), axis=1, mode="min"),
    case(x=tensor([2, 3, 4], dims=[-1, -1, -1]), axis=-1, mode="min", keepdim=True),
    case(x=tensor([3, 4]), mode="min"),
    case(x=tensor([3, 4], values=_HOLES), axis=1),
    case(x=tensor([3, 4], values=_HOLES), axis=1, mode="min"),
    case(x=tensor([3, 4], "int64", low=-90, high=90), axis=1),
    case(x=tensor([7], "int32", low=-90, high=90), axis=0, mode="min"),
    case(x=tensor([])),
]

NANMEDIAN = [
    case(x=tensor([3, 4], values=_HOLES)),
    case(x=tensor([3, 4], values=_HOLES), axis=1),
    case(x=tensor([3, 4], values=_HOLES, dims=[-1, -1]), axis=0, keepdim=True),
    case(x=tensor([2, 3, 4, 2]), axis=[1, -1]),
    case(x=tensor([2, 3, 4, 2], dims=[-1, -1, -1, -1]), axis=[0, 2], keepdim=True),
    case(x=tensor([2, 3], values=[[math.nan] * 3, [1.0, 2.0, 3.0]]), axis=1),
    case(x=tensor([3, 4], values=_HOLES), axis=1, mode="min"),
    case(x=tensor([3, 4], "int64", -50, 50)),
    case(x=tensor([3, 5], "int32", -50, 50), axis=1, keepdim=True),
    case(x=tensor([], "int64")),
    case(x=_with_holes(6, 5, 8), axis=-1),
    case(x=_with_holes(6, 5, 8, dims=[-1, -1, -1]), axis=1, mode="min", keepdim=True),
]


OPS = [
    Op("median", function("median"), *MEDIAN, **NEW),
    Op("nanmedian", function("nanmedian"), *NANMEDIAN, **OLD_CRASHES),
]
