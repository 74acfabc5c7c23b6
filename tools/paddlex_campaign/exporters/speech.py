"""Speech, of PaddleSpeech."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tools.paddlex_campaign.exporters.types import Exported

PHONES, MELS = 268, 80


def export_speech(folder: Path, path: Path, changes: Mapping[str, Any]) -> Exported:
    import yaml

    from tools.paddlex_campaign.sources import import_without_init

    models = "paddlespeech.t2s.models"
    for package in ("paddlespeech", "paddlespeech.t2s", "paddlespeech.t2s.modules", models):
        import_without_init(folder, package)
    for package in ("fastspeech2", "parallel_wavegan"):
        import_without_init(folder, f"{models}.{package}")
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    return _vocoder(config["generator_params"]) if "generator_params" in config else _acoustic(config["model"])


def _acoustic(options: Mapping[str, Any]) -> Exported:
    """Each phone lasts for a few frames; random weights would give none to most."""
    import paddle
    from paddlespeech.t2s.modules import masked_fill as module

    def masked_fill(x: Any, mask: Any, value: float) -> Any:
        """Without the comparison of dimensions, which Paddle 3 does not trace."""
        return paddle.where(mask.cast("bool"), paddle.full_like(x, value), x)

    module.masked_fill = masked_fill
    from paddlespeech.t2s.models.fastspeech2.fastspeech2 import FastSpeech2

    model = FastSpeech2(idim=PHONES, odim=MELS, **options)
    model.duration_predictor.linear.bias.set_value(paddle.full([1], 1.2))

    class Layer(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.net = model

        def forward(self, text: Any) -> Any:
            return self.net.inference(text)[0]

    layer = Layer()
    layer.eval()
    text = np.random.default_rng(0).integers(1, PHONES, [16])
    return Exported(layer, [paddle.static.InputSpec([-1], "int64", "text")], {"text": text})


def _vocoder(options: Mapping[str, Any]) -> Exported:
    import paddle
    from paddlespeech.t2s.models.parallel_wavegan.parallel_wavegan import PWGGenerator

    model = PWGGenerator(**options)
    model.remove_weight_norm()

    class Layer(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.net = model

        def forward(self, logmel: Any) -> Any:
            return self.net.inference(logmel)

    def wave(shape: Any) -> Any:
        """In the place of noise, which is different in each run."""
        return paddle.sin(paddle.arange(shape[2], dtype="float32") * 7.0).reshape([1, 1, -1])

    paddle.randn = wave
    layer = Layer()
    layer.eval()
    return Exported(layer, [paddle.static.InputSpec([-1, MELS], "float32", "logmel")], {"logmel": (12, MELS)})
