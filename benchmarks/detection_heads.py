"""The post-processing of detectors at 608x608 with 80 classes, with the attributes that PaddleDetection exports.

Each head is a program without its network, of any batch, and inputs where n boxes of each image hold an object.
Paddle is not needed: the programs are made here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddle2ov.program.model import Block, Operator, Output, Parameter, Program, Variable

CLASSES, IMAGE = 80, 608
Feeds = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Head:
    """A post-processing.

    Attributes:
        boxes: how many boxes it has for each image.
        program: makes the program.
        feeds: inputs for (boxes with an object, images, factor on their sides).
    """

    boxes: int
    program: Callable[[], Program]
    feeds: Callable[[int, int, float], Feeds]


class _Writer:
    """Collects the operators of a program."""

    def __init__(self) -> None:
        self.inputs: list[Variable] = []
        self.parameters: dict[str, Parameter] = {}
        self._operators: list[Operator] = []

    def input(self, name: str, *shape: int, dtype: str = "float32") -> str:
        self.inputs.append(Variable(name, dtype, shape))
        return name

    def weight(self, name: str, array: NDArray[Any]) -> str:
        self.parameters[name] = Parameter(name, "float32", array.astype(np.float32))
        return name

    def add(
        self, kind: str, results: str | dict[str, str | list[str]], reads: dict[str, Any], **attributes: Any
    ) -> str:
        outputs: dict[str, Any] = {"out": results} if isinstance(results, str) else results
        inputs, outputs = (
            {k: v if isinstance(v, list) else [v] for k, v in value.items()} for value in (reads, outputs)
        )
        self._operators.append(Operator(kind, inputs, outputs, attributes, kind, 0, len(self._operators)))
        return results if isinstance(results, str) else ""

    def suppressed(self, **attributes: Any) -> Program:
        """The program that ends with the suppression of `boxes` and `scores`."""
        names = ["out", "index", "nms_rois_num"]
        attributes = {"nms_eta": 1.0, "background_label": -1, **attributes}
        self.add(
            "multiclass_nms3", {name: name for name in names}, {"bboxes": "boxes", "scores": "scores"}, **attributes
        )
        declared = {input_.name: input_ for input_ in self.inputs}
        declared |= {name: Variable(name) for operator in self._operators for name in operator.output_names()}
        wanted = ["out", "nms_rois_num"]
        block = Block(0, self._operators, [input_.name for input_ in self.inputs], wanted)
        return Program("pir", 1, block, self.inputs, [Output(item, item) for item in wanted], declared, self.parameters)


def _objects(boxes: int, objects: int, batch: int) -> tuple[np.random.Generator, NDArray[Any]]:
    rng = np.random.default_rng(0)
    chosen = np.zeros((batch, boxes), bool)
    for row in chosen:
        row[rng.choice(boxes, objects, replace=False)] = True
    return rng, chosen


# --- YOLOv3 -----------------------------------------------------------------------------------------------------------

ANCHORS = ((116, 90, 156, 198, 373, 326), (30, 61, 62, 45, 59, 119), (10, 13, 16, 30, 33, 23))
STRIDES = (32, 16, 8)
CELLS = [(IMAGE // stride) ** 2 for stride in STRIDES]


def _yolo() -> Program:
    to = _Writer()
    to.input("img_size", -1, 2, dtype="int32")
    for i, stride in enumerate(STRIDES):
        head = to.input(f"head_{i}", -1, 3 * (5 + CLASSES), IMAGE // stride, IMAGE // stride)
        to.add(
            "yolo_box", {"boxes": f"boxes_{i}", "scores": f"scores_{i}"}, {"x": head, "img_size": "img_size"},
            anchors=list(ANCHORS[i]), class_num=CLASSES, conf_thresh=0.005, downsample_ratio=stride, clip_bbox=True,
            scale_x_y=1.0,
        )  # fmt: skip
        to.add("transpose2", f"turned_{i}", {"x": f"scores_{i}"}, perm=[0, 2, 1])
    to.add("concat", "boxes", {"x": [f"boxes_{i}" for i in range(3)]}, axis=1)
    to.add("concat", "scores", {"x": [f"turned_{i}" for i in range(3)]}, axis=2)
    return to.suppressed(score_threshold=0.01, nms_top_k=1000, keep_top_k=100, nms_threshold=0.45, normalized=False)


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
        feeds[f"head_{i}"] = raw.reshape(batch, -1, IMAGE // STRIDES[i], IMAGE // STRIDES[i])
    return feeds


# --- PP-YOLOE ---------------------------------------------------------------------------------------------------------

STEPS = 17


def _ppyoloe() -> Program:
    to = _Writer()
    to.input("scale", -1, 1, 4)
    points, strides = [], []
    for i, stride in enumerate(STRIDES):
        side = IMAGE // stride
        rows, columns = np.indices((side, side)) + 0.5
        points.append(np.stack([columns, rows], -1).reshape(-1, 2))
        strides.append(np.full((side * side, 1), stride))
        code = to.input(f"code_{i}", -1, 4 * STEPS, side, side)
        logit = to.input(f"logit_{i}", -1, CLASSES, side, side)
        to.add("reshape2", f"rows_{i}", {"x": code}, shape=[-1, 4, STEPS, side * side])
        to.add("transpose2", f"steps_{i}", {"x": f"rows_{i}"}, perm=[0, 2, 3, 1])
        to.add("softmax", f"shares_{i}", {"x": f"steps_{i}"}, axis=1)
        to.weight("steps", np.arange(STEPS).reshape(1, STEPS, 1, 1))
        to.add(
            "conv2d", f"mean_{i}", {"input": f"shares_{i}", "filter": "steps"}, strides=[1, 1], paddings=[0, 0],
            padding_algorithm="EXPLICIT", dilations=[1, 1], groups=1, data_format="NCHW",
        )  # fmt: skip
        to.add("squeeze2", f"distance_{i}", {"x": f"mean_{i}"}, axis=[1])
        to.add("sigmoid", f"score_{i}", {"x": logit})
        to.add("reshape2", f"scores_{i}", {"x": f"score_{i}"}, shape=[-1, CLASSES, side * side])
    to.add("concat", "scores", {"x": [f"scores_{i}" for i in range(3)]}, axis=-1)
    to.add("concat", "distance", {"x": [f"distance_{i}" for i in range(3)]}, axis=1)
    to.weight("points", np.concatenate(points))
    to.weight("strides", np.concatenate(strides))
    to.add("split", {"out": ["low", "high"]}, {"x": "distance"}, num=2, sections=[], axis=-1)
    to.add("scale", "minus", {"x": "low"}, scale=-1.0, bias=0.0, bias_after_scale=True)
    to.add("elementwise_add", "first", {"x": "minus", "y": "points"}, axis=-1)
    to.add("elementwise_add", "second", {"x": "high", "y": "points"}, axis=-1)
    to.add("concat", "corners", {"x": ["first", "second"]}, axis=-1)
    to.add("elementwise_mul", "pixels", {"x": "corners", "y": "strides"}, axis=-1)
    to.add("elementwise_div", "boxes", {"x": "pixels", "y": "scale"}, axis=-1)
    return to.suppressed(score_threshold=0.01, nms_top_k=1000, keep_top_k=300, nms_threshold=0.7, normalized=True)


def _ppyoloe_feeds(objects: int, batch: int, size: float) -> Feeds:
    rng, chosen = _objects(sum(CELLS), objects, batch)
    feeds: Feeds = {"scale": np.full((batch, 1, 4), 0.5, np.float32)}
    for i, mask in enumerate(np.split(chosen, np.cumsum(CELLS)[:-1], 1)):
        code = rng.normal(0, 1, (batch, 4, STEPS, CELLS[i])) - np.arange(STEPS)[:, None] * (0.5 / size)
        logit = np.full((batch, CLASSES, CELLS[i]), -7.0) + rng.normal(0, 0.5, (batch, CLASSES, CELLS[i]))
        label = rng.integers(0, CLASSES, (batch, 1, CELLS[i]))
        np.put_along_axis(logit, label, np.where(mask[:, None], rng.normal(0, 1.5, label.shape), -7), 1)
        side = IMAGE // STRIDES[i]
        feeds[f"code_{i}"] = code.reshape(batch, -1, side, side).astype(np.float32)
        feeds[f"logit_{i}"] = logit.reshape(batch, -1, side, side).astype(np.float32)
    return feeds


# --- SSD --------------------------------------------------------------------------------------------------------------

SIDES = (76, 38, 19, 10, 5, 3)
PRIORS = (4, 6, 6, 6, 4, 4)
COUNTS = [side * side * priors for side, priors in zip(SIDES, PRIORS, strict=True)]


def _ssd() -> Program:
    to = _Writer()
    priors = []
    for i, (side, count) in enumerate(zip(SIDES, PRIORS, strict=True)):
        rows, columns = (np.indices((side, side)) + 0.5) / side
        half = np.linspace(0.6, 1.6, count) / side
        middle = np.stack([columns, rows], -1).reshape(-1, 1, 2)
        priors.append(np.concatenate([middle - half[:, None], middle + half[:, None]], -1).reshape(-1, 4))
        for kind, width in (("code", 4), ("logit", CLASSES + 1)):
            to.input(f"{kind}_{i}", -1, count * width, side, side)
            to.add("transpose2", f"{kind}_last_{i}", {"x": f"{kind}_{i}"}, perm=[0, 2, 3, 1])
            to.add("reshape2", f"{kind}_rows_{i}", {"x": f"{kind}_last_{i}"}, shape=[0, -1, width])
    levels = range(len(SIDES))
    to.add("concat", "codes", {"x": [f"code_rows_{i}" for i in levels]}, axis=1)
    to.add("concat", "logits", {"x": [f"logit_rows_{i}" for i in levels]}, axis=1)
    to.weight("priors", np.concatenate(priors))
    to.add(
        "box_coder", {"output_box": "boxes"}, {"prior_box": "priors", "target_box": "codes"},
        variance=[0.1, 0.1, 0.2, 0.2], code_type="decode_center_size", box_normalized=True, axis=0,
    )  # fmt: skip
    to.add("softmax", "shares", {"x": "logits"}, axis=-1)
    to.add("transpose2", "scores", {"x": "shares"}, perm=[0, 2, 1])
    return to.suppressed(
        score_threshold=0.01, nms_top_k=400, keep_top_k=200, nms_threshold=0.45, normalized=True,
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
    "yolov3": Head(3 * sum(CELLS), _yolo, _yolo_feeds),
    "ppyoloe": Head(sum(CELLS), _ppyoloe, _ppyoloe_feeds),
    "ssd": Head(sum(COUNTS), _ssd, _ssd_feeds),
}
