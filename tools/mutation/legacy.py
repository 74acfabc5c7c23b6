"""Mutations of legacy programs, as trees of the fields of protobuf messages."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from random import Random
from typing import Any

from google.protobuf.message import DecodeError

from paddle2ov.program.framework_proto import Attr, ProgramDesc, VarType
from tools.mutation import extremes
from tools.mutation.structure import Format, Mutation, Tree, alter

_FIELDS = (
    *("i", "f", "s", "ints", "floats", "strings", "b", "bools", "block_idx", "l", "blocks_idx", "longs"),
    *("float64s", "var_name", "vars_name", "float64"),
)
"""The field that holds an attribute, by its type (`AttrType` in Paddle's framework.proto)."""
_INT, _FLOAT, _STRING, _INTS, _FLOATS, _BLOCK, _LONGS = (
    _FIELDS.index(name) for name in ("i", "f", "s", "ints", "floats", "block_idx", "longs")
)
_BOOKKEEPING = ("op_role", "op_role_var", "op_namescope", "op_device", "op_callstack", "with_quant_attr")
_WRITTEN_AS_BYTES = {("OpDesc", "attrs"): Attr, ("VarDesc", "type"): VarType}
_OWNERS = ("conditional_block", "while", "recurrent")
_TEXT_OF_NO_UTF8 = b"\xff\xfe"


class Legacy(Format):
    """What is where in a legacy program."""

    kind, attributes, name, input = "type", "attrs", "name", "feed"
    ends = ("feed", "fetch")

    def parse(self, content: bytes) -> Tree:
        try:
            return _tree_of(ProgramDesc.FromString(content))
        except DecodeError as error:
            raise ValueError("no program") from error

    def render(self, tree: Tree) -> bytes:
        content: bytes = _message_of(ProgramDesc, tree).SerializePartialToString()
        return content

    def blocks(self, tree: Tree) -> list[Tree]:
        blocks: list[Tree] = tree.get("blocks", [])
        for block in blocks:
            block.setdefault("ops", [])
        return blocks

    def operands(self, op: Tree) -> list[list[Any]]:
        return [port.setdefault("arguments", []) for port in op.get("inputs", ())]

    def results(self, op: Tree) -> list[list[Any]]:
        return [port.setdefault("arguments", []) for port in op.get("outputs", ())]

    def _variables(self, tree: Tree) -> list[Tree]:
        return [variable for block in self.blocks(tree) for variable in block.get("vars", ())]

    def values(self, tree: Tree) -> list[Any]:
        return [variable.get("name", "") for variable in self._variables(tree)] or ["x"]

    def odd_values(self, tree: Tree) -> tuple[Any, ...]:
        return "", "@EMPTY@", "no such variable", "../x", "x" * 1000

    def renew(self, tree: Tree, op: Tree) -> None:
        """A variable may be written several times."""

    def as_operand(self, result: Any) -> Any:
        return result

    def types(self, tree: Tree) -> list[Tree]:
        return [variable["type"] for variable in self._variables(tree) if "dense_tensor" in variable["type"]]

    def dims(self, kind: Tree) -> list[int]:
        dims: list[int] = kind["dense_tensor"]["tensor"].setdefault("dims", [])
        return dims

    def input_type(self, tree: Tree, op: Tree) -> Tree:
        (name,) = op["outputs"][0]["arguments"]
        return next(variable["type"] for variable in self._variables(tree) if variable["name"] == name)

    def set_dtype(self, rng: Random, kind: Tree) -> None:
        numbers = (*range(7), 7, 19, *range(20, 26), -1, 1000)
        kind["dense_tensor"]["tensor"]["data_type"] = rng.choice(numbers)

    def changeable(self, op: Tree) -> list[Tree]:
        return [attribute for attribute in super().changeable(op) if attribute["name"] not in _BOOKKEEPING]

    def make_extreme(self, rng: Random, attribute: Tree) -> None:
        if rng.random() < 0.12:  # of another type: what the old one held stays where it was
            attribute["type"] = rng.choice((*range(18), 100, -1))
        field = _FIELDS[attribute["type"]]
        value = attribute.get(field)
        if field in ("i", "l") and rng.random() < 0.2:
            attribute[field] = extremes.near(rng, value or 0)
        elif field in _SINGLE:
            attribute[field] = _SINGLE[field](rng)
        else:
            make = _SINGLE[_ELEMENTS[field]]
            attribute[field] = extremes.resized(rng, value or [], lambda: make(rng))

    def make_constant(self, rng: Random, op: Tree, kind: Tree, dims: list[int]) -> None:
        number = kind["dense_tensor"]["tensor"]["data_type"]
        if rng.random() < 0.7:
            op["type"] = "fill_constant"
            attributes: list[tuple[str, int, Any]] = [("value", _FLOAT, extremes.number(rng)), ("shape", _LONGS, dims)]
            if rng.random() < 0.5:
                text = str(rng.choice((extremes.number(rng), extremes.integer(rng))))
                attributes.append(("str_value", _STRING, text.encode()))
        else:
            op["type"] = "assign_value"
            fields = {2: ("int32_values", _INTS), 3: ("int64_values", _LONGS)}
            name, field = fields.get(number, ("fp32_values", _FLOATS))
            make = extremes.number if field == _FLOATS else extremes.integer
            count = min(math.prod(max(size, 0) for size in dims), 1000)
            attributes = [("shape", _INTS, dims), (name, field, [make(rng) for _ in range(count)])]
        op["inputs"] = []
        op["attrs"] = [_attribute(*attribute) for attribute in (*attributes, ("dtype", _INT, number))]
        op["outputs"][0]["parameter"] = "Out"

    def own_mutations(self) -> dict[str, tuple[Mutation, ...]]:
        return {
            "operands": (self._change_ports,),
            "types": (self._change_variable,),
            "blocks": (self._change_blocks,),
            "growth": (self._block_bomb,),
        }

    def _change_ports(self, rng: Random, tree: Tree, other: Tree) -> None:
        side = rng.choice(("inputs", "inputs", "outputs"))
        ports, donors = (rng.choice([op[side] for op in self.operators(one) if op.get(side)]) for one in (tree, other))
        if rng.random() < 0.5:
            alter(rng, ports, donors)
        else:
            rng.choice(ports)["parameter"] = rng.choice(donors)["parameter"]

    def _change_variable(self, rng: Random, tree: Tree, other: Tree) -> None:
        variables = rng.choice([block["vars"] for block in self.blocks(tree) if block.get("vars")])
        variable, draw = rng.choice(variables), rng.random()
        if draw < 0.3:
            variable["persistable"] = not variable.get("persistable", False)
        elif draw < 0.5:
            variable["name"] = rng.choice([*self.values(tree), "", "../x", "/etc/passwd", "x\0y"])
        elif draw < 0.7:
            variable["type"]["type"] = rng.choice((*range(7, 16), 17, 18, 0, 5, -1, 1000))
        elif draw < 0.85:
            variables.remove(variable)
        else:
            variables.append(copy.deepcopy(variable))

    def _change_blocks(self, rng: Random, tree: Tree, other: Tree) -> None:
        blocks, draw = self.blocks(tree), rng.random()
        if draw < 0.3:
            blocks.append(copy.deepcopy(rng.choice([*blocks, *self.blocks(other)])))
        elif draw < 0.45:
            del blocks[rng.randrange(len(blocks))]
        elif draw < 0.7:
            numbers = (-1, 0, 1, 2, 1000, 2**31 - 1)
            rng.choice(blocks)[rng.choice(("parent_idx", "idx"))] = rng.choice(numbers)
        else:
            op = rng.choice(self.computing(tree))
            if rng.random() < 0.6:
                op["type"] = rng.choice((*_OWNERS, "conditional_block_infer", "select_input"))
            number = rng.choice((0, 1, 2, len(blocks) - 1, len(blocks), -1))
            op.setdefault("attrs", []).append(_attribute("sub_block", _BLOCK, number))

    def _block_bomb(self, rng: Random, tree: Tree, other: Tree) -> None:
        """Blocks that two operators of the block before hold: the ways through double with every level."""
        owner, known, blocks = rng.choice(_OWNERS), self.values(tree), self.blocks(tree)
        ports = ("Cond", "Input") if owner == "conditional_block" else ("Condition", "X")
        parent = rng.randrange(len(blocks))
        for _ in range(rng.choice((3, 10, 25, 60))):
            index, ops = len(blocks), blocks[parent]["ops"]
            inner = [copy.deepcopy(rng.choice(ops))] if ops and rng.random() < 0.3 else []
            blocks.append({"idx": index, "parent_idx": parent, "ops": inner})
            for _ in range(2):
                inputs = [{"parameter": port, "arguments": [rng.choice(known)]} for port in ports]
                outputs = [{"parameter": "Out", "arguments": [rng.choice(known)]}]
                attributes = [_attribute("sub_block", _BLOCK, index)]
                ops.append({"type": owner, "inputs": inputs, "outputs": outputs, "attrs": attributes})
            parent = index


def _text(rng: Random) -> bytes:
    return extremes.text(rng).encode() if rng.random() < 0.9 else _TEXT_OF_NO_UTF8


_SINGLE: dict[str, Callable[[Random], Any]] = {
    "i": extremes.integer,
    "l": extremes.integer,
    "f": extremes.number,
    "float64": extremes.number,
    "s": _text,
    "b": lambda rng: rng.random() < 0.5,
    "block_idx": lambda rng: rng.choice((0, 1, 2, -1, 1000)),
    "var_name": extremes.text,
}
"""Values of attributes at an extreme, by the field that holds one."""
_ELEMENTS = {
    "ints": "i",
    "longs": "l",
    "floats": "f",
    "float64s": "float64",
    "strings": "s",
    "bools": "b",
    "blocks_idx": "block_idx",
    "vars_name": "var_name",
}


def _attribute(name: str, number: int, value: Any) -> Tree:
    return {"name": name, "type": number, _FIELDS[number]: value}


def _tree_of(message: Any) -> Tree:
    """The fields of a message that are set; a ValueError where one that is written as bytes is no message."""

    def value_of(field: Any, value: Any) -> Any:
        kind = _WRITTEN_AS_BYTES.get((message.DESCRIPTOR.name, field.name))
        if kind is not None:
            return _tree_of(kind.FromString(value))
        return _tree_of(value) if field.message_type is not None else value

    return {
        field.name: [value_of(field, item) for item in value] if field.is_repeated else value_of(field, value)
        for field, value in message.ListFields()
    }


def _message_of(kind: Any, tree: Tree) -> Any:
    """The message of a tree, without what it cannot hold; integers wrap around."""
    message = kind()
    for field in message.DESCRIPTOR.fields:
        held = tree.get(field.name)
        for value in held if isinstance(held, list) else [] if held is None else [held]:
            try:
                _set(message, field, value)
            except (AttributeError, TypeError, ValueError):
                continue
    return message


def _set(message: Any, field: Any, value: Any) -> None:
    kind = _WRITTEN_AS_BYTES.get((message.DESCRIPTOR.name, field.name))
    if kind is not None:
        value = _message_of(kind, value).SerializePartialToString()
    elif field.message_type is not None:
        held = getattr(message, field.name)
        target = held.add() if field.is_repeated else held
        target.CopyFrom(_message_of(type(target), value))
        return
    elif field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_INT64):
        limit = 2**31 if field.cpp_type == field.CPPTYPE_INT32 else 2**63
        value = (value + limit) % (2 * limit) - limit
    if field.is_repeated:
        getattr(message, field.name).append(value)
    else:
        setattr(message, field.name, value)


LEGACY = Legacy()
