"""RetinaNet's last operator."""

import numpy as np

from gen_models.box import boxes
from gen_models.harness.building import operator
from gen_models.harness.marks import legacy
from gen_models.harness.spec import Op, case, tensor

_OLD = legacy("Paddle 3 has no such operator; coordinates of tens of pixels")


def _levels(images, classes, anchors, seed=0, dims=False):
    rng = np.random.default_rng(seed)
    rows = -1 if dims else images
    return {
        "bboxes": [tensor([images, n, 4], low=-0.3, high=0.3, dims=[rows, n, 4]) for n in anchors],
        "scores": [
            # Different numbers: the order of equal ones is that of an unstable sort.
            tensor(
                [images, n, classes],
                values=rng.permutation(images * n * classes) / (images * n * classes),
                dims=[rows, n, classes],
            )
            for n in anchors
        ],
        "anchors": [boxes(n, size=60, seed=seed + i) for i, n in enumerate(anchors)],
        "im_info": tensor([images, 3], values=[[63, 33, 1.2 + 0.3 * i] for i in range(images)], dims=[rows, 3]),
    }


_LOOSE = {**_OLD, "atol": 2e-4}

OPS = [
    Op(
        "retinanet_detection_output",
        operator(
            "retinanet_detection_output",
            {"bboxes": "BBoxes", "scores": "Scores", "anchors": "Anchors", "im_info": "ImInfo"},
            score_threshold=0.3,
            nms_top_k=10,
            keep_top_k=5,
            nms_threshold=0.3,
            nms_eta=1.0,
        ),
        case(**_levels(1, 3, [12, 6])),
        case(**_levels(2, 3, [12, 6, 3], dims=True), keep_top_k=20, nms_top_k=100),
        case(**_levels(2, 2, [8, 4]), nms_threshold=0.7, nms_eta=0.8),
        case(**_levels(2, 1, [8]), score_threshold=0.9),
        **_LOOSE,
    )
]
