"""Weights: the tensors of a `.pdiparams` file, or of one file per parameter, as views into the mapped file.

The file is a sequence of serialised tensors without names, count or alignment; they stand in the order of the sorted
parameter names. Source: `paddle/phi/core/framework/dense_tensor_serialize.cc` and `dense_tensor_tostream.cc`.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from google.protobuf.message import DecodeError

from paddle2ov.errors import ModelReadError
from paddle2ov.program import dtypes
from paddle2ov.program.framework_proto import TensorDesc
from paddle2ov.program.model import Parameter, Variable, element_count

_MAX_LOD_LEVELS = 1024
_MAX_DESC_BYTES = 1 << 16
_MAX_RANK = 64


def read_combined(path: Path, variables: Iterable[Variable]) -> dict[str, Parameter]:
    """Reads all parameters from one file.

    Args:
        path: the `.pdiparams` or `__params__` file.
        variables: the parameters that the program declares; their order does not matter.

    Raises:
        ModelReadError: the file does not hold exactly these tensors with the declared types and shapes.
    """
    buffer = _map(path)
    parameters = {}
    offset = 0
    descriptions: dict[bytes, _Description] = {}
    for variable in sorted(variables, key=lambda item: item.name):
        parameters[variable.name], offset = _read_tensor(buffer, offset, variable, path, descriptions)
    if offset != len(buffer):
        raise ModelReadError(
            f"{path}: {len(buffer) - offset} bytes are left after the last of {len(parameters)} parameters; "
            "the file does not belong to this program"
        )
    return parameters


def read_separate(folder: Path, variables: Iterable[Variable]) -> dict[str, Parameter]:
    """Reads parameters that are saved as one file each, named as the parameter, in `folder`.

    Raises:
        ModelReadError: a file is missing, lies outside of `folder`, or does not hold what the program declares.
    """
    parameters = {}
    root = folder.resolve()
    for variable in variables:
        try:
            path = (root / variable.name).resolve()
        except (OSError, ValueError) as error:
            raise ModelReadError(f"parameter name {variable.name!r} cannot be a file name: {error}") from None
        if not path.is_relative_to(root) or path == root:
            raise ModelReadError(f"parameter name {variable.name!r} leads out of the model's folder {folder}")
        if not path.is_file():
            raise ModelReadError(f"{folder}: there is no file for parameter '{variable.name}'")
        buffer = _map(path)
        parameters[variable.name], end = _read_tensor(buffer, 0, variable, path, {})
        if end != len(buffer):
            raise ModelReadError(f"{path}: {len(buffer) - end} bytes are left after the parameter")
    return parameters


def _map(path: Path) -> memoryview:
    # Copy-on-write: OpenVINO wants a writable buffer to share, and the file must stay as it is.
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            if size == 0:
                return memoryview(bytearray())
            return memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY))
    except (OSError, ValueError, OverflowError) as error:
        raise ModelReadError(f"{path}: cannot be opened: {error}") from error


_HEAD = struct.Struct("<IQ")  # version, number of LoD levels
_BODY = struct.Struct("<Ii")  # version, size of the description


@dataclass(frozen=True, slots=True)
class _Description:
    """What stands before a tensor's data."""

    dtype: str
    shape: tuple[int, ...]
    storage: np.dtype[np.generic]
    count: int


def _read_tensor(
    buffer: memoryview, start: int, variable: Variable, path: Path, descriptions: dict[bytes, _Description]
) -> tuple[Parameter, int]:
    """Reads the tensor at `start`; `descriptions` are those that are read already, by their bytes."""
    end = len(buffer)

    def fail(reason: str) -> ModelReadError:
        return ModelReadError(f"{path}: parameter '{variable.name}' at byte {start}: {reason}")

    try:
        version, levels = _HEAD.unpack_from(buffer, start)
        if version != 0:
            raise fail(f"unknown format version {version}")
        if levels > _MAX_LOD_LEVELS:
            raise fail(f"absurd number of LoD levels {levels}")
        offset = start + _HEAD.size
        for _ in range(levels):
            offset += 8 + struct.unpack_from("<Q", buffer, offset)[0]
            if offset > end:
                raise fail("the file ends within its LoD")
        version, size = _BODY.unpack_from(buffer, offset)
    except struct.error:
        raise fail("the file ends within it") from None
    if version != 0:
        raise fail(f"unknown tensor version {version}")
    offset += _BODY.size
    if not 0 < size <= _MAX_DESC_BYTES or offset + size > end:
        raise fail(f"impossible description size {size}")
    text = bytes(buffer[offset : offset + size])
    offset += size
    found = descriptions.get(text)
    if found is None:
        try:
            found = descriptions[text] = _description(text)
        except ValueError as error:
            raise fail(str(error)) from None
    dtype, shape, storage, count = found.dtype, found.shape, found.storage, found.count
    if variable.dtype is not None and dtype != variable.dtype:
        raise fail(f"the program declares {variable.dtype}, the file holds {dtype}")
    if variable.shape is not None and shape != variable.shape and not _fits(shape, variable.shape):
        raise fail(f"the program declares shape {list(variable.shape)}, the file holds {list(shape)}")
    after = offset + count * storage.itemsize
    if after > end:
        raise fail(f"shape {list(shape)} of {dtype} needs {after - offset} bytes, {end - offset} are left")
    data = np.frombuffer(buffer, storage, count, offset).reshape(shape) if count else np.empty(shape, storage)
    return Parameter(variable.name, dtype, data), after


def _description(text: bytes) -> _Description:
    try:
        desc = TensorDesc.FromString(text)
    except DecodeError as error:
        raise ValueError(f"its description cannot be decoded: {error}") from None
    dtype = dtypes.LEGACY.get(desc.data_type)
    if dtype is None:
        raise ValueError(f"unknown data type number {desc.data_type}")
    shape = tuple(desc.dims)
    if len(shape) > _MAX_RANK or any(dim < 0 for dim in shape):
        raise ValueError(f"impossible shape {list(shape)}")
    return _Description(dtype, shape, dtypes.STORAGE[dtype], element_count(shape))


def _fits(actual: tuple[int, ...], declared: tuple[int, ...]) -> bool:
    # Paddle 2.x declares a 0-D parameter as [1] in some exports; the number of elements is the same.
    if len(actual) != len(declared):
        return all(dim == 1 for dim in (*actual, *declared))
    return all(want in (-1, have) for have, want in zip(actual, declared, strict=True))
