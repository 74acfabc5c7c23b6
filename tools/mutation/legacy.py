"""Mutations of legacy programs, as protobuf messages of the reader's own schema.

Each takes random numbers, the program, which it changes, and another program to take pieces from.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from google.protobuf.message import DecodeError

from paddle2ov.program.framework_proto import Attr, ProgramDesc, VarType
from tools.mutation import extremes

Mutation = Callable[[Random, Any, Any], None]

(
    INT,
    FLOAT,
    STRING,
    INTS,
    FLOATS,
    STRINGS,
    BOOLEAN,
    BOOLEANS,
    BLOCK,
    LONG,
    BLOCKS,
    LONGS,
    FLOAT64S,
    VAR,
    VARS,
    FLOAT64,
) = range(16)
_FIELDS = dict(
    (
        *((INT, "i"), (FLOAT, "f"), (STRING, "s"), (INTS, "ints"), (FLOATS, "floats"), (STRINGS, "strings")),
        *((BOOLEAN, "b"), (BOOLEANS, "bools"), (BLOCK, "block_idx"), (LONG, "l"), (BLOCKS, "blocks_idx")),
        *((LONGS, "longs"), (FLOAT64S, "float64s"), (VAR, "var_name"), (VARS, "vars_name"), (FLOAT64, "float64")),
    )
)
"""The field that holds an attribute of a type (`AttrType` in Paddle's framework.proto)."""
_BOOKKEEPING = ("op_role", "op_role_var", "op_namescope", "op_device", "op_callstack", "with_quant_attr")
_ENDS = ("feed", "fetch")


def _decoded(kind: Any, content: bytes) -> Any:
    """A message; a ValueError where an earlier mutation left none."""
    try:
        return kind.FromString(content)
    except DecodeError as error:
        raise ValueError("no message") from error


def operators(program: Any) -> list[Any]:
    return [op for block in program.blocks for op in block.ops]


def computing(program: Any) -> list[Any]:
    every = operators(program)
    return [op for op in every if op.type not in _ENDS] or every


def names(program: Any) -> list[str]:
    """The names of all variables."""
    return [one.name for block in program.blocks for one in block.vars] or ["x"]


def _ports(op: Any) -> list[Any]:
    return [*op.inputs, *op.outputs]


def _block(rng: Random, program: Any) -> Any:
    return rng.choice(list(program.blocks)) if program.blocks else program.blocks.add(idx=0, parent_idx=-1)


def _reorder(messages: Any, order: list[Any]) -> None:
    kept = [type(one).FromString(one.SerializePartialToString()) for one in order]
    del messages[:]
    messages.extend(kept)


# Operators


def drop_operator(rng: Random, program: Any, other: Any) -> None:
    ops = _block(rng, program).ops
    if ops:
        del ops[rng.randrange(len(ops))]


def repeat_operator(rng: Random, program: Any, other: Any) -> None:
    ops = _block(rng, program).ops
    if ops:
        order = list(ops)
        order.insert(rng.randint(0, len(order)), rng.choice(order))
        _reorder(ops, order)


def swap_operators(rng: Random, program: Any, other: Any) -> None:
    ops = _block(rng, program).ops
    if len(ops) > 1:
        order = list(ops)
        a, b = rng.sample(range(len(order)), 2)
        order[a], order[b] = order[b], order[a]
        _reorder(ops, order)


def rename_operator(rng: Random, program: Any, other: Any) -> None:
    ops, donors = computing(program), operators(other)
    if ops and donors:
        rng.choice(ops).type = rng.choice(donors).type


def foreign_operator(rng: Random, program: Any, other: Any) -> None:
    """An operator of another program, in place of one, on variables of this one."""
    block, donors = _block(rng, program), computing(other)
    if not block.ops or not donors:
        return
    op = type(block.ops[0]).FromString(rng.choice(donors).SerializePartialToString())
    known = names(program)
    place = rng.randrange(len(block.ops))
    replaced = [name for port in block.ops[place].outputs for name in port.arguments]
    for port in op.inputs:
        port.arguments[:] = [rng.choice(known) for _ in port.arguments]
    for port in op.outputs:
        port.arguments[:] = [replaced.pop(0) if replaced else rng.choice(known) for _ in port.arguments]
    order = list(block.ops)
    order[place : place + (rng.random() < 0.6)] = [op]
    _reorder(block.ops, order)


# Operands and results


def retarget(rng: Random, program: Any, other: Any) -> None:
    ports = [port for op in operators(program) for port in _ports(op) if port.arguments]
    if ports:
        port = rng.choice(ports)
        odd = ("", "@EMPTY@", "no such variable", "../x", "x" * 1000)
        port.arguments[rng.randrange(len(port.arguments))] = rng.choice(names(program) if rng.random() < 0.8 else odd)


def change_arguments(rng: Random, program: Any, other: Any) -> None:
    ports = [port for op in operators(program) for port in _ports(op)]
    if ports:
        port = rng.choice(ports)
        draw = rng.random()
        if port.arguments and draw < 0.4:
            del port.arguments[rng.randrange(len(port.arguments))]
        elif port.arguments and draw < 0.6:
            del port.arguments[:]
        else:
            port.arguments.extend(rng.choices(names(program), k=rng.choice((1, 1, 2, 10, 1000))))


def change_ports(rng: Random, program: Any, other: Any) -> None:
    ops = [op for op in operators(program) if _ports(op)]
    if ops:
        op = rng.choice(ops)
        held = op.inputs if op.inputs and (rng.random() < 0.6 or not op.outputs) else op.outputs
        place = rng.randrange(len(held))
        draw = rng.random()
        if draw < 0.35:
            del held[place]
        elif draw < 0.6:
            _reorder(held, [*held, held[place]])
        else:
            donors = [port.parameter for one in operators(other) for port in _ports(one)]
            own = [port.parameter for port in _ports(op)]
            held[place].parameter = rng.choice([*donors, *own] or ["X"])


# Types and shapes


def _variables(program: Any) -> list[Any]:
    return [one for block in program.blocks for one in block.vars]


def _retyped(rng: Random, program: Any, change: Callable[[Any], None], chosen: list[Any] | None = None) -> None:
    held = _variables(program) if chosen is None else chosen
    if held:
        one = rng.choice(held)
        kind = _decoded(VarType, one.type)
        change(kind)
        one.type = kind.SerializePartialToString()


def change_shape(rng: Random, program: Any, other: Any) -> None:
    def change(kind: Any) -> None:
        dims = kind.dense_tensor.tensor.dims
        dims[:] = extremes.shape(rng, list(dims))

    _retyped(rng, program, change)


def change_input_shape(rng: Random, program: Any, other: Any) -> None:
    def change(kind: Any) -> None:
        dims = kind.dense_tensor.tensor.dims
        dims[:] = extremes.shape(rng, list(dims))

    fed = {name for op in operators(program) if op.type == "feed" for port in op.outputs for name in port.arguments}
    _retyped(rng, program, change, [one for one in _variables(program) if one.name in fed])


def change_dtype(rng: Random, program: Any, other: Any) -> None:
    def change(kind: Any) -> None:
        kind.dense_tensor.tensor.data_type = rng.choice((0, 1, 2, 3, 4, 5, 6, 20, 21, 22, 23, 24, 7, 19, 25, -1, 1000))

    _retyped(rng, program, change)


def change_kind(rng: Random, program: Any, other: Any) -> None:
    def change(kind: Any) -> None:
        draw = rng.random()
        if draw < 0.5:
            kind.type = rng.choice((7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18, 0, 5, -1, 1000))
        elif draw < 0.8:
            kind.dense_tensor.lod_level = rng.choice((0, 1, 2, 3, -1, 2**31 - 1))
        else:
            kind.type = 13
            kind.tensor_array.CopyFrom(kind.dense_tensor)

    _retyped(rng, program, change)


def change_variable(rng: Random, program: Any, other: Any) -> None:
    held = _variables(program)
    if not held:
        return
    one = rng.choice(held)
    draw = rng.random()
    if draw < 0.3:
        one.persistable = not one.persistable
    elif draw < 0.5:
        one.name = rng.choice([*names(program), "", "../x", "/etc/passwd", "x\0y"])
    elif draw < 0.8:
        block = next(block for block in program.blocks if any(held is one for held in block.vars))
        _reorder(block.vars, [held for held in block.vars if held is not one])
    else:
        block = _block(rng, program)
        _reorder(block.vars, [*block.vars, one])


# Attributes


def _attribute(rng: Random, given: Any, kind: int) -> None:
    """Sets an attribute of a type to an extreme."""
    field = _FIELDS.get(kind)
    if field is None:
        return
    if kind in (INT, BLOCK):
        setattr(given, field, _int32(extremes.integer(rng)))
    elif kind == LONG:
        given.l = _int64(extremes.integer(rng))
    elif kind in (FLOAT, FLOAT64):
        setattr(given, field, extremes.number(rng))
    elif kind == STRING:
        given.s = extremes.text(rng).encode() if rng.random() < 0.9 else b"\xff\xfe"
    elif kind == BOOLEAN:
        given.b = not given.b
    elif kind == VAR:
        given.var_name = extremes.text(rng)
    else:
        held = getattr(given, field)
        make: Callable[[], Any] = {
            INTS: lambda: _int32(extremes.integer(rng)),
            BLOCKS: lambda: rng.choice((0, 1, 2, -1, 1000)),
            LONGS: lambda: _int64(extremes.integer(rng)),
            FLOATS: lambda: extremes.number(rng),
            FLOAT64S: lambda: extremes.number(rng),
            BOOLEANS: lambda: rng.random() < 0.5,
            STRINGS: lambda: extremes.text(rng).encode(),
            VARS: lambda: extremes.text(rng),
        }[kind]
        values = extremes.resized(rng, list(held), make)
        del held[:]
        held.extend(values)


def _int32(value: int) -> int:
    return (value + 2**31) % 2**32 - 2**31


def _int64(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def _meaningful(op: Any) -> list[int]:
    """Positions of attributes that are more than bookkeeping."""
    return [i for i, text in enumerate(op.attrs) if _decoded(Attr, text).name not in _BOOKKEEPING]


def change_attribute(rng: Random, program: Any, other: Any) -> None:
    ops = [op for op in computing(program) if _meaningful(op)]
    if ops:
        op = rng.choice(ops)
        place = rng.choice(_meaningful(op))
        given = _decoded(Attr, op.attrs[place])
        if rng.random() < 0.12:  # of another type: what the old one held stays where it was
            given.type = rng.choice((*range(18), 100, -1))
        if given.type in (INT, LONG) and rng.random() < 0.2:
            given.i = _int32(extremes.near(rng, given.i))
        else:
            _attribute(rng, given, given.type)
        op.attrs[place] = given.SerializePartialToString()


def drop_attribute(rng: Random, program: Any, other: Any) -> None:
    ops = [op for op in computing(program) if op.attrs]
    if ops:
        op = rng.choice(ops)
        if rng.random() < 0.8:
            del op.attrs[rng.choice(_meaningful(op) or range(len(op.attrs)))]
        else:
            del op.attrs[:]


def add_attribute(rng: Random, program: Any, other: Any) -> None:
    donors = [text for op in operators(other) for text in op.attrs]
    ops = computing(program)
    if donors and ops:
        op = rng.choice(ops)
        given = _decoded(Attr, rng.choice(donors))
        if op.attrs and rng.random() < 0.5:
            given.name = _decoded(Attr, rng.choice(list(op.attrs))).name
        op.attrs.append(given.SerializePartialToString())


# Constants


def _set(op: Any, name: str, kind: int, value: Any) -> None:
    given = Attr(name=name, type=kind)
    if isinstance(value, list):
        getattr(given, _FIELDS[kind]).extend(value)
    else:
        setattr(given, _FIELDS[kind], value)
    op.attrs.append(given.SerializePartialToString())


def input_to_constant(rng: Random, program: Any, other: Any) -> None:
    """An input becomes a constant, so that what follows is folded."""
    inputs = [op for op in operators(program) if op.type == "feed"]
    types = {one.name: _decoded(VarType, one.type) for one in _variables(program)}
    for op in inputs if rng.random() < 0.5 else inputs[:1]:
        name = op.outputs[0].arguments[0] if op.outputs and op.outputs[0].arguments else ""
        tensor = types[name].dense_tensor.tensor if name in types else None
        dims = [abs(one) if abs(one) < 100 else 2 for one in tensor.dims] if tensor is not None else [2]
        if rng.random() < 0.3:
            dims = [one if one in (0, 1, 2, 3, -1) else 2 for one in extremes.shape(rng, dims)][:8]
        del op.inputs[:]
        del op.attrs[:]
        if rng.random() < 0.7:
            op.type = "fill_constant"
            _set(op, "value", FLOAT, extremes.number(rng))
            if rng.random() < 0.5:
                _set(op, "str_value", STRING, str(rng.choice((extremes.number(rng), extremes.integer(rng)))).encode())
            _set(op, "shape", LONGS, dims)
        else:
            op.type = "assign_value"
            count = 1
            for one in dims:
                count *= max(one, 0)
            _set(op, "shape", INTS, dims)
            count = min(count, 1000)
            if tensor is not None and tensor.data_type in (2, 3):
                field = "int32_values" if tensor.data_type == 2 else "int64_values"
                _set(
                    op,
                    field,
                    INTS if tensor.data_type == 2 else LONGS,
                    [_int32(extremes.integer(rng)) for _ in range(count)],
                )
            else:
                _set(op, "fp32_values", FLOATS, [extremes.number(rng) for _ in range(count)])
        _set(op, "dtype", INT, tensor.data_type if tensor is not None else 5)
        op.outputs[0].parameter = "Out"


# Blocks


def change_blocks(rng: Random, program: Any, other: Any) -> None:
    draw = rng.random()
    if draw < 0.3:
        _reorder(
            program.blocks, [*program.blocks, rng.choice([*program.blocks, *other.blocks] or [program.blocks.add()])]
        )
    elif draw < 0.45 and program.blocks:
        del program.blocks[rng.randrange(len(program.blocks))]
    elif draw < 0.6:
        block = _block(rng, program)
        block.parent_idx = rng.choice((-1, 0, 1, 2, 1000, 2**31 - 1, block.idx))
    elif draw < 0.7:
        _block(rng, program).idx = rng.choice((-1, 0, 1, 2, 1000, 2**31 - 1))
    else:
        ops = computing(program)
        if ops:
            op = rng.choice(ops)
            if rng.random() < 0.6:
                op.type = rng.choice(
                    ("while", "conditional_block", "recurrent", "conditional_block_infer", "select_input")
                )
            _set(op, "sub_block", BLOCK, rng.choice((0, 1, 2, len(program.blocks) - 1, len(program.blocks), -1)))


# Anything


def _messages(message: Any) -> list[Any]:
    found = [message]
    for field, value in message.ListFields():
        if field.message_type is not None:
            held = value if field.is_repeated else [value]
            found += [inner for one in held for inner in _messages(one)]
    return found


def change_any(rng: Random, program: Any, other: Any) -> None:
    """Any field of any message becomes another, or goes."""
    message = rng.choice(_messages(program))
    field = rng.choice(list(message.DESCRIPTOR.fields))
    draw = rng.random()
    if draw < 0.3:
        message.ClearField(field.name)
        return
    donors = [one for one in _messages(other) if one.DESCRIPTOR is message.DESCRIPTOR and _holds(one, field)]
    if donors and draw < 0.8:
        donor = rng.choice(donors)
        message.ClearField(field.name)
        if field.is_repeated:
            getattr(message, field.name).extend(getattr(donor, field.name))
        elif field.message_type is not None:
            getattr(message, field.name).CopyFrom(getattr(donor, field.name))
        else:
            setattr(message, field.name, getattr(donor, field.name))
    elif field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_INT64):
        value = extremes.integer(rng)
        fitting = _int32(value) if field.cpp_type == field.CPPTYPE_INT32 else _int64(value)
        if field.is_repeated:
            getattr(message, field.name).append(fitting)
        else:
            setattr(message, field.name, fitting)
    elif field.cpp_type == field.CPPTYPE_STRING:
        text = extremes.text(rng)
        fitted: Any = text.encode() if field.type == field.TYPE_BYTES else text
        if field.is_repeated:
            getattr(message, field.name).append(fitted)
        else:
            setattr(message, field.name, fitted)


def _holds(message: Any, field: Any) -> bool:
    return bool(getattr(message, field.name)) if field.is_repeated else message.HasField(field.name)


# Growth


def block_bomb(rng: Random, program: Any, other: Any) -> None:
    """Blocks that two operators of the block before hold: the ways through double with every level."""
    if not program.blocks:
        return
    owner = rng.choice(("conditional_block", "while", "recurrent"))
    known = names(program)
    depth = rng.choice((3, 10, 25, 60))
    parent = rng.randrange(len(program.blocks))
    for _ in range(depth):
        index = len(program.blocks)
        block = program.blocks[parent]
        inner = program.blocks.add(idx=index, parent_idx=parent)
        if rng.random() < 0.3 and block.ops:
            inner.ops.add().CopyFrom(rng.choice(list(block.ops)))
        for _ in range(2):
            op = block.ops.add(type=owner)
            op.inputs.add(
                parameter="Cond" if owner == "conditional_block" else "Condition", arguments=[rng.choice(known)]
            )
            op.inputs.add(parameter="Input" if owner == "conditional_block" else "X", arguments=[rng.choice(known)])
            op.outputs.add(parameter="Out", arguments=[rng.choice(known)])
            _set(op, "sub_block", BLOCK, index)
        parent = index


def chain_bomb(rng: Random, program: Any, other: Any) -> None:
    """An operator many times, each on what the last one wrote."""
    ops = [
        (block, op) for block in program.blocks for op in block.ops if op.type not in _ENDS and op.inputs and op.outputs
    ]
    if not ops:
        return
    block, op = rng.choice(ops)
    order = list(block.ops)
    place = next(i for i, one in enumerate(order) if one is op) + 1
    last = next((name for port in op.outputs for name in port.arguments), "x")
    again = type(op).FromString(op.SerializePartialToString())
    for port in again.inputs if rng.random() < 0.5 else again.inputs[:1]:
        port.arguments[:] = [last for _ in port.arguments]
    order[place:place] = [again] * rng.choice((3, 10, 40, 150))
    _reorder(block.ops, order)


FAMILIES: dict[str, tuple[Mutation, ...]] = {
    "attributes": (*[change_attribute] * 12, drop_attribute, add_attribute),
    "constants": (input_to_constant,),
    "operands": (retarget, retarget, change_arguments, change_ports),
    "operators": (
        drop_operator,
        repeat_operator,
        swap_operators,
        rename_operator,
        rename_operator,
        foreign_operator,
        foreign_operator,
    ),
    "types": (change_dtype, change_dtype, change_kind, change_variable),
    "shapes": (change_shape, change_input_shape, change_input_shape),
    "blocks": (change_blocks,),
    "any value": (change_any,),
    "growth": (block_bomb, chain_bomb),
}


def parse(content: bytes) -> Any:
    return ProgramDesc.FromString(content)


def known(content: bytes) -> bytes:
    """The program without the fields that the reader does not know."""
    program = parse(content)
    program.DiscardUnknownFields()
    return render(program)


def render(program: Any) -> bytes:
    content: bytes = program.SerializePartialToString()
    return content
