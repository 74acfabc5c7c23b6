"""Resizing: modes, alignments, sizes and scales as numbers and tensors, layouts, ratios that are no integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gen_models.harness.building import is_pir, legacy_op
from gen_models.harness.marks import F64, legacy, pir
from gen_models.harness.spec import Op, case, int32s, paddle, tensor


def _resize(mode):
    def build(
        x, size=None, scale=None, *, like=None, known_scale=None, align_corners=False, align_mode=0, data_format=None
    ):
        rank = len(x.shape)
        if known_scale is not None:  # a tensor in the program
            scale = paddle.assign(np.array(known_scale, np.float32))
        if like is not None:  # the size of another feature map, as pyramid networks have it
            size = paddle.shape(like)[2:]
        if size is not None and scale is not None:
            layout = "NHWC" if data_format and data_format.endswith("C") else "NCHW"
            return _sized_and_scaled(mode, x, size, scale, align_corners, align_mode, layout)
        kwargs = {"data_format": data_format or {3: "NCW", 4: "NCHW", 5: "NCDHW"}[rank]}
        return paddle.nn.functional.interpolate(x, size, scale, mode, align_corners, align_mode, **kwargs)

    build.__name__ = mode
    return build


def _sized_and_scaled(mode, x, size, scale, align_corners, align_mode, layout):
    """The operator with both a size and a scale, which no function of Paddle gives it."""
    name = f"{mode}_interp"
    size = paddle.assign(np.array(size, np.int32)) if isinstance(size, list) else size
    factors, scale = (scale, None) if isinstance(scale, list) else ([], scale)
    if is_pir():
        make = getattr(paddle._C_ops, name)
        return make(x, size, None, scale, layout, -1, -1, -1, factors, mode, align_corners, align_mode)
    attributes = {
        **dict.fromkeys(("out_d", "out_h", "out_w"), -1),
        "scale": factors,
        "interp_method": mode,
        "align_corners": align_corners,
        "align_mode": align_mode,
        "data_layout": layout,
    }
    return legacy_op(f"{name}_v2", {"X": x, "OutSize": size, "Scale": scale}, {"Out": x.dtype}, attributes)


def _computed(dims, sizes, scales, **given):
    """Computed sizes and scales, of which some make a dimension 1, and dimensions that are not known."""
    shape, unknown, count = [2, 2, *dims], [-1, 2, *[-1] * len(dims)], len(dims)
    return [
        *(case(x=tensor(shape), size=tensor([count], "int32", values=size), **given) for size in sizes),
        *(case(x=tensor(shape, dims=unknown), like=tensor([1, 2, *size], dims=unknown), **given) for size in sizes[:1]),
        *(case(x=tensor(shape), scale=tensor([count], values=scale), **given) for scale in scales),
        *(case(x=tensor(shape, dims=unknown), scale=scale, **given) for scale in scales),
    ]


def _both(dims, sizes, scale, **given):
    """A size together with a scale, each of them known or computed."""
    x, count = tensor([2, 2, *dims]), len(dims)
    return [
        case(x=x, size=told, scale=factor, **given)
        for size in sizes
        for told in (size, tensor([count], "int32", values=size))
        for factor in (scale, tensor([count], values=scale))
    ]


_ALIGNMENTS: tuple[dict[str, Any], ...] = ({"align_mode": 0}, {"align_mode": 1}, {"align_corners": True})


def _aligned(dims, computed, both, alignments=_ALIGNMENTS):
    """Computed sizes and scales, and sizes together with a scale, in each alignment."""
    return [
        made
        for alignment in alignments
        for made in (*_computed(dims, *computed, **alignment), *_both(dims, *both, **alignment))
    ]


_PLANE = (
    ([[5, 7], [1, 4], [4, 1], [1, 1]], [[0.7, 0.5], [0.3, 0.9], [1.3, 1.7]]),
    ([[1, 3], [4, 1], [5, 7]], [0.9, 0.6]),
)
_ROUNDED = [  # one dimension keeps its size, all do, one becomes 1
    case(x=tensor([1, 2, 10, 7]), scale=0.7),
    case(x=tensor([1, 2, 3, 8]), scale=1.25),
    case(x=tensor([1, 2, 3, 2]), scale=1.25),
    case(x=tensor([1, 2, 2, 9]), scale=0.6),
    case(x=tensor([1, 1, 25, 30]), scale=[1.16, 2.1]),
]
_KNOWN = [  # 1.4 in single precision is less than 1.4: 5 * 1.4 is 7 there, and less than 7 in double precision
    case(x=tensor([1, 2, 5, 10]), known_scale=[1.4, 1.3]),
    case(x=tensor([1, 2, 5, 10], dims=[-1, 2, -1, -1]), known_scale=[1.4, 1.3]),
    case(x=tensor([1, 2, 15, 20], dims=[-1, 2, -1, -1]), known_scale=[1.4]),
]

NEAREST = [
    *_KNOWN,
    case(x=tensor([1, 2, 5, 7], dims=[-1, 2, -1, -1]), scale=[2, 3]),
    case(x=tensor([1, 2, 5, 7], dims=[-1, 2, -1, -1]), scale=1.5),
    *_ROUNDED,
    case(x=tensor([1, 2, 10, 12]), scale=[0.5, 0.3]),
    case(x=tensor([1, 2, 3, 4], dims=[-1, 2, -1, -1]), size=[7, 9]),
    case(x=tensor([1, 2, 13, 10]), size=[25, 6]),
    case(x=tensor([1, 1, 2, 49]), size=[82, 94]),
    case(x=tensor([1, 1, 3, 50]), size=[123, 41]),
    *(case(x=tensor([1, 2, 3, 4]), size=size) for size in ([1, 1], [3, 4], int32s(6, 8), [int32s(6), 8])),
    case(x=tensor([1, 2, 3, 4]), scale=tensor([1], values=[2.0])),
    case(x=tensor([1, 2, 3, 4]), like=tensor([1, 5, 6, 8])),
    case(x=tensor([1, 2, 3, 4], dims=[-1, 2, -1, -1]), like=tensor([1, 5, 6, 8], dims=[-1, 5, -1, -1])),
    case(x=tensor([1, 3, 4, 2]), scale=2, data_format="NHWC"),
    case(x=tensor([1, 3, 4, 2]), size=[7, 5], data_format="NHWC"),
    case(x=tensor([1, 2, 3, 4, 5]), scale=2),
    case(x=tensor([1, 2, 3, 4, 5]), size=[4, 7, 3]),
    case(x=tensor([1, 3, 4, 5, 2]), size=[6, 4, 10], data_format="NDHWC"),
    case(x=tensor([1, 2, 3, 4], "int32"), scale=2, **pir("Paddle 2.6 has no integer kernel")),
    # k * (in / 25) is not k / 25 * in
    case(x=tensor([1, 2, 20, 50], dims=[-1, 2, -1, -1]), size=[10, 25]),
    *_computed([5, 7], [[5, 7], [1, 4], [4, 1], [2, 3]], [[0.7, 0.5], [0.3, 0.9], [1.3, 1.7]]),
    *_both([5, 7], [[1, 4], [4, 1], [5, 7]], [0.9, 0.7]),
    *_computed([3, 8], [], [[1.25, 1.25]]),  # one dimension keeps its size
]


LINEAR_2D = [
    *_KNOWN,
    case(x=tensor([1, 2, 3, 4]), scale=2),
    case(x=tensor([1, 2, 3, 4], dims=[-1, 2, -1, -1]), size=[7, 9]),
    case(x=tensor([1, 2, 9, 8]), size=[4, 3]),
    case(x=tensor([1, 2, 3, 4], "uint8", high=256), size=[6, 8], align_mode=1),
    case(x=tensor([1, 2, 9, 8]), size=[4, 3], align_mode=1),
    case(x=tensor([1, 2, 5, 7]), scale=1.5, align_mode=1),
    case(x=tensor([1, 2, 5, 7]), scale=1.5, align_corners=True),
    case(x=tensor([1, 2, 5, 7], dims=[-1, 2, -1, -1]), scale=[1.3, 0.6]),
    *_ROUNDED,
    case(x=tensor([1, 2, 4, 5]), size=[1, 1]),
    case(x=tensor([1, 2, 4, 5]), size=[1, 8]),
    case(x=tensor([1, 2, 4, 5]), size=[1, 1], align_corners=True),
    case(x=tensor([1, 2, 1, 5]), size=[4, 10]),
    case(x=tensor([1, 2, 1, 1]), size=[4, 3]),
    case(x=tensor([1, 2, 3, 4]), size=[3, 4]),
    case(x=tensor([1, 2, 3, 4]), size=[int32s(6), 8], align_corners=True),
    case(x=tensor([1, 2, 3, 4]), scale=tensor([1], values=[2.0])),
    case(x=tensor([1, 2, 3, 4]), like=tensor([1, 5, 6, 7])),
    case(x=tensor([1, 2, 3, 4], dims=[-1, 2, -1, -1]), like=tensor([1, 5, 5, 9], dims=[-1, 5, -1, -1])),
    case(x=tensor([1, 3, 4, 2]), scale=2, data_format="NHWC"),
    case(x=tensor([1, 3, 4, 2], dims=[-1, -1, -1, 2]), size=[7, 5], data_format="NHWC", align_corners=True),
    case(x=tensor([1, 2, 3, 4], "float64"), size=[6, 7], **F64),
    *_aligned([5, 7], *_PLANE),
    case(x=tensor([1, 2, 3, 7], dims=[1, 2, 3, -1]), scale=[0.5, 0.7]),
    # below 7 by the scale's rounding to single precision
    case(x=tensor([1, 2, 5, 7]), scale=tensor([1], values=[1.4])),
    case(x=tensor([1, 5, 7, 2], dims=[-1, -1, -1, 2]), size=[1, 4], scale=[0.9, 0.6], data_format="NHWC"),
    case(x=tensor([1, 5, 7, 2], dims=[-1, -1, -1, 2]), size=int32s(4, 1), data_format="NHWC"),
]

CUBIC = [
    case(x=tensor([1, 2, 4, 5]), scale=2),
    case(x=tensor([1, 2, 9, 8]), size=[4, 3]),
    case(x=tensor([1, 2, 5, 7]), scale=[1.3, 0.6], align_corners=True),
    case(x=tensor([1, 2, 3, 8]), scale=1.25),
    case(x=tensor([1, 2, 4, 5]), size=[1, 8]),
    case(x=tensor([1, 2, 4, 5], dims=[-1, 2, -1, -1]), size=[1, 8]),
    case(x=tensor([1, 2, 4, 5], dims=[-1, 2, -1, -1]), size=[3, 1]),
    case(x=tensor([1, 2, 1, 5], dims=[-1, 2, -1, -1]), size=[1, 1]),
    case(x=tensor([1, 2, 4, 5], "float16"), size=[1, 8], **pir("Paddle 2.6 has no kernel for it", atol=2e-3)),
    case(x=tensor([1, 2, 4, 5]), size=[1, 1], align_corners=True),
    case(x=tensor([1, 2, 3, 4]), size=int32s(6, 7)),
    case(x=tensor([1, 4, 5, 2]), size=[6, 8], data_format="NHWC"),
    *_aligned([5, 7], *_PLANE, alignments=({}, {"align_corners": True})),
    *_computed([3, 8], [], [[1.25, 1.25]]),  # one dimension keeps its size
    case(x=tensor([1, 2, 3, 7], dims=[1, 2, 3, -1]), scale=[0.5, 0.7]),
    case(x=tensor([1, 2, 1, 7]), size=int32s(1, 3)),
]

LINEAR_1D = [
    case(x=tensor([1, 2, 5]), scale=2),
    case(x=tensor([1, 2, 5], dims=[-1, 2, -1]), size=[9]),
    case(x=tensor([1, 2, 5]), size=[9], align_corners=True),
    case(x=tensor([1, 2, 5]), size=[9], align_mode=1),
    case(x=tensor([1, 2, 9]), scale=0.6),
    case(x=tensor([1, 2, 9]), size=[1]),
    case(x=tensor([1, 9, 2]), size=[4], data_format="NWC"),
    case(x=tensor([1, 2, 5]), size=int32s(7)),
    case(x=tensor([1, 2, 5]), size=[tensor([], "int32", values=7)]),
    *_aligned([5], ([[4], [5]], [[0.7], [1.3]]), ([[3], [5]], [0.7])),
    *_computed([5], [[1]], [[0.3]]),
    *_both([5], [[1]], [0.7]),
    *_computed([5], [[1]], [[0.3]], align_corners=True),
]

LINEAR_3D = [
    case(x=tensor([1, 2, 3, 4, 5]), scale=2),
    case(x=tensor([1, 2, 3, 4, 5], dims=[-1, 2, -1, -1, -1]), size=[4, 7, 3]),
    case(x=tensor([1, 2, 3, 4, 5]), size=[4, 7, 3], align_corners=True),
    case(x=tensor([1, 2, 3, 4, 5]), size=[4, 7, 3], align_mode=1),
    case(x=tensor([1, 2, 3, 4, 5]), scale=[1.5, 0.6, 2]),
    case(x=tensor([1, 2, 3, 4, 5]), size=[1, 4, 10]),
    case(x=tensor([1, 3, 4, 5, 2]), size=[6, 4, 10], data_format="NDHWC"),
    case(x=tensor([1, 2, 3, 4, 5]), size=int32s(6, 7, 8)),
    *_aligned([3, 4, 5], ([[2, 3, 4], [3, 4, 5]], [[0.7, 1.3, 0.5]]), ([[2, 3, 2], [3, 4, 5]], [0.9, 1.2, 0.6])),
    *_computed([3, 4, 5], [[2, 1, 1]], [[0.4, 1.3, 0.3]]),
    *_both([3, 4, 5], [[1, 2, 1]], [0.9, 0.8, 0.6]),
]


def _resize_v1(mode):
    def build(
        x, *, size=(0, 0), scale=0.0, align_corners=True, align_mode=1, data_layout="NCHW", out_size=None, factor=None
    ):
        attributes = {
            "out_d": size[0] if len(size) > 2 else -1,
            "out_h": size[-2] if len(size) > 1 else -1,
            "out_w": size[-1],
            "scale": scale,
            "interp_method": mode,
            "align_corners": align_corners,
            "align_mode": align_mode,
            "data_layout": data_layout,
        }
        return legacy_op(
            f"{mode}_interp", {"X": x, "OutSize": out_size, "Scale": factor}, {"Out": "float32"}, attributes
        )

    return build


_OLD = legacy("an operator of Paddle 1 that Paddle 2 still runs")


def _v1_single(count):
    """Dimensions that become 1."""
    size = tensor([count], "int32", values=[1, 3, 2][:count])
    arguments = {"x": tensor([1, 2, *[2] * count]), "align_corners": False, "align_mode": 0}
    return [
        case(**arguments, scale=0.7),
        case(**arguments, size=[-1] * count, out_size=size),
        case(**arguments, size=[-1] * count, out_size=size, scale=0.9),
        case(**arguments, size=[-1] * count, factor=tensor([1], values=[0.7])),
    ]


def _v1_cases(shape, size):
    last = [shape[0], *shape[2:], shape[1]]
    dims = [-1, shape[1], *(-1 for _ in size)]
    return [
        case(x=tensor(shape), size=size),
        case(x=tensor(shape), size=size, align_corners=False, align_mode=0),
        case(x=tensor(shape, dims=dims), scale=1.6, align_corners=False),
        case(x=tensor(shape), scale=2.0),
        case(x=tensor(last), size=size, data_layout="NHWC"),
    ]


V1 = [
    Op(f"{mode}_interp", _resize_v1(mode), *_v1_cases([1, 2, *dims], size), *single, **_OLD)
    for mode, dims, size, single in (
        ("nearest", [5, 6], [7, 8], []),
        ("bilinear", [5, 6], [7, 8], _v1_single(2)),
        ("bicubic", [5, 6], [7, 8], _v1_single(2)),
        ("linear", [6], [9], _v1_single(1)),
        ("trilinear", [3, 4, 5], [4, 7, 9], _v1_single(3)),
    )
]

# Paddle does not check that a size fits a scale that is given with it.
OPS = [
    *V1,
    Op("nearest_interp_v2", _resize("nearest"), *NEAREST, is_varied=False),
    Op("bilinear_interp_v2", _resize("bilinear"), *LINEAR_2D, is_varied=False),
    Op("bicubic_interp_v2", _resize("bicubic"), *CUBIC, is_varied=False),
    Op("linear_interp_v2", _resize("linear"), *LINEAR_1D, is_varied=False),
    Op("trilinear_interp_v2", _resize("trilinear"), *LINEAR_3D, is_varied=False),
]
