"""Suppression that first merges neighbours in a row."""

from __future__ import annotations

from typing import Any

from gen_models.harness.building import operator
from gen_models.harness.marks import OLD
from gen_models.harness.spec import Op, TensorSpec, case, tensor
from gen_models.nms import crowd, polygons, shuffled

_PORTS = {"bboxes": "BBoxes", "scores": "Scores"}
_DEFAULTS = {
    "background_label": -1,
    "score_threshold": 0.1,
    "nms_top_k": -1,
    "nms_threshold": 0.3,
    "nms_eta": 1.0,
    "keep_top_k": -1,
    "normalized": True,
}


def _boxes(*sizes: int, **options: Any) -> TensorSpec:
    """Boxes around two centres, so that neighbours often overlap."""
    return crowd(*sizes, centers=2, **options)


_B, _S = [-1, -1, 4], [-1, 1, -1]
CASES = [
    case(bboxes=_boxes(1, 20), scores=shuffled(1, 1, 20)),
    case(bboxes=_boxes(2, 20, dims=_B), scores=shuffled(2, 1, 20, dims=_S), nms_threshold=0.5),
    case(bboxes=_boxes(2, 20, size=100), scores=shuffled(2, 1, 20), normalized=False, keep_top_k=5),
    case(bboxes=_boxes(1, 20), scores=shuffled(1, 2, 20), background_label=0, nms_top_k=3),
    case(bboxes=_boxes(1, 20), scores=shuffled(1, 1, 20), nms_threshold=0.7, nms_eta=0.9),
    case(bboxes=_boxes(1, 20), scores=shuffled(1, 1, 20), score_threshold=99.0),
    case(bboxes=_boxes(2, 1), scores=shuffled(2, 1, 1)),
    case(bboxes=_boxes(1, 20), scores=shuffled(1, 1, 20), keep_top_k=0),
    case(bboxes=tensor([1, 3, 4], values=[[0.5] * 4] * 3), scores=shuffled(1, 1, 3)),
    case(bboxes=polygons(1, 20), scores=shuffled(1, 1, 20)),
    case(bboxes=polygons(2, 20, size=300), scores=shuffled(2, 1, 20), keep_top_k=6, nms_threshold=0.2),
    case(bboxes=polygons(1, 12, points=8), scores=shuffled(1, 1, 12)),
]


OPS = [Op("locality_aware_nms", operator("locality_aware_nms", _PORTS, **_DEFAULTS), *CASES, **OLD)]
