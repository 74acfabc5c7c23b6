"""Pooling of regions of interest."""

from __future__ import annotations

from typing import Any

import numpy as np

from gen_models.harness.building import as_lod, function, is_pir, legacy_op
from gen_models.harness.marks import LOD
from gen_models.harness.spec import Op, TensorSpec, case, int32s, paddle, tensor


def _roi_align(x, boxes, boxes_num=None, *, output_size, lod=None, **more):
    if lod:  # as Paddle 1 has it
        attrs = {"pooled_height": output_size, "pooled_width": output_size, **more}
        return legacy_op("roi_align", {"X": x, "ROIs": as_lod(boxes, lod)}, {"Out": x.dtype}, attrs)
    return paddle.vision.ops.roi_align(x, boxes, boxes_num, output_size, **more)


def _psroi_pool(x, boxes, boxes_num, *, output_size, spatial_scale=1.0):
    if is_pir():
        return paddle.vision.ops.psroi_pool(x, boxes, boxes_num, output_size, spatial_scale)
    # Paddle 2's function forgets boxes_num.
    height, width = output_size if isinstance(output_size, (list, tuple)) else (output_size, output_size)
    sizes = {"pooled_height": height, "pooled_width": width, "output_channels": x.shape[1] // (height * width)}
    inputs = {"X": x, "ROIs": boxes, "RoisNum": boxes_num}
    return legacy_op("psroi_pool", inputs, {"Out": x.dtype}, {**sizes, "spatial_scale": spatial_scale})


def regions(count: int, width: float, height: float, seed: int = 0, out: float = 0.0, dims: Any = None) -> TensorSpec:
    """Boxes in an image, or `out` of it by that share of its size."""
    rng = np.random.default_rng(seed)
    low = rng.uniform(-out, 0.6, (count, 2))
    high = low + rng.uniform(0.05, 0.4 + out, (count, 2))
    values = np.concatenate([low, high], 1) * [width, height, width, height]
    return tensor([count, 4], values=np.round(values, 2), dims=dims)


ROI_ALIGN = [
    case(x=tensor([1, 3, 8, 8]), boxes=regions(4, 8, 8, dims=[-1, 4]), output_size=2, lod=[0, 4], **LOD),
    case(x=tensor([3, 3, 8, 9]), boxes=regions(5, 9, 8), output_size=2, lod=[0, 2, 2, 5], **LOD),
    case(x=tensor([1, 3, 8, 8]), boxes=regions(4, 8, 8), boxes_num=int32s(4), output_size=2),
    case(x=tensor([1, 3, 8, 8]), boxes=regions(4, 8, 8), boxes_num=int32s(4), output_size=2, aligned=False),
    case(
        x=tensor([2, 3, 8, 9]), boxes=regions(5, 36, 32), boxes_num=int32s(2, 3), output_size=(2, 3), spatial_scale=0.25
    ),
    case(x=tensor([3, 3, 8, 9]), boxes=regions(5, 9, 8), boxes_num=int32s(2, 0, 3), output_size=3, sampling_ratio=2),
    case(
        x=tensor([2, 3, 8, 9], dims=[-1, 3, -1, -1]),
        boxes=regions(5, 18, 16, dims=[-1, 4]),
        boxes_num=int32s(4, 1, dims=[-1]),
        output_size=7,
        spatial_scale=0.5,
    ),
    case(x=tensor([1, 3, 8, 8]), boxes=regions(6, 8, 8, out=0.5), boxes_num=int32s(6), output_size=3, aligned=False),
    case(x=tensor([1, 3, 8, 8]), boxes=regions(6, 8, 8, out=0.5), boxes_num=int32s(6), output_size=3, sampling_ratio=1),
    case(x=tensor([2, 3, 8, 8]), boxes=tensor([0, 4], dims=[-1, 4]), boxes_num=int32s(0, 0), output_size=2),
]
_HALVES = tensor(
    [4, 4],
    values=[
        [0.49999997, 0.5, 3.4999998, 4.5],
        [1.5, 2.5, 4.4999995, 3.5],
        [-0.5, -0.49999997, 4, 5],
        [1, 1, 2.4999998, 3],
    ],
)
"""Boxes with coordinates at halves, and next to them."""
_EMPTY = tensor([2, 4], values=[[0.5, 1.5, 2.5, 3.5], [5, 5, 2, 2]])
"""Boxes, one of them without an area."""
_FIVE = {"boxes": regions(5, 9, 8, dims=[-1, 4]), "boxes_num": int32s(4, 1, dims=[-1])}

ROI_POOL = [
    case(x=tensor([1, 3, 8, 8]), boxes=_HALVES, boxes_num=int32s(4), output_size=2),
    case(x=tensor([1, 3, 8, 8]), boxes=regions(4, 8, 8), boxes_num=int32s(4), output_size=2),
    case(
        x=tensor([2, 3, 8, 9]), boxes=regions(5, 36, 32), boxes_num=int32s(2, 3), output_size=(2, 3), spatial_scale=0.25
    ),
    case(x=tensor([3, 3, 8, 9]), boxes=regions(5, 9, 8), boxes_num=int32s(2, 0, 3), output_size=3),
    case(x=tensor([2, 3, 8, 9], dims=[-1, 3, -1, -1]), **_FIVE, output_size=7),
    case(x=tensor([1, 3, 8, 8]), boxes=regions(6, 8, 8, out=0.5), boxes_num=int32s(6), output_size=3),
    case(x=tensor([1, 1, 8, 8]), boxes=_EMPTY, boxes_num=int32s(2), output_size=2),
]
PSROI_POOL = [
    case(x=tensor([1, 8, 8, 8]), boxes=_HALVES, boxes_num=int32s(4), output_size=2),
    case(x=tensor([1, 8, 8, 8], dims=[-1, 8, -1, -1]), boxes=_HALVES, boxes_num=int32s(4), output_size=2),
    case(x=tensor([1, 8, 8, 8]), boxes=regions(4, 8, 8), boxes_num=int32s(4), output_size=2),
    case(
        x=tensor([2, 12, 8, 9]),
        boxes=regions(5, 36, 32),
        boxes_num=int32s(2, 3),
        output_size=(2, 3),
        spatial_scale=0.25,
    ),
    case(x=tensor([3, 18, 8, 9]), boxes=regions(5, 9, 8), boxes_num=int32s(2, 0, 3), output_size=3),
    case(x=tensor([2, 18, 8, 9], dims=[-1, 18, -1, -1]), **_FIVE, output_size=3),
    case(x=tensor([1, 18, 8, 8]), boxes=regions(6, 8, 8, out=0.5), boxes_num=int32s(6), output_size=3),
    case(x=tensor([1, 8, 8, 8]), boxes=_EMPTY, boxes_num=int32s(2), output_size=2),
]

OPS = [
    Op("roi_align", _roi_align, *ROI_ALIGN),
    Op("roi_pool", function("vision.ops.roi_pool"), *ROI_POOL),
    Op("psroi_pool", _psroi_pool, *PSROI_POOL),
]
