"""Activations along an axis, or with parameters."""

from __future__ import annotations

import math

from gen_models.harness.building import function
from gen_models.harness.marks import F64, NEW_KERNEL, legacy, pir
from gen_models.harness.spec import Case, Op, case, paddle, tensor

CRASH = pir("Paddle 2.6 cannot run a saved rrelu: it wants the noise")
OLD = legacy("paddle.static.nn.prelu writes legacy programs only")


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


def _prelu(x, weight, *, data_format="NCHW"):
    return paddle.nn.functional.prelu(x, weight, data_format)


def _uniform():
    return paddle.nn.initializer.Uniform(-1, 1)


def _prelu_any(x, weight=None, *, data_format="NCHW", mode=None):
    if mode is None:
        return _prelu(x, weight, data_format=data_format)
    return paddle.static.nn.prelu(x, mode, paddle.ParamAttr(initializer=_uniform()), data_format)


OPS = [
    Op("softmax", function("nn.functional.softmax"), *_softmax_cases()),
    Op("log_softmax", function("nn.functional.log_softmax"), *_softmax_cases()),
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
    ),
    Op(
        "rrelu",
        lambda x, lower=0.125, upper=1 / 3: paddle.nn.functional.rrelu(x, lower, upper, training=False),
        case(x=tensor([2, 3, 4])),
        case(x=tensor([3, 7], dims=[-1, 7]), lower=0.1, upper=0.5),
        **CRASH,
    ),
    Op(
        "maxout",
        function("nn.functional.maxout"),
        case(x=tensor([2, 6, 3, 4]), groups=2),
        case(x=tensor([2, 6, 3, 4]), groups=3, axis=1),
        case(x=tensor([2, 3, 4, 6], dims=[-1, -1, 4, 6]), groups=2, axis=-1),
        case(x=tensor([2, 3, 4, 6]), groups=2, axis=3),
        case(x=tensor([0, 6, 3, 4], dims=[-1, 6, 3, 4]), groups=2),
    ),
    Op(
        "swiglu",
        function("incubate.nn.functional.swiglu"),
        case(x=tensor([2, 3, 8])),
        case(x=tensor([2, 3, 4]), y=tensor([2, 3, 4])),
        case(x=tensor([3, 8], dims=[-1, 8])),
        case(x=tensor([8])),
        **NEW_KERNEL,
    ),
]
