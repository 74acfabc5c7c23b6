"""Models in archives, as they are shipped: `PP-OCRv4_mobile_det_infer.tar`, `model.zip`."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO

from paddle2ov.errors import ModelReadError

SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip")
_NAMES = ("__model__", "model", "inference")
_MOST_MEMBERS = 100_000
_RATIO, _MARGIN = 100, 64 << 20
"""What is unpacked may be that many times as large as the archive, and that many bytes more; weights hardly shrink."""


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
    with tempfile.TemporaryDirectory(prefix="paddle2ov-") as temporary:
        folder = Path(temporary, name_of(archive) or "model")
        try:
            folder.mkdir()
            _unpack(archive, folder)
        except ModelReadError:
            raise
        except Exception as error:  # tarfile, zipfile and what they decompress with raise all kinds of them
            raise ModelReadError(f"{archive}: cannot be unpacked: {error}") from error
        yield folder


def name_of(archive: Path) -> str:
    """The name of an archive without its suffixes."""
    suffix = next((one for one in SUFFIXES if archive.name.lower().endswith(one)), "")
    return archive.name[: len(archive.name) - len(suffix)]


def _unpack(archive: Path, folder: Path) -> None:
    budget = _RATIO * archive.stat().st_size + _MARGIN
    with _members(archive) as (sizes, open_member):
        place = _place_of_model(archive, sizes)
        for name, size in sizes.items():
            if PurePosixPath(name).parent != place:
                continue
            budget -= size
            if budget < 0:
                raise ModelReadError(f"{archive}: unpacks to more than {_RATIO} times its size")
            member = open_member(name)
            if member is not None:
                with member, (folder / PurePosixPath(name).name).open("xb") as file:
                    shutil.copyfileobj(member, file)


def _place_of_model(archive: Path, names: dict[str, int]) -> PurePosixPath:
    places = {PurePosixPath(name).parent for name in names if _is_program(PurePosixPath(name), names)}
    if len(places) == 1:
        return places.pop()
    if not places:
        held = ", ".join([*names][:20]) or "nothing"
        raise ModelReadError(f"{archive}: no Paddle inference model in it; it holds: {held}")
    found = ", ".join(sorted(map(str, places))[:20])
    raise ModelReadError(f"{archive}: holds {len(places)} models ({found}); unpack it")


def _is_program(path: PurePosixPath, names: dict[str, int]) -> bool:
    if path.name.startswith("."):
        return False
    return (
        path.suffix == ".pdmodel"
        or path.name in _NAMES
        or (path.suffix == ".json" and str(path.with_suffix(".pdiparams")) in names)
        or path.name == "inference.json"
    )


@contextmanager
def _members(archive: Path) -> Iterator[tuple[dict[str, int], Callable[[str], IO[bytes] | None]]]:
    """The regular files in an archive with their sizes, and what opens one."""
    if archive.suffix.lower() == ".zip":
        import zipfile  # 10 ms, as tarfile takes, for the few models that are archives

        with zipfile.ZipFile(archive) as packed:
            infos = packed.infolist()
            yield _sizes(archive, ((one.filename, one.file_size) for one in infos if not one.is_dir())), packed.open
    else:
        import tarfile

        with tarfile.open(archive) as packed_tar:
            found = ((one.name, one.size) for one in packed_tar if one.isfile())
            yield _sizes(archive, found), packed_tar.extractfile


def _sizes(archive: Path, members: Iterable[tuple[str, int]]) -> dict[str, int]:
    sizes = dict(islice(members, _MOST_MEMBERS + 1))
    if len(sizes) > _MOST_MEMBERS:
        raise ModelReadError(f"{archive}: holds more than {_MOST_MEMBERS} files")
    return sizes


__all__ = ["SUFFIXES", "is_archive", "name_of", "unpacked"]
