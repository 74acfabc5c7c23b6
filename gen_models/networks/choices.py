"""Networks that choose by score: queries as in DETR's decoders, boxes as detectors do."""

from gen_models.harness.building import multiclass_nms3
from gen_models.harness.network import network_of
from gen_models.harness.spec import paddle, tensor


def _query_parts():
    nn = paddle.nn
    return {"score": nn.ReLU(), "features": nn.Linear(8, 6), "decode": nn.Linear(6, 4)}


def _choosing_queries(self, scores, x):
    """The features of the five best of `scores` [N, L], in their order, decoded one by one."""
    best, where = paddle.topk(self.score(scores), 5)
    picked = paddle.take_along_axis(self.features(x), paddle.expand(where.unsqueeze(-1), [-1, -1, 6]), 1)
    return self.decode(picked) * best.unsqueeze(-1), where


def _choosing_boxes(self, boxes, scores):
    return multiclass_nms3(
        boxes, self.score(scores), score_threshold=0.05, nms_top_k=20, keep_top_k=10, nms_threshold=0.5
    )


_CORNERS = [[[0.1 * i, 0.1 * k, 0.1 * i + 0.2, 0.1 * k + 0.3] for i in range(4) for k in range(3)]]

NETWORKS = [
    network_of(
        _choosing_queries,
        {"scores": tensor([2, 12], low=0.1, high=1.0, dims=[-1, -1]), "x": tensor([2, 12, 8], dims=[-1, -1, 8])},
        {"scores": tensor([1, 7], low=0.1, high=1.0), "x": tensor([1, 7, 8])},
        parts=_query_parts,
    ),
    network_of(
        _choosing_boxes,
        {
            "boxes": tensor([1, 12, 4], values=_CORNERS, dims=[-1, -1, 4]),
            "scores": tensor([1, 2, 12], dims=[-1, 2, -1]),
        },
        parts=lambda: {"score": paddle.nn.ReLU()},
    ),
]
