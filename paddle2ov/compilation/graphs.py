"""Graphs that need no conversion: an `openvino.Model`, and files that OpenVINO reads."""

from __future__ import annotations

import os
from pathlib import Path

from openvino import Model

from paddle2ov.errors import ModelReadError, described
from paddle2ov.graph.core import shared_core
from paddle2ov.program.files import model_path
from paddle2ov.program.paths import missing
from paddle2ov.program.sources import open_regular

_IR_VERSIONS = ("10", "11")


def graph_of(model: object) -> Model:
    """The graph that is given, or that a file holds.

    Raises:
        ModelReadError: the file cannot be found or read.
    """
    if isinstance(model, Model):
        return model
    path = model_path(model)
    if not path.is_file():
        raise ModelReadError(f"{path}: {missing(path, 'file')}")
    if path.suffix == ".xml" and not _is_ir(path):
        raise ModelReadError(f"{path}: not an OpenVINO IR of version {' or '.join(_IR_VERSIONS)}")
    weights = path.with_suffix(".bin")
    if os.path.lexists(weights):  # for a pipe OpenVINO would wait; a link in a circle ends the process
        open_regular(weights).close()
    try:
        return shared_core().read_model(path)
    except RuntimeError as error:
        is_alone = path.suffix == ".xml" and not weights.exists()
        reason = f"its weights, {weights.name}, are not beside it" if is_alone else described(error)
        raise ModelReadError(f"{path}: {reason}") from error


def _is_ir(path: Path) -> bool:
    """Whether a file begins as an IR does; OpenVINO gives any other one to all its readers, which say so each."""
    from xml.etree.ElementTree import ParseError, iterparse

    with open_regular(path) as file:
        try:
            _, root = next(iterparse(file, ("start",)))
        except (ParseError, LookupError, ValueError):  # the latter of encodings that the parser does not know
            return False
    return root.tag == "net" and root.get("version") in _IR_VERSIONS
