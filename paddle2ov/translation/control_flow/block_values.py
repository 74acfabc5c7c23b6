"""Values that enter and leave the blocks of branches and loops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.values import ConstantValue, EmptyTensorArray, PlainValue, unmarked
from paddle2ov.translation.scope import Scope
from paddle2ov.translation.translator import Translator


def find_or_placeholder(translator: Translator, scope: Scope, name: str, like: str = "") -> PlainValue:
    """The unmarked value of a variable, or a placeholder (of the type of variable `like`) if nothing has written it.

    What enters or leaves a block gets the marks of its declared type (`Translator.marked`).
    """
    value = scope.find(name) if name else None
    return unmarked(value) if value is not None else translator.placeholder(like or name)


def outer_value(scope: Scope, name: str) -> Output:
    """The value in the outer scope of a variable that an inner block captured."""
    value = unmarked(scope.find(name))
    assert value is not None  # an inner block captured it from there
    return as_output(value)


def as_output(value: PlainValue) -> Output:
    """A value as an OpenVINO output."""
    if isinstance(value, EmptyTensorArray):
        raise ValueError("a tensor array that nothing was written to has no tensor")
    return value.constant().output(0) if isinstance(value, ConstantValue) else value


def as_condition(value: PlainValue) -> Output:
    """A value of one element as a boolean, of rank 0 or 1."""
    output = as_type(as_output(value), Type.boolean)
    shape = output.get_partial_shape()
    if shape.is_dynamic or list(shape.to_shape()) not in ([], [1]):  # the CPU plugin needs one of these
        output = ops.reshape(output, ints([1]), False).output(0)
    return output


def empty_like(array: PlainValue, size: Node) -> PlainValue:
    """A tensor array without elements, of the type of `array`, whose dynamic dimensions are replaced by `size`."""
    output = as_output(array)
    shape = output.get_partial_shape()
    if shape.rank.is_dynamic:
        raise ValueError("a tensor array whose elements have no known rank")
    dims = [ints([int(dim.get_length())]) if dim.is_static else size for dim in list(shape)[1:]]
    zero = ops.constant(0, output.get_element_type())
    return ops.broadcast(zero, ops.concat([ints([0]), *dims], 0)).output(0)


def dynamic_dim(scope: Scope, before: Sequence[PlainValue], inner: Scope) -> Node:
    """A dynamic dimension of a value that enters the loop; [1] if there is none.

    The elements of an empty array may have any size. A static one, however, would be taken for the size of all elements
    that the loop adds.
    """
    entering = [value for value in before if isinstance(value, Output)]
    entering += [outer_value(scope, name) for name in inner.captures]
    for value in entering:
        shape = value.get_partial_shape()
        for axis, dim in enumerate(shape if shape.rank.is_static else ()):
            if dim.is_dynamic:
                size = ops.shape_of(value, Type.i64)
                return ops.gather(size, ints([axis]), ints(0))
    return ints([1])


_UNDEFINED = np.float32(1.77113e27)
"""`RETURN_NO_VALUE_MAGIC_NUM` of `paddle/jit/dy2static/utils.py`, in a tensor of shape [1]."""


def is_undefined(value: PlainValue) -> bool:
    """Whether this is what dygraph-to-static emits for a variable that has no value yet, or none in a branch."""
    if not isinstance(value, ConstantValue) or value.array.shape != (1,):
        return False
    array = value.values()
    return bool(array.dtype.kind == "f" and np.float32(array[0]) == _UNDEFINED)


def as_type(value: Output, ov_type: Type) -> Output:
    """A value in an element type."""
    return value if value.get_element_type() == ov_type else ops.convert(value, ov_type).output(0)


def undefined_value(ov_type: Type, rank: int) -> Output:
    """A placeholder of a given type and rank for such a value; the source of the program never reads it."""
    number = float(_UNDEFINED) if ov_type in (Type.f32, Type.f64) else 0
    return ops.broadcast(ops.constant(number, ov_type), ints([1] * rank)).output(0)


def scalar_to_rank(value: PlainValue, rank: int) -> Output:
    """A scalar as a tensor of one element and a given rank, which broadcasts as the scalar does."""
    return ops.reshape(as_output(value), ints([1] * rank), False).output(0)
