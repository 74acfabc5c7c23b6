"""Small networks for the gallery where no trained model is given: exported by Paddle, with random weights."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".cache" / "gallery"
STEPS, TAGS = 12, 9


def export(name: str) -> Path:
    """The folder of a network of gen_models/networks, or of `table`."""
    print(f"({name}: random weights, so that the results mean nothing)")
    os.environ.setdefault("GLOG_minloglevel", "3")
    sys.path.insert(0, str(ROOT))
    from gen_models import all_networks
    from gen_models.harness.store import generated_network

    return _table() if name == "table" else generated_network(all_networks()[name], "pir")


def _table() -> Path:
    """Attention over a picture's columns and rows and a recurrent cell, which give a tag and four corners a step."""
    folder = FOLDER / "table"
    if (folder / "inference.json").exists():
        return folder
    import paddle

    nn = paddle.nn

    class Table(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.features = nn.Sequential(
                *(nn.Conv2D(3, 8, 3, 2, 1), nn.Hardswish(), nn.Conv2D(8, 16, 3, 4, 1), nn.Hardswish())
            )
            self.key, self.query, self.score = nn.Linear(16, 16), nn.Linear(24, 16), nn.Linear(16, 1)
            self.cell = nn.GRUCell(16 + TAGS, 24)
            self.tag, self.corners = nn.Linear(24, TAGS), nn.Linear(24, 8)

        def forward(self, x: Any) -> Any:
            features = self.features(x).flatten(2).transpose([0, 2, 1])
            state = paddle.zeros([x.shape[0], 24])
            tag = paddle.zeros([x.shape[0], TAGS])
            tags, corners = [], []
            for _ in range(STEPS):
                energies = self.score(paddle.tanh(self.key(features) + self.query(state).unsqueeze(1)))
                seen = (nn.functional.softmax(energies, axis=1) * features).sum(axis=1)
                _, state = self.cell(paddle.concat([seen, tag], axis=1), state)
                tags.append(nn.functional.softmax(self.tag(state)))
                corners.append(nn.functional.sigmoid(self.corners(state)))
                tag = nn.functional.one_hot(tags[-1].argmax(axis=1), TAGS)
            return paddle.stack(corners, axis=1), paddle.stack(tags, axis=1)

    paddle.seed(0)
    network = Table()
    network.eval()
    spec = paddle.static.InputSpec([None, 3, 64, 64], "float32", name="x")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
        paddle.jit.save(network, f"{unfinished}/table/inference", input_spec=[spec])
        with suppress(OSError):  # another process was faster
            Path(unfinished, "table").rename(folder)
    return folder
