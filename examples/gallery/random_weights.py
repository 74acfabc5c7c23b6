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
    """Features of a picture, and a decoder that gives a tag and four corners a step."""
    folder = FOLDER / "table"
    if (folder / "inference.json").exists():
        return folder
    import paddle

    from gen_models.networks.generation import table_decoder

    nn = paddle.nn

    class Table(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.features = nn.Sequential(
                *(nn.Conv2D(3, 8, 3, 2, 1), nn.Hardswish(), nn.Conv2D(8, 16, 3, 4, 1), nn.Hardswish())
            )
            self.decoder = table_decoder(24, 16, STEPS, TAGS)

        def forward(self, x: Any) -> Any:
            tags, corners = self.decoder(self.features(x))
            return corners, tags

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
