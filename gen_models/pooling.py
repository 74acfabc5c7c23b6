"""Pooling: maximum, average, norm; adaptive; paddings of every kind, rounding up, layouts."""

import math

from gen_models.harness.marks import F64, NOT_FED, WIDE, pir
from gen_models.harness.spec import Op, case, int32s, paddle, tensor


def _pool(x, *, mode="adaptive_avg", kernel=2, size=None, **options):
    """A pooling of windows, or to a size."""
    build = getattr(paddle.nn.functional, f"{mode}_pool{len(x.shape) - 2}d")
    return build(x, kernel if size is None else size, **options)


def _with_gaps():
    """SAME with strides beyond the window, over sizes that are not known."""
    told = [
        {"mode": "max", "ceil_mode": True},
        {"mode": "avg", "exclusive": True, "ceil_mode": True},
        {"mode": "avg", "exclusive": False, "ceil_mode": True},
        {"mode": "avg", "exclusive": False},
    ]
    return [
        case(x=tensor([1, 2, *size], dims=[-1, 2, -1, -1]), kernel=[1, 2], stride=[3, 5], padding="SAME", **options)
        for options in told
        for size in ([7, 6], [7, 8], [8, 11], [6, 7], [6, 10])
    ]


def _small():
    """SAME over unknown sizes that are smaller than the window at run time."""
    return [
        case(x=tensor([2, 1, *size], dims=[-1, 1, -1, -1]), mode="avg", kernel=kernel, stride=stride, padding="SAME",
             exclusive=exclusive, ceil_mode=ceil_mode)
        for size in ([1, 2], [2, 1], [4, 3])
        for kernel, stride in (([2, 3], [2, 2]), ([3, 2], [1, 1]), ([3, 4], [3, 2]))
        for exclusive, ceil_mode in ((False, False), (False, True), (True, False))
    ]  # fmt: skip


POOL2D = [
    case(x=tensor([2, 3, 6, 8]), mode="max"),
    case(x=tensor([2, 3, 7, 9], dims=[-1, 3, -1, -1]), mode="max", kernel=3, stride=2, padding=1),
    case(x=tensor([2, 3, 7, 9]), mode="avg", kernel=3, stride=2, padding=1, exclusive=False),
    case(x=tensor([2, 3, 7, 10]), mode="max", kernel=[3, 2], stride=[2, 3], ceil_mode=True),
    case(x=tensor([2, 3, 7, 10]), mode="avg", kernel=[3, 2], stride=[2, 3], ceil_mode=True),
    case(x=tensor([2, 3, 7, 10]), mode="avg", kernel=[3, 2], stride=[2, 3], ceil_mode=True, exclusive=False),
    case(x=tensor([1, 2, 6, 8]), mode="avg", kernel=3, stride=2, padding=1, ceil_mode=True),
    case(x=tensor([1, 2, 6, 8]), mode="avg", kernel=3, stride=2, padding=1, ceil_mode=True, exclusive=False),
    case(x=tensor([1, 2, 6, 8]), mode="max", kernel=3, stride=2, padding=1, ceil_mode=True),
    case(x=tensor([1, 2, 6, 8]), mode="max", kernel=5, stride=1, padding=2),
    case(x=tensor([1, 2, 7, 9]), mode="max", kernel=3, padding=[0, 1, 1, 0]),
    case(x=tensor([1, 2, 7, 9]), mode="avg", kernel=3, padding=[0, 1, 1, 0]),
    case(x=tensor([1, 2, 7, 9]), mode="avg", kernel=3, stride=1, padding=[0, 1, 0, 2], exclusive=False),
    case(x=tensor([1, 2, 7, 9]), mode="avg", kernel=3, stride=1, padding=[1, 0, 2, 1], exclusive=False),
    case(x=tensor([1, 2, 7, 9]), mode="avg", kernel=3, stride=2, padding=[0, 2, 1, 0], exclusive=False),
    case(x=tensor([1, 2, 5, 6]), mode="max", kernel=[1, 2], stride=1, padding=[1, 3]),
    case(x=tensor([1, 2, 5, 6]), mode="avg", kernel=[1, 2], stride=1, padding=[1, 2]),
    case(x=tensor([1, 2, 5, 6]), mode="avg", kernel=[1, 2], stride=1, padding=[1, 2], exclusive=False),
    case(x=tensor([1, 2, 5, 6]), mode="avg", kernel=2, padding=2, exclusive=False, ceil_mode=True),
    case(x=tensor([1, 2, 8, 9]), mode="max", kernel=3, stride=2, padding="SAME"),
    case(x=tensor([1, 2, 8, 9]), mode="avg", kernel=[3, 4], stride=[2, 3], padding="SAME", exclusive=False),
    *_with_gaps(),
    *_small(),
    case(x=tensor([1, 2, 8, 9]), mode="max", kernel=3, stride=2, padding="VALID"),
    case(x=tensor([1, 6, 8, 3]), mode="max", kernel=3, stride=2, padding=1, data_format="NHWC"),
    case(x=tensor([1, 6, 8, 3], dims=[-1, -1, -1, 3]), mode="avg", kernel=3, stride=2, data_format="NHWC"),
    case(x=tensor([1, 6, 8, 3]), mode="avg", kernel=2, padding="SAME", data_format="NHWC"),
    case(x=tensor([2, 3, 8], dims=[-1, 3, -1]), mode="max", kernel=3, stride=2, padding=1),
    case(x=tensor([2, 3, 8]), mode="avg", kernel=3, stride=2, padding=1, exclusive=False, ceil_mode=True),
    case(x=tensor([2, 3, 8]), mode="avg", kernel=3, padding="SAME"),
    case(x=tensor([2, 3, 6, 8]), size=1),
    case(x=tensor([2, 3, 6, 8], dims=[-1, 3, -1, -1]), size=[1, 1]),
    case(x=tensor([2, 3, 6, 8]), size=[3, 2]),
    case(x=tensor([2, 3, 7, 9], dims=[-1, 3, -1, -1]), size=[3, 4]),
    case(x=tensor([2, 3, 3, 2]), size=[5, 7]),
    case(x=tensor([2, 3, 7, 9]), size=[None, 4]),
    case(x=tensor([2, 3, 7, 9], dims=[-1, 3, -1, 9]), size=[1, None]),
    case(x=tensor([2, 3, 4, 4]), size=4),
    case(x=tensor([2, 7, 9, 3]), size=[3, 4], data_format="NHWC"),
    case(x=tensor([2, 7, 9, 3], dims=[-1, -1, -1, 3]), size=1, data_format="NHWC"),
    case(x=tensor([2, 3, 8]), size=3),
    case(x=tensor([2, 3, 8], dims=[-1, 3, -1]), size=5),
    case(x=tensor([2, 3, 8]), size=1),
    case(x=tensor([2, 3, 6, 8]), size=int32s(2, 3), **NOT_FED),
    case(x=tensor([2, 3, 6, 8], "float64"), mode="avg", **F64),
    case(x=tensor([1, 2, 1, 3]), mode="max", kernel=2, **WIDE),
    case(x=tensor([1, 2, 1, 3]), mode="avg", kernel=5, stride=3, padding=1, **WIDE),
    case(x=tensor([1, 2, 2, 3]), mode="max", kernel=4, stride=2, ceil_mode=True, **WIDE),
    case(
        x=tensor([1, 2, 1, 3]),
        mode="avg",
        kernel=5,
        stride=3,
        padding=1,
        exclusive=False,
        ceil_mode=True,
        **WIDE,
    ),
    case(x=tensor([1, 2, 5, 6]), mode="avg", kernel=[1, 2], stride=1, padding=[1, 2, 3, 0]),
    case(x=tensor([1, 2, 5, 6]), mode="avg", kernel=[1, 2], stride=1, padding=[1, 2, 3, 0], exclusive=False),
    case(x=tensor([1, 2, 7, 9]), mode="avg", kernel=3, stride=2, padding=[2, 0, 1, 0], exclusive=False, ceil_mode=True),
]

POOL3D = [
    case(x=tensor([1, 2, 4, 5, 6]), mode="max"),
    case(x=tensor([1, 2, 4, 5, 6]), mode="avg"),
    case(x=tensor([1, 2, 4, 5, 6], dims=[-1, 2, -1, -1, -1]), mode="avg", kernel=3, stride=2, padding=1),
    case(x=tensor([1, 2, 4, 5, 6]), mode="avg", kernel=3, stride=2, padding=1, exclusive=False),
    case(x=tensor([1, 2, 4, 5, 6]), mode="avg", kernel=3, stride=2, padding=1, ceil_mode=True, exclusive=False),
    case(x=tensor([1, 2, 4, 5, 6]), mode="max", kernel=[1, 2, 3], stride=[1, 2, 2], ceil_mode=True),
    case(x=tensor([1, 2, 4, 5, 6]), mode="max", kernel=3, padding="SAME"),
    case(x=tensor([1, 2, 4, 5, 6]), mode="avg", kernel=2, padding="VALID"),
    case(x=tensor([1, 4, 5, 6, 2]), mode="avg", kernel=2, padding=[1, 0, 1], data_format="NDHWC"),
    case(x=tensor([1, 2, 4, 5, 6]), size=1),
    case(x=tensor([1, 2, 4, 5, 6]), size=[2, 3, 4]),
    case(x=tensor([1, 2, 4, 5, 6], dims=[-1, 2, -1, -1, 6]), size=[2, 3, None]),
    case(x=tensor([1, 4, 5, 6, 2]), size=[2, 1, 4], data_format="NDHWC"),
]


def _lp_pool(x, *, norm_type, kernel, stride=None, padding=0, ceil_mode=False, data_format="NCHW"):
    return paddle.nn.functional.lp_pool2d(x, norm_type, kernel, stride, padding, ceil_mode, data_format)


_NEW = pir("Paddle 2.6 has no lp_pool2d")

LP = [
    case(x=tensor([1, 2, 6, 8]), norm_type=2.0, kernel=3, stride=2, padding=1),
    case(x=tensor([1, 2, 7, 9], low=0.1), norm_type=3.5, kernel=3, stride=2, ceil_mode=True),
    case(x=tensor([1, 2, 6, 8]), norm_type=math.inf, kernel=2),
    case(x=tensor([1, 2, 6, 8]), norm_type=2.0, kernel=2, padding=2),
    case(x=tensor([1, 2, 6, 8]), norm_type=-math.inf, kernel=2),
    case(x=tensor([1, 2, 7, 9]), norm_type=4.0, kernel=2, stride=1, padding="SAME"),
    case(x=tensor([1, 2, 7, 9]), norm_type=4.0, kernel=2, stride=3, padding="SAME"),
    case(x=tensor([1, 2, 8, 9]), norm_type=2.0, kernel=2, stride=4, padding="SAME", ceil_mode=True),
    case(x=tensor([1, 6, 8, 2], low=0.1), norm_type=1.0, kernel=2, data_format="NHWC"),
]


OPS = [
    Op("pool2d", _pool, *POOL2D),
    Op("pool3d", _pool, *POOL3D),
    Op("lp_pool2d", _lp_pool, *LP, **_NEW),
]
