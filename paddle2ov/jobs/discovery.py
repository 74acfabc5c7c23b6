"""Every Paddle model in files and below folders, of both formats, with the place of what it becomes."""

from __future__ import annotations

import hashlib
import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from paddle2ov import __version__
from paddle2ov.errors import ConversionInputError, ModelReadError
from paddle2ov.jobs.names import distinct, printable
from paddle2ov.program.archives import format_in, is_archive, name_of
from paddle2ov.program.budget import MAX_PROGRAM_BYTES
from paddle2ov.program.files import ModelFiles, find_model, is_named_as_program, other_model
from paddle2ov.program.paths import APPLE_DOUBLE, find_settings, missing

_SKIPPED = ("__pycache__", "node_modules")
_ALREADY = "it is found below another path"


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A model: its name, its files (an archive is the program), and the .xml that it becomes."""

    name: str
    files: ModelFiles
    target: Path


def find_models(
    paths: Sequence[Path], out: Path, warn: Callable[[str], None] = lambda message: None
) -> list[FoundModel]:
    """The models in the order of their names; hidden folders, caches and the output folder are passed over.

    A model is called by the folder that holds it alone, `a/b` for `a/b/inference.json`; by its file where that holds
    others too, or is an archive: `a/b/det.json`, `a/det_infer.tar`. Below a single folder, names are paths from there;
    of several paths, each name begins with the last part of its path. A result is called as its model, without the
    suffix of a file: `OUT/a/b.xml`, `OUT/a/det_infer.xml`. Where two would be called alike, files keep their suffixes:
    `OUT/a/det_infer.tar.xml`.

    Args:
        paths: where to look: folders, archives, program files. A folder that several paths or links lead to is searched
            once, under its own path if it has one there.
        out: where the results are to stand.
        warn: called with what is skipped: what cannot be read, models of another kind, archives of other things, links
            to what is found anyway.

    Raises:
        ModelReadError: there is no such path.
        ConversionInputError: the names of two paths are the same.
    """
    begins = _begins_of_names(paths)
    models: dict[Path, ModelFiles] = {}
    for path, here, names in _walk([path for path in paths if path.is_dir()], out, warn):
        below = begins[path] / here.relative_to(path)
        for archive in filter(is_archive, (here / name for name in sorted(names))):
            packed = _packed(archive, warn)
            if packed is not None:
                models[below / archive.name] = packed
        files = [
            files_of_model for name in sorted(names) if (files_of_model := _program(here / name, warn)) is not None
        ]
        if not files and (other := other_model(names)):
            warn(f"{here}: skipped: {other}")
        for model in files:
            is_alone = len(files) == 1 and below != Path()
            models[below if is_alone else below / model.program.name] = model
    found = {_absolute(model.program) for model in models.values()}
    for path in paths:
        if path.is_dir():
            if len(paths) > 1 and not any(program.is_relative_to(_absolute(path)) for program in found):
                warn(f"{path}: no model below it")
        elif _absolute(path) in found:
            warn(f"{path}: skipped: {_ALREADY}")
        elif is_archive(path):
            if (packed := _packed(path, warn)) is not None:
                models[begins[path]] = packed
        elif (program := _program(path, warn)) is not None:
            models[begins[path]] = program
        else:
            warn(f"{path}: skipped: not a Paddle inference model")
    sorted_models = sorted((printable(str(name)), name, files) for name, files in models.items())
    shown = distinct(text for text, _, _ in sorted_models)
    stems = {name: _stem(name, files) for name, files in models.items()}
    taken = Counter(path for name, stem in stems.items() for path in {name, stem})
    return [
        FoundModel(text, files, out / f"{stems[name] if taken[stems[name]] == 1 else name}.xml")
        for text, (_, name, files) in zip(shown, sorted_models, strict=True)
    ]


def _stem(name: Path, files: ModelFiles) -> Path:
    """The name of a model without the suffix of its file; the name itself of one that is called by its folder."""
    if name.name != files.program.name:
        return name
    return name.with_name((name_of(files.program) if is_archive(files.program) else files.program.stem) or name.name)


def _begins_of_names(paths: Sequence[Path]) -> dict[Path, Path]:
    """What the names of the models of each path begin with: nothing for a single folder, else the path's last part.

    Raises:
        ModelReadError: there is no such path.
        ConversionInputError: two begin alike.
    """
    for path in paths:
        if not path.exists():
            raise ModelReadError(f"{path}: {missing(path, 'file or folder')}")
    if len(paths) == 1 and paths[0].is_dir():
        return {paths[0]: Path()}
    begins = {path: Path(_absolute(path).name) for path in paths}
    first: dict[Path, Path] = {}
    for path, begin in begins.items():
        other = first.setdefault(begin, path)
        if _absolute(other) != _absolute(path):
            raise ConversionInputError(
                f"{other} and {path}: the results of both would be called {begin}; name the folders that hold them, or "
                "convert them one after the other"
            )
    return begins


def _walk(paths: Iterable[Path], out: Path, warn: Callable[[str], None]) -> Iterator[tuple[Path, Path, list[str]]]:
    """Each folder, after the path that leads to it, with the names of its files; last those that links lead to."""

    def skip(error: OSError) -> None:
        warn(f"{error.filename}: skipped: {error.strerror}")

    seen: dict[Path, Path] = {}
    pending = deque((path, path) for path in paths)
    while pending:
        path, start = pending.popleft()
        for place, folders, names in os.walk(start, onerror=skip):
            here = Path(place)
            if (first := seen.get(here.resolve())) is not None:  # a link to a parent as well
                warn(f"{here}: skipped: {_ALREADY if first == here else f'the same folder as {first}'}")
                folders.clear()
                continue
            seen[here.resolve()] = here
            folders[:] = sorted(
                name
                for name in folders
                if not name.startswith(".") and name not in _SKIPPED and (here / name).resolve() != out.resolve()
            )
            # os.walk passes over links.
            pending += [(path, here / name) for name in folders if (here / name).is_symlink()]
            dangling = {name for name in names if _leads_nowhere(here / name)}
            for name in sorted(dangling):
                warn(f"{here / name}: skipped: a link that leads nowhere")
            yield path, here, [name for name in names if name not in dangling and not name.startswith(APPLE_DOUBLE)]


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
    beside = [files.program]
    if not is_archive(files.program):
        folder = files.program.parent
        others = sorted(folder.iterdir()) if files.params is None and files.format == "legacy" else ()
        known = (files.params, find_settings(folder), *others)
        beside = [path for path in known if path is not None and path.is_file()]
    for path in beside:
        about = path.stat()
        parts.append(f"{path.name} {about.st_size} {about.st_mtime_ns}")
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


def _leads_nowhere(path: Path) -> bool:
    """Whether a path is a link to what is not there, or to itself."""
    try:
        return path.is_symlink() and not path.exists()
    except OSError:  # on the way to it
        return False


def _absolute(path: Path) -> Path:
    """The path from the root, without `..`; links in it stay."""
    return Path(os.path.normpath(path.absolute()))
