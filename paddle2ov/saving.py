"""Writes a model as OpenVINO IR so that an interrupted run leaves no half-written model."""

from __future__ import annotations

import tempfile
from pathlib import Path

import openvino


def save_model(model: openvino.Model, xml: Path, fp16: bool) -> None:
    """Writes both files beside their final place first.

    Raises:
        OSError: they cannot be written.
    """
    try:
        xml.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{xml.stem}-", dir=xml.parent) as folder:
            written = Path(folder) / xml.name
            openvino.save_model(model, written, compress_to_fp16=fp16)
            written.with_suffix(".bin").replace(xml.with_suffix(".bin"))
            written.replace(xml)
    except OSError as error:  # whose own path is that of the temporary folder
        raise OSError(f"{xml} cannot be written: {error.strerror or error}") from error
