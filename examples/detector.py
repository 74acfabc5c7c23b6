"""A detector with the post-processing of YOLO, decoded where boxes are suppressed.

1. trains a one-stage network that finds scikit-learn's digits, pasted anywhere on a canvas of 64 x 64,
2. exports it as detectors are exported: `yolo_box` and `multiclass_nms3` are part of the model,
3. in a new process without Paddle: converts it, shows what the conversion made of the post-processing, and compares
   boxes, classes and counts with Paddle's, in batches and canvas sizes that differ from call to call.

Run it with `python examples/detector.py [folder to keep the model in]`; it needs the `test` extra (Paddle).
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import stages
from stages import Array

STEPS = 220
BATCH = 16
SIZE = 64
DIGIT = 16  # pixels: the digits are drawn at twice their size
ANCHORS = [16, 16]
CLASSES = 10
TOLERANCE = 1e-3  # of a score, and of a pixel


def canvases(images: Array, labels: Array, count: int, size: int, random: Any) -> tuple[Array, Array, Array]:
    """Pictures [count, 1, size, size] with up to four digits in cells of their own, and the boxes and classes of these.

    Boxes [count, 4, 4] are relative centres and sizes, zeros where there is none; classes are [count, 4].
    """
    pictures = np.zeros((count, 1, size, size), np.float32)
    boxes, classes = np.zeros((count, 4, 4), np.float32), np.zeros((count, 4), np.int32)
    half = size // 2
    for i in range(count):
        for k in range(4):
            if random.random() < 0.3:
                continue
            digit = random.integers(len(images))
            x = k % 2 * half + random.integers(half - DIGIT + 1)
            y = k // 2 * half + random.integers(half - DIGIT + 1)
            pictures[i, 0, y : y + DIGIT, x : x + DIGIT] = np.kron(images[digit], np.ones((2, 2)))
            boxes[i, k] = [(x + DIGIT / 2) / size, (y + DIGIT / 2) / size, DIGIT / size, DIGIT / size]
            classes[i, k] = labels[digit]
    return pictures, boxes, classes


def train(folder: Path) -> None:
    """Train, export to `folder`, and record what Paddle finds."""
    import paddle
    from paddle import nn

    def block(inputs: int, outputs: int, stride: int) -> Any:
        convolution = nn.Conv2D(inputs, outputs, 3, stride, padding=1, bias_attr=False)
        return nn.Sequential(convolution, nn.BatchNorm2D(outputs), nn.ReLU())

    class Detector(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.backbone = nn.Sequential(
                block(1, 16, 2), block(16, 32, 2), block(32, 64, 2), block(64, 64, 1), block(64, 64, 1)
            )
            self.head = nn.Conv2D(64, len(ANCHORS) // 2 * (5 + CLASSES), 1)

        def forward(self, image: Any, im_size: Any) -> Any:
            head = self.head(self.backbone(image))
            if self.training:
                return head
            boxes, scores = paddle.vision.ops.yolo_box(
                head, im_size, anchors=ANCHORS, class_num=CLASSES, conf_thresh=0.05, downsample_ratio=8
            )
            scores = scores.transpose([0, 2, 1])
            # Detection toolkits call the operator just so; Paddle has no public function for it. Its attributes:
            # score_threshold, nms_top_k, keep_top_k, nms_threshold, normalized, nms_eta, background_label.
            found, _, count = paddle._C_ops.multiclass_nms3(boxes, scores, None, 0.3, 100, 20, 0.45, False, 1.0, -1)
            return found, count

    paddle.seed(7)
    paddle.set_device("cpu")
    random = np.random.default_rng(7)
    train_images, test_images, train_labels, test_labels = stages.handwritten_digits()

    network = Detector()
    optimizer = paddle.optimizer.Adam(4e-3, parameters=network.parameters())
    started = perf_counter()
    for _ in range(STEPS):
        pictures, boxes, classes = canvases(train_images, train_labels, BATCH, SIZE, random)
        head = network(paddle.to_tensor(pictures), None)
        loss = paddle.vision.ops.yolo_loss(
            head,
            paddle.to_tensor(boxes),
            paddle.to_tensor(classes),
            anchors=ANCHORS,
            anchor_mask=[0],
            class_num=CLASSES,
            ignore_thresh=0.7,
            downsample_ratio=8,
            use_label_smooth=False,
        ).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    print(f"Trained    {STEPS} batches of {BATCH} canvases in {perf_counter() - started:.1f} s")

    network.eval()
    image = paddle.static.InputSpec([None, 1, None, None], "float32", name="image")
    im_size = paddle.static.InputSpec([None, 2], "int32", name="im_size")
    paddle.jit.save(network, str(folder / "inference"), input_spec=[image, im_size])
    config = paddle.inference.Config(str(folder / "inference.json"), str(folder / "inference.pdiparams"))
    config.disable_glog_info()
    predictor = paddle.inference.create_predictor(config)
    record: dict[str, Any] = {}
    for i, (count, size) in enumerate([(1, 64), (8, 64), (4, 96)]):
        pictures, truth, _ = canvases(test_images, test_labels, count, size, random)
        sizes = np.full((count, 2), size, np.int32)
        found, counts = predictor.run([paddle.to_tensor(pictures), paddle.to_tensor(sizes)])
        record |= {f"image{i}": pictures, f"im_size{i}": sizes, f"found{i}": found.numpy(), f"count{i}": counts.numpy()}
        record[f"digits{i}"] = np.asarray((truth[..., 2] > 0).sum())
    np.savez(folder / "paddle.npz", **record)


def deploy(folder: Path) -> bool:
    """Convert, run, compare; tell whether boxes, scores, order and counts are Paddle's."""
    import openvino

    from paddle2ov import ConversionReport, convert

    report = ConversionReport()
    model = convert(folder, report=report)
    assert "paddle" not in sys.modules, "converting a saved model must not import Paddle"
    print(f"Converted  in {sum(report.seconds.values()) * 1000:.0f} ms, without Paddle in the process")
    print(f"Gathered   {report.rewrites['gather_pushdown']}\n")
    compiled = openvino.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    paddle = np.load(folder / "paddle.npz")

    print("canvases        digits   boxes: Paddle  OpenVINO   largest difference")
    agree = True
    for i in range(3):
        results = compiled({"image": paddle[f"image{i}"], "im_size": paddle[f"im_size{i}"]})
        found, counts = results[0], results[1]
        expected = paddle[f"found{i}"]
        same = found.shape == expected.shape and bool((counts == paddle[f"count{i}"]).all())
        difference = float(np.abs(found - expected).max()) if same and found.size else 0.0
        agree &= same and difference <= TOLERANCE
        canvas = "{} of {} x {}".format(len(paddle[f"image{i}"]), *paddle[f"image{i}"].shape[2:])
        print(f"{canvas:<15} {int(paddle[f'digits{i}']):6} {len(expected):15} {len(found):9} {difference:20.1e}")
    print(f"\n{'Same boxes everywhere' if agree else 'The boxes differ'}")
    return agree


if __name__ == "__main__":
    sys.exit(stages.run(train, deploy))
