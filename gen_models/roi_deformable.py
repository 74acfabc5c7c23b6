"""Pooling of regions of interest whose cells are moved."""

from gen_models.harness.building import operator
from gen_models.harness.marks import OLD
from gen_models.harness.spec import Op, case, tensor
from gen_models.roi import regions

_build = operator(
    "deformable_psroi_pooling",
    {"x": "Input", "boxes": "ROIs", "trans": "Trans"},
    {"Output": "", "TopCount": ""},
    sequences="boxes",
    names={"scale": "spatial_scale", "groups": "group_size", "parts": "part_size", "samples": "sample_per_part"},
    no_trans=False,
    trans_std=0.1,
    scale=1.0,
    samples=2,
)


def _cells(height, width, groups=(1, 1), parts=None):
    parts = list(parts or (height, width))
    return {"pooled_height": height, "pooled_width": width, "groups": list(groups), "parts": parts}


CASES = [
    case(x=tensor([1, 3, 8, 9]), boxes=regions(4, 9, 8), trans=tensor([4, 2, 2, 2]), output_dim=3, **_cells(2, 2)),
    case(
        x=tensor([1, 12, 8, 9]),
        boxes=regions(4, 9, 8, dims=[-1, 4]),
        trans=tensor([4, 2, 2, 3]),
        output_dim=2,
        **_cells(2, 3, groups=(2, 3)),
    ),
    case(
        x=tensor([3, 4, 8, 9], dims=[-1, 4, -1, -1]),
        boxes=regions(5, 18, 16, dims=[-1, 4]),
        trans=tensor([5, 4, 3, 3], dims=[-1, 4, 3, 3]),
        output_dim=4,
        scale=0.5,
        samples=3,
        lod=[0, 2, 2, 5],
        **_cells(3, 3),
    ),
    case(
        x=tensor([2, 16, 7, 6]),
        boxes=regions(4, 24, 28, out=0.3),
        trans=tensor([4, 4, 5, 5]),
        output_dim=2,
        scale=0.25,
        trans_std=0.5,
        lod=[0, 1, 4],
        **_cells(5, 5, groups=(2, 4), parts=(3, 4)),
    ),
    case(
        x=tensor([1, 3, 8, 8]),
        boxes=regions(6, 8, 8, out=0.6),
        trans=tensor([6, 2, 2, 2]),
        output_dim=3,
        no_trans=True,
        samples=4,
        **_cells(2, 2),
    ),
    case(  # halves are rounded away from zero; one region is empty, one lies outside
        x=tensor([1, 2, 8, 8]),
        boxes=tensor([3, 4], values=[[0.5, 1.5, 2.5, 3.5], [5, 5, 2, 2], [20, 20, 25, 25]]),
        trans=tensor([3, 2, 1, 1], low=-1.0),
        output_dim=2,
        samples=1,
        **_cells(1, 1),
    ),
    case(
        x=tensor([1, 3, 8, 9], "float64"),
        boxes=tensor([1, 4], "float64", values=[1, 2, 6, 5]),
        trans=tensor([1, 2, 2, 2], dtype="float64"),
        output_dim=1,
        **_cells(2, 2),
    ),
]


OPS = [Op("deformable_psroi_pooling", _build, *CASES, is_varied=False, **OLD)]
