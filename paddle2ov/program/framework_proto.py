"""Decodes the protobuf messages of legacy programs, which are described to Google's runtime in a pool of their own.

Field numbers are those of `paddle/phi/core/framework/framework.proto`; only what an inference program needs is listed.
A pool of its own keeps these apart from the messages that Paddle registers when both live in one process.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

_PACKAGE = "paddle2ov.program"

# message -> field -> (number, type); "*" marks a repeated field, "!" a required one. Texts that Paddle does not promise
# to be UTF-8 are read as bytes. So are Attr and VarType, of which a program holds the same ones many times (a message
# is written as bytes): the reader makes a message of each different one.
_MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "Version": {"version": (1, "int64")},
    "Complex": {"r": (1, "double"), "i": (2, "double")},
    "Scalar": {"type": (1, "int32!"), "b": (2, "bool"), "i": (3, "int64"), "r": (4, "double"), "c": (5, "Complex")},
    "Attr": {
        "name": (1, "string!"),
        "type": (2, "int32!"),
        "i": (3, "int32"),
        "f": (4, "float"),
        "s": (5, "bytes"),
        "ints": (6, "int32*"),
        "floats": (7, "float*"),
        "strings": (8, "bytes*"),
        "b": (10, "bool"),
        "bools": (11, "bool*"),
        "block_idx": (12, "int32"),
        "l": (13, "int64"),
        "blocks_idx": (14, "int32*"),
        "longs": (15, "int64*"),
        "float64s": (16, "double*"),
        "var_name": (17, "string"),
        "vars_name": (18, "string*"),
        "float64": (19, "double"),
        "scalar": (20, "Scalar"),
        "scalars": (21, "Scalar*"),
    },
    "Port": {"parameter": (1, "string!"), "arguments": (2, "string*")},
    "OpDesc": {"inputs": (1, "Port*"), "outputs": (2, "Port*"), "type": (3, "string!"), "attrs": (4, "bytes*")},
    "TensorDesc": {"data_type": (1, "int32!"), "dims": (2, "int64*")},
    "DenseTensorDesc": {"tensor": (1, "TensorDesc!"), "lod_level": (2, "int32")},
    "VarType": {
        "type": (1, "int32!"),
        "dense_tensor": (3, "DenseTensorDesc"),
        "tensor_array": (4, "DenseTensorDesc"),
    },
    "VarDesc": {
        "name": (1, "string!"),
        "type": (2, "bytes!"),
        "persistable": (3, "bool"),
        "is_parameter": (5, "bool"),
    },
    "BlockDesc": {"idx": (1, "int32!"), "parent_idx": (2, "int32!"), "vars": (3, "VarDesc*"), "ops": (4, "OpDesc*")},
    "ProgramDesc": {"blocks": (1, "BlockDesc*"), "version": (4, "Version")},
}


def _describe() -> descriptor_pb2.FileDescriptorProto:
    proto = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="paddle2ov/program.proto", package=_PACKAGE, syntax="proto2")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            base = kind.rstrip("*!")
            entry = message.field.add(name=field, number=number, label=proto.LABEL_OPTIONAL)
            if kind.endswith("*"):
                entry.label = proto.LABEL_REPEATED
            elif kind.endswith("!"):
                entry.label = proto.LABEL_REQUIRED
            if base in _MESSAGES:
                entry.type = proto.TYPE_MESSAGE
                entry.type_name = f".{_PACKAGE}.{base}"
            else:
                entry.type = proto.Type.Value(f"TYPE_{base.upper()}")
    return file


_pool = descriptor_pool.DescriptorPool()
_pool.Add(_describe())

_classes = {  # of those that nobody holds, each reading makes new ones
    name: message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in _MESSAGES
}

Attr: Any = _classes["Attr"]
ProgramDesc: Any = _classes["ProgramDesc"]
TensorDesc: Any = _classes["TensorDesc"]
VarType: Any = _classes["VarType"]


def decode(kind: Any, content: bytes) -> Any:
    """A message of that kind. Raises DecodeError where a required field is missing too, as in other protobuf files."""
    message = kind.FromString(content)  # checks no required fields
    if not message.IsInitialized():
        raise DecodeError("a required field is missing")  # its name would cost a list of all that are
    return message
