"""A classifier: train a small network in Paddle, then read, convert and run it where Paddle is not even imported.

1. trains a convolutional network on scikit-learn's handwritten digits and exports it as a PIR model (inference.json),
2. lets Paddle's own inference engine classify the digits that were held back,
3. in a new process without Paddle: converts the model with paddle2ov, classifies the same digits with OpenVINO,
4. prints both side by side, and fails when they disagree.

Run it with `python examples/digits.py [folder to keep the model in]`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import stages

EPOCHS = 12
BATCH = 64
REPEATS = 50
TOLERANCE = 1e-5  # of a probability


def train(folder: Path) -> None:
    """Train, export to `folder`, and record what Paddle predicts for the held-back digits."""
    import paddle
    from paddle import nn

    paddle.seed(2026)
    paddle.set_device("cpu")
    train_images, test_images, train_labels, test_labels = stages.handwritten_digits()
    train_images, test_images = train_images[:, None], test_images[:, None]

    network = nn.Sequential(
        *(nn.Conv2D(1, 32, 3, padding=1), nn.BatchNorm2D(32), nn.ReLU(), nn.MaxPool2D(2)),
        *(nn.Conv2D(32, 64, 3, padding=1), nn.BatchNorm2D(64), nn.Hardswish(), nn.AdaptiveAvgPool2D(2)),
        *(nn.Flatten(), nn.Linear(256, 64), nn.GELU(), nn.Dropout(0.2), nn.Linear(64, 10), nn.Softmax()),
    )
    optimizer = paddle.optimizer.Adam(2e-3, parameters=network.parameters())
    shuffle = np.random.default_rng(2026)

    started = perf_counter()
    for _ in range(EPOCHS):
        order = shuffle.permutation(len(train_images))
        for first in range(0, len(order), BATCH):
            batch = order[first : first + BATCH]
            probabilities = network(paddle.to_tensor(train_images[batch]))
            expected = paddle.to_tensor(train_labels[batch])
            loss = nn.functional.cross_entropy(probabilities, expected, use_softmax=False)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
    print(f"Trained    on {len(train_images)} digits, {EPOCHS} epochs, in {perf_counter() - started:.1f} s")

    network.eval()
    image = paddle.static.InputSpec([None, 1, 8, 8], "float32", name="image")
    paddle.jit.save(network, str(folder / "inference"), input_spec=[image])
    sizes = ", ".join(
        f"{file.name} ({file.stat().st_size / 1024:.0f} kB)" for file in sorted(folder.glob("inference.*"))
    )
    print(f"Exported   {sizes}")

    config = paddle.inference.Config(str(folder / "inference.json"), str(folder / "inference.pdiparams"))
    config.disable_glog_info()
    predictor = paddle.inference.create_predictor(config)
    milliseconds, predictions = best_time(lambda: predictor.run([paddle.to_tensor(test_images)])[0].numpy())
    np.savez(
        folder / "paddle.npz",
        version=paddle.__version__,
        images=test_images,
        labels=test_labels,
        predictions=predictions,
        milliseconds=milliseconds,
    )


def deploy(folder: Path) -> bool:
    """Convert and run the model without Paddle; print the comparison; tell whether the two agree."""
    import openvino

    from paddle2ov import convert

    started = perf_counter()
    model = convert(folder)
    seconds = perf_counter() - started
    openvino.save_model(model, folder / "digits.xml", compress_to_fp16=False)
    assert "paddle" not in sys.modules, "converting a saved model must not import Paddle"
    operations = len(model.get_ordered_ops())
    print(f"Converted  to {operations} OpenVINO nodes in {seconds * 1000:.0f} ms, without Paddle in the process\n")

    paddle = np.load(folder / "paddle.npz")
    images, labels = paddle["images"], paddle["labels"]
    # Full precision, so that the difference shown is not that of bfloat16, the default on some CPUs.
    compiled = openvino.compile_model(folder / "digits.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    milliseconds, predictions = best_time(lambda: compiled(images)[0])

    def row(name: str, predicted: Any, time: float) -> None:
        right = int((predicted.argmax(axis=1) == labels).sum())
        print(f"{name:<22}{right:>5} of {len(labels)}{right / len(labels):>10.2%}{time:>17.2f} ms")

    print(f"{len(labels)} held-back digits{'right':>14}{'accuracy':>10}{'time for all':>20}")
    row(f"Paddle {paddle['version']}", paddle["predictions"], float(paddle["milliseconds"]))
    row(f"OpenVINO {openvino.__version__.split('-')[0]}", predictions, milliseconds)

    difference = float(np.abs(predictions - paddle["predictions"]).max())
    same = int((predictions.argmax(axis=1) == paddle["predictions"].argmax(axis=1)).sum())
    print(f"\nSame digit for {same} of {len(labels)}; largest difference of a probability: {difference:.1e}")
    return same == len(labels) and difference <= TOLERANCE


def best_time(run: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds of the fastest of some runs, and the result."""
    times = []
    for _ in range(REPEATS):
        started = perf_counter()
        result = run()
        times.append(perf_counter() - started)
    return min(times) * 1000, result


if __name__ == "__main__":
    sys.exit(stages.run(train, deploy))
