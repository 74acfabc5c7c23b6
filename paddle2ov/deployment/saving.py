"""Writes files atomically: first to a temporary folder beside their destination."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import openvino

from paddle2ov.errors import ConversionInputError, system_reason
from paddle2ov.program.sources import check_mapped

_PREFIX = ".writing-"
ABANDONED = 86400.0
"""After how many seconds nobody writes a model any more."""


def save_model(model: openvino.Model, xml: Path, fp16: bool) -> None:
    """Writes a model as OpenVINO IR.

    Raises:
        ModelReadError: its weights are mapped from a file that has changed, or changes meanwhile.
        OSError: its files cannot be written.
    """
    _refuse_folders(xml)
    with beside(xml) as folder:
        written, replaced = folder / "model.xml", folder / "replaced.xml"
        write_ir(model, written, fp16)
        with alone_in(xml.parent):
            if xml.exists():  # out of the way: it must never stand beside weights of another model
                xml.replace(replaced)
            try:
                written.with_suffix(".bin").replace(xml.with_suffix(".bin"))
            except OSError:
                if replaced.exists():
                    replaced.replace(xml)
                raise
            written.replace(xml)


def write_ir(model: openvino.Model, xml: Path, fp16: bool) -> None:
    """Writes the IR of a model in place; the caller makes that atomic.

    Raises:
        ModelReadError: its weights are mapped from a file that has changed, or changes meanwhile.
        OSError: its files cannot be written.
    """
    check_mapped(model)
    try:
        openvino.save_model(model, xml, compress_to_fp16=fp16)
    except RuntimeError as error:  # what OpenVINO makes of a full disk
        raise OSError(f"is the disk full? OpenVINO says: {error}") from error
    check_mapped(model)


def write_text(path: Path, text: str) -> None:
    """Writes a text as UTF-8, in place of what is there.

    Raises:
        OSError: it cannot be written.
    """
    with beside(path) as folder:
        written = folder / "text"
        written.write_text(text, encoding="utf-8", errors="backslashreplace")  # paths may be no UTF-8
        written.replace(path)


def check_writable(xml: Path) -> None:
    """Refuses the file of an IR that cannot be written, before any work is done.

    Raises:
        OSError: its folder cannot be made or written, or there is a folder of its name.
    """
    _refuse_folders(xml)
    if not can_be_made(xml.parent):
        raise OSError(f"{xml} cannot be written: {xml.parent} is no folder that can be made or written")


def _refuse_folders(xml: Path) -> None:
    for path in (xml, xml.with_suffix(".bin")):
        if path.is_dir():
            raise OSError(f"{path} cannot be written: {os.strerror(errno.EISDIR)}")


def can_be_made(folder: Path) -> bool:
    """Whether a folder is there, or can be, and can be written."""
    there = next((ancestor for ancestor in (folder, *folder.absolute().parents) if os.path.lexists(ancestor)), folder)
    return there.is_dir() and os.access(there, os.W_OK)


def case_folder(case: object) -> Path | None:
    """The folder for a case of a fault, where one is given; refused before any work is done if it cannot be written.

    Raises:
        ConversionInputError: it is not a path, or cannot be made or written.
    """
    if case is None:
        return None
    if not isinstance(case, str | os.PathLike):
        raise ConversionInputError(f"case: a path is expected, not {type(case).__name__}")
    folder = Path(case)
    if not can_be_made(folder):
        raise ConversionInputError(f"case: {folder} cannot be written")
    return folder


def remove_unfinished(folder: Path, seconds: float = 0.0) -> None:
    """Removes what a process that was killed was writing into a folder, so long ago or longer.

    Without a time it is for when nothing else writes there.
    """
    for unfinished in folder.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # another process has removed it
            if not seconds or time.time() - unfinished.stat().st_mtime > seconds:
                shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Keeps other processes waiting that move files into a folder which belong together.

    Windows has no such locks of folders, not every file system has them, and a folder may be writable only.
    """
    with ExitStack() as stack:
        if sys.platform != "win32":
            import fcntl

            with suppress(OSError):
                descriptor = os.open(folder, os.O_RDONLY)
                stack.callback(os.close, descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """A temporary folder beside a file or folder that is to be written; errors name that, not the temporary one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=path.parent) as folder:
            yield Path(folder)
    except OSError as error:
        raise OSError(f"{path} cannot be written: {system_reason(error)}") from error
