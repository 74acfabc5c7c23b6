"""Segmentation and anomaly detection, of PaddleSeg."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.paddlex_campaign.exporters.types import Exported, wrapped, yaml_of


def export_seg(folder: Path, path: Path, changes: Mapping[str, Any]) -> Exported:
    """Without the softmax at the end, as of classifiers."""
    import paddle

    from tools.paddlex_campaign.sources import import_without_init

    import_without_init(folder, "paddleseg")
    import paddleseg.models
    import paddleseg.models.stfpm
    from paddleseg.cvlibs import manager

    teacher = paddleseg.models.stfpm.ResNet_MS3
    paddleseg.models.stfpm.ResNet_MS3 = lambda pretrained, arch: teacher(pretrained=False, arch=arch)
    config = yaml_of(path)
    classes = config["train_dataset"].get("num_classes", 19)

    def build(described: Mapping[str, Any]) -> Any:
        arguments = {
            key: build(value) if isinstance(value, dict) and "type" in value else value
            for key, value in described.items()
        }
        name = arguments.pop("type")
        for components in (manager.MODELS, manager.BACKBONES):
            if name in components.components_dict:
                return components[name](**arguments)
        raise ValueError(f"the repository has no {name}")

    described = {"num_classes": classes, **config["model"]}
    model = build(described)
    model.eval()

    layer = wrapped(model, lambda net, x: net(x)[0])
    shape = (1, 3, 512, 512)
    declared = list(shape) if described["type"] == "MaskFormer" else [None, 3, None, None]
    return Exported(layer, [paddle.static.InputSpec(declared, "float32", "x")], {"x": shape})
