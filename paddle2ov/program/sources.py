"""The files of a model, and whether they change while they are read or mapped.

A model may be exported again at any time, in place or by renaming. All files that are read must be complete and of one
export: their status is compared before the first and after the last of them is read. What stays mapped is checked again
before it is used.
"""

from __future__ import annotations

import errno
import os
import stat
import time
import weakref
from io import BytesIO, FileIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from paddle2ov.errors import FailingAs, ModelReadError, system_reason

if TYPE_CHECKING:
    from openvino import Model

Opened: TypeAlias = FileIO | BytesIO

_QUIET = 0.05
"""For how long (s) a file must not have changed: time stamps of file systems have a resolution of milliseconds, and an
export writes the parameters a few more after the program."""
_POINTER = b"version https://git-lfs.github.com/spec/"
_POINTER_BYTES = 1024  # that a pointer has at most, by its specification
_PAUSES = 20
"""How many such waits before a file that still changes is refused."""


class ChangedError(ModelReadError):
    """A model's file changed while it was read, or before what is mapped of it was used."""


class Stamp(NamedTuple):
    """What identifies the state of a file; times in ns. A rename alone changes `changed`."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


class NotRegularError(OSError):
    """The file to read is a pipe, a device, a socket or a folder: reading it may block, or never end."""


def regular_file(path: Path) -> FileIO:
    """Opens a file for reading, unbuffered and without blocking.

    Raises:
        OSError: it cannot be opened, or is not a regular file (`NotRegularError`).
        ValueError: no file can have that name.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotRegularError(errno.EINVAL, "is not a regular file", os.fspath(path))
    return FileIO(descriptor)


def open_regular(path: Path) -> FileIO:
    """As `regular_file`, for the files of a model.

    Raises:
        ModelReadError: it cannot be opened, or is not a regular file.
    """
    try:
        return regular_file(path)
    except NotRegularError as error:
        raise ModelReadError(f"{path}: {error.strerror}") from error
    except (OSError, ValueError) as error:
        raise ModelReadError(f"{path}: cannot be opened: {system_reason(error)}") from error


def reading(path: Path) -> FailingAs:
    """A context in which what the system refuses, memory among it, is a ModelReadError that names the file."""
    kinds = (OSError, ValueError, OverflowError, MemoryError)
    return FailingAs(lambda reason: ModelReadError(f"{path}: cannot be read: {reason}"), kinds, system_reason)


def check_fetched(file: FileIO, path: Path) -> None:
    """Refuses a Git LFS pointer, which a clone without Git LFS has in place of a large file; rewinds any other file.

    Raises:
        ModelReadError: the file is such a pointer.
    """
    if not 0 < os.fstat(file.fileno()).st_size <= _POINTER_BYTES:
        return
    head = file.read(len(_POINTER))
    file.seek(0)
    if head == _POINTER:
        raise ModelReadError(f"{path}: a pointer of Git LFS in place of the file; `git lfs pull` fetches it")


class Source:
    """The files of one model, and their state when they were read.

    Args:
        waits: whether to wait for files that are being written.
    """

    def __init__(self, waits: bool = False) -> None:
        self._waits = waits
        self._stamps: dict[Path, Stamp] = {}
        self._absolute: dict[Path, Path] = {}  # the folder may be another one when they are read again
        self._mapped: list[tuple[Path, int, Stamp]] = []

    def stamps(self) -> dict[str, Stamp]:
        """The recorded states of the files, by their absolute paths."""
        return {os.fspath(self._absolute[path]): stamp for path, stamp in self._stamps.items()}

    def note(self, *paths: Path) -> None:
        """Records the state of files; to be called before any of them is read.

        Raises:
            ModelReadError: one does not exist, or keeps changing.
        """
        for _ in range(_PAUSES if self._waits else 1):
            stamps = {path: _stamp(path) for path in paths}
            now = time.time_ns()
            age = min((now - max(value.modified, value.changed) for value in stamps.values()), default=-1) / 1e9
            if not (self._waits and 0 <= age < _QUIET):  # a time in the future: the clocks differ
                self._stamps |= stamps
                self._absolute |= {path: path.absolute() for path in paths}
                return
            time.sleep(_QUIET - age)
        raise ChangedError(f"{paths[0]}: it, or what belongs to it, is being written all the time")

    def open(self, path: Path) -> Opened:
        """Opens a recorded file, unbuffered.

        Raises:
            ModelReadError: it cannot be opened, or has changed.
        """
        file = open_regular(path)
        try:
            if _state(os.fstat(file.fileno())) != self._stamps[path]:
                raise ChangedError(f"{path}: changed while it was being read")
            check_fetched(file, path)
        except BaseException:
            file.close()
            raise
        return file

    def read(self, path: Path, most: int | None = None) -> bytes:
        """The content of a recorded file, of `most` bytes at most.

        Raises:
            ModelReadError: it cannot be read, or changes while it is.
        """
        with reading(path), self.open(path) as file:
            size = self._stamps[path].size
            if most is not None and size > most:
                raise ModelReadError(f"{path}: has {size} bytes, more than the {most} that are read")
            content = file.read(size + 1) or b""  # files of a kernel say that they have none, and never end
        if len(content) != size:
            raise ChangedError(f"{path}: changed while it was being read")
        return content

    def check(self) -> None:
        """Refuses files that have changed since they were recorded.

        Raises:
            ModelReadError: one of them has changed or does not exist any more.
        """
        for path, stamp in self._stamps.items():
            if _stamp(self._absolute[path]) != stamp:
                raise ChangedError(f"{path}: changed while it was being read")

    def is_unchanged(self) -> bool:
        """Whether no file has changed since it was recorded."""
        try:
            self.check()
        except ModelReadError:
            return False
        return True

    def keep(self, path: Path, file: Opened) -> None:
        """Records that a file stays mapped."""
        descriptor = os.dup(file.fileno())
        weakref.finalize(self, os.close, descriptor)
        self._mapped.append((path, descriptor, self._stamps[path]))

    def check_mapped(self) -> None:
        """Refuses mapped files that were written to; the mapping of one that was replaced or removed is intact.

        Raises:
            ModelReadError: the size or modification time of one of them has changed.
        """
        for path, descriptor, stamp in self._mapped:
            now = _state(os.fstat(descriptor))
            if (now.size, now.modified) != (stamp.size, stamp.modified):
                raise ChangedError(
                    f"{path} has changed since the model was converted, whose weights are read from it; convert it "
                    "again, with share_weights=False if the file may change while the model is used"
                )


class MemorySource(Source):
    """Files that are in memory only; their paths appear in messages."""

    def __init__(self, contents: dict[Path, bytes]) -> None:
        super().__init__()
        self._contents = contents

    def note(self, *paths: Path) -> None:
        """Does nothing: they do not change."""

    def open(self, path: Path) -> Opened:
        """The content of a file, as a stream."""
        return BytesIO(self._contents[path])

    def read(self, path: Path, most: int | None = None) -> bytes:
        """The content of a file."""
        return self._contents[path]


_SOURCES: weakref.WeakKeyDictionary[Model, Source] = weakref.WeakKeyDictionary()


def remember_source(model: Model, source: Source) -> None:
    """Records which files an `openvino.Model` was converted from."""
    _SOURCES[model] = source


def forget_source(model: Model) -> None:
    """Forgets the files of a model that shares no memory with them, such as those of an unpacked archive."""
    _SOURCES.pop(model, None)


def check_mapped(model: Model) -> None:
    """Refuses a model whose mapped weights have been written to since; call it before they are used.

    Raises:
        ModelReadError: the size or modification time of the file has changed.
    """
    if model in _SOURCES:
        _SOURCES[model].check_mapped()


def check_unchanged(model: Model) -> None:
    """Refuses a model whose files have changed since it was converted; call it before they are read again.

    Raises:
        ModelReadError: one of them has changed or does not exist any more.
    """
    source = _SOURCES.get(model)
    if source is not None and not source.is_unchanged():
        raise ChangedError(
            f"{next(iter(source.stamps()))}: the model has changed since it was converted; convert it again"
        )


def _stamp(path: Path) -> Stamp:
    try:
        return _state(path.stat())
    except OSError as error:
        raise ModelReadError(f"{path}: cannot be opened: {system_reason(error)}") from error


def _state(about: os.stat_result) -> Stamp:
    return Stamp(about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
