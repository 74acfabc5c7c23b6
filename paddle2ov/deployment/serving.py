"""The folder that model servers load: OpenVINO Model Server and Triton with its OpenVINO backend.

FOLDER/config.json             OpenVINO Model Server: --config_path; lists every model of the folder
FOLDER/NAME/config.pbtxt       Triton: inputs and results with types and shapes; --model-repository FOLDER
FOLDER/NAME/VERSION/model.xml  and model.bin
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from google.protobuf import text_encoding
from openvino import Model, Output

from paddle2ov.deployment.saving import write_text
from paddle2ov.errors import ConversionInputError
from paddle2ov.program.sources import regular_file

_TYPES = {
    "f16": "FP16",
    "f32": "FP32",
    "f64": "FP64",
    "bf16": "BF16",
    "i8": "INT8",
    "i16": "INT16",
    "i32": "INT32",
    "i64": "INT64",
    "u8": "UINT8",
    "boolean": "BOOL",
}
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


def write_layout(model: Model, folder: Path, name: str, save: Callable[[Model, Path], None], version: int = 1) -> Path:
    """Adds a model to a servers' folder, or replaces that version of it; other models of the folder stay.

    Args:
        model: the model.
        folder: the servers' folder; it is made if it is not there.
        name: the model's name for clients, which is a folder too.
        save: writes a model to the path of its .xml.
        version: its version, 1 or more.

    Returns:
        The path of the written model.xml.

    Raises:
        ConversionInputError: the name cannot be a folder, a result's rank is unknown, or the folder holds a config.json
            of another kind.
        OSError: the folder cannot be written, or its config.json not read.
    """
    if not _NAME.fullmatch(name):
        raise ConversionInputError(
            f"a server's model is called by letters, digits and _.+-, not '{name}'; name it with -o, such as -o model"
        )
    if version < 1:
        raise ConversionInputError(f"a version is 1 or more, not {version}")
    triton = triton_config(model, name)
    served = _served(folder / "config.json")
    entry = {"name": name, "base_path": name}  # relative to config.json: the folder may be mounted anywhere
    served = [one for one in served if one["config"]["name"] != name] + [{"config": entry}]
    target = folder / name / str(version)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        written = Path(tempfile.mkdtemp(prefix=".writing-", dir=target.parent))
        try:
            save(model, written / "model.xml")
            written.chmod(0o755)  # servers run as other users
            if target.exists():
                target.replace(written / "replaced")
            written.replace(target)
            shutil.rmtree(target / "replaced", ignore_errors=True)
        finally:
            shutil.rmtree(written, ignore_errors=True)
    except OSError as error:  # whose own path is that of the temporary folder
        raise OSError(f"{target} cannot be written: {error.strerror or error}") from error
    write_text(target.parent / "config.pbtxt", triton)
    write_text(folder / "config.json", json.dumps({"model_config_list": served}, indent=1) + "\n")
    return target / "model.xml"


def triton_config(model: Model, name: str) -> str:
    """The config.pbtxt of a model. Shapes hold the batch too (max_batch_size 0); a dynamic dimension is -1.

    Raises:
        ConversionInputError: an input or result is of unknown rank, or of a type that Triton does not have.
    """
    text = f'name: {_quoted(name)}\nbackend: "openvino"\ndefault_model_filename: "model.xml"\nmax_batch_size: 0\n'
    for kind, ports in (("input", model.inputs), ("output", model.outputs)):
        text += "".join(_port(kind, port) for port in ports)
    return text


def _port(kind: str, port: Output) -> str:
    name = port.get_any_name()
    shape, element = port.get_partial_shape(), port.get_element_type().get_type_name()
    if shape.rank.is_dynamic:
        raise ConversionInputError(f"serve layout: the rank of '{name}' is not known, and Triton's needs it")
    if element not in _TYPES:
        raise ConversionInputError(f"serve layout: '{name}' is {element}, which Triton does not have")
    dims = ", ".join("-1" if size.is_dynamic else str(size.get_length()) for size in shape)
    # A scalar: Triton wants a dimension, and takes it away again.
    sizes = f"dims: [ {dims} ]" if dims else "dims: [ 1 ]\n  reshape: { shape: [ ] }"
    return f"{kind} {{\n  name: {_quoted(name)}\n  data_type: TYPE_{_TYPES[element]}\n  {sizes}\n}}\n"


def _quoted(text: str) -> str:
    return f'"{text_encoding.CEscape(text.encode(), False)}"'


def _served(path: Path) -> list[dict[str, Any]]:
    """The models that a config.json lists already."""
    if not path.exists():
        return []
    try:
        with regular_file(path) as file:
            served = json.loads(file.readall())["model_config_list"]
        for one in served:
            one["config"]["name"]
    except (ValueError, KeyError, TypeError) as error:
        raise ConversionInputError(
            f"{path} is there already, and not a configuration of OpenVINO Model Server"
        ) from error
    return list(served)
