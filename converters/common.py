"""Small graph pieces that many converters need."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.node_context import NodeContext
from paddle2ov.opset import ops
from paddle2ov.program.model import AnyArray
from paddle2ov.shapes import static_dims
from paddle2ov.types import Known, numpy_dtype


def rank_of(node: NodeContext, x: Output) -> int:
    """The rank of `x`; refuses when it is not known."""
    rank = x.get_partial_shape().rank
    if rank.is_dynamic:
        node.refuse("an input of unknown rank is not supported")
    return int(rank.get_length())


def normalize_axis(node: NodeContext, axis: int, rank: int, name: str = "axis") -> int:
    """`axis` counted from the front; refuses one that is out of range (0-D counts as 1-D, as in Paddle)."""
    bound = max(rank, 1)
    if not -bound <= axis < bound:
        node.refuse(f"out of range for rank {rank}", **{name: axis})
    return axis % bound


def int_vector(node: NodeContext, name: str) -> Output:
    """A list of integers (a shape, axes, bounds) as a 1-D int64 tensor, whatever the shape of the operand is."""
    x = node.get_tensor(name, Type.i64)
    if x.get_partial_shape().rank == 1:
        return x
    return ops.reshape(x, ints([-1]), False).output(0)


def const(value: float | bool | Sequence[float] | AnyArray, dtype: Type) -> Node:
    """A constant of the given type; a Python number gives a 0-D one."""
    return ops.constant(np.asarray(value), dtype)


def ints(value: Sequence[int] | int) -> Node:
    """A constant of int64: a list gives a 1-D one, a number a 0-D one."""
    return ops.constant(np.asarray(value, np.int64))


def const_like(value: float | bool, x: Output | Node) -> Node:
    """A 0-D constant of the type of `x`."""
    kind = x.get_element_type()
    if kind == Type.bf16 and not np.isfinite(value):  # OpenVINO makes no such constant
        return ops.convert(ops.constant(np.asarray(value, np.float32)), kind)
    return ops.constant(np.asarray(value), kind)


def shape_of(x: Output | Node) -> Node:
    """The shape of `x` as a 1-D int64 tensor; a constant where it is known."""
    dims = static_dims(x)
    return ops.shape_of(x, Type.i64) if dims is None else ints(dims)


NARROW = (Type.i8, Type.u8, Type.i16)
"""Integers that OpenVINO's CPU plugin saturates and rounds where C++ wraps around and truncates."""


def widened(x: Output) -> Output:
    """`x`, narrow integers as int32; `cast_to` the narrow type makes a result wrap around as in C++."""
    return ops.convert(x, Type.i32).output(0) if x.get_element_type() in NARROW else x


def cast_to(x: Output | Node, dtype: Type | None) -> Output | Node:
    """`x` in another type; itself where it has that type already or None is asked for."""
    if dtype is None or x.get_element_type() == dtype:
        return x
    return ops.convert(x, dtype)


def to_rank(node: NodeContext, x: Output, rank: int) -> Output:
    """`x` with dimensions of 1 in front, to have the given rank."""
    missing = rank - rank_of(node, x)
    return ops.unsqueeze(x, ints(list(range(missing)))).output(0) if missing > 0 else x


def reshape(x: Output | Node, shape: Sequence[int]) -> Node:
    """`x` in another shape; one dimension may be -1."""
    return ops.reshape(x, ints(list(shape)), False)


def fold_known(node: NodeContext, function: Callable[..., AnyArray], *names: str) -> Known | None:
    """`function` of the inputs, if all are small and known: shape arithmetic stays known for the operators after it."""
    arrays = []
    for name in names:
        array = node.get_known(name)
        if array is None or array.size > 64 or array.dtype.kind not in "biuf":  # mostly the first one is computed
            return None
        arrays.append(array)
    dtype = node.output_dtype()
    storage = numpy_dtype(dtype) if dtype is not None else None
    if storage is None:
        return None
    with np.errstate(all="ignore"):
        return Known(np.asarray(function(*arrays)).astype(storage))


def refuse_complex(node: NodeContext, *names: str) -> None:
    """Refuses complex inputs; for converters that are right for real numbers only."""
    for name in names:
        node.require(not node.is_complex(name), f"complex '{name}' is not supported")


def as_float(node: NodeContext, x: Output) -> Output:
    """`x` as floating point: integers become the type that the program declares for the result, else float32."""
    if x.get_element_type().is_real():
        return x
    declared = node.output_dtype()
    return ops.convert(x, declared if declared is not None and declared.is_real() else Type.f32).output(0)


def as_declared(node: NodeContext, x: Output) -> Output:
    """`x`; integers as floating point where the program declares the result as such."""
    declared = node.output_dtype()
    if declared is None or not declared.is_real() or x.get_element_type().is_real():
        return x
    return ops.convert(x, declared).output(0)


def exact_divide(x: Output | Node, y: Output | Node) -> Node:
    """x / y rounded once; where a floor, a ceiling or a comparison follows.

    OpenVINO otherwise multiplies by the inverse of y, which is off in the last place for a third of all numbers.
    """
    quotient = ops.divide(x, y)
    quotient.get_rt_info()["nonconvertable_divide_0"] = True
    return quotient


def kept_apart(x: Output | Node, out: Node, axes: Sequence[int]) -> Node:
    """`out`, a reduction of x over axes, with a node behind it that changes nothing, where OpenVINO would get it wrong.

    OpenVINO's CPU plugin (2026.4) computes arithmetic that it fuses into a reduction of integers over the last or the
    middle one of three axes twice, from the second index of the first axis on: 2 - 1 = -2.
    """
    value = x.output(0) if isinstance(x, Node) else x
    integral = value.get_element_type().is_integral() and value.get_element_type() != Type.boolean
    if not integral or len(value.get_partial_shape()) != 3 or 0 in axes:
        return out
    return ops.squeeze(ops.cum_sum(ops.unsqueeze(out, ints([-1])), ints(-1)), ints([-1]))
