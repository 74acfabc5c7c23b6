"""Detectors whose boxes are decoded by many operators before they are suppressed, as PaddleDetection exports them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gen_models.harness.building import conv_norm, is_pir, layer_of, legacy_op, multiclass_nms3
from gen_models.harness.network import Network
from gen_models.harness.spec import paddle, tensor

_CLASSES = 4
_STRIDES = (8, 16, 32)


def _backbone():
    nn = paddle.nn
    return {
        "stem": nn.Sequential(conv_norm(3, 8, 2), conv_norm(8, 16, 2)),
        "down": nn.LayerList([conv_norm(16, 16, 2) for _ in _STRIDES]),
    }


def _features(self: Any, image: Any) -> list[Any]:
    x, features = self.stem(image), []
    for down in self.down:
        x = down(x)
        features.append(x)
    return features


def _to_original(boxes, scale_factor):
    scale_y, scale_x = paddle.split(scale_factor, 2, axis=-1)
    return boxes / paddle.concat([scale_x, scale_y, scale_x, scale_y], axis=-1).reshape([-1, 1, 4])


def _corners(points, distance):
    low, high = paddle.split(distance, 2, -1)
    return paddle.concat([-low + points, high + points], -1)


# --- PP-YOLOE: distances as distributions over 17 steps, a product of the softmax with those ---

_STEPS = 17


def _ppyoloe_parts(shared):
    nn = paddle.nn
    steps = nn.Conv2D(_STEPS, 1, 1, bias_attr=False)
    steps.weight.set_value(np.arange(_STEPS, dtype="float32").reshape([1, _STEPS, 1, 1]))
    return {
        **_backbone(),
        "score": nn.LayerList([nn.Conv2D(16, _CLASSES, 3, padding=1) for _ in _STRIDES]),
        "distance": nn.LayerList([nn.Conv2D(16, 4 * _STEPS, 3, padding=1) for _ in _STRIDES]),
        "steps": steps,
        "shared": shared,  # whether each level is decoded by itself
    }


def _grid(height, width, stride):
    """The middles of the cells [height, width, 2], in cells."""
    columns, rows = paddle.arange(end=width) + 0.5, paddle.arange(end=height) + 0.5
    rows, columns = paddle.meshgrid(rows, columns)
    return paddle.cast(paddle.stack([columns, rows], axis=-1), "float32")


def _ppyoloe(self, image, scale_factor):
    functional = paddle.nn.functional
    scores, distances, points, strides = [], [], [], []
    for i, feature in enumerate(_features(self, image)):
        _, _, h, w = feature.shape
        length = h * w
        points.append(_grid(h, w, _STRIDES[i]).reshape([-1, 2]))
        strides.append(paddle.full([length, 1], _STRIDES[i], dtype="float32"))
        distance = self.distance[i](feature).reshape([-1, 4, _STEPS, length]).transpose([0, 2, 3, 1])
        distance = functional.softmax(distance, axis=1)
        distances.append(self.steps(distance).squeeze(1) if self.shared else distance)
        scores.append(functional.sigmoid(self.score[i](feature)).reshape([-1, _CLASSES, length]))
    distance = paddle.concat(distances, axis=1 if self.shared else 2)
    if not self.shared:
        distance = self.steps(distance).squeeze(1)
    boxes = _corners(paddle.concat(points), distance) * paddle.concat(strides)
    return multiclass_nms3(_to_original(boxes, scale_factor), paddle.concat(scores, axis=-1), score_threshold=0.965)


# --- PicoDet: the same with rows of a matrix; scores that are the root of a product, or, as GFL's, a sigmoid alone ---


def _picodet_parts(aligned=True):
    nn = paddle.nn
    return {
        **_backbone(),
        "score": nn.LayerList([nn.Conv2D(16, _CLASSES, 1) for _ in _STRIDES]),
        "aligned": nn.LayerList([nn.Conv2D(16, 1, 5, padding=2) for _ in _STRIDES]) if aligned else None,
        "distance": nn.LayerList([nn.Conv2D(16, 4 * 8, 1) for _ in _STRIDES]),
    }


def _picodet(self, image, scale_factor):
    functional = paddle.nn.functional
    scores, boxes = [], []
    for i, feature in enumerate(_features(self, image)):
        if self.aligned is None:
            score = functional.sigmoid(self.score[i](feature).transpose([0, 2, 3, 1]))
        else:
            score = functional.sigmoid(self.score[i](feature)) * functional.sigmoid(self.aligned[i](feature))
            score = (score + 1e-9).sqrt().transpose([0, 2, 3, 1])
        batch, h, w, _ = paddle.shape(score)
        scores.append(score.reshape([batch, -1, _CLASSES]))
        distance = self.distance[i](feature).transpose([0, 2, 3, 1])
        points = (_grid(h, w, _STRIDES[i]) * _STRIDES[i]).reshape([-1, 2])
        distance = functional.softmax(distance.reshape([-1, 8]), axis=1)
        distance = functional.linear(distance, paddle.linspace(0, 7, 8).reshape([8, 1]))
        distance = distance.reshape([batch, h * w, 4]) * _STRIDES[i]
        boxes.append(_corners(points, distance))
    return multiclass_nms3(
        _to_original(paddle.concat(boxes, axis=1), scale_factor),
        paddle.concat(scores, axis=1).transpose([0, 2, 1]),
        score_threshold=0.87,
    )


# --- SSD: columns of codes and priors, in pixels of the original image ---


def _ssd_parts():
    nn = paddle.nn
    return {
        **_backbone(),
        "score": nn.LayerList([nn.Conv2D(16, 4 * (_CLASSES + 1), 3, padding=1) for _ in _STRIDES]),
        "code": nn.LayerList([nn.Conv2D(16, 4 * 4, 3, padding=1) for _ in _STRIDES]),
    }


def _ssd(self, image, im_shape, scale_factor):
    functional = paddle.nn.functional
    boxes, scores = [], []
    height = paddle.unsqueeze(im_shape[:, 0] / scale_factor[:, 0], axis=-1)
    width = paddle.unsqueeze(im_shape[:, 1] / scale_factor[:, 1], axis=-1)
    for i, feature in enumerate(_features(self, image)):
        prior, _ = paddle.vision.ops.prior_box(
            feature, image, [12.0 * (i + 1)], [24.0 * (i + 1)], [2.0], flip=True, clip=True
        )
        prior = paddle.reshape(prior, [-1, 4])
        code = paddle.reshape(paddle.transpose(self.code[i](feature), [0, 2, 3, 1]), [0, -1, 4])
        scores.append(paddle.reshape(paddle.transpose(self.score[i](feature), [0, 2, 3, 1]), [0, -1, _CLASSES + 1]))
        prior_w, prior_h = prior[:, 2] - prior[:, 0], prior[:, 3] - prior[:, 1]
        prior_x, prior_y = prior[:, 0] + prior_w * 0.5, prior[:, 1] + prior_h * 0.5
        x, y = prior_x + code[:, :, 0] * prior_w * 0.1, prior_y + code[:, :, 1] * prior_h * 0.1
        w, h = paddle.exp(code[:, :, 2] * 0.2) * prior_w, paddle.exp(code[:, :, 3] * 0.2) * prior_h
        corners = [(x - w / 2.0) * width, (y - h / 2.0) * height, (x + w / 2.0) * width, (y + h / 2.0) * height]
        boxes.append(paddle.stack(corners, axis=-1))
    return multiclass_nms3(
        paddle.concat(boxes, axis=1),
        functional.softmax(paddle.concat(scores, axis=1)).transpose([0, 2, 1]),
        score_threshold=0.7,
        nms_threshold=0.45,
        background_label=_CLASSES,
    )


# --- PP-YOLO: heads that know their overlap, scores that decay ---

_ANCHORS = [[116, 90, 156, 198], [30, 61, 62, 45], [10, 13, 16, 30]]


def _ppyolo_parts():
    nn = paddle.nn
    return {**_backbone(), "head": nn.LayerList([nn.Conv2D(16, 2 * (6 + _CLASSES), 1) for _ in _STRIDES])}


def _matrix_nms(boxes, scores, **attributes):
    if is_pir() or paddle.in_dynamic_mode():
        out, count, _ = paddle.vision.ops.matrix_nms(boxes, scores, **attributes, return_index=True)
        return out, count
    outputs = {"Out": boxes.dtype, "Index": "int32", "RoisNum": "int32"}
    out, _, count = legacy_op("matrix_nms", {"BBoxes": boxes, "Scores": scores}, outputs, attributes)
    return out, count


def _ppyolo(self, image, im_shape, scale_factor):
    original = paddle.cast(paddle.round(im_shape / scale_factor), "int32")
    boxes, scores = [], []
    for i, feature in enumerate(_features(self, image)[::-1]):
        box, score = paddle.vision.ops.yolo_box(
            self.head[i](feature), original, _ANCHORS[i], _CLASSES, 0.2, _STRIDES[2 - i],
            scale_x_y=1.05, iou_aware=True, iou_aware_factor=0.4,
        )  # fmt: skip
        boxes.append(box)
        scores.append(paddle.transpose(score, [0, 2, 1]))
    return _matrix_nms(
        paddle.concat(boxes, axis=1),
        paddle.concat(scores, axis=2),
        score_threshold=0.5,
        post_threshold=0.05,
        nms_top_k=-1,
        keep_top_k=60,
        use_gaussian=False,
        gaussian_sigma=2.0,
        background_label=-1,
        normalized=False,
    )


def _inputs(n, h=64, w=96, shape=False, fixed=False):
    """Images, their sizes if the network reads them, and how much they were resized by."""
    scales = [[0.5 + 0.1 * i, 0.8 - 0.1 * i] for i in range(n)]
    return {
        "image": tensor([n, 3, h, w], dims=[-1, 3, h, w] if fixed else [-1, 3, -1, -1]),
        **({"im_shape": tensor([n, 2], values=[[h, w]] * n, dims=[-1, 2])} if shape else {}),
        "scale_factor": tensor([n, 2], values=scales, dims=[-1, 2]),
    }


def _detector(name: str, forward: Any, parts: Any, **options: bool) -> Network:
    first, other = _inputs(2, **options), _inputs(1, **options) if "fixed" in options else _inputs(1, 96, 64, **options)
    return Network(name, layer_of(forward, parts), first, more=[other])


NETWORKS = [
    _detector("ppyoloe", _ppyoloe, lambda: _ppyoloe_parts(True)),
    _detector("ppyoloe_fixed", _ppyoloe, lambda: _ppyoloe_parts(False), fixed=True),
    _detector("picodet", _picodet, _picodet_parts),
    _detector("gfl", _picodet, lambda: _picodet_parts(False)),
    _detector("picodet_fixed", _picodet, _picodet_parts, fixed=True),
    _detector("ssd_in_pixels", _ssd, _ssd_parts, shape=True, fixed=True),
    _detector("ppyolo", _ppyolo, _ppyolo_parts, shape=True),
]
