"""Edits the files of programs: what `extract.py` and `body*.py` share. PIR is JSON, a legacy program is protobuf."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from paddle2ov.program import dtypes
from paddle2ov.program.framework_proto import Attr, TensorDesc, VarType
from paddle2ov.program.model import Parameter, Program

Raw = dict[str, Any]


def read_pir(path: Path) -> tuple[Raw, Raw]:
    """A PIR program and its main block."""
    source = json.loads(path.read_bytes())
    return source, source["program"]["regions"][0]["blocks"][0]


def write_model(
    folder: Path,
    content: Raw | bytes,
    weights: Collection[str],
    program: Program,
    change: Callable[[Parameter], Parameter] = lambda parameter: parameter,
) -> Path:
    """Writes a program, and those of its weights that the original's file holds; returns the program's file.

    Args:
        folder: where to write; it exists.
        content: the program.
        weights: the names of its weights.
        program: the original.
        change: applied to each weight, one after the other.
    """
    target = folder / ("inference.json" if isinstance(content, dict) else "inference.pdmodel")
    target.write_bytes(json.dumps(content).encode() if isinstance(content, dict) else content)
    saved = program.parameters.keys() & weights  # the dropout state of `rnn` is declared and not saved
    if saved:
        with target.with_suffix(".pdiparams").open("wb") as file:
            for part in _pdiparams_chunks(change(program.parameters[name]) for name in sorted(saved)):
                file.write(part)
    return target


def values_of(op: Raw) -> list[Raw]:
    """The results of an operator of a PIR program."""
    results = op.get("O", ())
    return [results] if isinstance(results, dict) else list(results)


def input_dependent(ops: Iterable[Raw]) -> set[int]:
    """The values that depend on the model's inputs."""
    found: set[int] = set()
    for op in ops:
        if op["#"] in ("1.data", "1.feed") or op.get("regions") or any(item["%"] in found for item in op.get("I", ())):
            found.update(value["%"] for value in values_of(op))
    return found


def feed_op(name: str, value: Raw) -> Raw:
    """An operator that makes a value an input of a PIR program."""
    kind, shape = value["TT"]["D"][:2]
    attributes: dict[str, Raw] = {
        "name": {"#": "0.a_str", "D": name},
        "shape": {"#": "1.a_intarray", "D": shape},
        "dtype": {"#": "1.a_dtype", "D": _DTYPES[kind["#"]]},
        "place": {"#": "1.a_place", "D": [0, 0, ""]},
    }
    return _pir_op("1.data", attributes, [], [value])


def fetch_op(name: str, column: int, value: Raw, new: int) -> Raw:
    """An operator that makes a value a result of a PIR program; `new` is an id that no other value has."""
    attributes: dict[str, Raw] = {"name": {"#": "0.a_str", "D": name}, "col": {"#": "0.a_i32", "D": column}}
    return _pir_op("1.fetch", attributes, [{"%": value["%"]}], [{**value, "%": new}])


def _pir_op(name: str, attributes: Mapping[str, Raw], operands: list[Raw], results: list[Raw]) -> Raw:
    return {
        "#": name,
        "A": [{"N": key, "AT": value} for key, value in attributes.items()],
        "I": operands,
        "O": results,
        "OA": [{"N": "stop_gradient", "AT": {"#": "0.a_array", "D": [{"#": "0.a_bool", "D": True}]}}],
    }


_DTYPES = {
    "0.t_bool": "bool",
    "0.t_ui8": "uint8",
    "0.t_i8": "int8",
    "0.t_i16": "int16",
    "0.t_i32": "int32",
    "0.t_i64": "int64",
    "0.t_f16": "float16",
    "0.t_bf16": "bfloat16",
    "0.t_f32": "float32",
    "0.t_f64": "float64",
    "0.t_c64": "complex64",
    "0.t_c128": "complex128",
}


def append_legacy_op(block: Any, kind: str, source: str, target: str, column: int) -> None:
    """Adds a `feed_op` or a `fetch_op` to a block of a legacy program."""
    op = block.ops.add(type=kind)
    op.inputs.add(parameter="X", arguments=[source])
    op.outputs.add(parameter="Out", arguments=[target])
    op.attrs.append(Attr(name="col", type=0, i=column).SerializeToString())


def declare(block: Any, variables: Iterable[Any]) -> None:
    """Declares variables in a block of a legacy program, and those that hold what is fed and fetched."""
    for one in variables:
        if one.name not in _HOLDERS:
            block.vars.add().CopyFrom(one)
    for name, kind in _HOLDERS.items():
        block.vars.add(name=name, persistable=True, type=VarType(type=kind).SerializeToString())


_HOLDERS = {"feed": 9, "fetch": 10}  # their numbers in Paddle's VarType


def _pdiparams_chunks(parameters: Iterable[Parameter]) -> Iterator[bytes]:
    """The content of a `.pdiparams` file, see `paddle2ov/program/parameters.py`."""
    numbers = {name: number for number, name in dtypes.LEGACY.items()}
    for parameter in parameters:
        described = TensorDesc(data_type=numbers[parameter.dtype], dims=parameter.data.shape).SerializeToString()
        yield struct.pack("<IQIi", 0, 0, 0, len(described)) + described
        yield parameter.data.tobytes()
