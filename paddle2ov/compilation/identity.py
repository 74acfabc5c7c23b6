"""What a compiled model depends on: the files of the program, the options, OpenVINO, the device and its properties."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import openvino

from paddle2ov.errors import ModelReadError, system_reason
from paddle2ov.graph.core import shared_core
from paddle2ov.program.archives import is_archive
from paddle2ov.program.files import PathLike, find_model
from paddle2ov.program.paths import SETTINGS
from paddle2ov.program.sources import Source

_DEVICE_FACTS = ("FULL_DEVICE_NAME", "DEVICE_ARCHITECTURE", "OPTIMIZATION_CAPABILITIES")
_PLAIN = (str, int, float, bool, type(None), openvino.PartialShape, openvino.Shape, openvino.Type, openvino.Dimension)
_CHUNK = 1 << 20


class ModelIdentity:
    """The state of a model's files, as their status tells it and as their content does.

    Raises:
        ModelReadError: the model cannot be found, or its files keep changing.
    """

    def __init__(self, model: PathLike, params: PathLike | None = None) -> None:
        self._source = Source(waits=True)
        self._paths = _files(model, params)
        self._source.note(*self._paths)

    def stamp_digest(self) -> str:
        """Where the files lie, their sizes and times: as long as it is the same, their content is."""
        return _digest([(path, tuple(stamp)) for path, stamp in self._source.stamps().items()])

    def content_digest(self) -> str:
        """The same for the same content, wherever it lies.

        Raises:
            ModelReadError: a file cannot be read.
        """
        digests = []
        for path in self._paths:
            digest = hashlib.sha256()
            with self._source.open(path) as file:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
            digests.append((path.name, digest.hexdigest()))
        return _digest(digests)

    def is_unchanged(self) -> bool:
        """Whether no file has changed since."""
        return self._source.is_unchanged()


def settings_digest(device: str, config: Mapping[str, Any], options: Mapping[str, Any]) -> str | None:
    """What a compiled model depends on beside the model; None where an option cannot be told from another one."""
    try:
        chosen = [_plain(dict(config)), _plain(dict(options))]
    except TypeError:
        return None
    return _digest([_code(), openvino.get_version(), device, _device_facts(device), *chosen])


def _files(model: PathLike, params: PathLike | None) -> list[Path]:
    if is_archive(model):
        return [Path(model)]
    files = find_model(model, params)
    folder = files.program.parent
    others = [folder / name for name in SETTINGS if (folder / name).is_file()]
    if files.params is not None:
        return [files.program, files.params, *others]
    try:  # each parameter may lie in a file of its own
        beside = [entry for entry in sorted(folder.iterdir()) if entry.is_file() and not entry.name.startswith(".")]
    except OSError as error:
        raise ModelReadError(f"{folder}: cannot be opened: {system_reason(error)}") from error
    return list(dict.fromkeys([files.program, *beside]))


@cache
def _code() -> list[list[str | int]]:
    """The state of paddle2ov's own modules, and of the folders of installed packages, which may bring converters."""
    package = Path(__file__).parents[1]
    own = [package] if (package / "converters").is_dir() else [package, package.parent / "converters"]
    modules = sorted(path for folder in own for path in _modules(folder))
    table = next(path for path in (package / "op_table.py", package.parent / "op_table.py") if path.is_file())
    installed = [Path(folder) for folder in sys.path if Path(folder).name in ("site-packages", "dist-packages")]
    others = ((os.fspath(path), path.stat()) for path in (table, *installed) if path.exists())
    return [[path, about.st_size, about.st_mtime_ns] for path, about in (*modules, *others)]


def _modules(folder: str | os.PathLike[str]) -> Iterator[tuple[str, os.stat_result]]:
    """The modules below a folder, and their states; a third of the time that pathlib takes."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _modules(entry.path)
            elif entry.name.endswith(".py"):
                yield entry.path, entry.stat()


@cache
def _device_facts(device: str) -> list[str]:
    facts = []
    for name in _DEVICE_FACTS:
        try:
            facts.append(str(shared_core().get_property(device, name)))
        except RuntimeError:  # not every device has each of them, and AUTO none
            facts.append("")
    return [*facts, str(os.cpu_count())]


def _plain(value: object) -> Any:
    """A value as JSON holds it.

    Raises:
        TypeError: its text does not identify it.
    """
    if isinstance(value, Mapping):
        return [[str(key), _plain(item)] for key, item in value.items()]
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, str | bytes):
        return [_plain(item) for item in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, openvino.properties.streams.Num):
        return ["Num", value.to_integer()]
    if hasattr(type(value), "__members__") and type(value).__module__.startswith("openvino."):
        return str(value)  # a constant such as PerformanceMode.LATENCY
    if not isinstance(value, _PLAIN):
        raise TypeError(f"{type(value).__name__} is not a plain option")
    return value if isinstance(value, str | int | float | bool | None) else [type(value).__name__, str(value)]


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode(errors="surrogatepass")).hexdigest()
