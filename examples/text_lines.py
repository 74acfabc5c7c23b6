"""A text recogniser with dynamic width: lines of handwritten digits of any length, as OCR models read words.

1. trains a small convolutional-recurrent network with CTC on lines made of scikit-learn's digits, two to six in a line,
2. exports it with batch and width dynamic, and lets Paddle read held-back lines of two to twelve digits,
3. in a new process without Paddle: converts it, compiles it once, and reads the same lines with OpenVINO at each width.

Run it with `python examples/text_lines.py [folder to keep the model in]`; it needs the `test` extra (Paddle).
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import stages
from stages import Array

STEPS = 180
BATCH = 32
LENGTHS = range(2, 13)
BLANK = 10
TOLERANCE = 1e-4  # of a probability


def lines(images: Array, labels: Array, count: int, length: int, random: np.random.Generator) -> tuple[Array, Array]:
    """`count` pictures of `length` digits in a row, [count, 1, 8, 8 * length], and the digits, [count, length]."""
    chosen = random.integers(0, len(images), (count, length))
    return images[chosen].transpose(0, 2, 1, 3).reshape(count, 1, 8, 8 * length), labels[chosen]


def texts(probabilities: Array) -> list[str]:
    """The most likely text of each line: repeated classes are one, blanks are dropped (CTC's greedy decoding)."""
    best = probabilities.argmax(axis=2)
    starts = np.concatenate([np.ones((len(best), 1), bool), best[:, 1:] != best[:, :-1]], axis=1)
    return ["".join(map(str, row[keep & (row != BLANK)])) for row, keep in zip(best, starts, strict=True)]


def train(folder: Path) -> None:
    """Train, export to `folder`, and record what Paddle reads in lines of several lengths."""
    import paddle
    from paddle import nn

    class Recogniser(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.features = nn.Sequential(
                *(nn.Conv2D(1, 32, 3, padding=1), nn.BatchNorm2D(32), nn.ReLU(), nn.MaxPool2D((2, 1), (2, 1))),
                *(nn.Conv2D(32, 48, 3, padding=1), nn.BatchNorm2D(48), nn.ReLU(), nn.MaxPool2D(2, 2)),
            )
            self.sequence = nn.LSTM(96, 48, direction="bidirect")
            self.classes = nn.Linear(96, BLANK + 1)

        def forward(self, image: Any) -> Any:
            columns = self.features(image).transpose([0, 3, 1, 2]).flatten(2)
            logits = self.classes(self.sequence(columns)[0])
            return logits if self.training else nn.functional.softmax(logits)

    paddle.seed(7)
    paddle.set_device("cpu")
    random = np.random.default_rng(7)
    train_images, test_images, train_labels, test_labels = stages.handwritten_digits()

    network = Recogniser()
    optimizer = paddle.optimizer.Adam(4e-3, parameters=network.parameters())
    started = perf_counter()
    for step in range(STEPS):
        x, y = lines(train_images, train_labels, BATCH, 2 + step % 5, random)
        logits = network(paddle.to_tensor(x)).transpose([1, 0, 2])
        steps, length = logits.shape[0], y.shape[1]
        loss = nn.functional.ctc_loss(
            logits,
            paddle.to_tensor(y.astype(np.int32)),
            paddle.full([BATCH], steps, "int64"),
            paddle.full([BATCH], length, "int64"),
            blank=BLANK,
        )
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    print(f"Trained    {STEPS} batches of {BATCH} lines in {perf_counter() - started:.1f} s")

    network.eval()
    image = paddle.static.InputSpec([None, 1, 8, None], "float32", name="image")
    paddle.jit.save(network, str(folder / "inference"), input_spec=[image])
    record: dict[str, Any] = {}
    for length in LENGTHS:
        x, y = lines(test_images, test_labels, 50, length, random)
        record[f"x{length}"], record[f"y{length}"] = x, y
        record[f"p{length}"] = network(paddle.to_tensor(x)).numpy()
    np.savez(folder / "paddle.npz", **record)


def deploy(folder: Path) -> bool:
    """Convert, compile once, read lines of every length; tell whether every text is the one that Paddle reads."""
    import openvino

    from paddle2ov import convert

    model = convert(folder)
    assert "paddle" not in sys.modules, "converting a saved model must not import Paddle"
    print(f"Converted  {model.input(0).any_name} {model.input(0).get_partial_shape()}, without Paddle in the process\n")
    compiled = openvino.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    paddle = np.load(folder / "paddle.npz")

    print("width   lines right: Paddle  OpenVINO   same text   largest difference")
    agree = True
    for length in LENGTHS:
        expected = paddle[f"p{length}"]
        computed = compiled(paddle[f"x{length}"])[0]
        truth = ["".join(map(str, row)) for row in paddle[f"y{length}"]]
        theirs, ours = texts(expected), texts(computed)
        right = [sum(a == b for a, b in zip(read, truth, strict=True)) for read in (theirs, ours)]
        same = sum(a == b for a, b in zip(theirs, ours, strict=True))
        difference = float(np.abs(expected - computed).max())
        agree &= same == len(truth) and difference <= TOLERANCE
        print(f"{8 * length:5} {right[0]:20} {right[1]:9} {same:5} of {len(truth)} {difference:20.1e}")
    print(f"\n{'Same text everywhere' if agree else 'The texts differ'}")
    return agree


if __name__ == "__main__":
    sys.exit(stages.run(train, deploy))
