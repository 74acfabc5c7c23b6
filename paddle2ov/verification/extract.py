"""One operator of a model as a Paddle model of its own: what it reads becomes inputs, weights and constants stay.

The program's file is edited, not written anew, so that the operator is the one that the file holds: in a PIR program as
JSON, in a legacy one as protobuf.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from paddle2ov.program.files import ModelFiles
from paddle2ov.program.framework_proto import ProgramDesc
from paddle2ov.program.model import Operator, Program
from paddle2ov.verification.editing import (
    Raw,
    append_legacy_op,
    declare,
    feed_op,
    fetch_op,
    input_dependent,
    read_pir,
    values_of,
    write_model,
)


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
        content, block = read_pir(files.program)
        weights = _cut_pir(block, operator, inputs, results)
    else:
        desc = ProgramDesc.FromString(files.program.read_bytes())
        weights = _cut_legacy(desc, operator, inputs, results)
        content = desc.SerializeToString()
    return write_model(folder, content, weights, program) if weights is not None else None


# --- PIR --------------------------------------------------------------------------------------------------------------


def _cut_pir(block: Raw, operator: Operator, inputs: Collection[str], results: Sequence[str]) -> set[str] | None:
    """Leaves the operator, what makes its constants, feeds and fetches; returns the weights' names."""
    ops: list[Raw] = block["ops"]
    makers = {value["%"]: op for op in ops for value in values_of(op)}
    wanted = ops[operator.index]
    changing = input_dependent(ops)
    read = [value for value in _operand_ids(wanted, makers) if value in changing]
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
            feeds[value] = feed_op(fed[value], next(one for one in values_of(maker) if one["%"] == value))
        elif maker["#"] in ("1.data", "1.feed") or maker.get("regions"):
            return None
        elif id(maker) not in kept:
            kept.add(id(maker))
            waiting += [item["%"] for item in maker.get("I", ())]
    ports = zip(operator.outputs.values(), wanted["O"], strict=False)
    made = {names[0]: value for names, value in ports if len(names) == 1}
    if any(name not in made or made[name]["TT"]["#"] != "0.t_dtensor" for name in results):
        return None
    fetches = [fetch_op(name, i, made[name], max(makers) + 1 + i) for i, name in enumerate(results)]
    block["ops"] = [*feeds.values(), *(op for op in ops if id(op) in kept), *fetches]
    return {op["A"][-1] for op in block["ops"] if op["#"] == "p"}


def _operand_ids(op: Raw, makers: Mapping[int, Raw]) -> Iterator[int]:
    """The values that an operator reads, the elements of lists one by one; an operand left out is 0."""
    for item in op["I"]:
        maker = makers.get(item["%"])
        if maker is not None and maker["#"] == "0.combine":
            yield from _operand_ids(maker, makers)
        else:
            yield item["%"]


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
    used |= {name for op in kept for port in op.outputs for name in port.arguments}
    kept = [op for op in ops if any(op is one for one in kept)]
    cut = ProgramDesc().blocks.add(idx=0, parent_idx=-1)
    for column, name in enumerate(feeds):
        append_legacy_op(cut, "feed", "feed", name, column)
    for op in kept:
        cut.ops.add().CopyFrom(op)
    for column, name in enumerate(results):
        append_legacy_op(cut, "fetch", name, "fetch", column)
    declare(cut, [one for one in block.vars if one.name in used])
    del desc.blocks[:]
    desc.blocks.add().CopyFrom(cut)
    return {name for name in weights if name in used}
