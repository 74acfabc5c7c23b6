"""The two formats of programs: JSON as it is, and protobuf messages as trees of their fields."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

import msgspec
from google.protobuf.message import DecodeError

from paddle2ov.program.framework_proto import Attr, ProgramDesc, VarType
from tools.mutation import values
from tools.mutation.trees import Format, Tree, find

_DEPTHS = (5, 20, 60, 200, 1000, 20_000)


def _small(rng: Random, dims: list[int]) -> list[int]:
    """Dimensions of a constant: those of an input with 2 where they are open or large, or extreme ones."""
    if rng.random() < 0.3:
        dims = [size if size in (0, 1, 2, 3, -1) else 2 for size in values.shape(rng, dims)][:8]
        return dims
    return [size if 0 <= size < 100 else 2 for size in dims]


# PIR


def _pir_constant(rng: Random, tree: Tree, op: Tree) -> None:
    """`full` of an extreme number."""
    named = {attribute["N"]: attribute["AT"] for attribute in op["A"]}
    dims = op["O"][0]["TT"]["D"][1]
    dims[:] = _small(rng, dims)
    number = rng.choice(rng.choice((values.FLOATS, values.INTS)))
    held = {"D": float(number)} if abs(number) < float("inf") else {"VD": "NaN" if number != number else "INF"}
    attributes = {"shape": {"#": "1.a_intarray", "D": list(dims)}, "value": {"#": "0.a_f64", **held}}
    attributes |= {"dtype": named["dtype"], "place": {"#": "1.a_place", "D": [1, 0, ""]}}
    op |= {"#": "1.full", "A": [{"N": name, "AT": value} for name, value in attributes.items()]}


def _nest(rng: Random, tree: Tree, other: Tree) -> None:
    """Blocks inside an operator that has none, or more in one that has."""
    op = rng.choice(PIR.computing(tree))
    ops = copy.deepcopy(rng.choice([*PIR.blocks(tree), *PIR.blocks(other)])[:50])
    regions = [{"#": "region_0", "blocks": [{"#": "block_0", "args": [], "ops": ops}]}] * rng.choice((1, 2, 3))
    op["regions"] = [*op.get("regions", []), *copy.deepcopy(regions)]
    if rng.random() < 0.3:
        op["#"] = rng.choice(("1.if", "1.while"))


def _combine_bomb(rng: Random, tree: Tree, other: Tree) -> None:
    """A combine of a combine of a combine, each twice: names double with every level."""
    ops, known, times = PIR.blocks(tree)[0], PIR.written(tree), rng.choice((2, 2, 3, 10))
    last, fresh, bomb = rng.choice(known), max(known), []
    for _ in range(rng.choice((4, 12, 28, 60, 1000))):
        fresh += 1
        result = {"%": fresh, "TT": {"#": "0.t_vec", "D": []}}
        bomb.append({"#": "0.combine", "A": [], "I": [{"%": last}] * times, "O": [result]})
        last = fresh
    place = rng.randint(0, len(ops))
    for item in find({"ops": ops[place:]}, PIR.reads)[:1]:
        item.holder[item.key] = last
    ops[place:place] = bomb


def _deep_nesting(rng: Random, tree: Tree, other: Tree) -> None:
    """Blocks in blocks, or lists in lists."""
    depth, ops = rng.choice(_DEPTHS), PIR.blocks(tree)[0]
    if rng.random() < 0.6:
        op = {**copy.deepcopy(rng.choice(PIR.computing(tree))), "#": rng.choice(("1.if", "1.while")), "regions": "@"}
        before, after = json.dumps([{"#": "r", "blocks": [{"#": "b", "args": [], "ops": [op]}]}]).split('"@"')
        ops.append({**op, "regions": msgspec.Raw((before * depth + "[]" + after * depth).encode())})
    else:
        before, after = rng.choice((("[", "]"), ('{"#":"0.a_array","D":[', "]}")))
        _, holder, key = rng.choice(find(tree, r"\.AT$"))
        holder[key] = msgspec.Raw((before * depth + "1" + after * depth).encode())


def _parse_pir(content: bytes) -> Tree:
    tree: Tree = json.loads(content)
    return tree


_TYPE = r"^\.O(\.\*)?\.TT"
PIR = Format(
    file="inference.json",
    parse=_parse_pir,
    render=msgspec.json.encode,
    kind="#",
    reads=r"^\.I\.\*\.%$",
    writes=r"^\.O(\.\*)?\.%$",
    dims=_TYPE + r"\.D\.\*$",
    fresh=lambda known: max(known) + 1,
    ends=("1.data", "1.fetch", "p", "0.parameter"),
    constants=tuple(
        f"1.{name}"
        for name in (
            "full",
            "full_int_array",
            "assign_value",
            "assign_value_",
            "full_with_tensor",
            "arange",
            "linspace",
        )
    ),
    altered={
        "attributes": (*[r"^\.A\b.*\.V?D(\.\*)*$"] * 4, r"^\.A\.\*(\.AT)?$"),
        "operands": (r"^\.[IO](\.\*)?(\.%)?$",),
        "operators": (r"^$",),
        "types": (_TYPE, _TYPE + r"\.D\.\*\.#$"),
        "blocks": (r"\.regions|\.blocks",),
        "any value": ("",),
    },
    own={"blocks": (_nest,), "growth": (_combine_bomb, _deep_nesting)},
    to_constant=_pir_constant,
)


# Legacy

_WRITTEN_AS_BYTES = {("OpDesc", "attrs"): Attr, ("VarDesc", "type"): VarType}
_BOOKKEEPING = ("op_role", "op_role_var", "op_namescope", "op_device", "op_callstack", "with_quant_attr")
_FLOAT, _STRING, _INT, _BLOCK, _LONGS = 1, 2, 0, 8, 11
"""Types of attributes (`AttrType` in Paddle's framework.proto)."""
_OWNERS = ("conditional_block", "while", "recurrent")


def _parse_legacy(content: bytes) -> Tree:
    try:
        tree = _tree_of(ProgramDesc.FromString(content))
    except DecodeError as error:
        raise ValueError("no program") from error
    for block in tree.get("blocks", ()):
        for op in block.setdefault("ops", []):
            op["attrs"] = [attr for attr in op.get("attrs", ()) if attr.get("name") not in _BOOKKEEPING]
    return tree


def _render_legacy(tree: Tree) -> bytes:
    content: bytes = _message_of(ProgramDesc, tree).SerializePartialToString()
    return content


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
    elif field.cpp_type == field.CPPTYPE_BOOL:  # protobuf raises OverflowError of large numbers
        value = bool(value)
    if field.is_repeated:
        getattr(message, field.name).append(value)
    else:
        setattr(message, field.name, value)


def _legacy_constant(rng: Random, tree: Tree, op: Tree) -> None:
    """`fill_constant` of an extreme number."""
    (name,) = op["outputs"][0]["arguments"]
    variables = [item for block in tree["blocks"] for item in block.get("vars", ())]
    variable = next((item for item in variables if item["name"] == name), None)
    if variable is None:  # one that the export leaves out, as nothing reads it
        return
    tensor = variable["type"]["dense_tensor"]["tensor"]
    number = rng.choice(rng.choice((values.FLOATS, values.INTS)))
    attributes = [
        _attribute("value", _FLOAT, "f", number),
        _attribute("shape", _LONGS, "longs", _small(rng, tensor["dims"])),
    ]
    if rng.random() < 0.5:
        attributes.append(_attribute("str_value", _STRING, "s", str(number).encode()))
    op |= {
        "type": "fill_constant",
        "inputs": [],
        "attrs": [*attributes, _attribute("dtype", _INT, "i", tensor["data_type"])],
    }
    op["outputs"][0]["parameter"] = "Out"


def _hold_block(rng: Random, tree: Tree, other: Tree) -> None:
    """An operator holds a block, one that there is or one that there is not."""
    op = rng.choice(LEGACY.computing(tree))
    if rng.random() < 0.6:
        op["type"] = rng.choice((*_OWNERS, "conditional_block_infer", "select_input"))
    count = len(tree["blocks"])
    op["attrs"].append(_attribute("sub_block", _BLOCK, "block_idx", rng.choice((0, 1, 2, count - 1, count, -1))))


def _block_bomb(rng: Random, tree: Tree, other: Tree) -> None:
    """Blocks that two operators of the block before hold: the ways through double with every level."""
    owner, known, blocks = rng.choice(_OWNERS), LEGACY.written(tree), tree["blocks"]
    ports = ("Cond", "Input") if owner == "conditional_block" else ("Condition", "X")
    parent = rng.randrange(len(blocks))
    for _ in range(rng.choice((3, 10, 25, 60))):
        index, ops = len(blocks), blocks[parent]["ops"]
        blocks.append({"idx": index, "parent_idx": parent, "ops": []})
        for _ in range(2):
            inputs = [{"parameter": port, "arguments": [rng.choice(known)]} for port in ports]
            outputs = [{"parameter": "Out", "arguments": [rng.choice(known)]}]
            attributes = [_attribute("sub_block", _BLOCK, "block_idx", index)]
            ops.append({"type": owner, "inputs": inputs, "outputs": outputs, "attrs": attributes})
        parent = index


def _attribute(name: str, number: int, field: str, value: Any) -> Tree:
    return {"name": name, "type": number, field: value}


_DIMS = r"\.dims$"
LEGACY = Format(
    file="inference.pdmodel",
    parse=_parse_legacy,
    render=_render_legacy,
    kind="type",
    reads=r"^\.inputs\.\*\.arguments\.\*$",
    writes=r"^\.outputs\.\*\.arguments\.\*$",
    dims=_DIMS,
    fresh=None,
    ends=("feed", "fetch"),
    constants=("fill_constant", "assign_value", "range", "linspace"),
    altered={
        "attributes": (*[r"^\.attrs\.\*\.(?!name|type)"] * 4, r"^\.attrs"),
        "operands": (r"^\.(in|out)puts",),
        "operators": (r"^$",),
        "types": (r"\.vars", r"\.vars.*type$"),
        "blocks": (r"^\.blocks(\.\*(\.(idx|parent_idx|ops))?)?$",),
        "any value": ("",),
    },
    own={"blocks": (_hold_block,), "growth": (_block_bomb,)},
    to_constant=_legacy_constant,
)
FORMATS = {"pir": PIR, "legacy": LEGACY}
