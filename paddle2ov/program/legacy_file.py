"""How a legacy program is written down in its file, and what its types and attributes mean.

The messages are those of `framework_proto.py`; operators, attributes and types are decoded here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from paddle2ov.errors import ModelReadError
from paddle2ov.program import dtypes
from paddle2ov.program.budget import MAX_DIM, check_rank
from paddle2ov.program.framework_proto import Attr, VarType, decode
from paddle2ov.program.model import Variable
from paddle2ov.program.signatures import Signature, snake_case

BLOCK = 8
"""The kind of an attribute that is a block's number."""
_DENSE_TENSOR, _TENSOR_ARRAY = 7, 13
_BOOKKEEPING = frozenset(
    ("op_role", "op_role_var", "op_namescope", "op_device", "op_callstack", "with_quant_attr", "sub_block")
)


class Attribute(NamedTuple):
    """An attribute as the file has it. `names` are the variables that it names instead of holding a value."""

    name: str
    kind: int
    value: Any
    names: list[str]


class Op(Struct, frozen=True):
    """An operator as the file has it: ports with the variables that they name."""

    type: str
    inputs: list[tuple[str, list[str]]]
    outputs: list[tuple[str, list[str]]]
    attributes: list[Attribute]


class DescCache:
    """Decodes operators; attributes and types, few of which are distinct, are decoded once each.

    Attributes:
        impossible: the types of tensors with sizes that no memory holds, and their shapes.
    """

    def __init__(self) -> None:
        self.impossible: dict[bytes, list[int]] = {}
        self._attributes: dict[bytes, Attribute] = {}
        self._types: dict[bytes, Variable | None] = {}

    def operator(self, desc: Any) -> Op:
        """An operator, decoded. Raises ModelReadError for a name that is not valid UTF-8."""
        inputs = [(port.parameter, list(port.arguments)) for port in desc.inputs]
        outputs = [(port.parameter, list(port.arguments)) for port in desc.outputs]
        names = [desc.type]
        for port, arguments in (*inputs, *outputs):
            names.append(port)
            names += arguments
        if not _STRINGS.issuperset(map(type, names)):  # what is not UTF-8 comes as bytes
            wrong = next(name for name in names if not isinstance(name, str))
            raise ModelReadError(f"the name {wrong!r} is not valid UTF-8")
        return Op(desc.type, inputs, outputs, [self._attribute(text) for text in desc.attrs])

    def _attribute(self, text: bytes) -> Attribute:
        attribute = self._attributes.get(text)
        if attribute is None:
            attribute = self._attributes[text] = _attribute(decode(Attr, text))
        return attribute

    def type(self, text: bytes) -> Variable | None:
        """A variable of that type, without a name; None for a type that is not a tensor."""
        if text not in self._types:
            kind = decode(VarType, text)
            declared = self._types[text] = _declared(kind)
            dims = () if declared is None else _tensor(kind).dims
            if max(dims, default=0) > MAX_DIM:
                self.impossible[text] = list(dims)
        return self._types[text]


_STRINGS = frozenset((str,))


def attributes_of(desc: Op, signature: Signature | None = None) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The attributes of an operator by their canonical names, without bookkeeping, and its call stack."""
    attributes: dict[str, Any] = {}
    call_stack: tuple[str, ...] = ()
    for name, i in by_preference(desc.attributes, signature):
        spelling, _, value, _ = desc.attributes[i]
        if spelling == "op_callstack":
            call_stack = value
            continue
        if spelling in _BOOKKEEPING:
            continue
        # `assign_value` has a list per data type, all but one empty: they are one attribute, `values`.
        if name not in attributes or (isinstance(attributes[name], list) and not attributes[name]):
            attributes[name] = value.copy() if isinstance(value, list) else value
    return attributes, call_stack


def canonical_name(name: str, signature: Signature | None) -> str:
    """The canonical name of a port or attribute."""
    return signature.canonical(name) if signature is not None else snake_case(name)


def by_preference(items: Sequence[tuple[Any, ...]], signature: Signature | None) -> Sequence[tuple[str, int]]:
    """Canonical names and indices of ports or attributes; of several spellings of one name Paddle's preferred first."""
    names = tuple([item[0] for item in items])
    if signature is None:
        return [(snake_case(name), i) for i, name in enumerate(names)]
    return signature.by_preference(names)


def column_of(desc: Op, index: int) -> int:
    """The position of an input or result; that of its operator where the program does not say."""
    column = attributes_of(desc)[0].get("col", index)
    if not isinstance(column, int):
        raise ModelReadError(f"attribute 'col' is {column!r:.80}; a number is expected")
    return column


def argument_of(ports: list[tuple[str, list[str]]], parameter: str) -> str:
    """The first variable of a port, which must have one."""
    if names := arguments_of(ports, parameter):
        return names[0]
    raise ModelReadError(f"port {parameter} is missing")


def arguments_of(ports: list[tuple[str, list[str]]], parameter: str) -> list[str]:
    """All variables of a port."""
    return [name for port, names in ports if port == parameter for name in names]


def sub_block_of(desc: Op) -> int:
    """The number of the block that an operator owns."""
    for attribute in desc.attributes:
        if attribute.name == "sub_block" and isinstance(attribute.value, int):
            return attribute.value
    raise ModelReadError("attribute sub_block is missing")


def _attribute(desc: Any) -> Attribute:
    name, kind = desc.name, desc.type
    if not isinstance(name, str):
        raise ModelReadError(f"the name {name!r} is not valid UTF-8")
    if name == "op_callstack":
        return Attribute(name, kind, tuple(_text(line).strip() for line in desc.strings), [])
    read = _ATTRIBUTE_VALUE.get(kind)
    if read is None:
        if name in _BOOKKEEPING:
            return Attribute(name, kind, None, [])
        raise ModelReadError(f"attribute {name} is of unknown type {kind}")
    names = {13: [desc.var_name], 14: list(desc.vars_name)}.get(kind, [])
    return Attribute(name, kind, read(desc), names if any(names) else [])


_ATTRIBUTE_VALUE: dict[int, Callable[[Any], Any]] = {
    0: lambda a: a.i,
    1: lambda a: a.f,
    2: lambda a: _text(a.s),
    3: lambda a: list(a.ints),
    4: lambda a: list(a.floats),
    5: lambda a: [_text(item) for item in a.strings],
    6: lambda a: a.b,
    7: lambda a: list(a.bools),
    8: lambda a: a.block_idx,
    9: lambda a: a.l,
    10: lambda a: list(a.blocks_idx),
    11: lambda a: list(a.longs),
    12: lambda a: list(a.float64s),
    13: lambda a: a.var_name,
    14: lambda a: list(a.vars_name),
    15: lambda a: a.float64,
    16: lambda a: _scalar(a.scalar),
    17: lambda a: [_scalar(item) for item in a.scalars],
}


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _scalar(value: Any) -> bool | int | float | complex:
    match value.type:
        case 1:
            return bool(value.b)
        case 2:
            return int(value.i)
        case 3:
            return float(value.r)
        case 4:
            return complex(value.c.r, value.c.i)
    raise ModelReadError(f"a scalar of unknown type {value.type}")


def _declared(kind: Any) -> Variable | None:
    """A variable of that type, without a name; None for a type that is not a tensor."""
    if kind.type not in (_DENSE_TENSOR, _TENSOR_ARRAY):
        return None
    tensor, lod_level = _tensor(kind), kind.dense_tensor.lod_level if kind.type == _DENSE_TENSOR else None
    check_rank(len(tensor.dims))
    # Shape inference multiplies unknown dimensions too: `instance_norm` declares [-3] for 3 channels. And Paddle
    # declares results of `gather_nd` by memory that nothing has written, if the index's length is unknown.
    shape = tuple(dim if -1 <= dim <= MAX_DIM else -1 for dim in tensor.dims)
    return Variable("", dtypes.LEGACY.get(tensor.data_type), shape, kind.type == _TENSOR_ARRAY, lod_level)


def _tensor(kind: Any) -> Any:
    return (kind.dense_tensor if kind.type == _DENSE_TENSOR else kind.tensor_array).tensor
