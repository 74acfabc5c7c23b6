"""Sampling at the positions of a grid, and grids of affine maps."""

import numpy as np

from gen_models.harness.building import function
from gen_models.harness.spec import Op, case, int32s, paddle, tensor


def _grid(*shape, dims=None, reach=1.3):
    return tensor(shape, low=-reach, high=reach, dims=dims)


_TIES = tensor([1, 1, 9, 2], values=np.stack([np.linspace(-1.25, 1.25, 9), np.linspace(-1, 1, 9)], -1))

SAMPLE = [
    case(x=tensor([2, 3, 5, 6]), grid=_grid(2, 4, 3, 2), align_corners=False),
    case(x=tensor([2, 3, 5, 6]), grid=_grid(2, 4, 3, 2), padding_mode="border"),
    case(x=tensor([2, 3, 5, 6]), grid=_grid(2, 4, 3, 2), padding_mode="border", align_corners=False),
    case(x=tensor([2, 3, 5, 6]), grid=_grid(2, 4, 3, 2, reach=2.9), padding_mode="reflection"),
    case(x=tensor([2, 3, 5, 6]), grid=_grid(2, 4, 3, 2, reach=2.9), padding_mode="reflection", align_corners=False),
    case(x=tensor([2, 3, 5, 6], dims=[-1, 3, -1, -1]), grid=_grid(2, 4, 3, 2, dims=[-1, -1, -1, 2])),
    case(x=tensor([2, 3, 5, 6]), grid=_grid(2, 4, 3, 2), mode="nearest"),
    case(x=tensor([2, 3, 5, 6]), grid=_grid(2, 4, 3, 2), mode="nearest", align_corners=False),
    case(x=tensor([2, 3, 5, 6]), grid=_grid(2, 4, 3, 2), mode="nearest", padding_mode="border"),
    case(x=tensor([2, 3, 5, 6]), grid=_grid(2, 4, 3, 2, reach=2.9), mode="nearest", padding_mode="reflection"),
    case(
        x=tensor([2, 3, 5, 6]),
        grid=_grid(2, 4, 3, 2, reach=2.9),
        mode="nearest",
        padding_mode="reflection",
        align_corners=False,
    ),
    case(x=tensor([1, 2, 5, 9]), grid=_TIES, mode="nearest", align_corners=False),
    case(x=tensor([1, 2, 5, 5]), grid=_TIES, mode="nearest", padding_mode="border"),
    case(x=tensor([1, 2, 1, 6]), grid=_grid(1, 4, 3, 2), padding_mode="reflection", mode="nearest"),
    case(x=tensor([2, 3, 4, 5, 6]), grid=_grid(2, 2, 4, 3, 3)),
    case(x=tensor([2, 3, 4, 5, 6]), grid=_grid(2, 2, 4, 3, 3), align_corners=False),
    case(x=tensor([2, 3, 4, 5, 6]), grid=_grid(2, 2, 4, 3, 3), padding_mode="border"),
    case(x=tensor([2, 3, 4, 5, 6]), grid=_grid(2, 2, 4, 3, 3, reach=2.5), padding_mode="reflection"),
    case(x=tensor([2, 3, 4, 5, 6], dims=[-1, 3, -1, -1, -1]), grid=_grid(2, 2, 4, 3, 3), mode="nearest"),
    case(x=tensor([2, 3, 4, 5, 6]), grid=_grid(2, 2, 4, 3, 3), mode="nearest", align_corners=False),
    case(
        x=tensor([2, 3, 4, 5, 6]), grid=_grid(2, 2, 4, 3, 3, reach=2.5), padding_mode="reflection", align_corners=False
    ),
    case(
        x=tensor([1, 1, 2, 2, 2], dims=[1, 1, 2, 2, -1]),
        grid=_grid(1, 1, 1, 2, 3),
        mode="nearest",
        padding_mode="reflection",
    ),
    case(x=tensor([1, 1, 4, 5, 6]), grid=_grid(1, 2, 1, 2, 3)),
    case(x=tensor([1, 1, 4, 5, 6], dims=[-1, 1, -1, -1, -1]), grid=_grid(1, 1, 1, 2, 3, dims=[-1, -1, -1, -1, 3])),
]


def _affine(theta, size=None, *, shape=None, align_corners=True):
    return paddle.nn.functional.affine_grid(theta, size if shape is None else shape, align_corners=align_corners)


AFFINE = [
    case(theta=tensor([2, 2, 3]), shape=[2, 3, 4, 5]),
    case(theta=tensor([2, 2, 3], dims=[-1, 2, 3]), shape=[2, 3, 4, 5], align_corners=False),
    case(theta=tensor([2, 2, 3]), size=int32s(2, 3, 4, 5)),
    case(theta=tensor([2, 2, 3]), size=int32s(2, 3, 4, 5), align_corners=False),
    case(theta=tensor([1, 2, 3]), shape=[1, 1, 1, 4], align_corners=False),
    case(theta=tensor([2, 3, 4]), shape=[2, 3, 4, 5, 2]),
    case(theta=tensor([2, 3, 4]), shape=[2, 3, 4, 5, 2], align_corners=False),
]


OPS = [
    Op("grid_sampler", function("nn.functional.grid_sample"), *SAMPLE),
    Op("affine_grid", _affine, *AFFINE, is_varied=False),
]
