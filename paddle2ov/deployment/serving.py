"""The folder that model servers load: OpenVINO Model Server and Triton with its OpenVINO backend.

FOLDER/config.json             OpenVINO Model Server: --config_path; lists every model of the folder
FOLDER/NAME/config.pbtxt       Triton: inputs and results with types and shapes; --model-repository FOLDER
FOLDER/NAME/VERSION/model.xml  and model.bin
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from google.protobuf import text_encoding
from openvino import Model, Output

from paddle2ov.deployment.saving import alone_in, beside, write_text
from paddle2ov.deployment.text_fields import TextField, text_fields
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
_OWN = frozenset(("name", "backend", "platform", "default_model_filename", "max_batch_size", "input", "output"))
_OWN_OF_PORT = frozenset(("name", "data_type", "dims", "reshape"))
"""The fields of a config.pbtxt, and of its inputs and results, that are written here; `platform` is another backend."""
_SECTIONS = ("model_config_list", "mediapipe_config_list", "custom_loader_config_list", "monitoring")
"""What a config.json of OpenVINO Model Server has at least one of."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")


def write_layout(model: Model, folder: Path, name: str, save: Callable[[Model, Path], None], version: int = 1) -> Path:
    """Adds a model to a servers' folder, or replaces that version of it; other models of the folder stay.

    So does what else config.json and config.pbtxt say: sections, properties of the model, fields, comments.

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
            or config.pbtxt of another kind.
        OSError: the folder cannot be written, or its config.json not read.
    """
    if not _NAME.fullmatch(name):
        raise ConversionInputError(
            f"a server's model is called by letters, digits and _.+-, not '{name}'; name it with -o, such as -o model"
        )
    if version < 1:
        raise ConversionInputError(f"a version is 1 or more, not {version}")
    target = folder / name / str(version)
    triton = triton_config(model, name, _fields_there(target.parent / "config.pbtxt"))
    _served(folder / "config.json")
    with beside(target) as temporary:
        written = temporary / "written"
        written.mkdir()
        written.chmod(0o755)  # servers run as other users
        save(model, written / "model.xml")
        with alone_in(folder):
            if target.exists():
                target.replace(temporary / "replaced")
            written.replace(target)
            write_text(target.parent / "config.pbtxt", triton)
            served = _with_model(_served(folder / "config.json"), name)  # others may have added theirs meanwhile
            write_text(folder / "config.json", json.dumps(served, indent=1, ensure_ascii=False) + "\n")
    return target / "model.xml"


def triton_config(model: Model, name: str, there: Sequence[TextField] = ()) -> str:
    """The config.pbtxt of a model. Shapes hold the batch too (max_batch_size 0); a dynamic dimension is -1.

    Of the file that is `there`, the fields that are not written here stay.

    Raises:
        ConversionInputError: an input or result is of unknown rank, or of a type that Triton does not have.
    """
    text = f'name: {_quoted(name)}\nbackend: "openvino"\ndefault_model_filename: "model.xml"\nmax_batch_size: 0\n'
    for kind, ports in (("input", model.inputs), ("output", model.outputs)):
        text += "".join(_port(kind, port, there) for port in ports)
    return text + _kept(there, _OWN)


def _port(kind: str, port: Output, there: Sequence[TextField]) -> str:
    name = port.get_any_name()
    shape, element = port.get_partial_shape(), port.get_element_type().get_type_name()
    if shape.rank.is_dynamic:
        raise ConversionInputError(f"serve layout: the rank of '{name}' is not known, and Triton's needs it")
    if element not in _TYPES:
        raise ConversionInputError(f"serve layout: '{name}' is {element}, which Triton does not have")
    dims = ", ".join("-1" if size.is_dynamic else str(size.get_length()) for size in shape)
    # A scalar: Triton wants a dimension, and takes it away again.
    sizes = f"dims: [ {dims} ]" if dims else "dims: [ 1 ]\n  reshape: { shape: [ ] }"
    own = f"  name: {_quoted(name)}\n  data_type: TYPE_{_TYPES[element]}\n  {sizes}\n"
    bodies = [list(text_fields(body)) for field in there if field.name == kind for body in field.messages]
    same = next(
        (body for body in bodies if any(field.name == "name" and field.value == _quoted(name) for field in body)), ()
    )
    return f"{kind} {{\n{own}{textwrap.indent(_kept(same, _OWN_OF_PORT), '  ')}}}\n"


def _kept(fields: Iterable[TextField], own: Set[str]) -> str:
    """What is not written here of a file that is replaced: other fields, and all comments."""
    lines = ["\n".join(field.comments) if field.name in own else field.whole for field in fields]
    return "".join(f"{line}\n" for line in lines if line)


def _fields_there(path: Path) -> list[TextField]:
    """The fields of a config.pbtxt, where there is one."""
    if not path.exists():
        return []
    try:
        with regular_file(path) as file:
            fields = list(text_fields(file.readall().decode("utf-8")))
        for field in fields:
            for body in field.messages if field.name in ("input", "output") else ():
                list(text_fields(body))
    except ValueError as error:
        raise ConversionInputError(f"{path} is there already, and not a configuration of Triton: {error}") from error
    return fields


def _quoted(text: str) -> str:
    return f'"{text_encoding.CEscape(text.encode(), False)}"'


def _served(path: Path) -> dict[str, Any]:
    """The configuration of a config.json, where there is one."""
    if not path.exists():
        return {}
    try:
        with regular_file(path) as file:
            served = json.loads(file.readall())
        if served.keys().isdisjoint(_SECTIONS):
            raise KeyError("model_config_list")
        if not isinstance(served.get("model_config_list", []), list):
            raise TypeError("model_config_list")
        for model in served.get("model_config_list", ()):
            model["config"]["name"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ConversionInputError(
            f"{path} is there already, and not a configuration of OpenVINO Model Server"
        ) from error
    return dict(served)


def _with_model(served: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A configuration that lists a model as well; what else it says stays, of the model itself too."""
    own = {"name": name, "base_path": name}  # relative to config.json: the folder may be mounted anywhere
    models = list(served.get("model_config_list", ()))
    for i, model in enumerate(models):
        if model["config"]["name"] == name:
            models[i] = {**model, "config": {**model["config"], **own}}
            break
    else:
        models.append({"config": own})
    return {**served, "model_config_list": models}
