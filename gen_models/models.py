"""Whole networks: image classifiers of `paddle.vision.models`."""

from __future__ import annotations

from typing import Any

from gen_models.network import Network
from gen_models.spec import paddle, tensor


def _vision(name: str, **options: Any) -> Network:
    def build() -> Any:
        return getattr(paddle.vision.models, name)(num_classes=10, **options)

    image = {"x": tensor([1, 3, 64, 64], dims=[-1, 3, 64, 64])}
    return Network(name, build, image, more=[{"x": tensor([3, 3, 64, 64])}])


NETWORKS = [
    _vision("resnet18"),
    _vision("mobilenet_v1"),
    _vision("mobilenet_v2"),
    _vision("mobilenet_v3_small"),
    _vision("shufflenet_v2_x0_25"),
    _vision("squeezenet1_1"),
]
