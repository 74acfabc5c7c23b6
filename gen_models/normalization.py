"""Batch, layer, group and instance normalization: layouts, without scale or bias, statistics of the batch."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from gen_models.conv import weight
from gen_models.harness.marks import F64
from gen_models.harness.spec import Case, Op, case, paddle, tensor


def _dtype(x) -> str:
    return str(x.dtype).rsplit(".", 1)[-1].lower()


def _batch_norm(
    x,
    mean=None,
    variance=None,
    *,
    channels,
    scale=True,
    bias=True,
    epsilon=1e-5,
    training=False,
    use_global_stats=None,
    data_format="NCHW",
) -> Any:
    if mean is None:
        mean = weight([channels], _dtype(x), seed=1)
        variance = weight([channels], _dtype(x), low=0.3, high=2.0, seed=2)
    return paddle.nn.functional.batch_norm(
        x,
        mean,
        variance,
        weight([channels], _dtype(x), seed=3) if scale else None,
        weight([channels], _dtype(x), seed=4) if bias else None,
        training=training,
        epsilon=epsilon,
        data_format=data_format,
        use_global_stats=use_global_stats,
    )


_LONG = {"why": "a division by the deviation of few numbers amplifies rounding", "atol": 1e-4, "rtol": 1e-4}
_BATCH: dict[str, Any] = {**_LONG, "formats": ("pir",), "why": f"{_LONG['why']}; Paddle 2.6 cannot run what it saved"}

BATCH = [
    case(x=tensor([2, 3, 4, 5]), channels=3),
    case(x=tensor([2, 3, 4, 5], dims=[-1, 3, -1, -1]), channels=3, epsilon=1e-3),
    case(x=tensor([2, 3, 4, 5]), channels=3, scale=False, bias=False),
    case(x=tensor([2, 3, 4, 5]), channels=3, scale=False),
    case(x=tensor([2, 3, 4, 5]), channels=3, bias=False),
    case(x=tensor([4, 3]), channels=3),
    case(x=tensor([4, 3], dims=[-1, 3]), channels=3, data_format="NHWC"),
    case(x=tensor([4, 3, 5]), channels=3, data_format="NCL"),
    case(x=tensor([4, 5, 3]), channels=3, data_format="NLC"),
    case(x=tensor([2, 4, 5, 3]), channels=3, data_format="NHWC"),
    case(x=tensor([2, 4, 5, 3], dims=[-1, -1, -1, 3]), channels=3, data_format="NHWC", bias=False),
    case(x=tensor([2, 3, 4, 5, 2]), channels=3, data_format="NCDHW"),
    case(x=tensor([2, 4, 5, 2, 3]), channels=3, data_format="NDHWC"),
    case(x=tensor([2, 3, 4, 5]), channels=3, training=True, use_global_stats=True),
    case(x=tensor([2, 3, 4, 5]), channels=3, training=False, use_global_stats=False, **_BATCH),
    case(x=tensor([2, 4, 5, 3]), channels=3, training=False, use_global_stats=False, data_format="NHWC", **_BATCH),
    case(x=tensor([6, 3]), channels=3, training=False, use_global_stats=False, scale=False, **_BATCH),
    case(x=tensor([1, 3]), channels=3, training=False, use_global_stats=False, **_BATCH),
    case(x=tensor([1, 3], dims=[-1, 3]), channels=3, training=False, use_global_stats=False, **_BATCH),
    case(x=tensor([1, 3, 1, 1], dims=[-1, 3, -1, -1]), channels=3, training=False, use_global_stats=False, **_BATCH),
    case(x=tensor([2, 3, 1, 1], dims=[-1, 3, -1, 1]), channels=3, training=False, use_global_stats=False, **_BATCH),
    case(
        x=tensor([2, 3, 4, 5]),
        mean=tensor([3]),
        variance=tensor([3], low=0.2, high=2.0),
        channels=3,
    ),
    case(
        x=tensor([2, 3, 4, 5]),
        mean=tensor([3]),
        variance=tensor([3], low=0.2, high=2.0),
        channels=3,
        scale=False,
        bias=False,
    ),
    case(x=tensor([2, 3, 4, 5], "float64"), channels=3, **F64),
]


def _batch_random(draw) -> Case:
    rank, last = draw(st.integers(2, 5)), draw(st.booleans())
    channels = draw(st.integers(1, 5))
    size = [draw(st.integers(1, 4)) for _ in range(rank - 2)]
    shape = [draw(st.integers(1, 3)), *size, channels] if last else [draw(st.integers(1, 3)), channels, *size]
    layouts = {2: ("NC", "NHWC"), 3: ("NCL", "NLC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}
    return case(
        x=tensor(shape, dims=[-1 if draw(st.booleans()) and d != channels else d for d in shape]),
        channels=channels,
        scale=draw(st.booleans()),
        bias=draw(st.booleans()),
        epsilon=draw(st.sampled_from([1e-5, 1e-3])),
        data_format=layouts[rank][last],
    )


def _layer_norm(x, scale=None, bias=None, *, shape, affine=(True, True), epsilon=1e-5) -> Any:
    if scale is None and affine[0]:
        scale = weight([math.prod(shape)], _dtype(x), seed=3)
    if bias is None and affine[1]:
        bias = weight([math.prod(shape)], _dtype(x), seed=4)
    return paddle.nn.functional.layer_norm(x, shape, scale, bias, epsilon)


LAYER = [
    case(x=tensor([2, 3, 8]), shape=[8]),
    case(x=tensor([2, 3, 8], dims=[-1, -1, 8]), shape=[8], epsilon=1e-3),
    case(x=tensor([2, 3, 8]), shape=[8], affine=(False, False)),
    case(x=tensor([2, 3, 8]), shape=[8], affine=(True, False)),
    case(x=tensor([2, 3, 8]), shape=[8], affine=(False, True)),
    case(x=tensor([2, 3, 8]), shape=[3, 8]),
    case(x=tensor([2, 3, 4, 5], dims=[-1, 3, 4, 5]), shape=[3, 4, 5]),
    case(x=tensor([2, 3, 4, 5]), shape=[4, 5], affine=(False, True)),
    case(x=tensor([5, 6]), shape=[6]),
    case(x=tensor([2, 3, 8]), scale=tensor([8]), bias=tensor([8]), shape=[8]),
    case(x=tensor([2, 3, 8]), scale=tensor([24]), bias=tensor([24]), shape=[3, 8]),
    case(x=tensor([1, 49, 96], low=-10, high=10), shape=[96], epsilon=1e-6, **_LONG),
    case(x=tensor([2, 3, 8], low=100, high=101), shape=[8], why="100 to 101 leaves 16 bits", atol=2e-3, rtol=1e-3),
    case(x=tensor([2, 3, 8], "float64"), shape=[8], **F64),
]


def _layer_random(draw) -> Case:
    shape = [draw(st.integers(1, 6)) for _ in range(draw(st.integers(1, 4)))] + [draw(st.integers(2, 9))]
    count = draw(st.integers(1, len(shape) - 1))
    kept = len(shape) - count
    return case(
        x=tensor(shape, dims=[-1 if i < kept and draw(st.booleans()) else d for i, d in enumerate(shape)]),
        shape=shape[kept:],
        affine=(draw(st.booleans()), draw(st.booleans())),
        epsilon=draw(st.sampled_from([1e-5, 1e-3])),
        **_LONG,
    )


def _group_norm(x, *, groups, channels, affine=(True, True), epsilon=1e-5, data_format="NCHW", residual=False) -> Any:
    attributes = [
        paddle.ParamAttr(initializer=paddle.nn.initializer.Uniform(-0.5, 0.5)) if item else False for item in affine
    ]
    layer = paddle.nn.GroupNorm(
        groups, channels, epsilon=epsilon, weight_attr=attributes[0], bias_attr=attributes[1], data_format=data_format
    )
    if residual:
        x = paddle.nn.functional.relu(x)
        return x + layer(x)
    return layer(x)


_PIR = {"why": "Paddle 2.6 has no such layout here", "formats": ("pir",)}

GROUP = [
    case(x=tensor([2, 6, 4, 5]), groups=2, channels=6),
    case(x=tensor([2, 6, 4, 5], dims=[-1, 6, -1, -1]), groups=3, channels=6, epsilon=1e-3),
    case(x=tensor([2, 6, 4, 5]), groups=3, channels=6, residual=True),
    case(x=tensor([2, 6, 4, 5]), groups=6, channels=6, affine=(False, False)),
    case(x=tensor([2, 6, 4, 5]), groups=1, channels=6, affine=(True, False)),
    case(x=tensor([2, 6, 4, 5]), groups=2, channels=6, affine=(False, True)),
    case(x=tensor([2, 4, 5, 6]), groups=2, channels=6, data_format="NHWC"),
    case(x=tensor([2, 4, 5, 6], dims=[-1, -1, -1, 6]), groups=3, channels=6, data_format="NHWC"),
    case(x=tensor([2, 6, 7]), groups=2, channels=6, data_format="NCL", **_PIR),
    case(x=tensor([2, 7, 6]), groups=2, channels=6, data_format="NLC", **_PIR),
    case(x=tensor([2, 4, 3, 2, 3]), groups=2, channels=4, data_format="NCDHW", **_PIR),
    case(x=tensor([2, 3, 2, 3, 4]), groups=2, channels=4, data_format="NDHWC", **_PIR),
    case(x=tensor([3, 6]), groups=2, channels=6, **_LONG),
]


def _group_random(draw) -> Case:
    rank, last = draw(st.integers(3, 5)), draw(st.booleans())
    groups = draw(st.integers(1, 3))
    channels = groups * draw(st.integers(1, 3))
    size = [draw(st.integers(2, 5)) for _ in range(rank - 2)]
    layouts = {3: ("NCL", "NLC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}
    return case(
        x=tensor([2, *size, channels] if last else [2, channels, *size]),
        groups=groups,
        channels=channels,
        affine=(draw(st.booleans()), draw(st.booleans())),
        data_format=layouts[rank][last],
        **{**_LONG, **({} if rank == 4 else _PIR)},
    )


def _instance_norm(x, *, channels, affine=True, epsilon=1e-5) -> Any:
    return paddle.nn.functional.instance_norm(
        x,
        weight=weight([channels], seed=3) if affine else None,
        bias=weight([channels], seed=4) if affine else None,
        eps=epsilon,
    )


INSTANCE = [
    case(x=tensor([2, 3, 4, 5]), channels=3),
    case(x=tensor([2, 3, 4, 5], dims=[-1, 3, -1, -1]), channels=3, epsilon=1e-2),
    case(x=tensor([2, 3, 4, 5]), channels=3, affine=False),
    case(x=tensor([2, 3, 9]), channels=3),
    case(x=tensor([2, 3]), channels=3),
    case(x=tensor([2, 3, 4, 3, 2]), channels=3),
    case(x=tensor([2, 3, 4, 3, 2]), channels=3, affine=False),
    case(x=tensor([2, 3], dims=[-1, 3]), channels=3),
]


def _instance_random(draw) -> Case:
    channels = draw(st.integers(1, 4))
    shape = [draw(st.integers(1, 3)), channels, *(draw(st.integers(2, 6)) for _ in range(draw(st.integers(1, 3))))]
    epsilon = draw(st.sampled_from([1e-5, 1e-2]))
    return case(x=tensor(shape), channels=channels, affine=draw(st.booleans()), epsilon=epsilon, **_LONG)


OPS = [
    Op("batch_norm", _batch_norm, *BATCH, random=_batch_random),
    Op("layer_norm", _layer_norm, *LAYER, random=_layer_random),
    Op("group_norm", _group_norm, *GROUP, random=_group_random),
    Op("instance_norm", _instance_norm, *INSTANCE, random=_instance_random),
]
