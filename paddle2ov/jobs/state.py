"""The state of a run in one SQLite file: a run that is interrupted at any moment resumes from it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from paddle2ov.errors import Paddle2OVError

# Tells these files from SQLite files of other programs ("p2ov"), and from those of later versions.
_APPLICATION = 0x70326F76
_VERSION = 1
_COLUMNS = [("key",), ("record",)]


class StateError(Paddle2OVError):
    """The state file cannot be used: it is no such file, or another run uses it."""


class UnusableStateError(StateError):
    """The state file is none of this kind or version, or damaged."""


class State:
    """A record (plain JSON data) for every key. Each `put` is one transaction: it is written completely or not at all.

    Raises:
        UnusableStateError: the file is none of this kind or version, or damaged.
        StateError: it cannot be written, or is in use by another run.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=1.0, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise StateError(f"state file {path}: {error}") from error
        try:
            self._open()
        except (sqlite3.Error, StateError) as error:
            self._database.close()
            if isinstance(error, StateError):
                raise
            if isinstance(error, sqlite3.OperationalError):  # not the content, but the file or another process
                reason = "another run uses it" if "locked" in str(error) else str(error)
                raise StateError(f"state file {path}: {reason}") from error
            raise UnusableStateError(f"state file {path}: {error}") from error

    @classmethod
    def recovered(cls, path: Path, warn: Callable[[str], None]) -> State:
        """The state in a file; one that cannot be used is put aside, `warn` is told, and nothing is done yet.

        Raises:
            StateError: the file cannot be written or put aside, or is in use by another run.
        """
        try:
            return cls(path)
        except UnusableStateError as error:
            aside = path.with_name(f"{path.name}.unusable")
            try:
                path.replace(aside)
                for rest in ("-journal", "-wal", "-shm"):  # SQLite would take it for that of the new file
                    path.with_name(path.name + rest).unlink(missing_ok=True)
            except OSError as failure:
                raise StateError(f"{error}; it cannot be put aside: {failure.strerror}") from error
            warn(f"{error}; it is put aside as {aside.name}, and all is done again")
            return cls(path)

    def _open(self) -> None:
        run = self._database.execute
        run("PRAGMA locking_mode = EXCLUSIVE")
        run("BEGIN IMMEDIATE")
        (application,), (version,) = run("PRAGMA application_id").fetchone(), run("PRAGMA user_version").fetchone()
        (tables,) = run("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and (application, version) != (_APPLICATION, _VERSION):
            raise UnusableStateError(f"state file {self._path}: was written by another program or version")
        if tables and (columns := run("SELECT name FROM pragma_table_info('records')").fetchall()) != _COLUMNS:
            raise UnusableStateError(f"state file {self._path}: has other columns {columns}")
        if run("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise UnusableStateError(f"state file {self._path}: is damaged")
        run(f"PRAGMA application_id = {_APPLICATION}")
        run(f"PRAGMA user_version = {_VERSION}")
        run("CREATE TABLE IF NOT EXISTS records (key TEXT PRIMARY KEY, record TEXT NOT NULL)")
        run("COMMIT")

    def put(self, key: str, record: Any) -> None:
        """Writes the record of a key, in place of an earlier one."""
        self._database.execute("INSERT OR REPLACE INTO records VALUES (?, ?)", (key, json.dumps(record)))

    def get(self, key: str) -> Any:
        """The record of a key; None if there is none, or it is damaged."""
        row = self._database.execute("SELECT record FROM records WHERE key = ?", (key,)).fetchone()
        return None if row is None else _decoded(row[0])

    def records(self) -> dict[str, Any]:
        """All records by their keys, which are in order; None for one that is damaged."""
        rows = self._database.execute("SELECT key, record FROM records ORDER BY key")
        return {key: _decoded(record) for key, record in rows}

    def __enter__(self) -> State:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()


def _decoded(record: Any) -> Any:
    try:
        return json.loads(record)
    except (TypeError, ValueError):
        return None
