"""A block of an `if` or a `while` of a legacy program as a model of its own, see `body.py`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from paddle2ov.program.files import ModelFiles, find_model
from paddle2ov.program.framework_proto import Attr, ProgramDesc
from paddle2ov.program.model import Operator, Program
from paddle2ov.verification.body import BodyModel
from paddle2ov.verification.editing import append_legacy_op, declare, write_model

_BLOCK_ATTRIBUTE = 8  # the type of an attribute that holds a block index


def write_body(
    folder: Path, files: ModelFiles, program: Program, operator: Operator, block: int, dynamic: Collection[str]
) -> BodyModel | None:
    """See `write_body` of `body_pir.py`."""
    desc = ProgramDesc.FromString(files.program.read_bytes())
    chosen = operator.blocks[block]
    if not chosen.operators or not 0 < chosen.index < len(desc.blocks):
        return None
    main, inner = desc.blocks[0], desc.blocks[chosen.index]
    declared = {one.name: one for one in (*main.vars, *inner.vars)}
    weights = {one.name for one in declared.values() if one.persistable}
    lists = {name for name, one in program.variables.items() if one.is_array}
    positions = _without_arrays(list(inner.ops), lists)
    body = [inner.ops[i] for i in positions]
    used = _read_first(desc, body)
    state = {name: first for name, first in _loop_carried(operator).items() if name in used - lists}
    # The variables captured from the surrounding program, under the names in the file.
    entering = {_name_in_file(name): name for name in _read(operator, block) if name}
    entering = {name: variable for name, variable in entering.items() if name in used - lists and name not in state}
    reached = _resolve_entering(entering, dynamic, weights, list(main.ops)[: operator.index])
    leaving = [name for name in dict.fromkeys(_name_in_file(name) for name in chosen.outputs) if name not in lists]
    if operator.type == "while" and leaving[:1] != [_name_in_file(chosen.outputs[0])]:
        return None  # the loop condition depends on arrays
    written = {name for op in body for port in op.outputs for name in port.arguments}
    leaving = [name for name in leaving if name in written or name in state]
    leaving += [
        name for name in _read_by_array_ops(list(inner.ops), positions) if name in written and name not in leaving
    ]
    if reached is None or not leaving:
        return None
    given, constants = reached
    cut = ProgramDesc().blocks.add(idx=0, parent_idx=-1)
    for column, name in enumerate((*state, *given)):
        append_legacy_op(cut, "feed", "feed", name, column)
    before = len(cut.ops) + len(constants)
    for op in (*constants, *body):
        cut.ops.add().CopyFrom(op)
    for column, name in enumerate(leaving):
        append_legacy_op(cut, "fetch", name, "fetch", column)
    declare(cut, declared.values())
    main.CopyFrom(cut)
    for other in list(desc.blocks)[1:]:
        if other.parent_idx == chosen.index:
            other.parent_idx = 0
    target = write_model(folder, desc.SerializeToString(), weights, program)
    carried = {name: (first, name) for name, first in state.items()}
    condition = leaving[0] if operator.type == "while" else ""
    in_block = {before + i: old for i, old in enumerate(positions)}
    return BodyModel(find_model(target), given, in_block, carried, condition)


def _loop_carried(operator: Operator) -> dict[str, str]:
    """What a loop carries: name in the file -> variable that enters the first iteration."""
    if operator.type != "while":
        return {}
    names = (_name_in_file(name) for name in operator.outputs["out"])
    return {name: first for name, first in zip(names, operator.inputs["x"], strict=True) if first}


def _resolve_entering(
    entering: Mapping[str, str], dynamic: Collection[str], weights: Collection[str], ops: Sequence[Any]
) -> tuple[dict[str, str], list[Any]] | None:
    """How the values that enter a block are obtained.

    Args:
        entering: name in the file -> variable.
        dynamic: the variables that depend on the model's inputs.
        weights: the names of the weights.
        ops: the operators before the block.

    Returns:
        Those that must be given, and the operators that compute the others, in their order; None where nothing
        computes one.
    """
    makers = {name: i for i, op in enumerate(ops) for port in op.outputs for name in port.arguments}
    given: dict[str, str] = {}
    constants: set[int] = set()
    seen = set(weights)
    waiting = list(entering)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        variable = entering.get(name, name)
        if variable in dynamic:
            given[name] = variable
        elif name not in makers:
            return None
        else:
            constants.add(makers[name])
            waiting += [one for port in ops[makers[name]].inputs for one in port.arguments]
    return given, [ops[i] for i in sorted(constants)]


def _without_arrays(ops: list[Any], lists: set[str]) -> list[int]:
    """As `_without`, by the names in the file."""
    found = []
    for position, op in enumerate(ops):
        read = {name for port in op.inputs for name in port.arguments}
        made = {name for port in op.outputs for name in port.arguments}
        if lists.isdisjoint(read | made):
            found.append(position)
        else:
            lists |= made
    return found


def _read_by_array_ops(ops: list[Any], positions: Collection[int]) -> dict[str, None]:
    """What the operators that work with arrays read."""
    dropped = [op for i, op in enumerate(ops) if i not in positions]
    return dict.fromkeys(name for op in dropped for port in op.inputs for name in port.arguments)


def _read_first(desc: Any, ops: Iterable[Any]) -> set[str]:
    """The names that operators read before they write them."""
    found: set[str] = set()
    written: set[str] = set()
    for op in ops:
        names = {name for port in op.inputs for name in port.arguments} | set(_inner_names(desc, op))
        found |= names - written
        written |= {name for port in op.outputs for name in port.arguments}
    return found


def _inner_names(desc: Any, op: Any) -> Iterator[str]:
    """What the operators of the blocks of an operator read."""
    for text in op.attrs:
        attribute = Attr.FromString(text)
        if attribute.type == _BLOCK_ATTRIBUTE:
            for inner in desc.blocks[attribute.block_idx].ops:
                yield from (name for port in inner.inputs for name in port.arguments)
                yield from _inner_names(desc, inner)


def _name_in_file(name: str) -> str:
    """The name in the file: the reader numbers the writes of a variable beyond the first."""
    return re.sub(r"@\d+$", "", name)


def _read(operator: Operator, block: int) -> Iterator[str]:
    chosen = operator.blocks[block]
    inside = {name for inner in chosen.walk() for name in inner.output_names()} | set(chosen.inputs)
    names = (name for inner in chosen.walk() for name in (*inner.input_names(), *_yielded(inner)))
    yield from (name for name in (*names, *chosen.outputs) if name not in inside)


def _yielded(operator: Operator) -> Iterator[str]:
    for block in operator.blocks:
        yield from block.outputs
