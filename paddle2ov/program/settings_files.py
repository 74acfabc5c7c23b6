"""The files that hold settings of a model, by their names."""

from __future__ import annotations

from pathlib import Path

SETTINGS = ("inference.yml", "inference.yaml", "infer_cfg.yml", "deploy.yaml", "deploy.yml")
"""The names of files that describe shapes and preprocessing of a model, the first that is there counts."""


def find_settings(folder: Path) -> Path | None:
    """The settings' file in a model's folder; None if there is none."""
    return next((folder / name for name in SETTINGS if (folder / name).is_file()), None)
