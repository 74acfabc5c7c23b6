"""Maximum pooling with indices, and its inverse."""

import math

from gen_models.harness.marks import pir
from gen_models.harness.spec import Op, case, paddle, tensor


def _max_pool(x, *, kernel=2, stride=None, padding=0, ceil_mode=False, size=None):
    dims = len(x.shape) - 2
    if size is not None:
        return getattr(paddle.nn.functional, f"adaptive_max_pool{dims}d")(x, size, return_mask=True)
    build = getattr(paddle.nn.functional, f"max_pool{dims}d")
    return build(x, kernel, stride, padding, return_mask=True, ceil_mode=ceil_mode)


def _unpool(x, *, kernel=2, stride=None, padding=0, output_size=None):
    dims = len(x.shape) - 2
    pooled, indices = getattr(paddle.nn.functional, f"max_pool{dims}d")(x, kernel, stride, padding, return_mask=True)
    inverse = getattr(paddle.nn.functional, f"max_unpool{dims}d")
    return inverse(pooled, indices, kernel, stride, padding, output_size=output_size)


_NOT_GREATER = [
    [math.nan, math.nan, math.nan, 1.0, -1.0, -1.0],
    [math.nan, math.nan, 2.0, math.nan, -1.0, -1.0],
    [-math.inf, -math.inf, -math.inf, -2.0, -0.0, 0.0],
    [-math.inf, -math.inf, -3.0, -math.inf, 0.0, -0.0],
]  # windows of nothing but NaN and -inf, in which Paddle finds no maximum

POOL2D = [
    case(x=tensor([2, 3, 7, 9], dims=[-1, 3, -1, -1]), kernel=3, stride=2, padding=1),
    case(x=tensor([2, 3, 7, 9]), kernel=[3, 2], stride=[1, 2], padding=[1, 0]),
    case(x=tensor([1, 2, 4, 4], values=[1, 1, 2, 2, 1, 1, 2, 2, 3, 0, 0, 0, 3, 3, 0, 0] * 2)),
    case(x=tensor([2, 3, 7, 9]), size=[3, 4]),
    case(x=tensor([2, 3, 7, 9], dims=[-1, 3, -1, -1]), size=1),
    case(x=tensor([2, 3, 6, 8]), size=[3, 2]),
    case(x=tensor([2, 3, 8]), kernel=3, stride=2, padding=1),
    case(x=tensor([2, 3, 8]), size=3),
    case(x=tensor([2, 3, 7, 8]), kernel=2, ceil_mode=True),
    case(x=tensor([2, 3, 8, 9]), kernel=3, stride=3, padding=1, ceil_mode=True),
    case(x=tensor([1, 2, 1, 3], dims=[-1, 2, -1, -1])),
    case(x=tensor([1, 2, 1, 3]), stride=[3, 2], ceil_mode=True),
    case(x=tensor([1, 2, 4, 2]), kernel=[3, 5], stride=[1, 2], ceil_mode=True),
    case(x=tensor([1, 1, 4, 6], values=_NOT_GREATER, dims=[-1, 1, -1, -1])),
    case(x=tensor([1, 2, 18, 19]), kernel=[17, 16], stride=1, padding=1),
]
POOL3D = [
    case(x=tensor([1, 2, 4, 5, 6])),
    case(x=tensor([1, 2, 4, 5, 6], dims=[-1, 2, -1, -1, -1]), kernel=3, stride=2, padding=1),
    case(x=tensor([1, 2, 4, 5, 6]), size=[2, 3, 4]),
    case(x=tensor([1, 2, 4, 5, 6]), size=1),
    case(x=tensor([1, 2, 4, 5, 6], dims=[-1, 2, 4, 5, 6]), kernel=2, stride=3, padding=1, ceil_mode=True),
    case(x=tensor([1, 2, 4, 5, 6], dims=[-1, 2, -1, -1, -1]), kernel=[2, 1, 3], stride=[2, 2, 1]),
]
UNPOOL2D = [
    case(x=tensor([2, 3, 7, 9]), kernel=3, stride=2, padding=1),
    case(x=tensor([2, 3, 7, 9]), output_size=[7, 9]),
    case(x=tensor([2, 3, 8])),
    case(x=tensor([2, 3, 6, 8]), kernel=3, stride=1),
]
UNPOOL3D = [
    case(x=tensor([1, 2, 4, 6, 6])),
    case(x=tensor([1, 2, 5, 5, 7]), output_size=[5, 5, 7]),
    case(x=tensor([1, 2, 5, 5, 7]), kernel=3, stride=2, padding=1),
]


def _fractional(x, *, size, kernel=None, u):
    dims = len(x.shape) - 2
    build = getattr(paddle.nn.functional, f"fractional_max_pool{dims}d")
    return build(x, size, kernel, u, return_mask=True)


_NEW = pir("Paddle 2.6 has no fractional pooling; its windows are computed as the network is converted", dynamic=False)

FRACTIONAL2D = [
    case(x=tensor([2, 3, 7, 9]), size=[5, 9], u=0.9),
    case(x=tensor([2, 3, 7, 9]), size=[3, 4], kernel=2, u=0.3),
    case(x=tensor([1, 2, 4, 4], values=[1, 1, 2, 2, 1, 1, 2, 2, 3, 0, 0, 0, 3, 3, 0, 0] * 2), size=2, u=0.5),
    case(x=tensor([2, 3, 7, 9], dims=[-1, 3, 7, 9]), size=[3, 4], u=0.4),
    case(x=tensor([2, 3, 7, 9], dims=[-1, -1, 7, 9]), size=[3, 4], kernel=2, u=0.3),
    case(x=tensor([1, 1, 131, 250]), size=[10, 24], u=0.7),
    case(x=tensor([1, 1, 131, 250]), size=[10, 24], kernel=[3, 2], u=0.6),
    case(x=tensor([1, 2, 5, 3]), size=[1, 3], u=0.6),
    case(x=tensor([1, 2, 5, 3]), size=[1, 2], kernel=2, u=0.6),
    case(x=tensor([1, 2, 5, 3]), size=[3, 4], u=0.6),
]
FRACTIONAL3D = [
    case(x=tensor([1, 2, 7, 6, 5]), size=[3, 2, 4], u=0.4),
    case(x=tensor([1, 2, 7, 6, 5]), size=[3, 2, 4], kernel=[2, 2, 1], u=0.7),
]


OPS = [
    Op("fractional_max_pool2d", _fractional, *FRACTIONAL2D, **_NEW),
    Op("fractional_max_pool3d", _fractional, *FRACTIONAL3D, **_NEW),
    Op("max_pool2d_with_index", _max_pool, *POOL2D),
    Op("max_pool3d_with_index", _max_pool, *POOL3D),
    Op("unpool", _unpool, *UNPOOL2D),
    Op("unpool3d", _unpool, *UNPOOL3D),
]
