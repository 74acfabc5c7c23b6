"""Videos, of PaddleVideo."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tools.paddlex_campaign.exporters.types import Exported, Shape


def export_video(folder: Path, path: Path, changes: Mapping[str, Any]) -> Exported:
    import paddle
    import yaml

    from gen_models.harness.network import condition
    from tools.paddlex_campaign.sources import without_pretrained

    sys.path.insert(0, str(folder))
    from paddlevideo.modeling.builder import build_model
    from paddlevideo.utils.config import AttrDict, create_attr_dict

    config = without_pretrained(yaml.safe_load(path.read_text(encoding="utf-8")))
    config = AttrDict(config)
    create_attr_dict(config)
    network, told = config["MODEL"], config["INFERENCE"]
    model = build_model(network)
    model.eval()
    for sublayer in model.sublayers():  # Paddle 3 has no leaky_relu for its old batch norm
        if getattr(sublayer, "_act", None) == "leaky_relu":
            sublayer._act = None
            sublayer.register_forward_post_hook(
                lambda layer, given, result: paddle.nn.functional.leaky_relu(result, 0.02)
            )
    frames, size = told["num_seg"], told["target_size"]
    is_localizer = network["framework"] == "YOWOLocalizer"
    shape: Shape = (1, 3, frames, size, size) if is_localizer else (1, frames, 3, size, size)

    class Layer(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.net = model

        def forward(self, x: Any) -> Any:
            return self.net.forward_net(x)

    layer = Layer()
    layer.eval()
    condition(layer, [paddle.to_tensor(np.random.default_rng(0).standard_normal(shape, np.float32))])
    declared: list[int | None] = list(shape) if is_localizer else [None, *shape[1:]]
    return Exported(layer, [paddle.static.InputSpec(declared, "float32", "x")], {"x": shape})
