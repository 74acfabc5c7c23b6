"""A Paddle model in float64: what is float32 becomes float64 (variables, weights, types that attributes name).

The same goes for complex64 and complex128. The program's file is edited, so that Paddle runs the operators that it
holds. Narrower floats stay: where a program rounds to them, that is what it means.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from paddle2ov.program.files import ModelFiles
from paddle2ov.program.framework_proto import Attr, ProgramDesc, VarType
from paddle2ov.program.model import Parameter, Program
from paddle2ov.typing import AnyArray
from paddle2ov.verification.editing import Raw, write_model

_PIR_TYPES = {"0.t_f32": "0.t_f64", "0.t_c64": "0.t_c128"}
_PIR_NAMES = {"float32": "float64", "complex64": "complex128"}
_LEGACY_NUMBERS = {5: 6, 23: 24}  # the same in Paddle's VarType
_TYPE_ATTRIBUTES = frozenset(("dtype", "in_dtype", "out_dtype"))
_INT = 0  # the type of an attribute that holds an int


def write_float64(folder: Path, files: ModelFiles, program: Program) -> ModelFiles:
    """Writes a model in float64 to a folder."""
    content: Raw | bytes
    if program.format == "pir":
        content = _promote_pir(json.loads(files.program.read_bytes()))
    else:
        content = _promote_legacy(ProgramDesc.FromString(files.program.read_bytes()))

    def promote(parameter: Parameter) -> Parameter:
        dtype = _PIR_NAMES.get(parameter.dtype, parameter.dtype)
        return replace(parameter, dtype=dtype, data=in_float64(parameter.data))

    return write_model(folder, content, program.parameters.keys(), program, promote)


def _promote_pir(node: Any) -> Any:
    """A part of a PIR program in float64."""
    if isinstance(node, list):
        return [_promote_pir(item) for item in node]
    if not isinstance(node, dict):
        return node
    if node.get("#") == "1.a_dtype":
        return {**node, "D": _PIR_NAMES.get(node["D"], node["D"])}
    promoted = {name: _promote_pir(value) for name, value in node.items()}
    if node.get("#") in _PIR_TYPES:
        promoted["#"] = _PIR_TYPES[node["#"]]
    return promoted


def _promote_legacy(desc: Any) -> bytes:
    """A legacy program in float64."""
    for block in desc.blocks:
        for variable in block.vars:
            variable.type = _promote_type(variable.type)
        for op in block.ops:
            attributes = [_promote_attribute(text) for text in op.attrs]
            del op.attrs[:]
            op.attrs.extend(attributes)
    return bytes(desc.SerializeToString())


def _promote_type(text: bytes) -> bytes:
    var_type = VarType.FromString(text)
    for name in ("dense_tensor", "tensor_array"):
        if var_type.HasField(name):
            tensor = getattr(var_type, name).tensor
            tensor.data_type = _LEGACY_NUMBERS.get(tensor.data_type, tensor.data_type)
    return bytes(var_type.SerializeToString())


def _promote_attribute(text: bytes) -> bytes:
    attribute = Attr.FromString(text)
    if attribute.type != _INT or attribute.name not in _TYPE_ATTRIBUTES:
        return text
    attribute.i = _LEGACY_NUMBERS.get(attribute.i, attribute.i)
    return bytes(attribute.SerializeToString())


def in_float64(array: AnyArray) -> AnyArray:
    """An array as an input of the promoted model: float32 as float64, others as they are."""
    wanted = _PIR_NAMES.get(array.dtype.name)
    return array if wanted is None else array.astype(np.dtype(wanted))
