"""Boxes: coding against priors, similarity, clipping."""

from __future__ import annotations

from typing import Any

import numpy as np

from gen_models.harness.building import operator
from gen_models.harness.marks import F64, OLD
from gen_models.harness.spec import Op, TensorSpec, case, tensor


def boxes(
    *shape: int, size: float = 1.0, seed: int = 0, dtype: str = "float32", dims: Any = None, least: float = 0.05
) -> TensorSpec:
    """A tensor of boxes [..., 4] inside [0, size): ordered corners, sides of `least` to half of the size."""
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 0.6, (*shape, 2))
    high = low + rng.uniform(least, 0.4, (*shape, 2))
    values = np.concatenate([low, high], -1) * size
    return tensor([*shape, 4], dtype, values=np.round(values, 5), dims=dims)


_box_coder = operator(
    "box_coder",
    {"prior_box": "PriorBox", "prior_box_var": "PriorBoxVar", "target_box": "TargetBox"},
    "OutputBox",
    code_type="encode_center_size",
    box_normalized=True,
    axis=0,
    variance=[],
)


_DECODE, _CODES, _ROWS = {"code_type": "decode_center_size"}, tensor([3, 5, 4]), [-1, 4]


def _spread(count, dtype="float32", dims=None):
    return tensor([count, 4], dtype, low=0.1, high=0.5, dims=dims)


BOX_CODER = [
    case(prior_box=boxes(5), target_box=boxes(3, seed=1), prior_box_var=_spread(5)),
    case(prior_box=boxes(5), target_box=boxes(3, seed=1), variance=[0.1, 0.1, 0.2, 0.2]),
    case(prior_box=boxes(5), target_box=boxes(3, seed=1)),
    case(prior_box=boxes(5, size=100), target_box=boxes(3, size=100, seed=1), box_normalized=False),
    case(prior_box=boxes(5, dims=_ROWS), target_box=boxes(3, seed=1, dims=_ROWS), prior_box_var=_spread(5, dims=_ROWS)),
    case(prior_box=boxes(5), target_box=_CODES, **_DECODE),
    case(prior_box=boxes(3), target_box=_CODES, prior_box_var=_spread(3), axis=1, **_DECODE),
    case(prior_box=boxes(3), target_box=_CODES, variance=[0.1, 0.2, 0.3, 0.4], axis=1, **_DECODE),
    case(prior_box=boxes(3), target_box=_CODES, axis=1, box_normalized=False, **_DECODE),
    case(
        prior_box=boxes(5, size=100),
        target_box=_CODES,
        variance=[0.1, 0.1, 0.2, 0.2],
        box_normalized=False,
        atol=2e-4,
        why="coordinates of a hundred pixels: 2e-5 of their size",
        **_DECODE,
    ),
    case(
        prior_box=boxes(4, dims=_ROWS),
        target_box=tensor([2, 4, 4], dims=[-1, -1, 4]),
        prior_box_var=_spread(4, dims=_ROWS),
        **_DECODE,
    ),
    case(prior_box=boxes(1), target_box=tensor([1, 1, 4]), prior_box_var=_spread(1), **_DECODE),
    case(prior_box=boxes(4), target_box=tensor([0, 4, 4], dims=[-1, 4, 4]), variance=[0.1, 0.1, 0.2, 0.2], **_DECODE),
    case(
        prior_box=boxes(5, dtype="float64"),
        target_box=tensor([3, 5, 4], "float64"),
        prior_box_var=_spread(5, "float64"),
        **_DECODE,
        **F64,
    ),
    case(prior_box=boxes(5, dtype="float64"), target_box=boxes(3, dtype="float64", seed=2), **F64),
]


IOU_SIMILARITY = [
    case(x=boxes(4), y=boxes(6, seed=1)),
    case(x=boxes(4, size=20), y=boxes(6, size=20, seed=1), box_normalized=False),
    case(x=boxes(4, dims=[-1, 4]), y=boxes(6, seed=1, dims=[-1, 4])),
    case(x=tensor([1, 4], values=[[0.1, 0.1, 0.1, 0.1]]), y=tensor([1, 4], values=[[0.1, 0.1, 0.1, 0.1]])),
]


def _info(*rows: Any) -> TensorSpec:
    return tensor([len(rows), 3], values=list(rows), dims=[-1, 3])


BOX_CLIP = [
    case(x=tensor([5, 4], low=-20, high=120, dims=_ROWS), im_info=_info([63, 69, 1.2])),
    case(x=tensor([5, 4], low=-20, high=120), im_info=tensor([1, 3], values=[[61, 83, 2.0]])),
    case(
        x=tensor([6, 4], low=-20, high=120, dims=_ROWS),
        im_info=_info([60, 80, 1.0], [90, 30, 1.5], [75, 75, 0.7]),
        lod=[0, 1, 3, 6],
    ),
    case(
        x=tensor([4, 3, 4], low=-20, high=120, dims=[-1, 3, 4]),
        im_info=_info([60, 80, 1.0], [90, 30, 1.5]),
        lod=[0, 2, 4],
    ),
]


def _assign(rois, classes, dims=False, **score):
    return {
        "prior_box": boxes(rois, size=20, dims=[-1, 4] if dims else None),
        "variance": tensor([4], values=[0.1, 0.2, 0.3, 0.4]),
        "target_box": tensor([rois, 4 * classes], low=-2, high=2, dims=[-1, 4 * classes] if dims else None),
        "score": tensor([rois, classes], low=0, dims=[-1, classes] if dims else None, **score),
    }


OPS = [
    Op(
        "box_decoder_and_assign",
        operator(
            "box_decoder_and_assign",
            {"prior_box": "PriorBox", "variance": "PriorBoxVar", "target_box": "TargetBox", "score": "BoxScore"},
            {"DecodeBox": "", "OutputAssignBox": ""},
            box_clip=4.135,
        ),
        case(**_assign(5, 4)),
        case(**_assign(5, 4, dims=True), box_clip=0.2),
        case(**_assign(3, 1)),
        case(**_assign(2, 3, values=[[0.9, 0.4, 0.4], [0.1, -1.0, -2.0]])),
        **OLD,
    ),
    Op(
        "box_clip", operator("box_clip", {"x": "Input", "im_info": "ImInfo"}, "Output", sequences="x"), *BOX_CLIP, **OLD
    ),
    Op(
        "polygon_box_transform",
        operator("polygon_box_transform", {"x": "Input"}, "Output"),
        case(x=tensor([2, 8, 3, 4])),
        case(x=tensor([1, 4, 3, 4], dims=[-1, 4, -1, -1])),
        **OLD,
    ),
    Op("box_coder", _box_coder, *BOX_CODER),
    Op("iou_similarity", operator("iou_similarity", {"x": "X", "y": "Y"}, box_normalized=True), *IOU_SIMILARITY, **OLD),
]
