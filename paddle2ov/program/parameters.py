"""Weights: the tensors of a `.pdiparams` file, mapped or read, or of one file per parameter.

The file is a sequence of serialised tensors without names, count or alignment; they are in the order of the sorted
parameter names. Source: `paddle/phi/core/framework/dense_tensor_serialize.cc` and `dense_tensor_tostream.cc`.
"""

from __future__ import annotations

import math
import mmap
import struct
from collections.abc import Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paddle2ov.errors import ModelReadError, system_reason
from paddle2ov.program import dtypes
from paddle2ov.program.budget import MAX_RANK
from paddle2ov.program.model import Parameter, Variable
from paddle2ov.program.sources import ChangedError, Opened, Source, reading
from paddle2ov.typing import AnyArray

_MAX_LOD_LEVELS = 1024
_MAX_DESC_BYTES = 1 << 16


def read_combined(path: Path, variables: Iterable[Variable], source: Source, mapped: bool) -> dict[str, Parameter]:
    """Reads all parameters from one file.

    Args:
        path: the `.pdiparams` or `__params__` file.
        variables: the parameters that the program declares; their order does not matter.
        source: the files of the model, this one among them.
        mapped: whether the data is mapped, not read.

    Raises:
        ModelReadError: the file does not hold exactly these tensors with the declared types and shapes.
    """
    parameters = {}
    offset = 0
    headers: dict[bytes, _Header] = {}
    with reading(path), source.open(path) as opened:
        file = (_MappedFile if mapped else _File)(opened, path)
        for variable in sorted(variables, key=attrgetter("name")):
            parameters[variable.name], offset = _read_tensor(file, offset, variable, path, headers)
        if mapped:
            source.keep(path, opened)
    if offset != file.size:
        raise ModelReadError(
            f"{path}: {file.size - offset} bytes are left after the last of {len(parameters)} parameters; "
            "the file does not belong to this program"
        )
    return parameters


def read_separate(folder: Path, variables: Iterable[Variable], source: Source) -> dict[str, Parameter]:
    """Reads parameters that are saved as one file each, named as the parameter, in `folder`; none stays mapped.

    Raises:
        ModelReadError: a file is missing, lies outside of `folder`, or does not hold what the program declares.
    """
    variables = list(variables)
    paths = _separate_files(folder, variables)
    source.note(*paths)
    parameters = {}
    for variable, path in zip(variables, paths, strict=True):
        with reading(path), source.open(path) as opened:
            file = _File(opened, path)
            parameters[variable.name], end = _read_tensor(file, 0, variable, path, {})
        if end != file.size:
            raise ModelReadError(f"{path}: {file.size - end} bytes are left after the parameter")
    return parameters


def _separate_files(folder: Path, variables: Iterable[Variable]) -> list[Path]:
    """The files of parameters. Their names must not lead out of the folder, which may hold links to blobs."""
    paths = []
    root = folder.resolve()
    allowed = (root, *_blobs(root))
    for variable in variables:
        try:
            path = root / variable.name
            inside = path.is_relative_to(root) and ".." not in path.relative_to(root).parts
            target = path.resolve()
            inside = inside and path.parent.resolve().is_relative_to(root)
            inside = inside and target != root and any(map(target.is_relative_to, allowed))
            exists = inside and path.is_file()
        except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links in a circle
            reason = system_reason(error)
            raise ModelReadError(f"parameter name {variable.name!r} cannot be a file name: {reason}") from None
        if not inside:
            raise ModelReadError(f"parameter name {variable.name!r} leads out of the model's folder {folder}")
        if not exists:
            raise ModelReadError(f"{folder}: there is no file for parameter '{variable.name}'")
        paths.append(path)
    return paths


def _blobs(root: Path) -> Iterator[Path]:
    """Where the files of a folder in Hugging Face's cache are: `snapshots/REVISION/...` holds links to `blobs/...`."""
    for parent in root.parents:
        if parent.name == "snapshots" and parent.parent != parent:
            yield (parent.parent / "blobs").resolve()


class _File:
    """A parameter file that is read. Each tensor has memory of its own, which is freed with the tensor."""

    def __init__(self, file: Opened, path: Path) -> None:
        self._file, self._path = file, path
        self._start, self._window = 0, b""
        self.size = file.seek(0, 2)

    def bytes_at(self, offset: int, count: int) -> bytes:
        """`count` bytes, or fewer at the end of the file; for the headers between the data."""
        begin = offset - self._start
        if begin < 0 or begin + count > len(self._window):
            self._file.seek(offset)
            self._window = self._file.read(max(count, _WINDOW))
            self._start, begin = offset, 0
        return self._window[begin : begin + count]

    def array_at(self, offset: int, storage: np.dtype[np.generic], count: int) -> AnyArray:
        """A tensor's data; the caller has checked that the file is long enough."""
        array = np.empty(count, storage)
        left = array.view(np.uint8).data
        self._file.seek(offset)
        while left:
            read = self._file.readinto(left)
            if not read:
                raise ChangedError(f"{self._path}: changed while it was being read")
            left = left[read:]
        return array


class _MappedFile(_File):
    """A parameter file whose data is mapped.

    Copy-on-write: OpenVINO shares only writable buffers, and the file must not be modified. Only data is read through
    the mapping, since that ends the process if the file is truncated meanwhile.
    """

    def __init__(self, file: Opened, path: Path) -> None:
        super().__init__(file, path)
        self._buffer = mmap.mmap(file.fileno(), self.size, access=mmap.ACCESS_COPY) if self.size else bytearray()

    def array_at(self, offset: int, storage: np.dtype[np.generic], count: int) -> AnyArray:
        return np.frombuffer(self._buffer, storage, count, offset)


_WINDOW = 4096
"""How many bytes to read for a header: those of small tensors that follow are often among them."""
_LOD_BYTES = 12  # version, number of LoD levels
_TENSOR_HEADER = struct.Struct("<Ii")  # version, size of the description
_HEADERS = struct.Struct("<IQIi")  # both, which follow one another where there is no LoD
_HEAD = 64
"""How many bytes a header and its description seldom exceed."""


class _Header(NamedTuple):
    """The header before a tensor's data."""

    dtype: str
    shape: tuple[int, ...]
    storage: np.dtype[np.generic]
    elements: int


class _TensorError(Exception):
    """Why what a file holds is no tensor, or not the one that the program declares."""


def _read_tensor(
    file: _File, start: int, variable: Variable, path: Path, headers: dict[bytes, _Header]
) -> tuple[Parameter, int]:
    """Reads the tensor at `start`, and where it ends; `headers` caches decoded headers by their bytes."""
    try:
        text, offset = _header_at(file, start)
        if text not in headers:
            headers[text] = _header(text)
        dtype, shape, storage, count = headers[text]
        if variable.shape is not None and shape != variable.shape and not _fits(shape, variable.shape):
            raise _TensorError(f"the program declares shape {list(variable.shape)}, the file holds {list(shape)}")
        after = offset + count * storage.itemsize
        if after > file.size:
            needed, left = after - offset, file.size - offset
            raise _TensorError(f"shape {list(shape)} of {dtype} needs {needed} bytes, {left} are left")
        data = file.array_at(offset, storage, count).reshape(shape) if count else np.empty(shape, storage)
        if variable.dtype not in (None, dtype) and not _may_replace(variable.dtype, dtype, data):
            raise _TensorError(f"the program declares {variable.dtype}, the file holds {dtype}")
    except _TensorError as error:
        raise ModelReadError(f"{path}: parameter '{variable.name}' at byte {start}: {error}") from None
    return Parameter(variable.name, dtype, data), after


def _header_at(file: _File, start: int) -> tuple[bytes, int]:
    """The description of the tensor at `start`, and where its data begins."""
    head, offset = file.bytes_at(start, _HEAD), start + _HEADERS.size
    try:
        lod_version, levels, version, size = _HEADERS.unpack_from(head)
        if lod_version != 0:
            raise _TensorError(f"unknown format version {lod_version}")
        if levels:
            after = _after_lod(file, start + _LOD_BYTES, levels)
            version, size = _TENSOR_HEADER.unpack(file.bytes_at(after, _TENSOR_HEADER.size))
            offset = after + _TENSOR_HEADER.size
    except struct.error:
        raise _TensorError("the file ends within it") from None
    if version != 0:
        raise _TensorError(f"unknown tensor version {version}")
    data = offset + size
    if not 0 < size <= _MAX_DESC_BYTES or data > file.size:
        raise _TensorError(f"impossible description size {size}")
    return head[offset - start : data - start] if data - start <= _HEAD else file.bytes_at(offset, size), data


def _after_lod(file: _File, offset: int, levels: int) -> int:
    """Where the LoD ends whose levels begin at `offset`."""
    if levels > _MAX_LOD_LEVELS:
        raise _TensorError(f"absurd number of LoD levels {levels}")
    for _ in range(levels):
        offset += 8 + struct.unpack("<Q", file.bytes_at(offset, 8))[0]
        if offset > file.size:
            raise _TensorError("the file ends within its LoD")
    return offset


def _header(text: bytes) -> _Header:
    number, *dims = _plain_fields(text) or _decoded(text)
    dtype = dtypes.LEGACY.get(number)
    if dtype is None:
        raise _TensorError(f"unknown data type number {number}")
    if len(dims) > MAX_RANK or min(dims, default=0) < 0:
        raise _TensorError(f"impossible shape {dims}")
    shape = tuple(dims)
    return _Header(dtype, shape, dtypes.STORAGE[dtype], math.prod(shape))


def _plain_fields(text: bytes) -> list[int] | None:
    """The type number and the dimensions of a TensorDesc as Paddle writes it; None for any other.

    Importing protobuf takes longer than reading all headers of a network.
    """
    numbers, number, shift = [], 0, 0
    for byte in text:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(number)
            number = shift = 0
        elif shift > 28:
            return None
    tags, values = numbers[::2], numbers[1::2]
    is_plain = not shift and tags == [_DATA_TYPE, *[_DIMS] * (len(values) - 1)] and max(numbers) < 1 << 31
    return values if is_plain else None


_DATA_TYPE, _DIMS = 1 << 3, 2 << 3  # tags: a field's number, and 0 for an integer


def _decoded(text: bytes) -> list[int]:
    """The type number and the dimensions of any TensorDesc."""
    from google.protobuf.message import DecodeError

    from paddle2ov.program.framework_proto import TensorDesc, decode

    try:
        desc = decode(TensorDesc, text)
    except DecodeError as error:
        raise _TensorError(f"its description cannot be decoded: {error}") from None
    return [desc.data_type, *desc.dims]


def _may_replace(declared: str, actual: str, data: AnyArray) -> bool:
    """Whether a parameter may have another type than the program declares: Paddle takes that of the file.

    Quantization after training stores int8 for float32, `cast_model_to_fp16` declares float16 for float32. Of numbers
    that are declared as integers, fractions would be lost.
    """
    kinds = dtypes.STORAGE[declared].kind, data.dtype.kind
    if "c" in kinds or "float8" in declared + actual:
        return False
    if declared != "bfloat16" and kinds[0] in "iub" and (kinds[1] == "f" or actual == "bfloat16"):
        return actual != "bfloat16" and bool((np.isfinite(data) & (data == np.rint(data))).all())
    return True


def _fits(actual: tuple[int, ...], declared: tuple[int, ...]) -> bool:
    # Paddle 2.x declares a 0-D parameter as [1] in some exports, and scales that it stores as [1, n] as [n].
    if len(actual) != len(declared):
        return [dim for dim in actual if dim != 1] == [dim for dim in declared if dim != 1]
    return all(want in (-1, have) for have, want in zip(actual, declared, strict=True))
