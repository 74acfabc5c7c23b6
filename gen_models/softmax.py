"""Activations along an axis, or with parameters."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from gen_models.activation import decimals, random_input
from gen_models.harness.building import function
from gen_models.harness.marks import F64, NEW_KERNEL
from gen_models.harness.spec import Case, Op, case, paddle, tensor

CRASH: dict[str, Any] = {"formats": ("pir",), "why": "Paddle 2.6 cannot run a saved rrelu: it wants the noise"}
OLD: dict[str, Any] = {"formats": ("legacy",), "why": "paddle.static.nn.prelu writes legacy programs only"}


def _softmax_cases() -> list[Case]:
    x = tensor([2, 3, 4], low=-4, high=4)
    return [
        case(x=x),
        *[case(x=x, axis=axis) for axis in (0, 1, 2, -1, -2, -3)],
        case(x=tensor([3, 7], low=-4, high=4, dims=[-1, 7]), axis=0),
        case(x=tensor([3, 7], low=-4, high=4, dims=[-1, -1]), axis=-1),
        case(x=tensor([5], low=-4, high=4)),
        case(x=tensor([], low=-4, high=4)),
        case(x=tensor([], low=-4, high=4), axis=0),
        case(x=tensor([3, 4], "float64"), **F64),
        case(x=tensor([3, 4]), axis=1, dtype="float64", **F64),
        case(x=tensor([3, 4], "int32"), dtype="float32"),
        case(x=tensor([2, 4], values=[0.0, -100.0, -math.inf, 1.0, 50.0, 60.0, 100.0, -1e9])),
        case(x=tensor([2, 4, 2], low=-300, high=300), axis=1),
        case(x=tensor([3, 3], values=[2.0**31, 2.0**31 - 256, 0.0, 3e38, -3e38, 0.0, -1e9, -2e9, -1e9])),
    ]


def _softmax_random(draw: Any) -> Case:
    x = random_input(draw)
    rank = max(len(x.shape), 1)
    return case(x=x, axis=draw(st.integers(-rank, rank - 1)))


def _prelu(x: Any, weight: Any, *, data_format: str = "NCHW") -> Any:
    return paddle.nn.functional.prelu(x, weight, data_format)


def _uniform() -> Any:
    return paddle.nn.initializer.Uniform(-1, 1)


def _prelu_any(x: Any, weight: Any = None, *, data_format: str = "NCHW", mode: str | None = None) -> Any:
    if mode is None:
        return _prelu(x, weight, data_format=data_format)
    return paddle.static.nn.prelu(x, mode, paddle.ParamAttr(initializer=_uniform()), data_format)


def _prelu_random(draw: Any) -> Case:
    shape = [draw(st.integers(1, 5)) for _ in range(draw(st.integers(2, 5)))]
    last = draw(st.booleans())
    channels = draw(st.sampled_from([1, shape[-1 if last else 1]]))
    form = {2: "NC", 3: "NCL", 4: "NCHW", 5: "NCDHW"}[len(shape)]
    form = ("N" + form[2:] + "C") if last and len(shape) > 2 else form
    channels = channels if form[1] == "C" or channels == 1 else shape[-1]
    if form == "NC":
        channels = min(channels, 1) or shape[1]
    return case(x=tensor(shape), weight=tensor([channels]), data_format=form)


def _maxout_random(draw: Any) -> Case:
    groups = draw(st.integers(2, 3))
    axis = draw(st.sampled_from([1, 3, -1]))
    shape = [draw(st.integers(1, 3)) for _ in range(4)]
    shape[axis] *= groups
    return case(x=tensor(shape), groups=groups, axis=axis)


OPS = [
    Op("softmax", function("nn.functional.softmax"), *_softmax_cases(), random=_softmax_random),
    Op("log_softmax", function("nn.functional.log_softmax"), *_softmax_cases(), random=_softmax_random),
    Op(
        "prelu",
        _prelu_any,
        case(x=tensor([2, 3, 4]), weight=tensor([1])),
        case(x=tensor([2, 3, 4]), weight=tensor([3])),
        case(x=tensor([2, 3]), weight=tensor([3]), data_format="NC"),
        case(x=tensor([2, 3, 4, 3]), weight=tensor([3])),
        case(x=tensor([2, 3, 4, 3], dims=[-1, 3, -1, -1]), weight=tensor([3])),
        case(x=tensor([2, 3, 4, 5]), weight=tensor([5]), data_format="NHWC"),
        case(x=tensor([2, 3, 4, 4, 3]), weight=tensor([3]), data_format="NDHWC"),
        case(x=tensor([2, 3, 3]), weight=tensor([3]), data_format="NLC"),
        case(x=tensor([5]), weight=tensor([1])),
        case(x=tensor([2, 3, 4, 5]), mode="all", **OLD),
        case(x=tensor([2, 3, 4, 5]), mode="channel", **OLD),
        case(x=tensor([2, 3, 4, 5]), mode="channel", data_format="NHWC", **OLD),
        case(x=tensor([2, 3, 4, 5]), mode="element", **OLD),
        case(x=tensor([2, 3], "float64"), weight=tensor([3], "float64"), data_format="NC", **F64),
        random=_prelu_random,
    ),
    Op(
        "rrelu",
        lambda x, lower=0.125, upper=1 / 3: paddle.nn.functional.rrelu(x, lower, upper, training=False),
        case(x=tensor([2, 3, 4]), **CRASH),
        case(x=tensor([3, 7], dims=[-1, 7]), lower=0.1, upper=0.5, **CRASH),
        random=lambda draw: case(
            x=random_input(draw), lower=draw(decimals(0, 0.4)), upper=draw(decimals(0.4, 1)), **CRASH
        ),
    ),
    Op(
        "maxout",
        function("nn.functional.maxout"),
        case(x=tensor([2, 6, 3, 4]), groups=2),
        case(x=tensor([2, 6, 3, 4]), groups=3, axis=1),
        case(x=tensor([2, 3, 4, 6], dims=[-1, -1, 4, 6]), groups=2, axis=-1),
        case(x=tensor([2, 3, 4, 6]), groups=2, axis=3),
        case(x=tensor([0, 6, 3, 4], dims=[-1, 6, 3, 4]), groups=2),
        random=_maxout_random,
    ),
    Op(
        "swiglu",
        lambda x, y=None: paddle.incubate.nn.functional.swiglu(x, y),
        case(x=tensor([2, 3, 8]), **NEW_KERNEL),
        case(x=tensor([2, 3, 4]), y=tensor([2, 3, 4]), **NEW_KERNEL),
        case(x=tensor([3, 8], dims=[-1, 8]), **NEW_KERNEL),
        case(x=tensor([8]), **NEW_KERNEL),
        random=lambda draw: case(
            x=tensor([draw(st.integers(1, 4)), 2 * draw(st.integers(1, 5))], low=-5, high=5), **NEW_KERNEL
        ),
    ),
]
