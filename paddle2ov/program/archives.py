"""Models in archives, as they are shipped: `PP-OCRv4_mobile_det_infer.tar`, `model.zip`."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial, wraps
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple, TypeVar, cast

from paddle2ov.errors import FailingAs, ModelReadError, Paddle2OVError, system_reason
from paddle2ov.program.files import LEGACY_NAMES, PathLike, is_named_as_program, parameter_file
from paddle2ov.program.paths import APPLE_DOUBLE, local_path

SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip")
_Function = TypeVar("_Function", bound=Callable[..., Any])
_MAX_MEMBERS = 100_000
_UNPACKED: dict[Path, Path] = {}
"""The temporary folders of models, and what they stand for: archives, or the names of live models."""
_RATIO, _MARGIN = 100, 64 << 20
"""The unpacked files may be this many times the size of the archive, plus this many bytes; weights hardly compress."""


def is_archive(path: str | os.PathLike[str]) -> bool:
    """Whether a path is that of an archive, by its name."""
    return Path(path).name.lower().endswith(SUFFIXES) and Path(path).is_file()


@contextmanager
def unpacked(archive: Path) -> Iterator[Path]:
    """The folder of the model in an archive, which holds one; it is removed afterwards.

    Only the files beside the program are unpacked: no folders, links or devices.

    Raises:
        ModelReadError: it is damaged, holds no model or several, or unpacks to far more than its own size.
    """
    with standing_for(archive, name_of(archive) or "model") as folder:
        with FailingAs(
            lambda reason: ModelReadError(f"{archive}: cannot be unpacked: {reason}"), Exception, system_reason
        ):
            folder.mkdir()
            _unpack(archive, folder)
        yield folder


@contextmanager
def standing_for(model: Path, name: str) -> Iterator[Path]:
    """A temporary folder of this name, which is not made yet, for the files of a model that stands elsewhere.

    Messages name the model in place of the folder.
    """
    import tempfile

    with tempfile.TemporaryDirectory(prefix="paddle2ov-") as temporary:
        folder = Path(temporary, name)
        _UNPACKED[folder] = model
        try:
            yield folder
        except Paddle2OVError as error:
            error.args = tuple(
                with_origins(argument) if isinstance(argument, str) else argument for argument in error.args
            )
            raise
        finally:
            del _UNPACKED[folder]


def origin(path: Path) -> Path:
    """What the temporary folder of a file stands for, such as an archive; the file itself where it is in none."""
    return next((archive for folder, archive in tuple(_UNPACKED.items()) if path.is_relative_to(folder)), path)


def with_origins(text: str) -> str:
    """A text that names archives and live models in place of their temporary folders."""
    for folder, archive in tuple(_UNPACKED.items()):
        text = text.replace(str(folder), str(archive))
    return text


def parameters_beside(folder: Path, params: PathLike | None) -> Path | None:
    """A parameter file that is named: in the folder of the model, or else from the current folder."""
    if params is None:
        return None
    return folder / params if (folder / params).is_file() else Path(params)


def taking_archives(
    then: Callable[[Any], object] = lambda result: None, **fixed: object
) -> Callable[[_Function], _Function]:
    """For a function of a model, its first argument: that may also be an archive, unpacked for as long as it runs.

    `params` may then name a file in it.

    Args:
        then: called with the result of the function.
        fixed: arguments that it has for an archive, whatever the caller says.
    """

    def decorate(function: _Function) -> _Function:
        @wraps(function)
        def wrapped(model: Any, *args: Any, **kwargs: Any) -> Any:
            model = local_path(model)
            if not isinstance(model, str | os.PathLike) or not is_archive(model):
                return function(model, *args, **kwargs)
            from inspect import signature

            arguments = signature(function).bind(model, *args, **kwargs).arguments
            params = parameter_file(arguments.get("params"))
            with unpacked(Path(model)) as folder:
                arguments |= {"model": folder, "params": parameters_beside(folder, params), **fixed}
                options = arguments.pop("options", {})
                result = function(**arguments, **options)
            then(result)
            return result

        return cast(_Function, wrapped)

    return decorate


def format_in(archive: Path) -> str | None:
    """The format of the model in an archive, by the names of its files, "pir" or "legacy"; None if it holds none.

    Raises:
        ModelReadError: it is damaged.
        OSError: it cannot be read.
    """
    try:
        with _members(archive, _budget(archive)) as members:
            programs = [path for path in members if _is_program(path, members)]
    except ModelReadError:
        raise
    except Exception as error:  # tarfile, zipfile and what they decompress with raise all kinds of them
        if isinstance(error, OSError) and error.errno is not None:  # not that of damaged bzip2 or gzip
            raise
        raise ModelReadError(f"{archive}: cannot be read: {system_reason(error)}") from error
    if not programs:
        return None
    return "pir" if any(path.suffix == ".json" for path in programs) else "legacy"


def name_of(archive: Path) -> str:
    """The name of an archive without its suffixes."""
    suffix = next((suffix for suffix in SUFFIXES if archive.name.lower().endswith(suffix)), "")
    return archive.name[: len(archive.name) - len(suffix)]


class _Member(NamedTuple):
    """A regular file in an archive: its size, and what opens it."""

    size: int
    open: Callable[[], IO[bytes] | None]


class _Bounded:
    """A decompressed archive with a limit on the bytes read or skipped, as tarfile trusts the sizes in headers."""

    def __init__(self, file: IO[bytes], most: int, archive: Path) -> None:
        self._file, self._most, self._archive = file, most, archive

    def read(self, size: int) -> bytes:
        self._check(self.tell() + size)
        return self._file.read(size)

    def seek(self, position: int) -> int:
        self._check(position)
        return self._file.seek(position)

    def tell(self) -> int:
        return self._file.tell()

    def _check(self, end: int) -> None:
        if end > self._most:
            raise _too_large(self._archive)


def _budget(archive: Path) -> int:
    """How many bytes may come out of an archive."""
    return _RATIO * archive.stat().st_size + _MARGIN


def _unpack(archive: Path, folder: Path) -> None:
    from shutil import copyfileobj

    budget = _budget(archive)
    with _members(archive, budget) as members:
        place = _place_of_model(archive, members)
        for path, (size, open_member) in members.items():
            if path.parent != place:
                continue
            budget -= size
            if budget < 0:
                raise _too_large(archive)
            member = open_member()
            if member is not None:
                with member, (folder / path.name).open("xb") as file:
                    copyfileobj(member, file)


def _too_large(archive: Path) -> ModelReadError:
    return ModelReadError(f"{archive}: unpacks to more than {_RATIO} times its size")


def _place_of_model(archive: Path, paths: Collection[PurePosixPath]) -> PurePosixPath:
    places = {path.parent for path in paths if _is_program(path, paths)}
    if len(places) == 1:
        return places.pop()
    if not places:
        held = ", ".join([*map(str, paths)][:20]) or "nothing"
        raise ModelReadError(f"{archive}: no Paddle inference model in it; it holds: {held}")
    listing = ", ".join(sorted(map(str, places))[:20])
    raise ModelReadError(f"{archive}: holds {len(places)} models ({listing}); unpack it")


def _is_program(path: PurePosixPath, paths: Collection[PurePosixPath]) -> bool:
    is_named = path.name in LEGACY_NAMES or is_named_as_program(path, paths.__contains__)
    return is_named and not path.name.startswith(".")


@contextmanager
def _members(archive: Path, most: int) -> Iterator[dict[PurePosixPath, _Member]]:
    """The regular files in an archive, in its order; of several with one name, the last."""
    members: Iterable[tuple[str, _Member]]
    with ExitStack() as stack:
        if archive.suffix.lower() == ".zip":
            import zipfile  # 10 ms, as tarfile takes, for the few models that are archives

            packed = stack.enter_context(zipfile.ZipFile(archive))
            infos = (item for item in packed.infolist() if not item.is_dir())
            members = ((info.filename, _Member(info.file_size, partial(packed.open, info))) for info in infos)
        else:
            import tarfile

            bounded: Any = _Bounded(stack.enter_context(_decompressed(archive)), most, archive)
            tar = stack.enter_context(tarfile.open(fileobj=bounded, mode="r:"))
            files = (item for item in tar if item.isfile())
            members = ((item.name, _Member(item.size, partial(tar.extractfile, item))) for item in files)
        by_path: dict[PurePosixPath, _Member] = {}
        for number, (name, member) in enumerate(members):
            if number >= _MAX_MEMBERS:
                raise ModelReadError(f"{archive}: holds more than {_MAX_MEMBERS} files")
            path = PurePosixPath(name)
            by_path.pop(path, None)  # it stands where the last one does: a tar that is compressed is read in its order
            if not path.name.startswith(APPLE_DOUBLE):
                by_path[path] = member
        yield by_path


def _decompressed(archive: Path) -> IO[bytes]:
    with archive.open("rb") as file:
        head = file.read(6)
    module = next((name for begin, name in _COMPRESSED.items() if head.startswith(begin)), "builtins")
    opened: IO[bytes] = importlib.import_module(module).open(archive, "rb")
    return opened


_COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\0": "lzma", b"]\0\0\x80": "lzma"}
"""What begins a compressed file, and the module that reads it."""


def is_packed(content: bytes) -> bool:
    """Whether a content is that of an archive."""
    return content.startswith((b"PK\3\4", *_COMPRESSED)) or content[257:262] == b"ustar"
