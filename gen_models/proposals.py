"""Proposals of regions, and their way through the levels of a feature pyramid."""

from __future__ import annotations

from typing import Any

import numpy as np

from gen_models.harness.building import as_lod, legacy_op, operator
from gen_models.harness.marks import LOD, legacy
from gen_models.harness.spec import Op, TensorSpec, case, int32s, paddle, tensor
from gen_models.nms import shuffled
from gen_models.roi import regions

_RPN = {"pre_nms_top_n": 6000, "post_nms_top_n": 1000, "nms_thresh": 0.5, "min_size": 0.1, "eta": 1.0}


def _generate_proposals_v2(scores, bbox_deltas, im_shape, anchors, variances, **attributes):
    attributes = {**_RPN, **attributes, "return_rois_num": True}
    return paddle.vision.ops.generate_proposals(scores, bbox_deltas, im_shape, anchors, variances, **attributes)


def _anchors(h: int, w: int, count: int, stride: int = 8, dims: Any = None) -> TensorSpec:
    y, x, a = np.meshgrid(np.arange(h), np.arange(w), np.arange(count), indexing="ij")
    half = np.stack([(6 + 5 * a), (9 + 4 * a)], -1)
    center = np.stack([x, y], -1) * stride + stride / 2
    return tensor([h, w, count, 4], values=np.concatenate([center - half, center + half], -1), dims=dims)


def _rpn(n, count, h, w, *, dynamic=False, seed=0, **more):
    def dims(*shape):
        return list(shape) if dynamic else None

    sizes = [[8 * h - 3 * i, 8 * w - i, 1.0 + i][: 3 if "im_info" in more else 2] for i in range(n)]
    info = "im_info" if more.pop("im_info", False) else "im_shape"
    return {
        "scores": shuffled(n, count, h, w, seed=seed, dims=dims(-1, count, -1, -1)),
        "bbox_deltas": tensor([n, 4 * count, h, w], low=-1.5, high=1.5, dims=dims(-1, 4 * count, -1, -1)),
        info: tensor([n, len(sizes[0])], values=sizes, dims=dims(-1, len(sizes[0]))),
        "anchors": _anchors(h, w, count, dims=dims(-1, -1, count, 4)),
        "variances": tensor([h, w, count, 4], low=0.4, high=1.2, dims=dims(-1, -1, count, 4)),
        **more,
    }


_PIXELS = {"atol": 2e-4, "why": "coordinates of a hundred pixels, sums of larger numbers"}


GENERATE_PROPOSALS_V2 = [
    case(**_rpn(1, 3, 4, 5), **_PIXELS),
    case(**_rpn(2, 3, 4, 5, dynamic=True), pre_nms_top_n=20, post_nms_top_n=5, **_PIXELS),
    case(**_rpn(2, 3, 4, 5), pre_nms_top_n=30, nms_thresh=0.7, eta=0.8, pixel_offset=True, **_PIXELS),
    case(**_rpn(2, 3, 4, 5), min_size=16.0, pixel_offset=True, **_PIXELS),
    # nothing is large enough: in all images, in one
    case(**_rpn(2, 3, 4, 5), min_size=1000.0, **_PIXELS),
    case(**_rpn(2, 3, 4, 5, dynamic=True), min_size=1000.0, **_PIXELS),
    case(
        **{**_rpn(3, 3, 4, 5), "im_shape": tensor([3, 2], values=[[32, 40], [3, 3], [32, 40]])}, min_size=8.0, **_PIXELS
    ),
    case(**_rpn(2, 3, 4, 5), nms_thresh=0.0, is_varied=False, **_PIXELS),
    case(
        **_rpn(2, 3, 4, 5, dynamic=True),
        nms_thresh=-0.5,
        post_nms_top_n=5,
        eta=0.5,
        pixel_offset=True,
        is_varied=False,
        **_PIXELS,
    ),
]
_PADDLE_2 = legacy("coordinates of a hundred pixels, sums of larger numbers; Paddle 2 only", atol=2e-4)
GENERATE_PROPOSALS = [
    case(**_rpn(2, 3, 4, 5, im_info=True), **_PADDLE_2),
    case(**_rpn(2, 3, 4, 5, im_info=True), min_size=12.0, post_nms_top_n=6, **_PADDLE_2),
]


def _distribute_fpn_proposals(fpn_rois, rois_num=None, *, lod=None, **attributes):
    levels = {"min_level": 2, "max_level": 5, "refer_level": 4, "refer_scale": 224}
    if lod:  # as Paddle 1 has it; the levels are collected again, by score
        return _there_and_back(as_lod(fpn_rois, lod), {**levels, **attributes})
    return paddle.vision.ops.distribute_fpn_proposals(fpn_rois, **{**levels, **attributes}, rois_num=rois_num)


def _there_and_back(rois, levels):
    outputs = {"MultiFpnRois": [rois.dtype] * (levels["max_level"] - levels["min_level"] + 1), "RestoreIndex": "int32"}
    each, _ = legacy_op("distribute_fpn_proposals", {"FpnRois": rois}, outputs, {**levels, "pixel_offset": True})
    ones = paddle.ones([4, 1])
    scores = [legacy_op("mul", {"X": item, "Y": ones}, {"Out": item.dtype}, {}) for item in each]
    inputs = {"MultiLevelRois": each, "MultiLevelScores": scores}
    best = legacy_op("collect_fpn_proposals", inputs, {"FpnRois": rois.dtype, "RoisNum": "int32"}, {"post_nms_topN": 7})
    info = paddle.to_tensor([[700.0, 900.0, 1.0], [500.0, 500.0, 1.0]])
    return [best[0], legacy_op("box_clip", {"Input": best[0], "ImInfo": info}, {"Output": rois.dtype}, {})]


_EDGES = [[0, 0, 224, 224], [0, 0, 112, 112], [0, 0, 111.99, 112], [0, 0, 448, 448], [5, 5, 1, 1], [0, 0, 900, 900]]


DISTRIBUTE_FPN_PROPOSALS = [
    case(fpn_rois=regions(10, 1200, 900), rois_num=int32s(10)),
    case(fpn_rois=regions(10, 1200, 900), rois_num=int32s(4, 1, 5)),
    case(fpn_rois=regions(10, 1200, 900, dims=[-1, 4]), rois_num=int32s(4, 6, dims=[-1]), pixel_offset=True),
    case(fpn_rois=regions(10, 1200, 900, dims=[-1, 4]), lod=[0, 4, 10], min_level=3, max_level=4, **LOD),
    case(fpn_rois=tensor([6, 4], values=_EDGES), rois_num=int32s(6)),
    case(fpn_rois=tensor([6, 4], values=_EDGES), rois_num=int32s(2, 4), pixel_offset=True),
    case(fpn_rois=regions(5, 1200, 900), rois_num=int32s(5), min_level=3, max_level=4),
]


def _levels(*counts, seed=0, dynamic=False):
    sizes = [sum(c) for c in counts]
    scores = np.asarray(shuffled(sum(sizes), 1, seed=seed).values)
    parts = np.split(scores, np.cumsum(sizes)[:-1])
    return {
        "rois": [regions(s, 100, 100, seed + i, dims=[-1, 4] if dynamic else None) for i, s in enumerate(sizes)],
        "scores": [tensor([len(p), 1], values=p, dims=[-1, 1] if dynamic else None) for p in parts],
        "counts": [int32s(*c, dims=[-1] if dynamic else None) for c in counts],
    }


COLLECT_FPN_PROPOSALS = [
    case(**_levels((5,), (3,)), post_nms_topn=6),
    case(**_levels((5, 4), (3, 2), (1, 1)), post_nms_topn=9),
    case(**_levels((5, 4), (3, 2), (1, 1)), post_nms_topn=100),
    case(**_levels((5, 4), (3, 2), dynamic=True), post_nms_topn=9),
]

OPS = [
    Op("generate_proposals_v2", _generate_proposals_v2, *GENERATE_PROPOSALS_V2),
    Op(
        "generate_proposals",
        operator(
            "generate_proposals",
            {
                "scores": "Scores",
                "bbox_deltas": "BboxDeltas",
                "im_info": "ImInfo",
                "anchors": "Anchors",
                "variances": "Variances",
            },
            {"RpnRois": "", "RpnRoiProbs": "", "RpnRoisNum": "int32"},
            names={"pre_nms_top_n": "pre_nms_topN", "post_nms_top_n": "post_nms_topN"},
            **_RPN,
        ),
        *GENERATE_PROPOSALS,
    ),
    Op("distribute_fpn_proposals", _distribute_fpn_proposals, *DISTRIBUTE_FPN_PROPOSALS),
    Op(
        "collect_fpn_proposals",
        operator(
            "collect_fpn_proposals",
            {"rois": "MultiLevelRois", "scores": "MultiLevelScores", "counts": "MultiLevelRoIsNum"},
            {"FpnRois": "", "RoisNum": "int32"},
            names={"post_nms_topn": "post_nms_topN"},
        ),
        *COLLECT_FPN_PROPOSALS,
    ),
]
