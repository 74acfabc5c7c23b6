"""Models that are asked by a prompt, of PaddleMIX."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tools.paddlex_campaign.exporters.types import Exported


def export_mix(folder: Path, path: Path, changes: Mapping[str, Any]) -> Exported:
    from tools.paddlex_campaign.sources import import_without_init

    installed = importlib.util.find_spec("paddlenlp")
    if installed is None or installed.origin is None:
        raise ModuleNotFoundError("No module named 'paddlenlp'")
    for package in ("paddlenlp", "paddlenlp.data"):
        import_without_init(Path(installed.origin).parents[1], package)
    vars(sys.modules["paddlenlp"])["__version__"] = importlib.metadata.version("paddlenlp")
    for package in ("paddlemix", "paddlemix.models"):
        import_without_init(folder, package)
    return _grounding_dino(changes) if "groundingdino" in str(path) else _segment_anything(changes)


def _segment_anything(changes: Mapping[str, Any]) -> Exported:
    import paddle
    from paddlemix.models.sam.configuration import SamConfig
    from paddlemix.models.sam.modeling import SamModel

    model = SamModel(SamConfig(**changes))
    model.eval()
    image = np.random.default_rng(0).standard_normal((1, 3, 1024, 1024), np.float32)
    is_box = changes["input_type"] == "boxs"
    prompt = np.array([[100, 200, 700, 800]] if is_box else [[[400, 500]]], np.int32)
    spec = [
        paddle.static.InputSpec(image.shape, "float32", "img"),
        paddle.static.InputSpec([None, 4] if is_box else [1, 1, 2], "int32", "prompt"),
    ]
    return Exported(model, spec, {"img": image, "prompt": prompt})


def _grounding_dino(changes: Mapping[str, Any]) -> Exported:
    """With encoders of random weights, instead of those that the repository downloads; the text is of two phrases."""
    import paddle
    from paddlemix.models.groundingdino import modeling, transformer
    from paddlemix.models.groundingdino.backbone import backbone
    from paddlemix.models.groundingdino.backbone.swin_transformer import SwinTransformerConfig, SwinTransformerModel
    from paddlemix.models.groundingdino.configuration import GroundingDinoConfig
    from paddlenlp.transformers import BertConfig, BertModel

    class Paddle:
        """With a concat that takes int32 and int64, as that of Paddle 2 did."""

        def __getattr__(self, name: str) -> Any:
            return getattr(paddle, name)

        def concat(self, x: Any, axis: int = 0) -> Any:
            return paddle.concat([item.cast(x[-1].dtype) for item in x], axis)

    transformer.paddle = Paddle()
    tiny = {"embed_dim": 96, "depths": [2, 2, 6, 2], "num_heads": [3, 6, 12, 24]}
    backbone.SwinTransformerModel.from_pretrained = lambda name, **options: SwinTransformerModel(
        SwinTransformerConfig(**tiny, **options)
    )
    modeling.BertModel.from_pretrained = lambda name: BertModel(BertConfig())
    model = modeling.GroundingDinoModel(GroundingDinoConfig(**changes))
    model.eval()
    tokens = np.array([[101, 4937, 1012, 3899, 1012, 102]])
    phrase = np.array([0, 1, 1, 2, 2, 3])
    inputs = {
        "x": np.random.default_rng(0).standard_normal((1, 3, 480, 640), np.float32),
        "m": np.zeros([1, 480, 640], np.int64),
        "input_ids": tokens,
        "attention_mask": np.ones_like(tokens),
        "text_self_attention_masks": (phrase[:, None] == phrase)[None].astype(np.int64),
        "position_ids": np.array([[0, 0, 1, 0, 1, 0]]),
    }
    spec = [
        paddle.static.InputSpec(
            [None, 3, None, None] if input_.ndim == 4 else [None] * input_.ndim, str(input_.dtype), name
        )
        for name, input_ in inputs.items()
    ]
    return Exported(model, spec, inputs)
