"""Every Paddle model below a folder, of both formats, with the place of what it becomes."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from paddle2ov import __version__
from paddle2ov.errors import ModelReadError
from paddle2ov.jobs.names import distinct, printable
from paddle2ov.program.archives import format_in, is_archive, name_of
from paddle2ov.program.budget import MAX_PROGRAM_BYTES
from paddle2ov.program.files import ModelFiles, find_model, find_settings, is_named_as_program, other_model
from paddle2ov.program.paths import APPLE_DOUBLE

_SKIPPED = ("__pycache__", "node_modules")


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A model: its name below the folder, its files (an archive is the program), and the .xml that it becomes."""

    name: str
    files: ModelFiles
    target: Path


def find_models(folder: Path, out: Path, warn: Callable[[str], None] = lambda message: None) -> list[FoundModel]:
    """The models in the order of their names; hidden folders, caches and the output folder are passed over.

    The results mirror the folder: `a/b/inference.json` becomes `OUT/a/b.xml`; where a folder holds several programs,
    each is called by its file, `OUT/a/b/det.xml`. A model in an archive, `a/det_infer.tar`, becomes
    `OUT/a/det_infer.xml`. No two have the same name or result.

    Args:
        folder: where to look; a folder that links lead to is searched once, under its own path if it has one there.
        out: where the results are to stand.
        warn: called with what is skipped: what cannot be read, models of another kind, archives of other things, links
            to what is found anyway.

    Raises:
        ModelReadError: the folder cannot be read.
    """
    if not folder.is_dir():
        instead = f": `paddle2ov {folder}` converts one model" if folder.exists() else ""
        raise ModelReadError(f"{folder}: {'not a' if instead else 'no such'} folder{instead}")

    models: list[tuple[str, ModelFiles, Path]] = []
    for here, names in _walk(folder, out, warn):
        below = here.relative_to(folder)
        for archive in filter(is_archive, (here / name for name in sorted(names))):
            packed = _packed(archive, warn)
            if packed is not None:
                models.append((printable(str(below / archive.name)), packed, below / name_of(archive)))
        files = [
            files_of_model for name in sorted(names) if (files_of_model := _program(here / name, warn)) is not None
        ]
        if not files and (other := other_model(names)):
            warn(f"{here}: skipped: {other}")
        for model in files:
            name = stem = below
            if len(files) > 1 or below == Path():
                name = below / model.program.name
                stem = name if _is_same_in_other_format(model, files) else below / model.program.stem
            models.append((printable(str(name)), model, stem))
    models.sort(key=lambda model: (model[0], model[2]))
    shown = distinct(name for name, _, _ in models)
    stems = distinct(str(stem) for _, _, stem in models)
    return [
        FoundModel(name, files, out / f"{stem}.xml")
        for name, (_, files, _), stem in zip(shown, models, stems, strict=True)
    ]


def _walk(folder: Path, out: Path, warn: Callable[[str], None]) -> Iterator[tuple[Path, list[str]]]:
    """Each folder with the names of its files: first those below it, then those that links lead to."""

    def skip(error: OSError) -> None:
        warn(f"{error.filename}: skipped: {error.strerror}")

    seen: dict[Path, Path] = {}
    pending = deque([folder])
    while pending:
        for place, folders, names in os.walk(pending.popleft(), onerror=skip):
            here = Path(place)
            first = seen.setdefault(here.resolve(), here)
            if first != here:  # a link to a parent as well
                warn(f"{here}: skipped: the same folder as {first}")
                folders.clear()
                continue
            folders[:] = sorted(
                name
                for name in folders
                if not name.startswith(".") and name not in _SKIPPED and not _same(here / name, out)
            )
            pending += [here / name for name in folders if (here / name).is_symlink()]  # which os.walk passes over
            dangling = {name for name in names if _leads_nowhere(here / name)}
            for name in sorted(dangling):
                warn(f"{here / name}: skipped: a link that leads nowhere")
            yield here, [name for name in names if name not in dangling and not name.startswith(APPLE_DOUBLE)]


def fingerprint(model: FoundModel, *options: object) -> str:
    """Changes when the model, its settings, the options or paddle2ov do.

    The program is read; of the parameters, which are large, size and time of change are taken. Where no file holds all
    of them, they may be any of those beside the program.

    Raises:
        OSError: the files cannot be read.
    """
    files = model.files
    with files.program.open("rb") as program:  # one that is larger than any that is read is refused later
        parts = [__version__, repr(options), hashlib.sha256(program.read(MAX_PROGRAM_BYTES)).hexdigest()]
    if is_archive(files.program):
        return _digest([*parts, _about(files.program)])
    settings = find_settings(files.program.parent)
    beside = sorted(files.program.parent.iterdir()) if files.params is None and files.format == "legacy" else ()
    for path in (files.params, settings, *beside):
        if path is not None and path.is_file():
            parts.append(_about(path))
    return _digest(parts)


def _about(path: Path) -> str:
    about = path.stat()
    return f"{path.name} {about.st_size} {about.st_mtime_ns}"


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _packed(archive: Path, warn: Callable[[str], None]) -> ModelFiles | None:
    """An archive in place of a program; a damaged one as well: the conversion says so."""
    try:
        format = format_in(archive)
    except ModelReadError:
        format = ""
    except OSError as error:
        warn(f"{archive}: skipped: {error.strerror}")
        return None
    if format is None:
        warn(f"{archive}: skipped: no Paddle inference model in it")
        return None
    return ModelFiles(archive, format, None, ())


def _program(path: Path, warn: Callable[[str], None]) -> ModelFiles | None:
    if path.suffix not in (".json", ".pdmodel") and path.name != "__model__":
        return None
    try:
        return find_model(path)
    except ModelReadError as error:
        if isinstance(error.__cause__, OSError):
            warn(f"skipped: {error}")
        elif is_named_as_program(path):  # damaged, or a pointer to it: the conversion says so
            return ModelFiles(path, "pir" if path.suffix == ".json" else "legacy", None, ())
        return None  # or another kind of JSON


def _is_same_in_other_format(model: ModelFiles, files: list[ModelFiles]) -> bool:
    """Whether two programs of a folder differ in their suffix only: a model in both formats."""
    return sum(other.program.stem == model.program.stem for other in files) > 1


def _leads_nowhere(path: Path) -> bool:
    """Whether a path is a link to what is not there, or to itself."""
    try:
        return path.is_symlink() and not path.exists()
    except OSError:  # on the way to it
        return False


def _same(path: Path, other: Path) -> bool:
    return path.resolve() == other.resolve()
