"""Variances, clipping by norm, filling."""

from __future__ import annotations

from typing import Any

from gen_models.harness.building import legacy_op
from gen_models.harness.marks import COMPLEX_HERE, NEW
from gen_models.harness.spec import Case, Op, case, paddle, tensor
from gen_models.harness.strategies import axes, dynamic_tensor, flag, integer, one_of, shape


def _var(x: Any, *, axis: Any = (), keepdim: bool = False, correction: float = 1.0) -> Any:
    # What `paddle.var` writes where Paddle is built for GPUs.
    return paddle._C_ops.var(x, list(axis), keepdim, None, correction)


def _std(x: Any, *, axis: Any = (), keepdim: bool = False, correction: float = 1.0) -> Any:
    return paddle._C_ops.std(x, list(axis), keepdim, None, correction)


def _fill_any(x: Any, value: Any) -> Any:
    if paddle.__version__.startswith("2"):
        return legacy_op("fill_any", {"X": x}, {"Out": x.dtype}, {"value": value})
    return paddle._C_ops.fill(x, value)


VAR = [
    case(x=tensor([3, 4]), **NEW),
    case(x=tensor([3, 4]), axis=[1], **NEW),
    case(x=tensor([3, 4], dims=[-1, 4]), axis=[-2], keepdim=True, **NEW),
    case(x=tensor([2, 3, 4], dims=[-1, -1, -1]), axis=[0, 2], correction=0.0, **NEW),
    case(x=tensor([2, 3, 4]), axis=[-1, 0], correction=2.5, keepdim=True, **NEW),
    case(x=tensor([3, 4], low=100, high=101), axis=[0], **NEW),
    case(x=tensor([5], values=[0.5] * 5), **NEW),
]


def _var_random(draw: Any) -> Case:
    sizes = shape(draw, 1, 4, low=2)
    return case(
        x=dynamic_tensor(draw, sizes),
        axis=axes(draw, len(sizes)),
        keepdim=flag(draw),
        correction=one_of(draw, 0.0, 0.5, 1.0),
        **NEW,
    )


def _variance_random(draw: Any) -> Case:
    sizes = shape(draw, 1, 4, low=2)
    return case(x=dynamic_tensor(draw, sizes), axis=axes(draw, len(sizes)), keepdim=flag(draw), **NEW)


def _fill_random(draw: Any) -> Case:
    kind = one_of(draw, "float32", "int32", "int64")
    return case(x=dynamic_tensor(draw, shape(draw, 0, 4), kind), value=integer(draw, -9, 9))


OPS = [
    Op("var", _var, *VAR, random=_var_random),
    Op("std", _std, *VAR, random=_var_random),
    Op(
        "variance",
        lambda x, axis=(), keepdim=False: paddle._C_ops.variance(x, list(axis), keepdim, False),
        case(x=tensor([3, 4]), **NEW),
        case(x=tensor([3, 4], dims=[-1, 4]), axis=[-1], **NEW),
        case(x=tensor([2, 3, 4]), axis=[0, -1], keepdim=True, **NEW),
        random=_variance_random,
    ),
    Op(
        "clip_by_norm",
        lambda x, max_norm: paddle.nn.clip.clip_by_norm(x, max_norm),
        case(x=tensor([3, 4]), max_norm=1.0),
        case(x=tensor([3, 4]), max_norm=10.0),
        case(x=tensor([2, 3, 4], dims=[-1, 3, -1]), max_norm=0.25),
        case(x=tensor([2, 2], values=[0, 0, 0, 0]), max_norm=1.0),
        case(x=tensor([2], values=[3, 4]), max_norm=5.0),
        random=lambda draw: case(x=dynamic_tensor(draw, shape(draw, 1, 4)), max_norm=one_of(draw, 0.1, 1.0, 3.0)),
    ),
    Op(
        "fill_any",
        _fill_any,
        case(x=tensor([3, 4]), value=2.5),
        case(x=tensor([3, 4], dims=[-1, 4]), value=-1),
        case(x=tensor([2, 3], "int64"), value=7),
        case(x=tensor([2, 3], "bool"), value=1),
        case(x=tensor([]), value=0.25),
        case(x=tensor([2, 3], "complex64", dims=[-1, 3]), value=2.5, **COMPLEX_HERE),
        random=_fill_random,
    ),
]
