"""Batch, layer, group and instance normalization: layouts, without scale or bias, statistics of the batch."""

import math

from gen_models.harness.building import weight
from gen_models.harness.marks import F64, pir
from gen_models.harness.spec import Op, case, paddle, tensor


def _batch_norm(x, mean=None, variance=None, *, scale=True, bias=True, **options):
    channels = [x.shape[-1 if options.get("data_format", "NCHW").endswith("C") else 1]]
    if mean is None:
        mean, variance = weight(channels, x.dtype, seed=1), weight(channels, x.dtype, low=0.3, high=2.0, seed=2)
    scale, bias = (
        weight(channels, x.dtype, seed=3) if scale else None,
        weight(channels, x.dtype, seed=4) if bias else None,
    )
    return paddle.nn.functional.batch_norm(x, mean, variance, scale, bias, **options)


_LONG = {"why": "a division by the deviation of few numbers amplifies rounding", "atol": 1e-4, "rtol": 1e-4}
_BATCH = {**_LONG, "formats": ("pir",), "why": f"{_LONG['why']}; Paddle 2.6 cannot run what it saved"}

BATCH = [
    case(x=tensor([2, 3, 4, 5], dims=[-1, 3, -1, -1]), epsilon=1e-3),
    case(x=tensor([2, 3, 4, 5]), scale=False),
    case(x=tensor([2, 3, 4, 5]), bias=False),
    case(x=tensor([4, 3])),
    case(x=tensor([4, 3], dims=[-1, 3]), data_format="NHWC"),
    case(x=tensor([4, 3, 5]), data_format="NCL"),
    case(x=tensor([4, 5, 3]), data_format="NLC"),
    case(x=tensor([2, 4, 5, 3]), data_format="NHWC"),
    case(x=tensor([2, 4, 5, 3], dims=[-1, -1, -1, 3]), data_format="NHWC", bias=False),
    case(x=tensor([2, 3, 4, 5, 2]), data_format="NCDHW"),
    case(x=tensor([2, 4, 5, 2, 3]), data_format="NDHWC"),
    case(x=tensor([2, 3, 4, 5]), training=True, use_global_stats=True),
    case(x=tensor([2, 3, 4, 5]), training=False, use_global_stats=False, **_BATCH),
    case(x=tensor([2, 4, 5, 3]), training=False, use_global_stats=False, data_format="NHWC", **_BATCH),
    case(x=tensor([6, 3]), training=False, use_global_stats=False, scale=False, **_BATCH),
    case(x=tensor([1, 3]), training=False, use_global_stats=False, **_BATCH),
    case(x=tensor([1, 3], dims=[-1, 3]), training=False, use_global_stats=False, **_BATCH),
    case(x=tensor([1, 3, 1, 1], dims=[-1, 3, -1, -1]), training=False, use_global_stats=False, **_BATCH),
    case(x=tensor([2, 3, 1, 1], dims=[-1, 3, -1, 1]), training=False, use_global_stats=False, **_BATCH),
    case(x=tensor([2, 3, 4, 5]), mean=tensor([3]), variance=tensor([3], low=0.2, high=2.0)),
    case(x=tensor([2, 3, 4, 5]), mean=tensor([3]), variance=tensor([3], low=0.2, high=2.0), scale=False, bias=False),
    case(x=tensor([2, 3, 4, 5], "float64"), **F64),
]


def _layer_norm(x, scale=None, bias=None, *, shape, affine=(True, True), epsilon=1e-5):
    if scale is None and affine[0]:
        scale = weight([math.prod(shape)], x.dtype, seed=3)
    if bias is None and affine[1]:
        bias = weight([math.prod(shape)], x.dtype, seed=4)
    return paddle.nn.functional.layer_norm(x, shape, scale, bias, epsilon)


LAYER = [
    case(x=tensor([2, 3, 8], dims=[-1, -1, 8]), shape=[8], epsilon=1e-3),
    *(case(x=tensor([2, 3, 8]), shape=[8], affine=affine) for affine in ((False, False), (True, False), (False, True))),
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


def _group_norm(x, *, groups, channels, affine=(True, True), residual=False, **options):
    drawn = paddle.ParamAttr(initializer=paddle.nn.initializer.Uniform(-0.5, 0.5))
    factors, shift = (drawn if item else False for item in affine)
    layer = paddle.nn.GroupNorm(groups, channels, weight_attr=factors, bias_attr=shift, **options)
    if residual:
        x = paddle.nn.functional.relu(x)
        return x + layer(x)
    return layer(x)


_PIR = pir("Paddle 2.6 has no such layout here")

GROUP = [
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


def _instance_norm(x, *, channels, affine=True, epsilon=1e-5):
    scale, bias = (weight([channels], seed=seed) if affine else None for seed in (3, 4))
    return paddle.nn.functional.instance_norm(x, weight=scale, bias=bias, eps=epsilon)


INSTANCE = [
    case(x=tensor([2, 3, 4, 5]), channels=3),
    case(x=tensor([2, 3, 4, 5], dims=[-1, 3, -1, -1]), channels=3, epsilon=1e-2),
    case(x=tensor([2, 3, 4, 5]), channels=3, affine=False),
    *(case(x=x, channels=3) for x in (tensor([2, 3, 9]), tensor([2, 3]), tensor([2, 3, 4, 3, 2]))),
    case(x=tensor([2, 3, 4, 3, 2]), channels=3, affine=False),
    case(x=tensor([2, 3], dims=[-1, 3]), channels=3),
]


OPS = [
    Op("batch_norm", _batch_norm, *BATCH),
    Op("layer_norm", _layer_norm, *LAYER),
    Op("group_norm", _group_norm, *GROUP),
    Op("instance_norm", _instance_norm, *INSTANCE),
]
