"""The cache of compiled models: a folder that many processes share.

    NAME.content  the content of the files that have certain stamps, so that they need not be read again
    NAME.blob     a compiled model, as OpenVINO exports it, after a line with its size and checksum, and one with the
                  names of its results

A file is written beside its place and moved there when it is complete; whoever is killed leaves a file that nobody
reads, and that a later process removes. What is there never changes: its name says all that it depends on.
"""

from __future__ import annotations

import io
import json
import logging
import os
import re
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import NamedTuple, TypeVar

import openvino

from paddle2ov.errors import ConversionInputError, described, system_message, system_reason
from paddle2ov.program.sources import NotRegularError, regular_file

log = logging.getLogger("paddle2ov")
T = TypeVar("T")

MAX_BYTES = 4 << 30
"""How large a cache may grow: beyond that, the models that were used least recently are removed."""
_ABANDONED = 600.0
"""For how long (s) a file may be written at most."""
_MAX_NOTES = 10_000
"""How many notes of contents are kept."""
_PART = ".part"
_OWN = r"([0-9a-f]{32}-[0-9a-f]{32}\.blob|[0-9a-f]{64}\.content)(\.\d+\.[0-9a-f]{8}\.part)?"
"""The names of the cache's own files; others stay, whatever their suffix."""


class ExportedModel(NamedTuple):
    """What a cache holds of a compiled model: the names of each result, and what OpenVINO exported."""

    names: list[frozenset[str]]
    blob: openvino.Tensor


class CompiledCache:
    """The compiled models in a folder.

    A folder that cannot be made, read or written keeps nothing, with a warning: a cache saves time only.

    Raises:
        ConversionInputError: that is no name of a folder.
    """

    def __init__(self, folder: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> None:
        self._folder = _named_folder(folder)
        self._max_bytes = max_bytes
        self._is_there = True
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            log.warning("cache_dir: nothing is kept: %s: %s", self._folder, system_reason(error))
            self._is_there = False

    def content_of(self, stamps: str) -> str | None:
        """The digest of the content of files with these stamps, where a process has noted it."""
        noted = self._read(f"{stamps}.content", FileIO.readall)
        return noted.decode("ascii", "replace") if noted is not None and len(noted) == 64 else None

    def note_content(self, stamps: str, content: str) -> None:
        """Notes the digest of the content of files with these stamps."""
        self._write(f"{stamps}.content", content.encode())

    def load(self, name: str) -> ExportedModel | None:
        """An exported model; None if there is none, or if its size or checksum is wrong."""
        stored = self._read(f"{name}.blob", _read_exported)
        if stored is None:
            return None
        head, names, blob = stored
        if head != _head(names, blob.data.data):
            self.remove(name)
            return None
        with suppress(OSError):
            os.utime(self._folder / f"{name}.blob")
        return ExportedModel([frozenset(port_names) for port_names in json.loads(names)], blob)

    def store(self, name: str, compiled: openvino.CompiledModel) -> None:
        """Stores a compiled model, unless the device cannot export it or it cannot be written."""
        exported = io.BytesIO()
        try:
            compiled.export_model(exported)
        except RuntimeError as error:
            log.warning("cache_dir: nothing is kept: the device exports no compiled model: %s", described(error))
            return
        names, blob = json.dumps([sorted(port.get_names()) for port in compiled.outputs]).encode(), exported.getbuffer()
        if len(blob) <= self._max_bytes:
            self._write(f"{name}.blob", _head(names, blob) + b"\n" + names + b"\n", blob)
            self._shrink(self._folder / f"{name}.blob")

    def remove(self, name: str) -> None:
        """Removes a compiled model."""
        _unlink(self._folder / f"{name}.blob")

    def _read(self, name: str, read: Callable[[FileIO], T]) -> T | None:
        try:
            with regular_file(self._folder / name) as file:
                return read(file)
        except NotRegularError as error:
            log.warning("cache_dir: %s", system_message(error))
            return None
        except OSError:
            return None

    def _write(self, name: str, *parts: bytes | memoryview) -> None:
        if not self._is_there:
            return
        part = self._folder / f"{name}.{os.getpid()}.{os.urandom(4).hex()}{_PART}"
        try:
            with part.open("xb") as file:
                for part_content in parts:
                    file.write(part_content)
                file.flush()
                os.fsync(file.fileno())
            part.replace(self._folder / name)
        except OSError as error:
            log.warning("cache_dir: %s: %s", self._folder, system_reason(error))
            _unlink(part)

    def _shrink(self, newest: Path) -> None:
        """Removes abandoned parts, beyond the size what was used least recently, and the oldest notes."""
        entries = sorted(self._files(), key=lambda entry: entry[1].st_mtime)
        now, total = time.time(), sum(status.st_size for path, status in entries if path.suffix == ".blob")
        for path, status in entries:
            if path.suffix == _PART and now - status.st_mtime > _ABANDONED:
                _unlink(path)
            elif path.suffix == ".blob" and total > self._max_bytes and path != newest:
                _unlink(path)
                total -= status.st_size
        notes = [path for path, _ in entries if path.suffix == ".content"]
        for path in notes[: max(0, len(notes) - _MAX_NOTES)]:
            _unlink(path)

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        with suppress(OSError):
            for entry in self._folder.iterdir():
                with suppress(OSError):
                    if re.fullmatch(_OWN, entry.name):
                        yield entry, entry.stat()


def clear_cache(cache_dir: str | os.PathLike[str]) -> int:
    """Removes all compiled models from a folder that `compile_model` kept them in; returns how many there were.

    Other files stay: those of the cache are told by their names. Processes that use one of the models go on with it.

    Raises:
        ConversionInputError: there is no such folder.
    """
    folder, is_folder = _named_folder(cache_dir), False
    with suppress(OSError):  # of a name that is too long
        is_folder = folder.is_dir()
    if not is_folder:
        raise ConversionInputError(f"cache_dir: {os.fspath(cache_dir)!r} is not a folder")
    count = 0
    for path, _ in list(CompiledCache(cache_dir)._files()):
        _unlink(path)
        count += path.suffix == ".blob"
    return count


def _named_folder(cache_dir: str | os.PathLike[str]) -> Path:
    """The folder of this name; "" is none, which `Path` takes for the current folder.

    Raises:
        ConversionInputError: there cannot be one.
    """
    try:
        name = os.fsdecode(cache_dir)
        os.fsencode(name)
    except UnicodeEncodeError as error:
        raise ConversionInputError(f"cache_dir: {name!r:.80} is not the name of a folder: {error.reason}") from None
    except TypeError:
        raise ConversionInputError(f"cache_dir: a path is expected, not {type(cache_dir).__name__}") from None
    if not name or "\0" in name:
        raise ConversionInputError(f"cache_dir: {name!r} is not the name of a folder")
    return Path(name)


def _read_exported(file: FileIO) -> tuple[bytes, bytes, openvino.Tensor]:
    """The two lines before a compiled model, and the model, in memory of OpenVINO's own, which it need not copy."""
    reader = io.BufferedReader(file)
    head, names = (reader.readline().rstrip(b"\n") for _ in range(2))
    blob = openvino.Tensor(openvino.Type.u8, [os.fstat(file.fileno()).st_size - reader.tell()])
    reader.readinto(blob.data.data)
    return head, names, blob


def _head(names: bytes, blob: bytes | memoryview) -> bytes:
    return json.dumps({"bytes": len(names) + len(blob), "crc32": zlib.crc32(blob, zlib.crc32(names))}).encode()


def _unlink(path: Path) -> None:
    with suppress(OSError):  # gone already, or on Windows in use
        path.unlink()
