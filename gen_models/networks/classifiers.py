"""Whole networks: image classifiers of `paddle.vision.models`."""

from __future__ import annotations

from typing import Any

from gen_models.harness.network import Network
from gen_models.harness.spec import paddle, tensor


def _vision(name: str, size: int = 64, **options: Any) -> Network:
    def build():
        return getattr(paddle.vision.models, name)(**{"num_classes": 10, **options})

    image = {"x": tensor([1, 3, size, size], dims=[-1, 3, size, size])}
    return Network(name, build, image, more=[{"x": tensor([3, 3, size, size])}])


NETWORKS = [
    _vision("alexnet", 224),
    _vision("densenet121"),
    _vision("googlenet", 224),
    _vision("inception_v3", 96),
    _vision("mobilenet_v2"),
    _vision("mobilenet_v3_large"),
    _vision("mobilenet_v3_small"),
    _vision("resnet18"),
    _vision("resnet50"),
    _vision("shufflenet_v2_x0_25"),
    _vision("squeezenet1_1"),
    _vision("vgg16", num_classes=0),  # its classifier alone has half a gigabyte of weights
]
