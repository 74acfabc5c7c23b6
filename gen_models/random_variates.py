"""Random numbers whose distribution each element of an input sets: their shape, type and range."""

from __future__ import annotations

from typing import Any

from gen_models.harness.building import any_op
from gen_models.harness.marks import NEW
from gen_models.harness.spec import Op, case, paddle, tensor


def _checked(out: Any, high: float) -> list[Any]:
    return [paddle.logical_and(out >= 0, out <= high), paddle.zeros_like(out)]


def _dirichlet(alpha):
    out = any_op("dirichlet", {"Alpha": alpha}, {"Out": alpha.dtype}, {})
    return [*_checked(out, 1.0), paddle.abs(out.sum(-1) - 1) < 1e-4]


def _poisson(x):
    out = paddle.poisson(x)
    return [*_checked(out, 500.0), out == paddle.floor(out)]


def _binomial(count, prob):
    out = paddle.binomial(count, prob)
    return [paddle.logical_and(out >= 0, paddle.cast(out, "float32") <= paddle.cast(count, "float32")), out * 0]


GAMMA = [
    case(x=tensor([3, 4], low=0.1, high=5)),
    case(x=tensor([3, 4], low=1, high=90, dims=[-1, -1])),
    case(x=tensor([], low=0.1, high=5)),
]
DIRICHLET = [
    case(alpha=tensor([5], low=0.5, high=5)),
    case(alpha=tensor([3, 4], low=0.5, high=5, dims=[-1, -1])),
    case(alpha=tensor([2, 3, 4], low=0.5, high=5)),
]
POISSON = [
    case(x=tensor([3, 4], low=0, high=5)),
    case(x=tensor([3, 4], low=0, high=90, dims=[-1, -1])),
    case(x=tensor([3], values=[0.0, 0.0, 0.0])),
]
BINOMIAL = [
    case(count=tensor([3, 4], low=1, high=20), prob=tensor([3, 4], low=0, high=1)),
    case(count=tensor([4], "int64", 0, 9, dims=[-1]), prob=tensor([4], low=0, high=1, dims=[-1])),
    case(count=tensor([2], "int32", 3, 4), prob=tensor([2], values=[0.0, 1.0])),
    case(count=tensor([2], values=[0.6, 3.7]), prob=tensor([2], values=[1.0, 1.0])),
]


OPS = [
    Op("standard_gamma", lambda x: _checked(paddle.standard_gamma(x), 500.0), *GAMMA, **NEW),
    Op("dirichlet", _dirichlet, *DIRICHLET),
    Op("poisson", _poisson, *POISSON),
    Op("binomial", _binomial, *BINOMIAL, **NEW),
]
