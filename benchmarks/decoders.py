"""Exports a decoder of gen_models/networks/decoders.py in a size of use.

python -m benchmarks.decoders LAYERS WIDTH PREFIX
"""

from __future__ import annotations

import sys

import paddle

from gen_models.networks.decoders import decoder

WORDS = 50000


def export(layers: int, width: int, prefix: str) -> None:
    """Writes a decoder with random weights as a PIR program."""
    paddle.seed(7)
    model = decoder(layers, width, WORDS, heads=max(2, width // 64))
    model.eval()
    spec = [
        paddle.static.InputSpec([-1, -1, width], "float32", "features"),
        paddle.static.InputSpec([1], "int64", "limit"),
        paddle.static.InputSpec([-1, 1], "int64", "ends"),
    ]
    paddle.jit.save(paddle.jit.to_static(model, input_spec=spec, full_graph=True), prefix)


if __name__ == "__main__":
    export(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
