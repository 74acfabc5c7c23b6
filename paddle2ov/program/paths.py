"""Paths as users write them (`~`, `file://`, bytes), files that macOS adds to archives, and those with settings."""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from contextlib import suppress
from pathlib import Path
from typing import Any

from paddle2ov.errors import ConversionInputError

APPLE_DOUBLE = "._"
"""How the names of files begin that macOS adds to archives: one for each file, with what only its file system knows."""

SETTINGS = ("inference.yml", "inference.yaml", "infer_cfg.yml", "deploy.yaml", "deploy.yml")
"""The names of files that describe shapes and preprocessing of a model, the first that is there counts."""

_MAX_BYTES = 4096
"""The longest path that Linux takes."""


def find_settings(folder: Path) -> Path | None:
    """The settings' file in a model's folder; None if there is none."""
    return next((folder / name for name in SETTINGS if (folder / name).is_file()), None)


def missing(path: Path, wanted: str) -> str:
    """Why a path is not what is wanted: nothing is there, but maybe of a similar name, or something else is."""
    if path.is_dir():
        return f"is a folder, and a {wanted} is wanted"
    if path.exists():
        return "is not a regular file"
    from difflib import get_close_matches  # for a mistake alone

    close: list[str] = []
    with suppress(OSError):  # no such folder either
        close = get_close_matches(path.name, sorted(entry.name for entry in path.parent.iterdir()))
    return f"no such {wanted}" + (f"; did you mean {', '.join(close)}?" if close else "")


def local_path(given: Any) -> Any:
    """A path as a string, with `~` and `file://` resolved and bytes decoded; anything else as it is given.

    Bytes that cannot be a path, as they start like a program or have several lines, are the content of a file.

    Raises:
        ConversionInputError: a URL of another scheme, a `file://` URL that names another machine, or is none.
    """
    if isinstance(given, bytes):
        if not 0 < len(given) <= _MAX_BYTES or given.startswith((b"{", BOM_UTF8)) or {*b"\0\n"} & {*given}:
            return given
    elif not isinstance(given, str | os.PathLike):
        return given
    path = os.fsdecode(given)
    if path.startswith("~") and not os.path.lexists(path):
        with suppress(RuntimeError):  # there is no such user
            return str(Path(path).expanduser())
    scheme, separator, _ = path.partition("://")
    if separator and scheme.isalnum() and scheme.lower() != "file" and not os.path.lexists(path):
        raise ConversionInputError(f"{path}: is a URL; only files of this machine are read: download the model first")
    if path.startswith("file:/"):
        from urllib.parse import urlsplit
        from urllib.request import url2pathname

        try:
            url = urlsplit(path)
        except ValueError as error:
            raise ConversionInputError(f"{path}: is no URL of a file: {error}") from error
        if url.netloc not in ("", "localhost"):
            raise ConversionInputError(f"{path}: names the machine '{url.netloc}'; only files of this one are read")
        return url2pathname(url.path)
    return given if isinstance(os.fspath(given), str) else path
