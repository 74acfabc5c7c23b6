"""Pooling of regions of interest whose cells are moved."""

from __future__ import annotations

from typing import Any

from gen_models.harness.building import as_lod, legacy_op
from gen_models.harness.marks import OLD
from gen_models.harness.spec import Op, case, tensor
from gen_models.roi import regions


def _build(
    x: Any,
    boxes: Any,
    trans: Any,
    *,
    output_dim: int,
    cells: Any = (2, 2),
    groups: Any = (1, 1),
    parts: Any = None,
    samples: int = 2,
    scale: float = 1.0,
    trans_std: float = 0.1,
    no_trans: bool = False,
    lod: Any = None,
) -> Any:
    attributes = {
        "no_trans": no_trans,
        "spatial_scale": scale,
        "output_dim": output_dim,
        "group_size": list(groups),
        "pooled_height": cells[0],
        "pooled_width": cells[1],
        "part_size": list(parts or cells),
        "sample_per_part": samples,
        "trans_std": trans_std,
    }
    inputs = {"Input": x, "ROIs": as_lod(boxes, lod), "Trans": trans}
    return legacy_op("deformable_psroi_pooling", inputs, {"Output": x.dtype, "TopCount": x.dtype}, attributes)


def _trans(*shape: int, **more: Any) -> Any:
    return tensor(shape, **more)


CASES = [
    case(x=tensor([1, 3, 8, 9]), boxes=regions(4, 9, 8), trans=_trans(4, 2, 2, 2), output_dim=3),
    case(
        x=tensor([1, 12, 8, 9]),
        boxes=regions(4, 9, 8, dims=[-1, 4]),
        trans=_trans(4, 2, 2, 3),
        output_dim=2,
        cells=(2, 3),
        groups=(2, 3),
    ),
    case(
        x=tensor([3, 4, 8, 9], dims=[-1, 4, -1, -1]),
        boxes=regions(5, 18, 16, dims=[-1, 4]),
        trans=_trans(5, 4, 3, 3, dims=[-1, 4, 3, 3]),
        output_dim=4,
        cells=(3, 3),
        scale=0.5,
        samples=3,
        lod=[0, 2, 2, 5],
    ),
    case(
        x=tensor([2, 16, 7, 6]),
        boxes=regions(4, 24, 28, out=0.3),
        trans=_trans(4, 4, 5, 5),
        output_dim=2,
        cells=(5, 5),
        groups=(2, 4),
        parts=(3, 4),
        scale=0.25,
        trans_std=0.5,
        lod=[0, 1, 4],
    ),
    case(
        x=tensor([1, 3, 8, 8]),
        boxes=regions(6, 8, 8, out=0.6),
        trans=_trans(6, 2, 2, 2),
        output_dim=3,
        no_trans=True,
        samples=4,
    ),
    case(  # halves are rounded away from zero; one region is empty, one lies outside
        x=tensor([1, 2, 8, 8]),
        boxes=tensor([3, 4], values=[[0.5, 1.5, 2.5, 3.5], [5, 5, 2, 2], [20, 20, 25, 25]]),
        trans=_trans(3, 2, 1, 1, low=-1.0),
        output_dim=2,
        cells=(1, 1),
        samples=1,
    ),
    case(
        x=tensor([1, 3, 8, 9], "float64"),
        boxes=tensor([1, 4], "float64", values=[1, 2, 6, 5]),
        trans=_trans(1, 2, 2, 2, dtype="float64"),
        output_dim=1,
    ),
]


OPS = [Op("deformable_psroi_pooling", _build, *CASES, is_varied=False, **OLD)]
