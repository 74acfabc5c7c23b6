"""The state of a run in one SQLite file: a run that is interrupted at any moment resumes from it."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from paddle2ov.errors import Paddle2OVError, system_reason

# Tells these files from SQLite files of other programs ("p2ov"), and from those of later versions.
_APPLICATION = 0x70326F76
_VERSION = 1

_UNWRITABLE = "unable to open|full|readonly"
_OF_THE_SYSTEM = re.compile(f"locked|I/O|{_UNWRITABLE}")
"""SQLite's errors that are not the file's content."""
_TABLE = "CREATE TABLE records (key TEXT PRIMARY KEY, record TEXT NOT NULL)"


class StateError(Paddle2OVError):
    """The state file cannot be used: it cannot be written, or another run uses it."""


class UnknownStateError(StateError):
    """The state file is damaged, or of another program or version."""


class State:
    """A record (plain JSON data) for every key. Each `put` is one transaction: it is written completely or not at all.

    Raises:
        StateError: the file cannot be written, or is in use by another run.
        UnknownStateError: it is damaged, or none of this kind.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=1.0, isolation_level=None)
            self._database.text_factory = lambda content: content.decode(errors="replace")
        try:
            with self._errors():
                self._open()
        except BaseException:
            self._database.close()
            raise

    @classmethod
    def recovered(cls, path: Path, warn: Callable[[str], None]) -> State:
        """The state in a file; one that cannot be used is put aside, `warn` is told, and nothing is done yet.

        Raises:
            StateError: the file cannot be written or put aside, or is in use by another run.
        """
        try:
            return cls(path)
        except UnknownStateError as error:
            aside = path.with_name(f"{path.name}.unusable")
            try:
                path.replace(aside)
                for rest in ("-journal", "-wal", "-shm"):  # SQLite would mistake it for the new file's
                    path.with_name(path.name + rest).unlink(missing_ok=True)
            except OSError as failure:
                raise StateError(f"{error}; it cannot be put aside: {failure.strerror}") from error
            warn(f"{error}; it is put aside as {aside.name}, and all is done again")
            return cls(path)

    def _open(self) -> None:
        run = self._database.execute
        run("BEGIN IMMEDIATE")
        # Only now: a run that waits for another keeps no lock, which would keep that one from writing.
        run("PRAGMA locking_mode = EXCLUSIVE")
        (application,), (version,) = run("PRAGMA application_id").fetchone(), run("PRAGMA user_version").fetchone()
        # Nothing but the table: of views and triggers the file itself would say what they do.
        tables = run("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL LIMIT 2").fetchall()
        if not tables:
            run(f"PRAGMA application_id = {_APPLICATION}")
            run(f"PRAGMA user_version = {_VERSION}")
            run(_TABLE)
        elif (application, version, tables) != (_APPLICATION, _VERSION, [(_TABLE,)]):
            raise UnknownStateError(f"state file {self._path}: was written by another program or version")
        elif (damage := run("PRAGMA integrity_check(1)").fetchone()) != ("ok",):
            raise UnknownStateError(f"state file {self._path}: is damaged: {damage}")
        run("COMMIT")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """SQLite's errors as ours."""
        try:
            yield
        except (OSError, sqlite3.Error, UnicodeDecodeError) as error:  # of messages that quote the file
            reason = "another run uses it" if "locked" in str(error) else system_reason(error)
            is_usable = not isinstance(error, OSError) and os.access(self._path, os.W_OK) and self._path.is_file()
            is_content = is_usable and not _OF_THE_SYSTEM.search(str(error))
            is_unwritable = isinstance(error, OSError) or re.search(_UNWRITABLE, str(error))
            text = f"state file {self._path}{' cannot be written' if is_unwritable else ''}: {reason}"
            raise (UnknownStateError if is_content else StateError)(text) from error

    def put(self, key: str, record: Any) -> None:
        """Writes the record of a key, in place of an earlier one."""
        with self._errors():
            self._database.execute("INSERT OR REPLACE INTO records VALUES (?, ?)", (key, json.dumps(record)))

    def get(self, key: str) -> Any:
        """The record of a key; None if there is none, or none that can be read."""
        with self._errors():
            row = self._database.execute("SELECT record FROM records WHERE key = ?", (key,)).fetchone()
        return None if row is None else _decoded(row[0])

    def records(self) -> dict[str, Any]:
        """All records that can be read by their keys, which are in order."""
        with self._errors():
            rows = self._database.execute("SELECT key, record FROM records ORDER BY key").fetchall()
        decoded = ((key, _decoded(record)) for key, record in rows)
        return {key: record for key, record in decoded if isinstance(key, str) and record is not None}

    def __enter__(self) -> State:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()


def _decoded(record: Any) -> Any:
    """The data of a record; None if it is not JSON."""
    try:
        return json.loads(record)
    except (ValueError, TypeError, RecursionError):
        return None
