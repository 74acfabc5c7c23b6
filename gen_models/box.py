"""Boxes: coding against priors, similarity, clipping."""

from __future__ import annotations

from typing import Any

import numpy as np

from gen_models.harness.building import as_lod, is_pir, legacy_op, operator
from gen_models.harness.marks import F64, OLD
from gen_models.harness.spec import Op, TensorSpec, case, paddle, tensor


def boxes(
    *shape: int, size: float = 1.0, seed: int = 0, dtype: str = "float32", dims: Any = None, least: float = 0.05
) -> TensorSpec:
    """A tensor of boxes [..., 4] inside [0, size): ordered corners, sides of `least` to half of the size."""
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 0.6, (*shape, 2))
    high = low + rng.uniform(least, 0.4, (*shape, 2))
    values = np.concatenate([low, high], -1) * size
    return tensor([*shape, 4], dtype, values=np.round(values, 5), dims=dims)


def _box_coder(
    prior_box: Any,
    target_box: Any,
    prior_box_var: Any = None,
    *,
    code_type: str = "encode_center_size",
    box_normalized: bool = True,
    axis: int = 0,
) -> Any:
    if prior_box_var is not None:
        return paddle.vision.ops.box_coder(prior_box, prior_box_var, target_box, code_type, box_normalized, axis)
    if is_pir():  # the function insists on variances, the operator does not
        return paddle._C_ops.box_coder(prior_box, None, target_box, code_type, box_normalized, axis, [])
    attributes = {"code_type": code_type, "box_normalized": box_normalized, "axis": axis}
    boxes = {"PriorBox": prior_box, "TargetBox": target_box}
    return legacy_op("box_coder", boxes, {"OutputBox": target_box.dtype}, attributes)


def _code(*shape: int, dims: Any = None, dtype: str = "float32") -> TensorSpec:
    return tensor(shape, dtype, -1.0, 1.0, dims=dims)


def _loose(size: float) -> dict[str, Any]:
    return {"atol": 2e-4, "why": "coordinates of a hundred pixels: 2e-5 of their size"} if size > 1 else {}


_DECODE = "decode_center_size"

BOX_CODER = [
    case(prior_box=boxes(5), target_box=boxes(3, seed=1), prior_box_var=tensor([5, 4], low=0.1, high=0.5)),
    case(prior_box=boxes(5), target_box=boxes(3, seed=1), prior_box_var=[0.1, 0.1, 0.2, 0.2]),
    case(prior_box=boxes(5), target_box=boxes(3, seed=1)),
    case(prior_box=boxes(5, size=100), target_box=boxes(3, size=100, seed=1), box_normalized=False),
    case(
        prior_box=boxes(5, dims=[-1, 4]),
        target_box=boxes(3, seed=1, dims=[-1, 4]),
        prior_box_var=tensor([5, 4], low=0.1, high=0.5, dims=[-1, 4]),
    ),
    case(prior_box=boxes(5), target_box=_code(3, 5, 4), code_type=_DECODE),
    case(
        prior_box=boxes(3),
        target_box=_code(3, 5, 4),
        prior_box_var=tensor([3, 4], low=0.1, high=0.5),
        code_type=_DECODE,
        axis=1,
    ),
    case(prior_box=boxes(3), target_box=_code(3, 5, 4), prior_box_var=[0.1, 0.2, 0.3, 0.4], code_type=_DECODE, axis=1),
    case(prior_box=boxes(3), target_box=_code(3, 5, 4), code_type=_DECODE, axis=1, box_normalized=False),
    case(
        prior_box=boxes(5, size=100),
        target_box=_code(3, 5, 4),
        prior_box_var=[0.1, 0.1, 0.2, 0.2],
        code_type=_DECODE,
        box_normalized=False,
        **_loose(100),
    ),
    case(
        prior_box=boxes(4, dims=[-1, 4]),
        target_box=_code(2, 4, 4, dims=[-1, -1, 4]),
        prior_box_var=tensor([4, 4], low=0.1, high=0.5, dims=[-1, 4]),
        code_type=_DECODE,
    ),
    case(
        prior_box=boxes(1),
        target_box=_code(1, 1, 4),
        prior_box_var=tensor([1, 4], low=0.1, high=0.5),
        code_type=_DECODE,
    ),
    case(
        prior_box=boxes(4),
        target_box=tensor([0, 4, 4], dims=[-1, 4, 4]),
        prior_box_var=[0.1, 0.1, 0.2, 0.2],
        code_type=_DECODE,
    ),
    case(
        prior_box=boxes(5, dtype="float64"),
        target_box=_code(3, 5, 4, dtype="float64"),
        prior_box_var=tensor([5, 4], "float64", low=0.1, high=0.5),
        code_type=_DECODE,
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


POLYGON = [
    case(x=tensor([2, 8, 3, 4])),
    case(x=tensor([1, 4, 3, 4], dims=[-1, 4, -1, -1])),
]


def _box_clip(x: Any, im_info: Any, *, lod: Any = None) -> Any:
    return legacy_op("box_clip", {"Input": as_lod(x, lod), "ImInfo": im_info}, {"Output": x.dtype}, {})


def _info(*rows: Any) -> TensorSpec:
    return tensor([len(rows), 3], values=list(rows), dims=[-1, 3])


BOX_CLIP = [
    case(x=tensor([5, 4], low=-20, high=120, dims=[-1, 4]), im_info=_info([63, 69, 1.2])),
    case(x=tensor([5, 4], low=-20, high=120), im_info=tensor([1, 3], values=[[61, 83, 2.0]])),
    case(
        x=tensor([6, 4], low=-20, high=120, dims=[-1, 4]),
        im_info=_info([60, 80, 1.0], [90, 30, 1.5], [75, 75, 0.7]),
        lod=[0, 1, 3, 6],
    ),
    case(
        x=tensor([4, 3, 4], low=-20, high=120, dims=[-1, 3, 4]),
        im_info=_info([60, 80, 1.0], [90, 30, 1.5]),
        lod=[0, 2, 4],
    ),
]


def _assign(rois: int, classes: int, dims: bool = False, **score: Any) -> dict[str, Any]:
    return {
        "prior_box": boxes(rois, size=20, dims=[-1, 4] if dims else None),
        "variance": tensor([4], values=[0.1, 0.2, 0.3, 0.4]),
        "target_box": tensor([rois, 4 * classes], low=-2, high=2, dims=[-1, 4 * classes] if dims else None),
        "score": tensor([rois, classes], low=0, dims=[-1, classes] if dims else None, **score),
    }


ASSIGN = [
    case(**_assign(5, 4)),
    case(**_assign(5, 4, dims=True), box_clip=0.2),
    case(**_assign(3, 1)),
    case(**_assign(2, 3, values=[[0.9, 0.4, 0.4], [0.1, -1.0, -2.0]])),
]

OPS = [
    Op(
        "box_decoder_and_assign",
        operator(
            "box_decoder_and_assign",
            {"prior_box": "PriorBox", "variance": "PriorBoxVar", "target_box": "TargetBox", "score": "BoxScore"},
            {"DecodeBox": "", "OutputAssignBox": ""},
            box_clip=4.135,
        ),
        *ASSIGN,
        **OLD,
    ),
    Op("box_clip", _box_clip, *BOX_CLIP, **OLD),
    Op(
        "polygon_box_transform",
        operator("polygon_box_transform", {"x": "Input"}, "Output"),
        *POLYGON,
        **OLD,
    ),
    Op("box_coder", _box_coder, *BOX_CODER),
    Op("iou_similarity", operator("iou_similarity", {"x": "X", "y": "Y"}, box_normalized=True), *IOU_SIMILARITY, **OLD),
]
