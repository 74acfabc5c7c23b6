"""The repositories that define the models, and PaddleX's configuration of each model there.

They are clones beside each other in a folder, under the names of the repositories; nothing of them is in this project.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

COMMITS = {
    "PaddleX": "5029b5053d82b9acfd4b0b6e57c3a58773224504",
    "PaddleClas": "d178931fca432204e6b7422bac4f92e09ff22fa4",
    "PaddleDetection": "666f597fd00d3157e84dd9fb2dd3f40bf9918ebc",
    "PaddleOCR": "6d2110b743adcabe53e29b1f7af047cbc551c322",
    "PaddleSeg": "d7975e7cb3b9102eae4eabcef5afb81b878473aa",
    "PaddleTS": "9f2350094ec8c4872cb49286e739df60e8bb58d9",
}
"""The commits that the table was made with."""

_EXPONENT = re.compile(r"[0-9]+e-?[0-9]+")
REPOSITORIES = tuple(name for name in COMMITS if name != "PaddleX")


def configs(sources: Path) -> Iterator[tuple[str, str, Path]]:
    """Name, repository and configuration of each model that PaddleX, or PaddleOCR itself, has a configuration for."""
    for repository in REPOSITORIES:
        folder = sources / "PaddleX" / "paddlex" / "repo_apis" / f"{repository}_api" / "configs"
        if repository == "PaddleOCR":  # it has those of newer models, too, by the names that PaddleX gives them
            folder = sources / repository / "configs"
        for path in sorted(folder.rglob("*.y*ml")):
            yield path.stem, repository, path


def import_without_init(folder: Path, package: str) -> None:
    """Makes a package importable by its modules alone: its `__init__` asks for what only training needs."""
    module = types.ModuleType(package)
    module.__path__ = [str(folder / package.replace(".", "/"))]
    sys.modules[package] = module
    sys.path.insert(0, str(folder))


def without_pretrained(config: Any) -> Any:
    """The configuration, changed in place, without weights to download, and with numbers for numbers."""
    if isinstance(config, dict):
        for key, one in config.items():
            if key in ("pretrained", "pretrain_weights") and isinstance(one, (str, bool)):
                config[key] = None if isinstance(one, str) else False
            elif isinstance(one, str) and _EXPONENT.fullmatch(one):
                config[key] = float(one)  # YAML 1.1 takes 1e-6 for a string
            else:
                without_pretrained(one)
    elif isinstance(config, list):
        for one in config:
            without_pretrained(one)
    return config
