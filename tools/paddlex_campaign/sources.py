"""The repositories that define the models, and PaddleX's configuration of each model there.

They are clones beside each other in a folder, under the names of the repositories; nothing of them is in this project.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

COMMITS = {
    "PaddleX": "9f5275efc153d7f2c1ae3e223e4b25513538c0ab",
    "PaddleClas": "02fb651814adf1f9b719d2b7a23b251c8dedf135",
    "PaddleDetection": "70f91af124d5b9935019a4b3cc30cb950cc72121",
    "PaddleOCR": "6d2110b743adcabe53e29b1f7af047cbc551c322",
    "PaddleSeg": "d7975e7cb3b9102eae4eabcef5afb81b878473aa",
    "PaddleTS": "9f2350094ec8c4872cb49286e739df60e8bb58d9",
}
"""The commits that the table was made with; some rows were made with earlier ones of PaddleX, PaddleClas and
PaddleDetection. Those of PaddleX's own layers, PaddleMIX, PaddleSpeech and PaddleVideo were made by commit be5b4f5f."""

_EXPONENT = re.compile(r"[0-9]+e-?[0-9]+")


class Source(NamedTuple):
    """Where a model is defined."""

    repository: str
    path: Path
    changes: Mapping[str, Any] = {}
    """What is another for this model than in the configuration."""


_PADDLEX = "PaddleX/paddlex/repo_apis/PaddleDetection_api/configs"
OWN = {
    "Co-DINO-R50": Source("PaddleDetection", Path("PaddleDetection/configs/co_detr/co_dino_r50_5scale_1x_coco.yml")),
    "MaskRCNN-ResNet50-vd-SSLDv2-FPN": Source(
        "PaddleDetection", Path("PaddleDetection/configs/mask_rcnn/mask_rcnn_r50_vd_fpn_ssld_2x_coco.yml")
    ),
    "PP-DocBlockLayout": Source("PaddleDetection", Path(_PADDLEX, "RT-DETR-L.yaml"), {"num_classes": 1}),
    "PP-YOLOE-R-L": Source("PaddleDetection", Path(_PADDLEX, "PP-YOLOE-R-L.yaml"), {"size": 256}),
    "PP-DocLayout_plus-L": Source("PaddleDetection", Path(_PADDLEX, "RT-DETR-L.yaml"), {"num_classes": 20}),
    "PP-LCNet_x1_0_textline_ori": Source(
        "PaddleClas", Path("PaddleClas/ppcls/configs/PULC/textline_orientation/PPLCNet_x1_0.yaml")
    ),
    "SOLOv2": Source("PaddleDetection", Path(_PADDLEX, "SOLOv2.yaml"), {"size": 256}),
}
"""Of models that neither PaddleX nor PaddleOCR has a configuration for under their names, or one that is changed."""


def configs(sources: Path) -> Iterator[tuple[str, Source]]:
    """Each model that PaddleX, or PaddleOCR itself, has a configuration for, and those of `OWN`."""
    for repository in COMMITS:
        folder = sources / "PaddleX" / "paddlex" / "repo_apis" / f"{repository}_api" / "configs"
        if repository == "PaddleOCR":  # it has those of newer models, too, by the names that PaddleX gives them
            folder = sources / repository / "configs"
        for path in sorted(folder.rglob("*.y*ml")):
            if path.stem not in OWN:
                yield path.stem, Source(repository, path)
    for name, own in OWN.items():
        yield name, own._replace(path=sources / own.path)


def import_without_init(folder: Path, package: str) -> None:
    """Makes a package importable by its modules alone: its `__init__` asks for what only training needs."""
    module = types.ModuleType(package)
    module.__path__ = [str(folder / package.replace(".", "/"))]
    sys.modules[package] = module
    sys.path.insert(0, str(folder))


def without_pretrained(config: Any) -> Any:
    """The configuration, changed in place, without weights to download, and with numbers for numbers."""
    if isinstance(config, dict):
        for key, value in config.items():
            if key in ("pretrained", "pretrain_weights") and isinstance(value, (str, bool)):
                config[key] = None if isinstance(value, str) else False
            elif isinstance(value, str) and _EXPONENT.fullmatch(value):
                config[key] = float(value)  # YAML 1.1 takes 1e-6 for a string
            else:
                without_pretrained(value)
    elif isinstance(config, list):
        for value in config:
            without_pretrained(value)
    return config
