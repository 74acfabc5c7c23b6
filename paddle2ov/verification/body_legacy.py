"""A block of an `if` or a `while` of a legacy program as a model of its own, see `body.py`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from paddle2ov.program.files import ModelFiles, find_model
from paddle2ov.program.framework_proto import Attr, ProgramDesc
from paddle2ov.program.model import Operator, Program
from paddle2ov.verification.body import Body
from paddle2ov.verification.editing import declare, legacy_op, write_model

_BLOCK = 8  # the kind of an attribute that is a block's number


def write_body(
    folder: Path, files: ModelFiles, program: Program, operator: Operator, block: int, dynamic: Collection[str]
) -> Body | None:
    """As that of `body_pir.py`."""
    desc = ProgramDesc.FromString(files.program.read_bytes())
    chosen = operator.blocks[block]
    if not chosen.operators or not 0 < chosen.index < len(desc.blocks):
        return None
    main, inner = desc.blocks[0], desc.blocks[chosen.index]
    is_loop = operator.type == "while"
    declared = {one.name: one for one in (*main.vars, *inner.vars)}
    weights = {one.name for one in declared.values() if one.persistable}
    # What enters: the variables of the program around it, under the names that the file has.
    lists = {name for name, one in program.variables.items() if one.is_array}
    chosen_ops = _without_arrays(list(inner.ops), lists)
    entering = {_in_file(name): name for name in _read(operator, block) if name}
    state: dict[str, str] = {}
    if is_loop:
        names = [_in_file(name) for name in operator.outputs["out"]]
        state = {name: first for name, first in zip(names, operator.inputs["x"], strict=True) if first}
        state = {name: first for name, first in state.items() if name not in lists}
    makers: dict[str, Any] = {}
    for op in list(main.ops)[: operator.index]:
        makers |= {name: op for port in op.outputs for name in port.arguments}
    given: dict[str, str] = {}
    constants: list[Any] = []
    used = _read_first(desc, [inner.ops[i] for i in chosen_ops])
    state = {name: first for name, first in state.items() if name in used}
    waiting = [name for name in entering if name not in state and name in used and name not in lists]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen or name in weights:
            continue
        seen.add(name)
        variable = entering.get(name, name)
        if variable in dynamic:
            given[name] = variable
        elif name not in makers:
            return None
        elif not any(makers[name] is one for one in constants):
            constants.append(makers[name])
            waiting += [one for port in makers[name].inputs for one in port.arguments]
    written = {name for i in chosen_ops for port in inner.ops[i].outputs for name in port.arguments}
    leaving = [name for name in dict.fromkeys(_in_file(name) for name in chosen.outputs) if name not in lists]
    if is_loop and leaving[:1] != [_in_file(chosen.outputs[0])]:
        return None
    leaving = [name for name in leaving if name in written or name in state]
    if not leaving:
        return None
    cut = ProgramDesc().blocks.add(idx=0, parent_idx=-1)
    for column, name in enumerate((*state, *given)):
        legacy_op(cut, "feed", "feed", name, column)
    for op in (op for op in main.ops if any(op is one for one in constants)):
        cut.ops.add().CopyFrom(op)
    positions = {len(cut.ops) + i: old for i, old in enumerate(chosen_ops)}
    for i in chosen_ops:
        cut.ops.add().CopyFrom(inner.ops[i])
    for column, name in enumerate(leaving):
        legacy_op(cut, "fetch", name, "fetch", column)
    declare(cut, declared.values())
    main.CopyFrom(cut)
    for other in list(desc.blocks)[1:]:
        if other.parent_idx == chosen.index:
            other.parent_idx = 0
    target = write_model(folder, desc.SerializeToString(), weights, program)
    carried = {name: (first, name) for name, first in state.items()}
    return Body(find_model(target), given, positions, carried, leaving[0] if is_loop else "")


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
        if attribute.type == _BLOCK:
            for inner in desc.blocks[attribute.block_idx].ops:
                yield from (name for port in inner.inputs for name in port.arguments)
                yield from _inner_names(desc, inner)


def _in_file(name: str) -> str:
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


__all__ = ["write_body"]
