"""Mutations of what lies beside a model: arrays to verify with (`.npz`) and the state file of `paddle2ov batch`."""

from __future__ import annotations

import io
import sqlite3
import tempfile
import zipfile
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from paddle2ov.jobs.state import State
from tools.mutation import extremes
from tools.mutation.damage import damaged
from tools.mutation.mutant import Mutant

ARRAYS, STATE = "inputs.npz", "state"


def arrays(rng: Random) -> Mutant:
    """A damaged `.npz` file."""
    draw = rng.random()
    content = _npz(rng)
    if draw < 0.4:
        return _mutant("arrays", ARRAYS, "arrays: bytes", damaged(rng, content, _npz(rng)))
    return _mutant("arrays", ARRAYS, "arrays: headers", _npz(rng, headers=True))


def _npz(rng: Random, headers: bool = False) -> bytes:
    file = io.BytesIO()
    kind = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(file, "w", kind) as archive:
        for name in ("x", "y"):
            array = np.arange(6).reshape(2, 3).astype(rng.choice(("float32", "int64", "bool", "complex64")))
            part = io.BytesIO()
            np.save(part, array)
            text = part.getvalue()
            about = zipfile.ZipInfo(f"{name}.npy")  # of 1980: the file is the same at any time
            about.compress_type = kind
            archive.writestr(about, _header(rng, text) if headers else text)
    return file.getvalue()


def _header(rng: Random, text: bytes) -> bytes:
    """Another header before the data of an array."""
    shape: Any = tuple(extremes.shape(rng, [2, 3]))
    descr: Any = rng.choice(
        (
            "<f4",
            "<f8",
            "|O",
            "|V8",
            "<U1000000000",
            "|S0",
            ">i8",
            "<M8[ns]",
            [("a", "<f4")],
            "<f3",
            4,
            None,
            "x" * 10_000,
        )
    )
    fields = {"descr": descr, "fortran_order": rng.choice((False, True, 2, "x")), "shape": shape}
    draw = rng.random()
    if draw < 0.5:
        fields["descr"] = "<f4"
    elif draw < 0.8:
        fields["shape"] = rng.choice(((2, 3), (2**40,), 6, (2.0, 3), ("2",), (True,), (-1,), (2**31, 2**31, 2**31)))
    header = (
        repr(fields) if draw < 0.9 else rng.choice(("{" * 1000, "[" * 9000, "__import__('os')", "1" * 9000, "{}", "\0"))
    )
    version = rng.choice(((1, 0), (2, 0), (3, 0), (9, 9)))
    size = (
        len(header).to_bytes(2 if version == (1, 0) else 4, "little", signed=False)
        if len(header) < 65_536
        else b"\xff\xff"
    )
    return b"\x93NUMPY" + bytes(version) + size + header.encode() + text[128:]


def state(rng: Random) -> Mutant:
    """A damaged state file."""
    draw = rng.random()
    if draw < 0.4:
        content, family = damaged(rng, _state(rng), _state(rng)), "state: bytes"
    elif draw < 0.8:
        content, family = _state(rng, changed=True), "state: records"
    else:
        content, family = _sql(rng), "state: tables"
    return _mutant("state", STATE, family, content)


RECORD = {
    "state": "converted",
    "message": "",
    "target": "/tmp/x.xml",
    "fingerprint": "f",
    "format": "pir",
    "seconds": 1.0,
    "nodes": 3,
}


def _state(rng: Random, changed: bool = False) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / STATE
        with State(path) as written:
            for name in ("a", "b", "c"):
                record: Any = dict(RECORD)
                if changed and rng.random() < 0.7:
                    record[rng.choice(list(record))] = rng.choice(
                        (None, [], {}, 1, -1.5, "x", "converted", "failed", True, [[]])
                    )
                if changed and rng.random() < 0.3:
                    record.pop(rng.choice(list(record)))
                if changed and rng.random() < 0.2:
                    record = rng.choice((None, [], [1], "x", 1, {}))
                written.put(name, record)
        return path.read_bytes()


def _sql(rng: Random) -> bytes:
    """Other tables than a state file has, and records that are no JSON."""
    statements = (
        "DROP TABLE records",
        "DROP TABLE records; CREATE TABLE records (key TEXT)",
        "DROP TABLE records; CREATE TABLE records (key BLOB, record BLOB, more INT);"
        "INSERT INTO records VALUES (x'ff', x'ff', 1)",
        "DROP TABLE records; CREATE VIEW records AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)"
        "SELECT 'a' AS key, n AS record FROM r",
        "CREATE TRIGGER t BEFORE INSERT ON records BEGIN SELECT RAISE(ABORT, 'no'); END",
        "CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records; END",
        "UPDATE records SET record = 'x'",
        "UPDATE records SET record = NULL, key = NULL",
        "UPDATE records SET record = x'ffff'",
        "UPDATE records SET record = '" + "[" * 100_000 + "'",
        "UPDATE records SET record = '" + "9" * 10_000 + "'",
        "UPDATE records SET record = zeroblob(5000000)",
        "PRAGMA user_version = 7",
        "PRAGMA application_id = 7",
        "PRAGMA journal_mode = WAL",
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / STATE
        path.write_bytes(_state(rng))
        with closing(sqlite3.connect(path)) as database, suppress(sqlite3.Error):  # NOT NULL
            database.executescript(rng.choice(statements))
        return path.read_bytes()


def _mutant(kind: str, name: str, family: str, content: bytes) -> Mutant:
    return Mutant(kind, kind, {name: content}, family=family, source=name)


__all__ = ["ARRAYS", "STATE", "arrays", "state"]
