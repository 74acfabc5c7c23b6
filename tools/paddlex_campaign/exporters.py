"""A layer with random weights, ready for export, and what it is given: one function for each repository.

Each does what the export of the repository does, and takes the architecture from PaddleX's configuration.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

Shape = tuple[int | None, ...]
Exporter = Callable[[Path, Path], tuple[Any, Any, dict[str, Shape]]]
"""From the folder of a repository and a configuration: a layer, its input specification, the sizes to run it at."""


def export_clas(folder: Path, path: Path) -> tuple[Any, Any, dict[str, Shape]]:
    """Without the softmax or sigmoid at the end, which makes all results of random weights alike."""
    import paddle
    import yaml

    from tools.paddlex_campaign.sources import import_without_init, without_pretrained

    import_without_init(folder, "ppcls")
    import_without_init(folder, "ppcls.utils")
    from ppcls.arch import RecModel, build_model
    from ppcls.utils import logger

    logger.init_logger()

    config = without_pretrained(yaml.safe_load(path.read_text(encoding="utf-8")))
    architecture = config["Arch"]
    added = {key: architecture.pop(key, None) for key in ("infer_output_key", "infer_add_softmax")}
    build = {**config, "Arch": architecture}
    model = build_model(build, mode="export")
    is_feature = added["infer_output_key"] == "features" and isinstance(model, RecModel)
    if is_feature:
        model.head = None

    class Exported(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.base_model = model

        def forward(self, x: Any) -> Any:
            y = self.base_model(x)
            y = y[0] if isinstance(y, list) else y
            if added["infer_output_key"] is not None:
                y = y[added["infer_output_key"]]
            return y["logits"] if isinstance(y, dict) else y

    layer = Exported()
    layer.eval()
    for one in layer.sublayers():
        if hasattr(one, "re_parameterize") and not getattr(one, "is_repped", False):
            one.re_parameterize()
    shape = config["Global"]["image_shape"]
    return layer, [paddle.static.InputSpec([None, *shape], "float32", "x")], {"x": (1, *shape)}


def export_detection(folder: Path, path: Path) -> tuple[Any, Any, dict[str, Shape]]:
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
    import ppdet.modeling
    import ppdet.optimizer  # noqa: F401 - what configurations name
    from ppdet.core.workspace import create, load_config

    config = without_pretrained(load_config(str(path)))
    model = create(config.architecture)
    model.eval()
    for name in ("aux_neck", "aux_head"):
        if hasattr(model, name):
            delattr(model, name)
    for name in ("deploy", "export_post_process", "export_nms"):
        if hasattr(model, name):
            setattr(model, name, True)
    for one in model.sublayers():
        if hasattr(one, "convert_to_deploy"):
            one.convert_to_deploy()
    for one in model.parameters():  # scores start near 0, so that no box would be left
        if one.ndim == 1 and float(one.max()) < -2:
            one.set_value(paddle.zeros_like(one))
    shape = config["TestReader"].get("inputs_def", {}).get("image_shape") or [3, -1, -1]
    shape = shape[-3:]
    if hasattr(model, "fuse_norm"):
        model.fuse_norm = config["TestReader"].get("fuse_normalize", False)
        if model.fuse_norm:
            model.load_meanstd(config["TestReader"]["sample_transforms"])
    declared = {"image": [None, *shape], "im_shape": [None, 2], "scale_factor": [None, 2]}
    spec = {name: paddle.static.InputSpec(dims, "float32", name) for name, dims in declared.items()}
    size = tuple(640 if dim in (None, -1) else dim for dim in shape)
    return model, [spec], {"image": (1, *size), "im_shape": (1, 2), "scale_factor": (1, 2)}


def export_seg(folder: Path, path: Path) -> tuple[Any, Any, dict[str, Shape]]:
    """Without the softmax at the end, as of classifiers."""
    import paddle
    import yaml

    from tools.paddlex_campaign.sources import import_without_init, without_pretrained

    import_without_init(folder, "paddleseg")
    import paddleseg.models  # noqa: F401 - registers the layers
    from paddleseg.cvlibs import manager

    config = without_pretrained(yaml.safe_load(path.read_text(encoding="utf-8")))
    classes = config["train_dataset"].get("num_classes", 19)

    def build(described: Mapping[str, Any]) -> Any:
        given = {key: build(one) if isinstance(one, dict) and "type" in one else one for key, one in described.items()}
        name = given.pop("type")
        for components in (manager.MODELS, manager.BACKBONES):
            if name in components.components_dict:
                return components[name](**given)
        raise ValueError(f"the repository has no {name}")

    described = {"num_classes": classes, **config["model"]}
    model = build(described)
    model.eval()

    class Exported(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.net = model

        def forward(self, x: Any) -> Any:
            return self.net(x)[0]

    layer = Exported()
    layer.eval()
    return layer, [paddle.static.InputSpec([None, 3, None, None], "float32", "x")], {"x": (1, 3, 512, 512)}


def export_ocr(folder: Path, path: Path) -> tuple[Any, Any, dict[str, Shape]]:
    """With statistics of batch norms that are those of the input, as depth would amplify rounding otherwise."""
    import paddle
    import yaml

    from gen_models.harness.network import condition
    from tools.paddlex_campaign.sources import import_without_init, without_pretrained

    import_without_init(folder, "ppocr")
    import_without_init(folder, "ppocr.utils")
    from ppocr.modeling.architectures import build_model

    config = without_pretrained(yaml.safe_load(path.read_text(encoding="utf-8")))
    architecture = config["Architecture"]
    described = architecture["Head"]
    if architecture["model_type"] == "rec":
        listed = (folder / config["Global"]["character_dict_path"]).read_text(encoding="utf-8")
        characters = listed.count("\n") + 1 + bool(config["Global"].get("use_space_char"))
        decoders = {"CTCLabelDecode": 0, "SARLabelDecode": 2, "NRTRLabelDecode": 3}  # what each adds to the characters
        described["out_channels"] = characters
        described["out_channels_list"] = {name: characters + added for name, added in decoders.items()}
    model = build_model(architecture)
    model.eval()
    for one in model.sublayers():
        if hasattr(one, "rep") and not getattr(one, "is_repped", False):
            one.rep()
    shape, declared = _text_shapes(architecture)
    condition(model, [paddle.to_tensor(np.random.default_rng(0).standard_normal((1, *shape), np.float32))])
    return model, [paddle.static.InputSpec([None, *declared], "float32", "x")], {"x": (1, *shape)}


def _text_shapes(architecture: Mapping[str, Any]) -> tuple[tuple[int, ...], Shape]:
    """The size to run a text model at, and the one that the repository declares at its export."""
    if architecture["model_type"] == "rec":
        return (3, 48, 320), (3, 48, None)
    if architecture["algorithm"] == "SLANeXt":
        return (3, 512, 512), (3, 512, 512)
    return (3, 320, 320), (3, None, None)


def export_ts(folder: Path, path: Path) -> tuple[Any, Any, dict[str, Shape]]:
    """With the hours' features that PaddleX's configurations ask for where a model reads known covariates."""
    import inspect

    import paddle
    import yaml

    sys.path.insert(0, str(folder))
    import paddlets.models.anomaly
    import paddlets.models.classify
    import paddlets.models.forecasting  # noqa: F401 - registers them
    from paddlets.utils import manager

    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    described, length, ahead = config["model"], config["seq_len"], config.get("predict_len", 0)
    of = manager.MODELS[described["name"]]
    options = {**described.get("model_cfg", {}), "in_chunk_len": length, "out_chunk_len": ahead}
    wanted = inspect.signature(of.__init__).parameters
    model = of(**{key: one for key, one in options.items() if key in wanted})
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
    return layer, [spec], shapes


TS_VARIABLES, TS_HOUR_FEATURES, TS_CLASSES = 7, 4, 5


EXPORTERS: dict[str, Exporter] = {
    "PaddleClas": export_clas,
    "PaddleDetection": export_detection,
    "PaddleOCR": export_ocr,
    "PaddleSeg": export_seg,
    "PaddleTS": export_ts,
}
