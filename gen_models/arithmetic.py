"""Arithmetic with numbers and lists of tensors."""

from __future__ import annotations

from typing import Any

from gen_models.harness.building import function
from gen_models.harness.marks import F64, pir
from gen_models.harness.spec import Op, case, int64s, paddle, tensor

NEW = pir("Paddle 2.6 has no kernel for it, or none that takes this")


def _scale(x, scale=1.0, *, bias=0.0, bias_after_scale=True):
    # Paddle 3.3.1 drops an operator scale that is the last of a program when it saves.
    return paddle.reshape(paddle.scale(x, scale, bias, bias_after_scale), paddle.shape(x))


def _numbers(low: float, high: float) -> list[Any]:
    return [
        tensor([2, 3, 4], low=low, high=high),
        tensor([3, 7], low=low, high=high, dims=[-1, 7]),
        tensor([], low=low, high=high),
    ]


OPS = [
    Op(
        "scale",
        _scale,
        *[case(x=x, scale=2.5, bias=-0.5) for x in _numbers(-4, 4)],
        case(x=tensor([3, 4]), scale=2.5, bias=-0.5, bias_after_scale=False),
        case(x=tensor([3, 4])),
        case(x=tensor([3, 4]), scale=0.0, bias=1.0),
        case(x=tensor([3, 4]), bias=1.0),
        case(x=tensor([3, 4]), scale=tensor([1], values=[3.0])),
        case(x=tensor([3, 4]), scale=tensor([1], values=[3.0]), bias=0.5, bias_after_scale=False),
        case(x=tensor([3, 4], "int32"), scale=2.7, bias=1.6),
        case(x=tensor([3, 4], "int32"), scale=-2.7, bias=-1.6),
        case(x=tensor([3, 4], "int64", dims=[-1, 4]), scale=2.7, bias=1.6, bias_after_scale=False),
        case(x=tensor([3, 4], "int64"), scale=-1.0),
        case(x=tensor([3, 4], "uint8"), scale=2.0, bias=1.0, **NEW),
        case(x=tensor([3], "uint8", values=[0, 1, 255]), scale=-1.0, bias=5.0, **NEW),
        case(x=tensor([4], "int8", values=[-128, -127, 50, 127]), scale=3.0, bias=100.0, **NEW),
        case(x=tensor([2], "bool", values=[0, 1]), scale=0.3, **NEW),
        case(x=tensor([2], "bool", values=[0, 1]), scale=1.5, bias=-0.7, **NEW),
        case(x=tensor([3, 4], "float64"), scale=2.5, bias=1.0, **F64),
    ),
    Op(
        "increment",
        lambda x, value=1.0: paddle.reshape(paddle.increment(paddle.assign(x), value), [1]),
        case(x=tensor([1])),
        case(x=tensor([1]), value=2.5),
        case(x=tensor([1], "int64"), value=3.0),
        case(x=tensor([1], "int32"), value=-1.0),
    ),
    Op(
        "clip",
        function("clip"),
        *[case(x=x, min=-1.5, max=0.5) for x in _numbers(-4, 4)],
        case(x=tensor([3, 4], low=-4, high=4), min=-1.0),
        case(x=tensor([3, 4], low=-4, high=4), max=1.0),
        case(x=tensor([3, 4], low=-4, high=4), min=1.0, max=1.0),
        case(x=tensor([3, 4], low=-4, high=4), min=tensor([1], values=[-1.0]), max=tensor([1], values=[2.0])),
        case(x=tensor([3, 4], low=-4, high=4), min=-2.0, max=tensor([1], values=[2.0])),
        case(x=tensor([3, 4], "int32"), min=-3, max=4),
        case(x=tensor([3, 4], "int64", dims=[-1, 4]), min=-3, max=4),
        case(x=tensor([3, 4], "int64"), min=0),
        case(x=tensor([3, 4], "int32"), max=3),
        case(x=tensor([3, 4], "int32"), min=-2.5, max=2.5),
        case(x=tensor([3, 4], "float64"), min=-0.5, max=0.5, **F64),
    ),
    Op(
        "pow",
        function("pow"),
        *[case(x=x, y=2.5) for x in _numbers(0.1, 4)],
        *[case(x=tensor([3, 4], low=-3, high=3), y=y) for y in (0.0, 1.0, 2.0, 3.0, 2, 3)],
        *[case(x=tensor([3, 4], low=0.5, high=3), y=y) for y in (-1.0, -2.0, 0.5, -0.5, 1 / 3)],
        case(x=tensor([3, 4], "int32"), y=2),
        case(x=tensor([3, 4], "int64", dims=[-1, 4]), y=3),
        case(x=int64s(7, -9, 3), y=9),
        case(x=tensor([3, 4], "float64", 0.5, 3), y=1.5, **F64),
    ),
    Op(
        "sum",
        function("add_n"),
        case(x=[tensor([3, 4])]),
        case(x=[tensor([3, 4]), tensor([3, 4])]),
        case(x=[tensor([3, 4], dims=[-1, 4])] * 4),
        case(x=[tensor([3, 4], "int64"), tensor([3, 4], "int64")]),
        case(x=[tensor([]), tensor([]), tensor([])]),
        case(
            x=[tensor([0, 4]), tensor([3, 4])],
            dynamic=False,
            why="which tensors are empty, and left out, must be known: else the run is refused",
        ),
        case(x=[tensor([0, 4]), tensor([0, 4])], **pir("Paddle 2 leaves the result without a shape")),
    ),
]
