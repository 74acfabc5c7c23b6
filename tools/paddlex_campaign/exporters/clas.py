"""Classifiers, features and attributes, of PaddleClas."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.paddlex_campaign.exporters.types import Exported, wrapped, yaml_of


def export_clas(folder: Path, path: Path, changes: Mapping[str, Any]) -> Exported:
    """Without the softmax or sigmoid at the end, which makes all results of random weights alike."""
    import paddle

    from tools.paddlex_campaign.sources import import_without_init

    import_without_init(folder, "ppcls")
    import_without_init(folder, "ppcls.utils")
    from ppcls.arch import RecModel, build_model
    from ppcls.utils import logger

    logger.init_logger()

    config = yaml_of(path)
    architecture = config["Arch"]
    added = {key: architecture.pop(key, None) for key in ("infer_output_key", "infer_add_softmax")}
    build = {**config, "Arch": architecture}
    model = build_model(build, mode="export")
    is_feature = added["infer_output_key"] == "features" and isinstance(model, RecModel)
    if is_feature:
        model.head = None

    def forward(net: Any, x: Any) -> Any:
        y = net(x)
        y = y[0] if isinstance(y, list) else y
        if added["infer_output_key"] is not None:
            y = y[added["infer_output_key"]]
        return y["logits"] if isinstance(y, dict) else y

    layer = wrapped(model, forward)
    for sublayer in layer.sublayers():
        if hasattr(sublayer, "re_parameterize") and not getattr(sublayer, "is_repped", False):
            sublayer.re_parameterize()
    shape = config["Global"]["image_shape"]
    return Exported(layer, [paddle.static.InputSpec([None, *shape], "float32", "x")], {"x": (1, *shape)})
