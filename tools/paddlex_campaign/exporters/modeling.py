"""Models that PaddleX itself defines in Paddle."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tools.paddlex_campaign.exporters.detection import condition_detector
from tools.paddlex_campaign.exporters.types import Exported


def export_modeling(folder: Path, path: Path, changes: Mapping[str, Any]) -> Exported:
    """The module is that of the installed PaddleX: an older one of its repository has none."""
    return _unwarping() if path.stem == "uvdoc" else _layout(path.stem, changes)


def _unwarping() -> Exported:
    """Without the copy to NumPy at its end, which no program has.

    The image is smooth, as the rounding of where a pixel is read would be that of noise otherwise.
    """
    import paddle
    from paddle.nn import functional
    from paddlex.inference.models.image_unwarping.modeling._config import UVDocConfig
    from paddlex.inference.models.image_unwarping.modeling.uvdoc import UVDocNet

    from gen_models.harness.network import condition

    class Layer(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.net = UVDocNet(UVDocConfig())

        def forward(self, image: Any) -> Any:
            height, width = image.shape[2:]
            x = functional.interpolate(image, size=self.net.upsample_size, mode="bilinear", align_corners=True)
            x = self.net.head(paddle.concat(self.net.backbone(x), axis=1))
            grid = functional.interpolate(x, size=(height, width), mode="bilinear", align_corners=True)
            return functional.grid_sample(image, grid.transpose([0, 2, 3, 1]), align_corners=True)

    layer = Layer()
    layer.eval()
    rows, columns = np.mgrid[0:3:488j, 0:4:712j]
    image = np.stack([np.sin(rows + columns), np.cos(rows * 2), np.sin(columns - rows)])[None].astype(np.float32)
    condition(layer, [paddle.to_tensor(image)])
    last = layer.net.head.out_point_positions2D.conv_up.weight  # to read inside of the image
    last.set_value(last * 0.1)
    spec = [paddle.static.InputSpec([None, 3, None, None], "float32", "image")]
    return Exported(layer, spec, {"image": image})


LAYOUTS = {"pp_doclayout_v2": "PPDocLayoutV2", "pp_doclayout_v3": "PPDocLayoutV3"}


def _layout(module: str, changes: Mapping[str, Any]) -> Exported:
    import paddle

    name = LAYOUTS[module]
    package = "paddlex.inference.models.object_detection.modeling"
    config = getattr(importlib.import_module(f"{package}._config_{module}"), f"{name}Config")(**changes)
    argsort = paddle.argsort  # an unstable one orders what is equal in a way of its own for each number of elements
    paddle.argsort = lambda x, **options: argsort(x, **{**options, "stable": True})
    if module == "pp_doclayout_v2":  # which the files beside its weights have
        config.class_thresholds = [0.1] * config.num_labels
        config.class_order = [i % config.reading_order_config.num_classes for i in range(config.num_labels)]
    model = getattr(importlib.import_module(f"{package}.{module}"), name)(config)

    class Layer(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.net = model

        def forward(self, given: Any) -> Any:
            return self.net([given["im_shape"], given["image"], given["scale_factor"]])

    layer = Layer()
    layer.eval()
    return condition_detector(layer, (3, 800, 800), batch=1)
