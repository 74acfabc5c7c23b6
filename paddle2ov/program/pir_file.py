"""How a PIR program is written down in its file, and what its types and attributes mean.

The format is that of `paddle/fluid/pir/serialize_deserialize/` (schema.h, ir_serialize.cc, ir_deserialize.cc).
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from paddle2ov.errors import ModelReadError
from paddle2ov.program import dtypes
from paddle2ov.program.budget import MAX_DIM, check_rank
from paddle2ov.program.model import Variable

_FLOATS = {"NaN": math.nan, "INF": math.inf, "-INF": -math.inf}
# Types and attributes are most of a file, and few of them differ: they stay as they are written, and each
# distinct one is decoded once.
_NOTHING = msgspec.Raw(b"null")


class Type(msgspec.Struct, gc=False):
    """A type: its dialect and name, and what that takes."""

    id: str = msgspec.field(name="#")
    data: Any = msgspec.field(name="D", default=None)


class Value(msgspec.Struct, gc=False):
    """An operand or a result. `id` is the number by which operands name a value; 0 for none."""

    id: int = msgspec.field(name="%")
    type: msgspec.Raw = msgspec.field(name="TT", default=_NOTHING)


class Argument(msgspec.Struct, gc=False):
    """An argument of a block, with an `id` of its own."""

    id: int = msgspec.field(name="#")
    type: msgspec.Raw = msgspec.field(name="TT", default=_NOTHING)


class AttributeData(msgspec.Struct, gc=False):
    """The value of an attribute: its type, and the number, text or list that it is."""

    id: str = msgspec.field(name="#")
    data: Any = msgspec.field(name="D", default=None)
    void: str | None = msgspec.field(name="VD", default=None)


class Attribute(msgspec.Struct, gc=False):
    """An attribute, whose value stays as it is written."""

    name: str = msgspec.field(name="N")
    value: msgspec.Raw = msgspec.field(name="AT")


class Op(msgspec.Struct, gc=False):
    """An operator. `id` is its dialect and name; a parameter has a form of its own, "p"."""

    id: str = msgspec.field(name="#")
    operands: list[Value] = msgspec.field(name="I", default_factory=list)
    results: list[Value] | Value = msgspec.field(name="O", default_factory=list)
    attributes: list[Attribute | str | int | bool | float] = msgspec.field(name="A", default_factory=list)
    regions: list[Region] = msgspec.field(default_factory=list)
    flags: msgspec.Raw = msgspec.field(name="OA", default=_NOTHING)


class Block(msgspec.Struct, gc=False):
    """Operators in order, and for the body of a loop the arguments: what it carries from iteration to iteration."""

    ops: list[Op]
    args: list[Argument] = msgspec.field(default_factory=list)


class Region(msgspec.Struct, gc=False):
    """A branch or a body."""

    blocks: list[Block]


class BaseCode(msgspec.Struct):
    """What a file begins with."""

    magic: str
    version: int


class Module(msgspec.Struct):
    """A whole program."""

    regions: list[Region]


class File(msgspec.Struct):
    """A whole file."""

    base_code: BaseCode
    program: Module


decode_file = msgspec.json.Decoder(File).decode
_read_type = msgspec.json.Decoder(Type | None).decode
_read_attribute = msgspec.json.Decoder(AttributeData).decode


class DecodedTypes(dict[bytes, list[Variable] | Variable | None]):
    """JSON of a type -> a variable of that type, without a name; a list for a vector, None for no value.

    Attributes:
        impossible: the types of tensors with sizes that no memory holds, and their shapes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.impossible: dict[bytes, list[int]] = {}

    def __missing__(self, text: bytes) -> list[Variable] | Variable | None:
        kind = _read_type(text)
        declared = self[text] = _declared(kind)
        if isinstance(declared, Variable) and declared.shape and kind is not None and max(kind.data[1]) > MAX_DIM:
            self.impossible[text] = kind.data[1]
        return declared


class DecodedAttributes(dict[bytes, Any]):
    """JSON of an attribute -> its value."""

    def __missing__(self, text: bytes) -> Any:
        attribute = self[text] = _attribute(_read_attribute(text))
        return attribute


decode_any = msgspec.json.Decoder().decode


def yielded(block: Block) -> list[Value]:
    """What a block yields; for a loop the condition comes first."""
    return block.ops[-1].operands if block.ops and block.ops[-1].id.endswith("yield") else []


def results_of(op: Op) -> list[Value]:
    """The results of an operator, in their order."""
    return op.results if isinstance(op.results, list) else [op.results]


def _attribute(value: AttributeData) -> Any:
    if value.void is not None:
        return _FLOATS[value.void]
    kind = value.id.rpartition(".")[2]
    data = value.data
    if kind == "a_array":
        return [_nested(item) for item in data]
    if kind == "a_scalar":
        return _scalar(data)
    if kind in ("a_c64", "a_c128"):
        return complex(*data)
    if kind == "a_place":
        return None
    if kind == "a_type":
        return dtypes.PIR_TYPES.get(str(data["#"]).rpartition(".")[2])
    return data


def _nested(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    return _attribute(AttributeData(str(item["#"]), item.get("D"), item.get("VD")))


def _scalar(data: Any) -> Any:
    _, value = data
    if isinstance(value, str):
        return _FLOATS.get(value, value)
    return complex(*value) if isinstance(value, list) else value


def _declared(kind: Type | None) -> list[Variable] | Variable | None:
    """A variable of that type without a name; one for each element of a vector; None where there is no value."""
    if kind is None or kind.id == "NULL":
        return None
    name = kind.id.rpartition(".")[2]
    if name.endswith("t_vec"):
        elements = (_declared(msgspec.convert(element, Type)) for element in kind.data)
        return [element if isinstance(element, Variable) else Variable("") for element in elements]
    if name not in ("t_dtensor", "t_dense_tensor_array", "t_selected_rows"):
        return Variable("")
    element, dims, *_ = kind.data
    # Shape inference multiplies unknown dimensions too: `instance_norm` declares [-3] for 3 channels.
    check_rank(len(dims))
    if not {int}.issuperset(map(type, dims)):
        raise ModelReadError(f"a value has an impossible shape {dims[:16]}")
    # And Paddle declares results of `gather_nd` by memory that nothing has written, if the index's length is unknown.
    shape = tuple([dim if -1 <= dim <= MAX_DIM else -1 for dim in dims])
    dtype = dtypes.PIR_TYPES.get(str(element["#"]).rpartition(".")[2])
    return Variable("", dtype, shape, is_array=name == "t_dense_tensor_array")
