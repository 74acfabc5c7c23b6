"""Mutations of what lies beside a model: settings (`inference.yml`), arrays to verify with, the state of a batch."""

from __future__ import annotations

import copy
import io
import json
import sqlite3
import tempfile
import zipfile
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import yaml

from paddle2ov.jobs.state import State
from tools.mutation import values
from tools.mutation.damage import damaged
from tools.mutation.formats import PIR
from tools.mutation.mutant import SETTINGS, Mutant
from tools.mutation.trees import alter

ARRAYS, STATE = "inputs.npz", "state"

# Settings

_MEANS = {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}
_SHAPES = {"x": [[1, 3, 32, 32], [1, 3, 736, 736], [1, 3, 4000, 4000]]}
_BACKENDS = {"paddle_infer": {"trt_dynamic_shapes": _SHAPES}, "tensorrt": {"dynamic_shapes": _SHAPES}}


def _common(*transforms: Any) -> dict[str, Any]:
    """As PaddleX, PaddleOCR and PaddleClas write it."""
    normalize = {"NormalizeImage": {**_MEANS, "scale": "1./255.", "order": "hwc"}}
    steps = [*transforms, normalize, {"ToCHWImage": None}, {"KeepKeys": {"keep_keys": ["image"]}}]
    return {
        "Global": {"model_name": "any"},
        "Hpi": {"backend_configs": _BACKENDS},
        "PreProcess": {"transform_ops": steps},
    }


def _detection(*transforms: Any) -> dict[str, Any]:
    """As PaddleDetection writes it."""
    steps = [*transforms, {"type": "NormalizeImage", "is_scale": True, **_MEANS}, {"type": "Permute"}]
    return {"mode": "paddle", "Preprocess": steps, "image_shape": [3, 64, 64]}


def _segmentation(*transforms: Any) -> dict[str, Any]:
    """As PaddleSeg writes it."""
    steps = [*transforms, {"type": "Normalize", "mean": [0.4], "std": [0.2, 0.3, 0.4]}]
    files = {"model": "inference.json", "params": "inference.pdiparams"}
    return {"Deploy": {"input_shape": [None, 3, None, None], **files, "transforms": steps}}


DOCUMENTS = (
    _common({"DecodeImage": {"channel_first": False, "img_mode": "BGR"}}, {"DetResizeForTest": {"resize_long": 960}}),
    _common({"DetResizeForTest": {"limit_side_len": 736, "limit_type": "min", "max_side_limit": 4000}}),
    _common({"ResizeImage": {"size": [40, 24], "interpolation": "bilinear", "backend": "cv2"}}),
    _common({"ResizeImage": {"resize_short": 40}}, {"CropImage": {"size": [32, 24]}}),
    _common({"RecResizeImg": {"image_shape": [3, 48, 96]}}),
    _detection(
        {"type": "Resize", "interp": 2, "keep_ratio": True, "target_size": [24, 40]}, {"type": "Pad", "size": [64, 64]}
    ),
    _detection({"type": "LetterBoxResize", "target_size": [64, 96]}, {"type": "PadStride", "stride": 32}),
    _detection({"type": "WarpAffine", "keep_res": False, "input_h": 64, "input_w": 64}),
    _detection({"type": "TopDownEvalAffine", "trainsize": [48, 64]}),
    _segmentation({"type": "Resize", "target_size": [64, 48], "keep_ratio": False}),
    _segmentation({"type": "ResizeByLong", "long_size": 64}, {"type": "PaddingImage", "target_size": [64, 64]}),
    _segmentation({"type": "ResizeByShort", "short_size": 64, "max_size": 96}, {"type": "LimitLong", "max_long": 96}),
)
_ODD = (
    *("b: &b [*b]", "b: 0b" + "1" * 5000, "b: !!timestamp 2020-99-99", "b: !!binary x", "b: !!set {x, y}"),
    *("b: !!omap [x: 1]", "b: 2020-02-30", "b: !!float 1" + "0" * 400, "!!python/object/apply:os.system [ls]"),
    *("%YAML 9.9\n---", "b: |" + "\n  x" * 1000, "\0", "\ufeff"),
)


def settings(rng: Random) -> Mutant:
    """Damaged settings beside a model that takes pictures of any size."""
    draw = rng.random()
    document, other = copy.deepcopy(rng.choice(DOCUMENTS)), rng.choice(DOCUMENTS)
    family = "settings: values" if draw < 0.7 else "settings: bytes" if draw < 0.9 else "settings: growth"
    if family == "settings: values":
        for _ in range(rng.choice((1, 1, 2, 3))):
            with suppress(LookupError, ValueError):  # nothing is left
                alter(rng, document, other)
    text = _dump(document)
    if family == "settings: bytes":
        text = damaged(rng, text, _dump(other))
    elif family == "settings: growth":
        more = _grown(rng).encode() + b"\n"
        text = more + text if rng.random() < 0.5 else text + more
    options = rng.choice(({"bounded": True}, {"preprocess": True}, {"bounded": True, "preprocess": True}))
    name = rng.choice((SETTINGS, SETTINGS, "deploy.yaml"))
    return Mutant("convert", "settings", {PIR.file: picture_model(), name: text}, {}, options, family, name)


def _dump(document: Any) -> bytes:
    return yaml.safe_dump(document, allow_unicode=True).encode("utf-8", "surrogatepass")


def _grown(rng: Random) -> str:
    """Aliases of aliases, nesting, long scalars, tags."""
    levels, width, depth = rng.choice((3, 9, 30)), rng.choice((2, 10)), rng.choice((10, 49, 51, 1000, 100_000))
    number = "9" * rng.choice((10, 4000, 5000, 100_000))
    aliases = [", ".join([f"*a{i - 1}"] * width) for i in range(1, levels)]
    lists = (f"a{i}: &a{i} [{text}]" for i, text in enumerate(aliases, 1))
    merges = (f"a{i}: &a{i} {{<<: [{text}]}}" for i, text in enumerate(aliases, 1))
    return rng.choice((
        "\n".join(["a0: &a0 [x, x]", *lists]),
        "\n".join(["a0: &a0 {x: 1}", *merges]),
        *("b: " + "[" * depth + "]" * depth, "? " * depth + "x", "- " * depth),
        *("b: " + number, "b: 1e" + number[:10], "b: " + ":".join(["59"] * rng.choice((2, 5, 1000)))),
        *_ODD,
    ))  # fmt: skip


def picture_model() -> bytes:
    """A PIR program whose input is a picture of any size, which it hands to relu."""

    def value(number: int) -> dict[str, Any]:
        return {"%": number, "TT": {"#": "0.t_dtensor", "D": [{"#": "0.t_f32"}, [-1, 3, -1, -1], "NCHW", [], 0]}}

    def attributes(**given: tuple[str, Any]) -> list[dict[str, Any]]:
        return [{"N": name, "AT": {"#": kind, "D": data}} for name, (kind, data) in given.items()]

    fed = attributes(name=("0.a_str", "x"), shape=("1.a_intarray", [-1, 3, -1, -1]), dtype=("1.a_dtype", "float32"))
    fetched = attributes(name=("0.a_str", "fetch_name_0"), col=("0.a_i32", 0))
    ops = [
        {"#": "1.data", "A": fed, "I": [], "O": [value(1)]},
        {"#": "1.relu", "A": [], "I": [{"%": 1}], "O": [value(2)]},
        {"#": "1.fetch", "A": fetched, "I": [{"%": 2}], "O": [value(3)]},
    ]
    program = {"regions": [{"#": "region_0", "blocks": [{"#": "block_0", "args": [], "ops": ops}]}]}
    return json.dumps({"base_code": {"magic": "pir", "trainable": False, "version": 1}, "program": program}).encode()


# Arrays

_DESCRIPTIONS = (
    *("<f4", "<f4", "<f4", "<f8", "|O", "|V8", "<U1000000000", "|S0", ">i8", "<M8[ns]", [("a", "<f4")], "<f3", 4, None),
    "x" * 10_000,
)
_NO_HEADERS = ("{" * 1000, "[" * 9000, "__import__('os')", "1" * 9000, "{}", "\0")


def arrays(rng: Random) -> Mutant:
    """A damaged `.npz` file: its bytes, or the headers of its arrays."""
    is_damaged = rng.random() < 0.4
    content = damaged(rng, _npz(rng), _npz(rng)) if is_damaged else _npz(rng, headers=True)
    family = "arrays: bytes" if is_damaged else "arrays: headers"
    return Mutant("arrays", "arrays", {ARRAYS: content}, family=family, source=ARRAYS)


def _npz(rng: Random, headers: bool = False) -> bytes:
    file = io.BytesIO()
    kind = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(file, "w", kind) as archive:
        for name in ("x", "y"):
            array = np.arange(6).reshape(2, 3).astype(rng.choice(("float32", "int64", "bool", "complex64")))
            about = zipfile.ZipInfo(f"{name}.npy")  # of 1980: the file is the same at any time
            about.compress_type = kind
            part = io.BytesIO()
            np.save(part, array)
            archive.writestr(about, (_header(rng) if headers else part.getvalue()[:128]) + part.getvalue()[128:])
    return file.getvalue()


def _header(rng: Random) -> bytes:
    """Another header before the data of an array."""
    shape: Any = rng.choice((tuple(values.shape(rng, [2, 3])), 6, (2.0, 3), ("2",), (True,), (2**31, 2**31, 2**31)))
    fields = {"descr": rng.choice(_DESCRIPTIONS), "fortran_order": rng.choice((False, True, 2, "x")), "shape": shape}
    header = repr(fields) if rng.random() < 0.9 else rng.choice(_NO_HEADERS)
    version = rng.choice(((1, 0), (2, 0), (3, 0), (9, 9)))
    size = len(header).to_bytes(2 if version == (1, 0) else 4, "little") if len(header) < 65_536 else b"\xff\xff"
    return b"\x93NUMPY" + bytes(version) + size + header.encode()


# The state of a batch

RECORD = {
    "state": "converted",
    "message": "",
    "target": "/tmp/x.xml",
    "fingerprint": "f",
    "format": "pir",
    "seconds": 1.0,
    "nodes": 3,
}
_STATEMENTS = (
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
    f"UPDATE records SET record = '{'[' * 100_000}'",
    f"UPDATE records SET record = '{'9' * 10_000}'",
    "UPDATE records SET record = zeroblob(5000000)",
    *("PRAGMA user_version = 7", "PRAGMA application_id = 7", "PRAGMA journal_mode = WAL"),
)
"""Other tables than a state file has, and records that are no JSON."""


def state(rng: Random) -> Mutant:
    """A damaged state file."""
    records: dict[str, Any] = {name: dict(RECORD) for name in ("a", "b", "c")}
    family = rng.choice(("state: bytes", "state: bytes", "state: records", "state: records", "state: tables"))
    if family == "state: records":
        for _ in range(3):
            alter(rng, records, records, r"^\.[abc]")
            records = {name: records[name] if name in records else dict(RECORD) for name in ("a", "b", "c")}
    content = _stored(records, rng.choice(_STATEMENTS) if family == "state: tables" else "")
    if family == "state: bytes":
        content = damaged(rng, content, content)
    return Mutant("state", "state", {STATE: content}, family=family, source=STATE)


def _stored(records: dict[str, Any], statements: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / STATE
        with State(path) as written:
            for name, record in records.items():
                written.put(name, record)
        with closing(sqlite3.connect(path)) as database, suppress(sqlite3.Error):  # NOT NULL
            database.executescript(statements)
        return path.read_bytes()
