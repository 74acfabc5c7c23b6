"""Time series, of PaddleTS."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools.paddlex_campaign.exporters.types import Exported, Shape, yaml_of


def export_ts(folder: Path, path: Path, changes: Mapping[str, Any]) -> Exported:
    """With the hours' features that PaddleX's configurations ask for where a model reads known covariates."""
    import inspect

    import paddle

    sys.path.insert(0, str(folder))
    from paddlets.utils import manager

    for kind in ("anomaly", "classify", "forecasting"):  # which register their models
        importlib.import_module(f"paddlets.models.{kind}")

    config = yaml_of(path)
    described, length, ahead = config["model"], config["seq_len"], config.get("predict_len", 0)
    of = manager.MODELS[described["name"]]
    options = {**described.get("model_cfg", {}), "in_chunk_len": length, "out_chunk_len": ahead}
    wanted = inspect.signature(of.__init__).parameters
    model = of(**{key: option for key, option in options.items() if key in wanted})
    variables = options.get("c_in", TS_VARIABLES)
    sizes = ("target_dim", "observed_dim", "observed_num_dim", "feature_dim")
    model._fit_params = {
        **dict.fromkeys(sizes, variables),
        "known_cov_dim": TS_HOUR_FEATURES,
        "observed_cat_cols": {},
        "input_lens": length,
    }
    model._n_classes = TS_CLASSES
    layer = model._init_network()
    layer.eval()
    kind = of.__module__.split(".")[2]
    tasks: dict[str, dict[str, Shape]] = {
        "forecasting": {
            "past_target": (1, length, variables),
            "known_cov_numeric": (1, length + ahead, TS_HOUR_FEATURES),
        },
        "anomaly": {"observed_cov_numeric": (1, length, variables)},
        "classify": {"features": (1, length, variables), "pad_mask": (1, length)},
    }
    shapes = tasks[kind]
    spec = {name: paddle.static.InputSpec([None, *shape[1:]], "float32", name) for name, shape in shapes.items()}
    return Exported(layer, [spec], {**shapes})


TS_VARIABLES, TS_HOUR_FEATURES, TS_CLASSES = 7, 4, 5
