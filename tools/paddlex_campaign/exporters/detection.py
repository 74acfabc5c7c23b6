"""Detectors, instance segmentation and key points, of PaddleDetection."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tools.paddlex_campaign.exporters.types import Exported


def export_detection(folder: Path, path: Path, changes: Mapping[str, Any]) -> Exported:
    import paddle

    from tools.paddlex_campaign.sources import import_without_init, without_pretrained

    # imgaug, which the repository's readers of training data import, is of NumPy 1.
    kinds = {
        "int": [np.int64],
        "uint": [np.uint64],
        "float": [np.float64],
        "complex": [np.complex128],
        "others": [bool],
    }
    vars(np).setdefault("sctypes", kinds)
    import_without_init(folder, "ppdet")
    import_without_init(folder, "ppdet.utils")
    import_without_init(folder, "ppdet.data")
    import yaml
    from ppdet.core.workspace import create, load_config

    for part in ("modeling", "optimizer"):  # which configurations name
        importlib.import_module(f"ppdet.{part}")

    # Data sets and transforms are of the modules that were left out.
    yaml.add_multi_constructor("!", lambda loader, tag, node: {}, yaml.Loader)

    config = without_pretrained(load_config(str(path)))
    for key, value in changes.items():
        config[key] = value
    if "pretrained" in config.get("SwinTransformer", {}):
        config["SwinTransformer"]["pretrained"] = ""  # None is weights to download there
    model = create(config.architecture)
    model.eval()
    for name in ("aux_neck", "aux_head"):
        if hasattr(model, name):
            delattr(model, name)
    for name in ("deploy", "export_post_process", "export_nms"):
        if hasattr(model, name):
            setattr(model, name, True)
    for parameter in model.parameters():  # scores start near 0, so that no box would be left
        if parameter.ndim == 1 and float(parameter.max()) < -2:
            parameter.set_value(paddle.zeros_like(parameter))
    shape = config["TestReader"].get("inputs_def", {}).get("image_shape") or [3, -1, -1]
    shape = [3, changes["size"], changes["size"]] if "size" in changes else shape[-3:]
    if hasattr(model, "fuse_norm"):
        model.fuse_norm = config["TestReader"].get("fuse_normalize", False)
        if model.fuse_norm:
            model.load_meanstd(config["TestReader"]["sample_transforms"])
    return condition_detector(model, shape)


def condition_detector(model: Any, shape: Sequence[int | None], batch: int | None = None) -> Exported:
    """With statistics of batch norms that are those of an image, as scores saturate and tie otherwise."""
    import paddle

    from gen_models.harness.network import condition

    declared = {"image": [batch, *shape], "im_shape": [batch, 2], "scale_factor": [batch, 2]}
    spec = {name: paddle.static.InputSpec(dims, "float32", name) for name, dims in declared.items()}
    size = [SIZE if dim in (None, -1) else dim for dim in shape]
    image = np.random.default_rng(0).standard_normal((1, *size), np.float32)
    inputs = {"image": image, "im_shape": np.array([size[1:]], np.float32), "scale_factor": np.ones([1, 2], np.float32)}
    condition(model, [{name: paddle.to_tensor(value) for name, value in inputs.items()}])
    for sublayer in model.sublayers():  # once their statistics are set, as these become weights
        if hasattr(sublayer, "convert_to_deploy"):
            sublayer.convert_to_deploy()
    return Exported(model, [spec], inputs)


SIZE = 640
