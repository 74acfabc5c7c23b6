"""Parts of a legacy program, see `cutting.py`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from paddle2ov.program.files import ModelFiles
from paddle2ov.program.framework_proto import Attr, ProgramDesc, VarType
from paddle2ov.program.model import Operator
from paddle2ov.verification.editing import Cut, without_arrays
from paddle2ov.verification.values import Values, captured_by, name_in_file

_BLOCK_ATTRIBUTE = 8  # the type of an attribute that holds a block index
_HOLDERS = {"feed": 9, "fetch": 10}  # their numbers in Paddle's VarType


def cut_operator(files: ModelFiles, operator: Operator, inputs: Collection[str], results: Sequence[str]) -> Cut | None:
    """See `extract` of `cutting.py`."""
    desc = ProgramDesc.FromString(files.program.read_bytes())
    block = desc.blocks[0]
    wanted, weights = block.ops[operator.index], _weights(block.vars)
    ops = list(block.ops)[: operator.index]
    before = _resolve(_read([wanted]), ops, {name: name for name in inputs}, weights)
    # What is written again has another name in the file.
    if before is None or not set(_written([wanted])).issuperset(results):
        return None
    feeds, constants = before
    kept = [*constants, wanted]
    used = {*feeds, *_read(kept), *_written(kept)}
    cut = _assembled(feeds, kept, results, [variable for variable in block.vars if variable.name in used])
    del desc.blocks[:]
    desc.blocks.add().CopyFrom(cut)
    return Cut(desc.SerializeToString(), weights & used)


def cut_body(values: Values, operator: Operator, block: int) -> Cut | None:
    """See `cut_body` of `cutting.py`."""
    desc = ProgramDesc.FromString(values.files.program.read_bytes())
    chosen = operator.blocks[block]
    if not chosen.operators or not 0 < chosen.index < len(desc.blocks):
        return None
    main, inner = desc.blocks[0], desc.blocks[chosen.index]
    declared = {variable.name: variable for variable in (*main.vars, *inner.vars)}
    weights = _weights(declared.values())
    arrays = {name for name, variable in values.program.variables.items() if variable.is_array}
    ops = list(inner.ops)
    positions = without_arrays(ops, arrays, lambda op: (*_read([op]), *_written([op])), lambda op: _written([op]))
    body = [ops[i] for i in positions]
    used = _read_first(desc, body) - arrays
    carried = zip(operator.outputs["out"], operator.inputs["x"], strict=True) if operator.type == "while" else ()
    state = {own: first for name, first in carried if first and (own := name_in_file(name)) in used}
    # The variables captured from the surrounding program, under the names in the file.
    captured = {name_in_file(name): name for name in captured_by(chosen)}
    entering = {name: variable for name, variable in captured.items() if name in used and name not in state}
    available = {name: name for name in values.dynamic} | entering
    available = {name: variable for name, variable in available.items() if variable in values.dynamic}
    before = _resolve(entering, list(main.ops)[: operator.index], available, weights)
    leaving = [name for name in dict.fromkeys(name_in_file(name) for name in chosen.outputs) if name not in arrays]
    if operator.type == "while" and leaving[:1] != [name_in_file(chosen.outputs[0])]:
        return None  # the loop condition depends on arrays
    written = set(_written(body))
    leaving = [name for name in leaving if name in written or name in state]
    read_by_array_ops = _read([op for i, op in enumerate(ops) if i not in positions])
    leaving = list(dict.fromkeys((*leaving, *(name for name in read_by_array_ops if name in written))))
    if before is None or not leaving:
        return None
    feeds, constants = before
    main.CopyFrom(_assembled((*state, *feeds), (*constants, *body), leaving, declared.values()))
    for other in list(desc.blocks)[1:]:
        if other.parent_idx == chosen.index:
            other.parent_idx = 0
    start = len(state) + len(feeds) + len(constants)
    return Cut(
        desc.SerializeToString(),
        weights,
        feeds,
        {name: (first, name) for name, first in state.items()},
        leaving[0] if operator.type == "while" else "",
        {start + i: old for i, old in enumerate(positions)},
    )


def _resolve(
    names: Iterable[str], ops: Sequence[Any], variables: Mapping[str, str], weights: Collection[str]
) -> tuple[dict[str, str], list[Any]] | None:
    """Which of the `variables` must be given for a part to read `names`, and the operators that compute the others.

    None where one depends on an input that cannot be given.
    """
    makers = {name: i for i, op in enumerate(ops) for name in _written([op])}
    feeds: dict[str, str] = {}
    constants: set[int] = set()
    seen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in variables:
            feeds[name] = variables[name]
        elif name in weights:
            continue
        elif name not in makers or ops[makers[name]].type == "feed":
            return None
        else:
            constants.add(makers[name])
            waiting += _read([ops[makers[name]]])
    return feeds, [ops[i] for i in sorted(constants)]


def _assembled(feeds: Collection[str], ops: Iterable[Any], results: Iterable[str], variables: Iterable[Any]) -> Any:
    """A main block, with what is fed and fetched."""
    block = ProgramDesc().blocks.add(idx=0, parent_idx=-1)
    for column, name in enumerate(feeds):
        _append(block, "feed", "feed", name, column)
    for op in ops:
        block.ops.add().CopyFrom(op)
    for column, name in enumerate(results):
        _append(block, "fetch", name, "fetch", column)
    for variable in variables:
        if variable.name not in _HOLDERS:
            block.vars.add().CopyFrom(variable)
    for name, kind in _HOLDERS.items():
        block.vars.add(name=name, persistable=True, type=VarType(type=kind).SerializeToString())
    return block


def _append(block: Any, kind: str, source: str, target: str, column: int) -> None:
    op = block.ops.add(type=kind)
    op.inputs.add(parameter="X", arguments=[source])
    op.outputs.add(parameter="Out", arguments=[target])
    op.attrs.append(Attr(name="col", type=0, i=column).SerializeToString())


def _read(ops: Iterable[Any]) -> list[str]:
    return [name for op in ops for port in op.inputs for name in port.arguments]


def _written(ops: Iterable[Any]) -> list[str]:
    return [name for op in ops for port in op.outputs for name in port.arguments]


def _weights(variables: Iterable[Any]) -> set[str]:
    return {variable.name for variable in variables if variable.persistable}


def _read_first(desc: Any, ops: Iterable[Any]) -> set[str]:
    """The names that operators read before they write them."""
    names: set[str] = set()
    written: set[str] = set()
    for op in ops:
        names |= {*_read([op]), *_read_inside(desc, op)} - written
        written.update(_written([op]))
    return names


def _read_inside(desc: Any, op: Any) -> Iterator[str]:
    """What the operators of the blocks of an operator read."""
    for text in op.attrs:
        attribute = Attr.FromString(text)
        if attribute.type == _BLOCK_ATTRIBUTE:
            for inner in desc.blocks[attribute.block_idx].ops:
                yield from _read([inner])
                yield from _read_inside(desc, inner)
