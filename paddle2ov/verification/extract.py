"""One operator of a model as a Paddle model of its own: what it reads becomes inputs, weights and constants stay.

The program's file is edited, not written anew, so that the operator is the one that the file holds: in a PIR program as
JSON, in a legacy one as protobuf.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from paddle2ov.program import dtypes
from paddle2ov.program.files import ModelFiles
from paddle2ov.program.framework_proto import Attr, ProgramDesc, TensorDesc, VarType
from paddle2ov.program.model import Operator, Parameter, Program

Raw = dict[str, Any]


def extract(
    folder: Path,
    files: ModelFiles,
    program: Program,
    operator: Operator,
    inputs: Collection[str],
    results: Sequence[str],
) -> Path | None:
    """Writes the model of one operator to `folder`, in the format of its own model.

    Args:
        folder: where to write; it exists.
        files: the files of the whole model.
        program: the same, read.
        operator: an operator of its main block that owns no blocks.
        inputs: the variables that it reads and that become inputs.
        results: the variables that it writes and that become results.

    Returns:
        The program's file, or None where the operator cannot stand alone: it reads a list that another operator made
        as a whole, or something that depends on the model's inputs and is not among `inputs`.
    """
    if operator.blocks:
        return None
    if program.format == "pir":
        source = json.loads(files.program.read_bytes())
        block = source["program"]["regions"][0]["blocks"][0]
        weights = _cut_pir(block, operator, inputs, results)
        target, content = folder / "inference.json", json.dumps(source).encode()
    else:
        desc = ProgramDesc.FromString(files.program.read_bytes())
        weights = _cut_legacy(desc, operator, inputs, results)
        target, content = folder / "inference.pdmodel", desc.SerializeToString()
    if weights is None:
        return None
    target.write_bytes(content)
    weights &= program.parameters.keys()  # the dropout state of `rnn` is declared and not saved
    if weights:
        with target.with_suffix(".pdiparams").open("wb") as file:
            for part in _combined(program.parameters[name] for name in sorted(weights)):
                file.write(part)
    return target


# --- PIR --------------------------------------------------------------------------------------------------------------


def _cut_pir(block: Raw, operator: Operator, inputs: Collection[str], results: Sequence[str]) -> set[str] | None:
    """Leaves the operator, what makes its constants, feeds and fetches; returns the weights' names."""
    ops: list[Raw] = block["ops"]
    makers = {value["%"]: op for op in ops for value in _values(op)}
    wanted = ops[operator.index]
    changing = _depending(ops)
    read = [value for value in _flat(wanted, makers) if value in changing]
    names = [name for values in operator.inputs.values() for name in values if name in inputs]
    if len(read) != len(names):
        return None
    fed = dict(zip(read, names, strict=True))
    kept, waiting, feeds = {id(wanted)}, [item["%"] for item in wanted["I"]], {}
    while waiting:
        value = waiting.pop()
        maker = makers.get(value)
        if maker is None:  # an operand that is left out
            continue
        if value in fed:
            feeds[value] = _feed(fed[value], next(one for one in _values(maker) if one["%"] == value))
        elif maker["#"] in ("1.data", "1.feed") or maker.get("regions"):
            return None
        elif id(maker) not in kept:
            kept.add(id(maker))
            waiting += [item["%"] for item in maker.get("I", ())]
    ports = zip(operator.outputs.values(), wanted["O"], strict=False)
    made = {names[0]: value for names, value in ports if len(names) == 1}
    if any(name not in made or made[name]["TT"]["#"] != "0.t_dtensor" for name in results):
        return None
    fetches = [_fetch(name, i, made[name], max(makers) + 1 + i) for i, name in enumerate(results)]
    block["ops"] = [*feeds.values(), *(op for op in ops if id(op) in kept), *fetches]
    return {op["A"][-1] for op in block["ops"] if op["#"] == "p"}


def _values(op: Raw) -> list[Raw]:
    results = op.get("O", ())
    return [results] if isinstance(results, dict) else list(results)


def _depending(ops: Iterable[Raw]) -> set[int]:
    """The values that depend on the model's inputs."""
    found: set[int] = set()
    for op in ops:
        if op["#"] in ("1.data", "1.feed") or op.get("regions") or any(item["%"] in found for item in op.get("I", ())):
            found.update(value["%"] for value in _values(op))
    return found


def _flat(op: Raw, makers: Mapping[int, Raw]) -> Iterator[int]:
    """The values that an operator reads, the elements of lists one by one; an operand left out is 0."""
    for item in op["I"]:
        maker = makers.get(item["%"])
        if maker is not None and maker["#"] == "0.combine":
            yield from _flat(maker, makers)
        else:
            yield item["%"]


def _feed(name: str, value: Raw) -> Raw:
    kind, shape = value["TT"]["D"][:2]
    attributes: dict[str, Raw] = {
        "name": {"#": "0.a_str", "D": name},
        "shape": {"#": "1.a_intarray", "D": shape},
        "dtype": {"#": "1.a_dtype", "D": _DTYPES[kind["#"]]},
        "place": {"#": "1.a_place", "D": [0, 0, ""]},
    }
    return _pir_op("1.data", attributes, [], [value])


def _fetch(name: str, column: int, value: Raw, new: int) -> Raw:
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


# --- legacy -----------------------------------------------------------------------------------------------------------


def _cut_legacy(desc: Any, operator: Operator, inputs: Collection[str], results: Sequence[str]) -> set[str] | None:
    """As `_cut_pir`, for a legacy program."""
    block = desc.blocks[0]
    ops = list(block.ops)
    wanted = ops[operator.index]
    weights = {one.name for one in block.vars if one.persistable}
    makers: dict[str, Any] = {}
    for op in ops[: operator.index]:
        makers |= {name: op for port in op.outputs for name in port.arguments}
    kept, waiting, feeds = [wanted], [name for port in wanted.inputs for name in port.arguments], []
    used: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in used:
            continue
        used.add(name)
        if name in inputs:
            feeds.append(name)
        elif name not in weights:
            maker = makers.get(name)
            if maker is None or maker.type == "feed":
                return None
            if not any(maker is one for one in kept):
                kept.append(maker)
                waiting += [one for port in maker.inputs for one in port.arguments]
    # The reader numbers the writes of a variable beyond the first; such a one has another name in the file.
    written = {name for port in wanted.outputs for name in port.arguments}
    if not written.issuperset(results):
        return None
    used |= {name for op in kept for port in op.outputs for name in port.arguments} | {"feed", "fetch"}
    kept = [op for op in ops if any(op is one for one in kept)]
    cut = ProgramDesc().blocks.add(idx=0, parent_idx=-1)
    for column, name in enumerate(feeds):
        _legacy_op(cut, "feed", "feed", name, column)
    for op in kept:
        cut.ops.add().CopyFrom(op)
    for column, name in enumerate(results):
        _legacy_op(cut, "fetch", name, "fetch", column)
    variables = [one for one in block.vars if one.name in used]
    holders = {"feed": 9, "fetch": 10}  # their numbers in Paddle's VarType
    for one in variables:
        if one.name not in holders:
            cut.vars.add().CopyFrom(one)
    for name, kind in holders.items():
        cut.vars.add(name=name, persistable=True, type=VarType(type=kind).SerializeToString())
    del desc.blocks[:]
    desc.blocks.add().CopyFrom(cut)
    return {name for name in weights if name in used and name not in holders}


def _legacy_op(block: Any, kind: str, source: str, target: str, column: int) -> None:
    op = block.ops.add(type=kind)
    op.inputs.add(parameter="X", arguments=[source])
    op.outputs.add(parameter="Out", arguments=[target])
    op.attrs.append(Attr(name="col", type=0, i=column).SerializeToString())


# --- weights ----------------------------------------------------------------------------------------------------------


def _combined(parameters: Iterable[Parameter]) -> Iterator[bytes]:
    """The content of a `.pdiparams` file, see `paddle2ov/program/parameters.py`."""
    numbers = {name: number for number, name in dtypes.LEGACY.items()}
    for parameter in parameters:
        described = TensorDesc(data_type=numbers[parameter.dtype], dims=parameter.data.shape).SerializeToString()
        yield struct.pack("<IQIi", 0, 0, 0, len(described)) + described
        yield parameter.data.tobytes()


__all__ = ["extract"]
