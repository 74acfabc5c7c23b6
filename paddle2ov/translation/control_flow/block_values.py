"""Values that enter and leave the blocks of branches and loops."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.graph.opset import ops
from paddle2ov.graph.values import ConstantValue, EmptyTensorArray, PlainValue, unmarked
from paddle2ov.translation.scope import Scope
from paddle2ov.translation.translator import Translator


def find_or_placeholder(translator: Translator, scope: Scope, name: str, like: str = "") -> PlainValue:
    """The value of a variable, or a stand-in (`like` another one) where nothing has written it.

    Without its marks: what enters or leaves a block gets those of its declared type (`Translator.marked`).
    """
    found = scope.find(name) if name else None
    return unmarked(found) if found is not None else translator.placeholder(like or name)


def outer_value(scope: Scope, name: str) -> Output:
    """What an inner block captured, as the block around it has it."""
    value = unmarked(scope.find(name))
    assert value is not None  # an inner block captured it from there
    return as_output(value)


def as_output(value: PlainValue) -> Output:
    """A value as OpenVINO's."""
    if isinstance(value, EmptyTensorArray):
        raise ValueError("a tensor array that nothing was written to has no tensor")
    return value.constant().output(0) if isinstance(value, ConstantValue) else value


def as_condition(value: PlainValue) -> Output:
    """A value as the one Boolean that it is."""
    output = as_output(value)
    if output.get_element_type() != Type.boolean:
        output = ops.convert(output, Type.boolean).output(0)
    if output.get_partial_shape().is_dynamic:  # the CPU plugin takes one element, and must know that there is one
        output = ops.reshape(output, ops.constant([1], Type.i64), False).output(0)
    return output


def empty_like(array: PlainValue, size: Node) -> PlainValue:
    """An array without elements, of the type of `array`; `size` stands for dimensions that are not known."""
    output = as_output(array)
    shape = output.get_partial_shape()
    if shape.rank.is_dynamic:
        raise ValueError("a tensor array whose elements have no known rank")
    dims = [ops.constant([int(dim.get_length())], Type.i64) if dim.is_static else size for dim in list(shape)[1:]]
    zero = ops.constant(0, output.get_element_type())
    return ops.broadcast(zero, ops.concat([ops.constant([0], Type.i64), *dims], 0)).output(0)


def dynamic_dim(scope: Scope, before: Sequence[PlainValue], inner: Scope) -> Node:
    """A size that only the run shows, of a value that enters the loop.

    An array without elements may have any size of element. A known one, however, would be taken for the size of all the
    elements that the loop adds.
    """
    entering = [value for value in before if isinstance(value, Output)]
    entering += [outer_value(scope, name) for name in inner.captures]
    for value in entering:
        shape = value.get_partial_shape()
        for axis, dim in enumerate(shape if shape.rank.is_static else ()):
            if dim.is_dynamic:
                size = ops.shape_of(value, Type.i64)
                return ops.gather(size, ops.constant([axis], Type.i64), ops.constant(0, Type.i64))
    return ops.constant([1], Type.i64)


_UNDEFINED = np.float32(1.77113e27)
"""`RETURN_NO_VALUE_MAGIC_NUM` of `paddle/jit/dy2static/utils.py`, in a tensor of shape [1]."""


def is_undefined(value: PlainValue) -> bool:
    """Whether this is what dygraph-to-static puts where a variable has no value yet, or a branch leaves it without."""
    if not isinstance(value, ConstantValue) or value.array.shape != (1,):
        return False
    array = value.values()
    return bool(array.dtype.kind == "f" and np.float32(array[0]) == _UNDEFINED)


def undefined_value(kind: Type, rank: int) -> Output:
    """A stand-in of some type and rank for such a value; the program's source never reads it."""
    number = float(_UNDEFINED) if kind in (Type.f32, Type.f64) else 0
    return ops.broadcast(ops.constant(number, kind), ops.constant([1] * rank, Type.i64)).output(0)


def scalar_to_rank(value: PlainValue, rank: int) -> Output:
    """A number as a tensor of one element, which broadcasts as the number does."""
    return ops.reshape(as_output(value), ops.constant([1] * rank, Type.i64), False).output(0)
