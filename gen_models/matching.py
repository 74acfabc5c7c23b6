"""Rows matched with columns, the largest number first."""

from __future__ import annotations

from typing import Any

import numpy as np

from gen_models.harness.building import any_op, as_lod, operator
from gen_models.harness.marks import LOD, OLD
from gen_models.harness.spec import Op, TensorSpec, case, tensor


def _bipartite_match(dist_mat, *, match_type="bipartite", dist_threshold=0.5, lod=None):
    x = as_lod(dist_mat, lod) if lod else dist_mat
    outputs = {"ColToRowMatchIndices": "int32", "ColToRowMatchDist": dist_mat.dtype}
    attributes = {"match_type": match_type, "dist_threshold": dist_threshold}
    return list(any_op("bipartite_match", {"DistMat": x}, outputs, attributes))


def _different(*shape: int, dtype: str = "float32", dims: Any = None, seed: int = 0) -> TensorSpec:
    """Numbers no two of which are equal: Paddle's order of equal ones is that of its sort."""
    values = np.random.default_rng(seed).permutation(int(np.prod(shape))) - 7
    return tensor(shape, dtype, values=values / 8, dims=dims)


def _overlaps(*shape: int, **more: Any) -> TensorSpec:
    """Few different numbers from 0 to 0.9, as of boxes of which most share nothing."""
    seed = more.pop("seed", 0)
    values = np.maximum(np.random.default_rng(seed).integers(-8, 10, shape), 0) / 10
    return tensor(shape, values=values, **more)


_STEPS = [-1, 4]
BIPARTITE_MATCH = [
    case(dist_mat=tensor([5, 3], low=0.0, dims=[-1, -1])),
    case(dist_mat=_overlaps(6, 9, dims=[-1, 9]), match_type="per_prediction", dist_threshold=0.3),
    case(dist_mat=_overlaps(6, 9), match_type="per_prediction", dist_threshold=0.0),
    case(dist_mat=_overlaps(8, 8)),  # equal ones: the first column, then the first row
    case(dist_mat=tensor([2, 3], values=[[1e-7, 2e-6, 0], [1e-8, 3e-6, 0]]), match_type="per_prediction"),
    case(dist_mat=tensor([3, 4], values=[[0] * 4] * 3)),
    case(dist_mat=tensor([2, 2], values=[[np.nan, 0.5], [np.inf, np.nan]]), match_type="per_prediction"),
    case(dist_mat=tensor([140, 6], low=0.0)),
    case(dist_mat=tensor([131, 200], low=-1.0), match_type="per_prediction"),
    case(dist_mat=_different(135, 3), match_type="per_prediction", dist_threshold=10.0),
    case(dist_mat=tensor([130, 1], values=[1e-7] + [0] * 129)),  # enough where all pairs are sorted
    case(dist_mat=tensor([3, 5], "float64", low=0.0)),
    case(dist_mat=tensor([0, 4], dims=[-1, 4]), match_type="per_prediction"),
    case(dist_mat=tensor([4, 4], low=0.0, dims=_STEPS), lod=[0, 4], **LOD),
    case(dist_mat=_overlaps(6, 4, dims=_STEPS), lod=[0, 3, 6], **LOD),
    case(dist_mat=_overlaps(8, 4, dims=_STEPS), lod=[0, 3, 3, 8], match_type="per_prediction", **LOD),
    case(dist_mat=tensor([150, 4], low=-1.0, dims=_STEPS), lod=[0, 10, 145, 150], match_type="per_prediction", **LOD),
]
SIMILARITY_FOCUS = [
    case(x=_different(2, 3, 4, 5), axis=1, indexes=[0]),
    case(x=_different(2, 3, 4, 5), axis=2, indexes=[3, 0]),
    case(x=_different(2, 3, 4, 5), axis=3, indexes=[1, 4, 1]),
    case(x=_different(2, 3, 6, 2, dims=[-1, -1, -1, -1]), axis=1, indexes=[2, 1]),
    case(x=_different(1, 1, 1, 1), axis=3, indexes=[0]),
    case(x=tensor([2, 3, 4, 5], "float64"), axis=1, indexes=[0]),
    case(x=tensor([1, 1, 2, 2], values=[-np.inf, 1.0, 2.0, np.inf]), axis=1, indexes=[0]),
]


OPS = [
    Op("bipartite_match", _bipartite_match, *BIPARTITE_MATCH),
    Op("similarity_focus", operator("similarity_focus"), *SIMILARITY_FOCUS, **OLD),
]
