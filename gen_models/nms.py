"""Non-maximum suppression over classes and images."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gen_models.harness.building import operator
from gen_models.harness.marks import legacy
from gen_models.harness.spec import Op, TensorSpec, case, int32s, paddle, tensor

_DEFAULTS = {
    "score_threshold": 0.3,
    "nms_top_k": -1,
    "keep_top_k": -1,
    "nms_threshold": 0.3,
    "normalized": True,
    "nms_eta": 1.0,
    "background_label": 0,
}


def _multiclass_nms(version, outputs):
    ports = {"bboxes": "BBoxes", "scores": "Scores", "rois_num": "RoisNum"}
    return operator(f"multiclass_nms{version}", ports, {"Out": "", **outputs}, **_DEFAULTS)


def crowd(*shape: int, size: float = 1.0, seed: int = 0, centers: int = 3, dims: Any = None) -> TensorSpec:
    """Boxes [..., 4] that gather around a few places, so that they overlap by all degrees."""
    rng = np.random.default_rng(seed)
    place = rng.uniform(0.3, 0.7, (centers, 2))[rng.integers(0, centers, shape)]
    middle = place + rng.normal(0, 0.04, (*shape, 2))
    half = rng.uniform(0.08, 0.16, (*shape, 2))
    values = np.concatenate([middle - half, middle + half], -1) * size
    return tensor([*shape, 4], values=np.round(values, 4 if size == 1.0 else 2), dims=dims)


def shuffled(*shape: int, seed: int = 0, dims: Any = None, high: float = 1.0) -> TensorSpec:
    """Scores in (0, high), all different."""
    count = int(np.prod(shape))
    values = (np.random.default_rng(seed).permutation(count) + 0.5) / max(count, 1) * high
    return tensor(shape, values=np.round(values, 6).reshape(shape), dims=dims)


def specks(*shape: int, largest: float = 2.0, seed: int = 0, dims: Any = None) -> TensorSpec:
    """Boxes [..., 4] of a pixel or two that nearly touch; the corners of some are a little reversed."""
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 6, (*shape, 2))
    high = low + rng.uniform(-0.3, largest, (*shape, 2))
    return tensor([*shape, 4], values=np.round(np.concatenate([low, high], -1), 2), dims=dims)


def polygons(*shape: int, points: int = 4, size: float = 1.0, seed: int = 0, dims: Any = None) -> TensorSpec:
    """Rotated boxes [..., 8], or bodies of more corners, some with a dent, that gather around a few places.

    They go round either way.
    """
    rng = np.random.default_rng(seed)
    place = rng.uniform(0.3, 0.7, (3, 2))[rng.integers(0, 3, shape)] + rng.normal(0, 0.04, (*shape, 2))
    half = rng.uniform(0.05, 0.16, (*shape, 1, 2))
    around = (np.arange(points) + 0.5) / points * 2 * np.pi
    round_ = np.stack([np.cos(around), np.sin(around)], -1)
    reach = np.ones((*shape, points, 1))
    if points > 4:
        reach[..., ::3, :] = rng.uniform(0.3, 1.0, (*shape, 1, 1))  # a dent
    turn = rng.uniform(0, 2 * np.pi, shape)
    cos, sin = np.cos(turn), np.sin(turn)
    rotation = np.stack([np.stack([cos, -sin], -1), np.stack([sin, cos], -1)], -2)
    corners = np.einsum("...ij,...pj->...pi", rotation, round_ * reach * half) + place[..., None, :]
    corners = np.where(rng.uniform(size=(*shape, 1, 1)) < 0.5, corners, corners[..., ::-1, :]) * size
    values = np.round(corners.reshape(*shape, 2 * points), 4 if size == 1.0 else 2)
    return tensor([*shape, 2 * points], values=values, dims=dims)


def _scored(images, classes, count, made=crowd, dims=False, **options):
    """Boxes of each image, and their scores for each class."""
    bboxes = made(images, count, **options)
    scores = shuffled(images, classes, count)
    if dims:
        bboxes, scores = replace(bboxes, dims=(-1, -1, bboxes.shape[2])), replace(scores, dims=(-1, -1, -1))
    return {"bboxes": bboxes, "scores": scores}


_LEGACY = legacy("an operator of Paddle 2")

MULTICLASS_NMS = [
    case(**_scored(1, 3, 20), background_label=-1),
    case(**_scored(1, 3, 20), background_label=1, nms_threshold=0.5),
    case(**_scored(1, 3, 20), background_label=2),
    case(**_scored(1, 3, 20), background_label=7),
    case(**_scored(3, 3, 20), background_label=-1, nms_top_k=6),
    case(**_scored(3, 3, 20), background_label=-1, keep_top_k=4),
    case(**_scored(3, 3, 20), background_label=-1, nms_top_k=8, keep_top_k=4),
    case(**_scored(2, 3, 20), nms_top_k=400, keep_top_k=200),
    case(**_scored(2, 3, 20), nms_top_k=0),
    case(**_scored(2, 3, 20), keep_top_k=0),
    case(**_scored(2, 3, 20, size=100), normalized=False),
    # boxes of about a pixel, which Paddle holds apart when there is any gap
    case(**_scored(2, 2, 30, size=4), normalized=False, background_label=-1),
    case(**_scored(2, 2, 30), normalized=False, background_label=-1, keep_top_k=9),
    case(**_scored(2, 2, 30), nms_eta=0.9, nms_threshold=0.8, background_label=-1),
    case(**_scored(2, 2, 30), nms_eta=0.7, nms_threshold=0.9, nms_top_k=12, keep_top_k=9),
    case(**_scored(2, 2, 30), nms_eta=0.9, nms_threshold=0.4),
    # nothing survives: in any image, in one image
    case(**_scored(2, 3, 20), score_threshold=1.0),
    case(**_scored(2, 3, 20, dims=True), score_threshold=1.0),
    case(**_scored(2, 3, 20, dims=True), score_threshold=1.0, keep_top_k=5, nms_top_k=5),
    case(bboxes=crowd(2, 20), scores=tensor([2, 2, 20], values=[0.1] * 40 + [0.2] * 20 + [0.9] * 20), keep_top_k=3),
    case(**_scored(1, 1, 20)),
    case(**_scored(2, 2, 60, specks), normalized=False, background_label=-1, nms_threshold=0.45),
    case(**_scored(2, 3, 60, specks, dims=True), normalized=False, nms_top_k=20, keep_top_k=15),
    case(**_scored(1, 2, 60, specks, largest=0.9), normalized=False, nms_threshold=0.7),
    case(**_scored(1, 2, 40, specks, seed=3), background_label=-1),
    # corners reversed by more than a pixel
    case(
        bboxes=tensor([1, 5, 4], values=[[0, 0, 3, 3], [2, 2, 0, 0], [1, 1, 5, 5], [9, 9, 6, 7], [4, 4, 6, 6]]),
        scores=shuffled(1, 1, 5),
        normalized=False,
        background_label=-1,
        score_threshold=0.0,
    ),
    # equal scores: the first box comes first
    case(bboxes=crowd(1, 20), scores=tensor([1, 2, 20], values=[0.5] * 40), background_label=-1),
    case(bboxes=crowd(2, 20), scores=tensor([2, 2, 20], values=[0.5, 0.75] * 40), background_label=-1, nms_top_k=7),
    case(bboxes=crowd(2, 20), scores=tensor([2, 2, 20], values=[0.5, 0.75] * 40), background_label=-1, keep_top_k=3),
    # equal boxes, boxes without area, an IoU that is the threshold
    case(
        bboxes=tensor([1, 4, 4], values=[[0, 0, 1, 1], [0, 0, 1, 1], [0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5]]),
        scores=shuffled(1, 1, 4),
        background_label=-1,
        score_threshold=0.0,
    ),
    case(
        bboxes=tensor([1, 3, 4], values=[[0, 0, 1, 1], [0, 0, 1, 0.5], [0, 0, 1, 0.25]]),
        scores=tensor([1, 1, 3], values=[0.9, 0.8, 0.7]),
        background_label=-1,
        nms_threshold=0.5,
    ),
    case(**_scored(2, 3, 20), nms_threshold=0.0),
    case(**_scored(2, 3, 20), nms_threshold=0.0, normalized=False),
    case(**_scored(2, 3, 20), nms_threshold=1.0),
    case(**_scored(1, 5, 200, dims=True, centers=9), score_threshold=0.01, keep_top_k=50),
]
_SQUARE = np.array([0, 0, 1, 0, 1, 1, 0, 1])
_MOVED = [_SQUARE * np.tile([1, 0.5], 4), _SQUARE + np.tile([1, 0], 4), _SQUARE + np.tile([3, 3], 4)]
_SQUARES = [_SQUARE, _SQUARE, _SQUARE[::-1], *_MOVED, *[_SQUARE * 0 + 0.5] * 2]
_POLYGONS = [
    case(**_scored(1, 3, 20, polygons)),
    case(**_scored(2, 2, 30, polygons, size=100), normalized=False, background_label=-1),
    case(
        **_scored(2, 3, 30, polygons, dims=True, size=800),
        background_label=-1,
        nms_threshold=0.1,
        nms_top_k=12,
        keep_top_k=9,
    ),
    case(**_scored(2, 2, 30, polygons), nms_eta=0.9, nms_threshold=0.8, background_label=-1),
    case(**_scored(2, 2, 20, polygons, points=8), background_label=-1, nms_threshold=0.5),
    case(**_scored(2, 2, 20, polygons, points=12), background_label=-1),
    case(**_scored(1, 2, 20, polygons, points=16), background_label=-1),
    case(**_scored(2, 3, 20, polygons), score_threshold=1.0),
    case(**_scored(2, 3, 20, polygons), nms_threshold=0.0),
    # equal ones; an overlap that is the threshold; side by side; without area; none at all
    case(
        bboxes=tensor([1, 8, 8], values=_SQUARES),
        scores=tensor([1, 1, 8], values=np.linspace(0.9, 0.5, 8)),
        nms_threshold=0.5,
        background_label=-1,
    ),
]
_OWN = [
    case(bboxes=crowd(20, 3), scores=shuffled(20, 3), rois_num=int32s(12, 8)),
    case(
        bboxes=crowd(20, 3, dims=[-1, 3, 4]),
        scores=shuffled(20, 3, dims=[-1, 3]),
        rois_num=int32s(12, 0, 8, dims=[-1]),
        keep_top_k=5,
        nms_top_k=7,
    ),
    case(
        bboxes=crowd(20, 3, size=50), scores=shuffled(20, 3), rois_num=int32s(20), normalized=False, background_label=-1
    ),
    case(bboxes=crowd(20, 3), scores=shuffled(20, 3), rois_num=int32s(20), score_threshold=1.0),
]


NMS = [
    case(  # corners that are exchanged, along one axis and along both
        boxes=tensor([5, 4], values=[0, 0, 2, 2, 2, 0, 0, 2, 2, 2, 0, 0, 0, 0, 2, 2, 0, 2, 2, 0], dims=[-1, 4]),
        scores=tensor([5], values=[0.9, 0.8, 0.7, 0.6, 0.5], dims=[-1]),
    ),
    case(boxes=crowd(20, size=100)),
    case(boxes=crowd(20, dims=[-1, 4])),
    case(boxes=crowd(20), scores=shuffled(20)),
    case(boxes=crowd(20, dims=[-1, 4]), scores=shuffled(20, dims=[-1]), threshold=0.5),
    case(boxes=crowd(1)),
    case(boxes=tensor([3, 4], values=[[0, 0, 1, 1], [0, 0, 1, 0.5], [0, 0, 1, 0.25]]), threshold=0.5),
    case(boxes=tensor([3, 4], values=[[0.5, 0.5, 0.5, 0.5]] * 3), threshold=0.5),
]


def _matrix_nms(bboxes, scores, **attributes):
    attributes = {"score_threshold": 0.3, "post_threshold": 0.1, "nms_top_k": -1, "keep_top_k": -1, **attributes}
    return paddle.vision.ops.matrix_nms(bboxes, scores, **attributes, return_index=True, return_rois_num=True)


MATRIX_NMS = [
    case(**_scored(1, 3, 20)),
    case(**_scored(2, 3, 20), background_label=-1, use_gaussian=True),
    case(**_scored(2, 3, 20), background_label=1, use_gaussian=True, gaussian_sigma=0.5),
    case(**_scored(2, 3, 20, size=100), normalized=False),
    case(**_scored(2, 2, 30, size=4), normalized=False, background_label=-1),
    case(**_scored(2, 3, 20), nms_top_k=7, keep_top_k=5),
    case(**_scored(2, 3, 20, dims=True), nms_top_k=7, keep_top_k=5),
    case(**_scored(2, 3, 20), score_threshold=1.0),
    case(**_scored(2, 3, 20, dims=True), score_threshold=1.0),
    case(**_scored(2, 3, 20, dims=True), post_threshold=0.9),
    case(bboxes=crowd(2, 20), scores=tensor([2, 2, 20], values=np.linspace(0.01, 0.2, 80)), score_threshold=0.15),
    case(
        bboxes=tensor([1, 4, 4], values=[[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 0.5], [0.5, 0.5, 0.5, 0.5]]),
        scores=shuffled(1, 1, 4),
        background_label=-1,
        score_threshold=0.0,
    ),
]


OPS = [
    Op(
        "multiclass_nms3",
        _multiclass_nms("3", {"Index": "int32", "NmsRoisNum": "int32"}),
        *MULTICLASS_NMS,
        *_OWN,
        *_POLYGONS,
    ),
    Op("multiclass_nms2", _multiclass_nms("2", {"Index": "int32"}), *MULTICLASS_NMS[5:21], *_POLYGONS[:3], **_LEGACY),
    Op("multiclass_nms", _multiclass_nms("", {}), *MULTICLASS_NMS[5:21], *_POLYGONS[6:8], **_LEGACY),
    Op("matrix_nms", _matrix_nms, *MATRIX_NMS),
    Op("nms", lambda boxes, scores=None, threshold=0.3: paddle.vision.ops.nms(boxes, threshold, scores), *NMS),
]
