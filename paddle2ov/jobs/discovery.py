"""Every Paddle model below a folder, of both formats, with the place of what it becomes."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from paddle2ov import __version__
from paddle2ov.errors import ModelReadError
from paddle2ov.program.files import ModelFiles, find_model
from paddle2ov.program.settings import find_settings

_SKIPPED = ("__pycache__", "node_modules")


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A model: its name below the folder, its files, and the .xml that it becomes."""

    name: str
    files: ModelFiles
    target: Path


def find_models(folder: Path, out: Path) -> list[FoundModel]:
    """The models in the order of their names; hidden folders, caches and the output folder are passed over.

    The results mirror the folder: `a/b/inference.json` becomes `OUT/a/b.xml`; where a folder holds several programs,
    each is called by its file, `OUT/a/b/det.xml`. What is not UTF-8 in a name becomes `%E9`.

    Raises:
        ModelReadError: the folder cannot be read.
    """
    if not folder.is_dir():
        raise ModelReadError(f"{folder}: no such folder")
    found: list[FoundModel] = []
    names_taken: set[str] = set()
    stems_taken: set[str] = set()
    for place, folders, names in os.walk(folder):
        here = Path(place)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name not in _SKIPPED and not _same(here / name, out)
        )
        files = [one for name in sorted(names) if (one := _program(here / name)) is not None]
        for one in files:
            below = here.relative_to(folder)
            alone = len(files) == 1 and below != Path()
            name = below if alone else below / one.program.name
            stem = (
                below
                if alone
                else below / (one.program.name if _is_same_in_other_format(one, files) else one.program.stem)
            )
            found.append(FoundModel(_fresh(str(name), names_taken), one, out / f"{_fresh(str(stem), stems_taken)}.xml"))
    return sorted(found, key=lambda one: one.name)


def fingerprint(model: FoundModel, *options: object) -> str:
    """Changes when the model, its settings, the options or paddle2ov do.

    The program is read; of the parameters, which are large, size and time of change are taken. Where no file holds all
    of them, they may be any of those beside the program.
    """
    files = model.files
    parts = [__version__, repr(options), hashlib.sha256(files.program.read_bytes()).hexdigest()]
    settings = find_settings(files.program.parent)
    beside = sorted(files.program.parent.iterdir()) if files.params is None and files.format == "legacy" else ()
    for path in (files.params, settings, *beside):
        if path is not None and path.is_file():
            about = path.stat()
            parts.append(f"{path.name} {about.st_size} {about.st_mtime_ns}")
    return hashlib.sha256("\0".join(parts).encode(errors="surrogateescape")).hexdigest()


def _fresh(name: str, taken: set[str]) -> str:
    """A name that OpenVINO and SQLite take: bytes that are not UTF-8, which Python has as surrogates, are spelled."""
    found = "".join(f"%{ord(one) - 0xDC00:X}" if "\udc80" <= one <= "\udcff" else one for one in name)
    while found in taken:  # by one that is spelled so
        found += "_"
    taken.add(found)
    return found


def _program(path: Path) -> ModelFiles | None:
    if path.suffix not in (".json", ".pdmodel") and path.name != "__model__":
        return None
    try:
        return find_model(path)
    except ModelReadError:
        return None  # another kind of JSON, or a file that cannot be opened


def _is_same_in_other_format(one: ModelFiles, files: list[ModelFiles]) -> bool:
    """Whether two programs of a folder differ in their suffix only: a model in both formats."""
    return sum(other.program.stem == one.program.stem for other in files) > 1


def _same(path: Path, other: Path) -> bool:
    return path.resolve() == other.resolve()
