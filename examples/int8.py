"""A converted model in int8: post-training quantization by NNCF, with the accuracy before and after.

1. trains the digits network of `digits.py` in Paddle,
2. in a new process without Paddle: converts it, quantizes it with NNCF on 300 of the training digits, and compares
   accuracy, the type that the convolutions run in, and the size of the saved weights.

Run it with `python examples/int8.py [folder]`; it needs the `test` extra (Paddle) and `nncf`.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

import digits
import numpy as np
import stages

LOSS = 0.01  # of accuracy, at most


def train(folder: Path) -> None:
    """The network of the first example, and some digits to calibrate with."""
    digits.train(folder)
    np.save(folder / "calibration.npy", stages.handwritten_digits()[0][:300, None])


def deploy(folder: Path) -> bool:
    """Convert, quantize, compare; tell whether int8 keeps the accuracy and is what the convolutions run in."""
    import openvino

    logging.disable(logging.INFO)  # NNCF's, of every step
    import nncf

    from paddle2ov import convert, workarounds
    from paddle2ov.quantization import ignored_scope

    model = convert(folder, share_weights=False)  # NNCF edits weights in place
    assert "paddle" not in sys.modules, "converting a saved model must not import Paddle"
    calibration = nncf.Dataset([image[None] for image in np.load(folder / "calibration.npy")])
    quantized = nncf.quantize(model, calibration, subset_size=300, ignored_scope=ignored_scope(model))
    workarounds.apply(quantized)  # NNCF has changed the graph

    paddle = np.load(folder / "paddle.npz")
    rows = [("Paddle, float32", paddle["predictions"], "", 0)]
    for name, candidate in [("OpenVINO, float32", model), ("OpenVINO, int8", quantized)]:
        compiled = openvino.compile_model(candidate, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        openvino.save_model(candidate, folder / "candidate.xml", compress_to_fp16=False)
        rows.append(
            (
                name,
                compiled(paddle["images"])[0],
                ", ".join(sorted(set(convolutions(compiled)))),
                (folder / "candidate.bin").stat().st_size,
            )
        )

    print(f"\n{len(paddle['labels'])} held-back digits    accuracy   convolutions in   weights")
    accuracy = {}
    for name, predictions, types, size in rows:
        accuracy[name] = float((predictions.argmax(axis=1) == paddle["labels"]).mean())
        print(f"{name:<24} {accuracy[name]:7.2%}   {types:<16} {f'{size / 1024:6.0f} kB' if size else ''}")
    kept = accuracy["OpenVINO, float32"] - accuracy["OpenVINO, int8"] <= LOSS
    print(f"\nint8 {'keeps' if kept else 'loses'} the accuracy")
    return kept and rows[-1][2] in ("u8", "i8")


def convolutions(compiled: Any) -> list[str]:
    """The types in which the convolutions of the compiled model run."""
    nodes = (node.get_rt_info() for node in compiled.get_runtime_model().get_ordered_ops())
    return [
        str(info["runtimePrecision"].astype(str)) for info in nodes if info["layerType"].astype(str) == "Convolution"
    ]


if __name__ == "__main__":
    sys.exit(stages.run(train, deploy))
