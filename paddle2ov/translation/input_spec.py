"""The `input` and `output` arguments of `convert`, in the forms that `openvino.convert_model` takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np
from msgspec import Struct
from openvino import Dimension, PartialShape, Shape, Type

from paddle2ov.errors import ConversionInputError
from paddle2ov.graph.types import element_type

if TYPE_CHECKING:
    import paddle

DimArgument: TypeAlias = int | str | Sequence[int] | Dimension | None
"""A number, -1, "?" or None (any), a (min, max) pair."""
ShapeArgument: TypeAlias = PartialShape | Shape | Sequence[DimArgument]
InputPart: TypeAlias = str | ShapeArgument | Type | np.dtype[Any] | type
"""A name, or a string `name[1,3,224..640,?]`; a shape; a type."""
LayerSpec: TypeAlias = Union["paddle.static.InputSpec", Mapping[str, "LayerSpec"], Sequence["LayerSpec"]]
"""What a parameter of a Layer's `forward` takes: a tensor, or a mapping or a list of them."""
InputItem: TypeAlias = InputPart | tuple[InputPart, ...] | LayerSpec
InputArgument: TypeAlias = InputItem | Sequence[InputItem] | Mapping[str, InputItem | None] | None
"""One input or several. A mapping is from their names; an InputSpec is for a `paddle.nn.Layer`."""
OutputArgument: TypeAlias = str | Sequence[Union[str, "paddle.static.Variable"]] | None
"""The names of results; the variables themselves for a `paddle.static.Program`."""
ExampleArgument: TypeAlias = Any
"""Tensors or arrays, one or several; a mapping from the names of inputs."""

_STRING = r"^(?P<name>[^\[\]{}]*)(?:\[(?P<shape>[^\]]*)\])?(?:\{(?P<dtype>\w+)\})?$"
_MAX_DIM = 2**63 - 2  # OpenVINO's largest dimension means unbounded
_SHORT_TYPES = {"f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16", "boolean": "bool"} | {
    f"{sign}{bits}": f"{word}{bits}" for sign, word in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)
}


class InputOverride(Struct):
    """What `input` says of one input: its name (None: by position), and its shape and type where they differ."""

    name: str | None = None
    shape: PartialShape | None = None
    dtype: Type | None = None


def parse_input(argument: InputArgument) -> list[InputOverride]:
    """Reads the `input` argument.

    Raises:
        ConversionInputError: it is of none of these forms.
    """
    if argument is None or (isinstance(argument, list | tuple) and not argument):
        return []
    if isinstance(argument, Mapping):
        return [_override([] if value is None else _parts(value), str(name)) for name, value in argument.items()]
    if isinstance(argument, str):
        if argument.count("[") > argument.count("]"):
            raise ConversionInputError(f"input: the bracket is not closed in {argument!r}")
        return [_from_string(item) for item in _at_commas(argument)]
    if (_is_shape(argument) and not _is_pairs(argument)) or _type(argument) is not None:
        return [_override([argument])]
    if isinstance(argument, list | tuple) and _is_one_input(argument):
        return [_override(argument)]
    if isinstance(argument, Iterable):
        return [_from_string(item) if isinstance(item, str) else _override(_parts(item)) for item in argument]
    raise ConversionInputError(f"input: cannot make an input of {argument!r:.80}")


def _at_commas(text: str) -> list[str]:
    """The parts of a text between commas outside of brackets."""
    parts: list[list[str]] = []
    is_open = False
    for piece in text.split(","):
        if is_open:
            parts[-1].append(piece)
        else:
            parts.append([piece])
        if "[" in piece or "]" in piece:
            is_open = piece.rfind("[") > piece.rfind("]")
    return [",".join(part) for part in parts]


def parse_output(argument: OutputArgument) -> list[str]:
    """Reads the `output` argument: a name or a list of names.

    Raises:
        ConversionInputError: it holds anything else.
    """
    if argument is None:
        return []
    if isinstance(argument, str):
        return [item.strip() for item in argument.split(",")]
    names = [getattr(item, "name", item) for item in argument] if isinstance(argument, Iterable) else [None]
    if not all(isinstance(name, str) for name in names):
        raise ConversionInputError(f"output: names are expected, not {argument!r:.80}")
    return [str(name) for name in names]


def _is_one_input(parts: Sequence[Any]) -> bool:
    """Whether these are a name, a shape and a type of one input, or two of the three, as `convert_model` takes them."""
    kinds = [_kind(part) for part in parts]
    is_text_form = any(isinstance(part, str) and set("[{") & set(part) for part in parts)  # "x[1,3]" is an input itself
    return len(kinds) > 1 and None not in kinds and len(set(kinds)) == len(kinds) and not is_text_form


def _kind(part: object) -> str | None:
    """What a part says of an input: "type", "name" or "shape"; None if it is none of these."""
    if _type(part) is not None:
        return "type"
    if isinstance(part, str):
        return "name"
    return "shape" if _is_shape(part) else None


def _parts(value: Any) -> Sequence[Any]:
    """The parts that say something of an input: those of a tuple, or a single one."""
    return value if isinstance(value, tuple) and not _is_shape(value) else [value]


def _override(parts: Iterable[Any], name: str | None = None) -> InputOverride:
    result = InputOverride(name)
    for part in parts:
        kind = _kind(part)
        if kind == "name" and result.name is None:
            result.name = part
        elif kind == "type":
            result.dtype = _type(part)
        elif kind == "shape":
            result.shape = to_partial_shape(part)
        else:
            raise ConversionInputError(f"input: {part!r:.80} is neither a name, a shape nor a type")
    return result


def _from_string(text: str) -> InputOverride:
    match = re.match(_STRING, text.strip())
    if match is None:
        raise ConversionInputError(f"input: cannot read {text!r:.80}; the form is name[1,3,224..640,?]{{f32}}")
    result = InputOverride(match["name"].strip() or None)
    if match["shape"] is not None:
        dims = [item.strip() for item in match["shape"].split(",")] if match["shape"].strip() else []
        result.shape = to_partial_shape(dims)
    if match["dtype"] is not None:
        result.dtype = _type(match["dtype"])
        if result.dtype is None:
            raise ConversionInputError(f"input: unknown type {match['dtype']!r}")
    return result


def to_partial_shape(shape: Any) -> PartialShape:
    """A PartialShape from any form of shape that `convert` takes.

    Raises:
        ConversionInputError: a dimension is neither a number, a range nor "?".
    """
    if isinstance(shape, PartialShape | Shape):
        return PartialShape(shape)
    try:
        dims = list(shape)
    except TypeError:
        raise ConversionInputError(f"input: {shape!r:.80} is not a shape") from None
    return PartialShape([_dimension(dim) for dim in dims])


def _dimension(dim: Any) -> Dimension:
    if isinstance(dim, Dimension):
        return dim
    try:
        low, high = _bounds(dim)
    except (TypeError, ValueError, OverflowError):
        raise ConversionInputError(
            f"input: {dim!r:.80} is no size of a shape: "
            "write a number from 0 on, a range such as 224..640, or ? or -1 for any"
        ) from None
    if max(low, high) > _MAX_DIM:
        raise ConversionInputError(f"input: {dim!r:.80}: OpenVINO has no dimension {max(low, high)}")
    low = max(low, 0)
    if low > high != -1:  # OpenVINO would treat it as unbounded
        raise ConversionInputError(f"input: {dim!r:.80}: no size is at least {low} and at most {high}")
    return Dimension(low, high)


def _bounds(dim: Any) -> tuple[int, int]:
    """The least and the largest size; the largest is -1 for any."""
    if dim is None or dim == "?":  # None as Paddle's InputSpec has it
        return 0, -1
    if isinstance(dim, str) and ".." in dim:
        low, _, high = dim.partition("..")
        return int(low or 0), int(high or -1)
    if isinstance(dim, Sequence) and not isinstance(dim, str):
        low, high = dim
        return index(low), index(high)
    size = int(dim) if isinstance(dim, str) else index(dim)
    if size < -1:
        raise ValueError
    return size, size


def _is_dims(value: Any) -> bool:
    return all(
        dim is None
        or isinstance(dim, int | np.integer | Dimension)
        or (isinstance(dim, tuple) and len(dim) == 2 and all(isinstance(end, int) for end in dim))
        or (isinstance(dim, str) and re.fullmatch(r"\?|-1|\d+|\d*\.\.\d*", dim) is not None)
        for dim in value
    )


def _is_shape(value: object) -> bool:
    """Whether a value is a shape, or meant as one: with a number in it, [1, 3, "a", 4.5] is no list of inputs."""
    if isinstance(value, list | tuple):
        return _is_dims(value) or any(isinstance(dim, int | np.integer) for dim in value)
    return isinstance(value, PartialShape | Shape)


def _is_pairs(value: object) -> bool:
    """Whether a list may be one of shapes: [(1, 8), (1, 4)] are two inputs of rank 2, not one with two ranges."""
    return isinstance(value, list | tuple) and all(isinstance(dim, tuple) for dim in value)


def _type(value: object) -> Type | None:
    if isinstance(value, Type):
        return value
    if isinstance(value, str):
        return element_type(_SHORT_TYPES.get(value, value))
    if isinstance(value, type) and issubclass(value, np.generic | bool | int | float):
        return element_type(np.dtype(value).name)
    return element_type(value.name) if isinstance(value, np.dtype) else None
