"""The post-processing of detectors at 608x608 with 80 classes, with the attributes that PaddleDetection exports.

Each head is a network of its own, whose inputs are what a detector's last convolutions compute, and inputs where n
boxes of each image hold an object.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gen_models.harness.building import layer_of, multiclass_nms3
from gen_models.harness.spec import paddle

CLASSES, IMAGE = 80, 608
Feeds = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Head:
    """A post-processing.

    Attributes:
        boxes: how many boxes it has for each image.
        build: makes the layer.
        feeds: inputs for (boxes with an object, images, factor on their sides).
    """

    boxes: int
    build: Callable[[], Any]
    feeds: Callable[[int, int, float], Feeds]

    @property
    def ports(self) -> list[tuple[str, list[int], str]]:
        """The inputs: name, shape without the batch, type."""
        return [(name, list(array.shape[1:]), array.dtype.name) for name, array in self.feeds(0, 1, 1.0).items()]


def _objects(boxes: int, objects: int, batch: int) -> tuple[np.random.Generator, NDArray[Any]]:
    rng = np.random.default_rng(0)
    chosen = np.zeros((batch, boxes), bool)
    for row in chosen:
        row[rng.choice(boxes, objects, replace=False)] = True
    return rng, chosen


def _middles(side: int) -> NDArray[Any]:
    """The middles of the cells of a square, row by row, in cells."""
    rows, columns = np.indices((side, side)) + 0.5
    return np.stack([columns, rows], -1).reshape(-1, 2)


# --- YOLOv3 -----------------------------------------------------------------------------------------------------------

ANCHORS = ((116, 90, 156, 198, 373, 326), (30, 61, 62, 45, 59, 119), (10, 13, 16, 30, 33, 23))
STRIDES = (32, 16, 8)
LEVELS = [IMAGE // stride for stride in STRIDES]
CELLS = [side**2 for side in LEVELS]


def _yolo(self: Any, img_size: Any, head_0: Any, head_1: Any, head_2: Any) -> Any:
    boxes, scores = [], []
    for i, head in enumerate((head_0, head_1, head_2)):
        box, score = paddle.vision.ops.yolo_box(head, img_size, list(ANCHORS[i]), CLASSES, 0.005, STRIDES[i])
        boxes.append(box)
        scores.append(score.transpose([0, 2, 1]))
    return multiclass_nms3(
        paddle.concat(boxes, axis=1), paddle.concat(scores, axis=2), score_threshold=0.01, nms_top_k=1000,
        keep_top_k=100, nms_threshold=0.45, normalized=False, background_label=-1,
    )  # fmt: skip


def _yolo_feeds(objects: int, batch: int, size: float) -> Feeds:
    """Objects of one class or two."""
    rng, chosen = _objects(3 * sum(CELLS), objects, batch)
    feeds: Feeds = {"img_size": np.full((batch, 2), IMAGE, np.int32)}
    parts = np.split(chosen, np.cumsum([3 * cell for cell in CELLS])[:-1], 1)
    for i, (cells, mask) in enumerate(zip(CELLS, parts, strict=True)):
        raw = rng.normal(0, 0.5, (batch, 3, 5 + CLASSES, cells)).astype(np.float32)
        raw[:, :, 2:4] = raw[:, :, 2:4] * 0.4 + np.log(size)  # boxes about as large as their anchors
        raw[:, :, 5:] -= 7
        label = rng.integers(0, CLASSES, (batch, 3, 1, cells))
        np.put_along_axis(raw[:, :, 5:], label, rng.normal(1, 1, label.shape).astype(np.float32), 2)
        raw[:, :, 4] = np.where(mask.reshape(batch, 3, -1), rng.normal(0, 1.5, (batch, 3, cells)), -9)
        feeds[f"head_{i}"] = raw.reshape(batch, -1, LEVELS[i], LEVELS[i])
    return feeds


# --- PP-YOLOE ---------------------------------------------------------------------------------------------------------

STEPS = 17


def _ppyoloe_parts() -> dict[str, Any]:
    mean = paddle.nn.Conv2D(STEPS, 1, 1, bias_attr=False)
    mean.weight.set_value(np.arange(STEPS, dtype="float32").reshape([1, STEPS, 1, 1]))
    points = [_middles(side) for side in LEVELS]
    strides = [np.full((side * side, 1), IMAGE // side) for side in LEVELS]
    constants = (paddle.to_tensor(np.concatenate(parts).astype("float32")) for parts in (points, strides))
    return {"mean": mean, **dict(zip(("points", "strides"), constants, strict=True))}


def _ppyoloe(
    self: Any, scale: Any, code_0: Any, logit_0: Any, code_1: Any, logit_1: Any, code_2: Any, logit_2: Any
) -> Any:
    functional = paddle.nn.functional
    scores, distances = [], []
    for code, logit in ((code_0, logit_0), (code_1, logit_1), (code_2, logit_2)):
        cells = code.shape[2] * code.shape[3]
        steps = code.reshape([-1, 4, STEPS, cells]).transpose([0, 2, 3, 1])
        distances.append(self.mean(functional.softmax(steps, axis=1)).squeeze(1))
        scores.append(functional.sigmoid(logit).reshape([-1, CLASSES, cells]))
    low, high = paddle.split(paddle.concat(distances, axis=1), 2, axis=-1)
    corners = paddle.concat([-low + self.points, high + self.points], axis=-1)
    return multiclass_nms3(
        corners * self.strides / scale, paddle.concat(scores, axis=-1), score_threshold=0.01, nms_top_k=1000,
        keep_top_k=300, nms_threshold=0.7, normalized=True, background_label=-1,
    )  # fmt: skip


def _ppyoloe_feeds(objects: int, batch: int, size: float) -> Feeds:
    rng, chosen = _objects(sum(CELLS), objects, batch)
    feeds: Feeds = {"scale": np.full((batch, 1, 4), 0.5, np.float32)}
    for i, mask in enumerate(np.split(chosen, np.cumsum(CELLS)[:-1], 1)):
        code = rng.normal(0, 1, (batch, 4, STEPS, CELLS[i])) - np.arange(STEPS)[:, None] * (0.5 / size)
        logit = np.full((batch, CLASSES, CELLS[i]), -7.0) + rng.normal(0, 0.5, (batch, CLASSES, CELLS[i]))
        label = rng.integers(0, CLASSES, (batch, 1, CELLS[i]))
        np.put_along_axis(logit, label, np.where(mask[:, None], rng.normal(0, 1.5, label.shape), -7), 1)
        side = LEVELS[i]
        feeds[f"code_{i}"] = code.reshape(batch, -1, side, side).astype(np.float32)
        feeds[f"logit_{i}"] = logit.reshape(batch, -1, side, side).astype(np.float32)
    return feeds


# --- SSD --------------------------------------------------------------------------------------------------------------

SIDES = (76, 38, 19, 10, 5, 3)
PRIORS = (4, 6, 6, 6, 4, 4)
COUNTS = [side * side * priors for side, priors in zip(SIDES, PRIORS, strict=True)]


def _ssd_parts() -> dict[str, Any]:
    priors = []
    for side, count in zip(SIDES, PRIORS, strict=True):
        half = np.linspace(0.6, 1.6, count)[:, None] / side
        middle = _middles(side)[:, None] / side
        priors.append(np.concatenate([middle - half, middle + half], -1).reshape(-1, 4))
    return {"priors": paddle.to_tensor(np.concatenate(priors).astype("float32"))}


def _rows(maps: list[Any], width: int) -> Any:
    return paddle.concat([item.transpose([0, 2, 3, 1]).reshape([0, -1, width]) for item in maps], axis=1)


def _ssd(
    self: Any, code_0: Any, logit_0: Any, code_1: Any, logit_1: Any, code_2: Any, logit_2: Any,
    code_3: Any, logit_3: Any, code_4: Any, logit_4: Any, code_5: Any, logit_5: Any,
) -> Any:  # fmt: skip
    codes = _rows([code_0, code_1, code_2, code_3, code_4, code_5], 4)
    logits = _rows([logit_0, logit_1, logit_2, logit_3, logit_4, logit_5], CLASSES + 1)
    boxes = paddle.vision.ops.box_coder(self.priors, [0.1, 0.1, 0.2, 0.2], codes, "decode_center_size")
    scores = paddle.nn.functional.softmax(logits).transpose([0, 2, 1])
    return multiclass_nms3(
        boxes, scores, score_threshold=0.01, nms_top_k=400, keep_top_k=200, nms_threshold=0.45, normalized=True,
        background_label=CLASSES,
    )  # fmt: skip


def _ssd_feeds(objects: int, batch: int, size: float) -> Feeds:
    rng, chosen = _objects(sum(COUNTS), objects, batch)
    feeds: Feeds = {}
    for i, mask in enumerate(np.split(chosen, np.cumsum(COUNTS)[:-1], 1)):
        code = rng.normal(0, 0.5, (batch, COUNTS[i], 4))
        code[..., 2:] += np.log(size) / 0.2
        logit = rng.normal(0, 0.5, (batch, COUNTS[i], CLASSES + 1))
        logit[..., CLASSES] += 10
        label = rng.integers(0, CLASSES, (batch, COUNTS[i], 1))
        np.put_along_axis(logit, label, np.where(mask[..., None], rng.normal(10, 1.5, label.shape), 0), 2)
        for kind, array in (("code", code), ("logit", logit)):
            rows = array.reshape(batch, SIDES[i], SIDES[i], -1).transpose(0, 3, 1, 2)
            feeds[f"{kind}_{i}"] = np.ascontiguousarray(rows, np.float32)
    return feeds


HEADS = {
    "yolov3": Head(3 * sum(CELLS), layer_of(_yolo), _yolo_feeds),
    "ppyoloe": Head(sum(CELLS), layer_of(_ppyoloe, _ppyoloe_parts), _ppyoloe_feeds),
    "ssd": Head(sum(COUNTS), layer_of(_ssd, _ssd_parts), _ssd_feeds),
}
