"""Shapes in loops and branches: only what holds in every iteration may be visible to OpenVINO's passes."""

from __future__ import annotations

from collections.abc import Collection

from openvino import Node, Output, PartialShape, Type

from paddle2ov.graph.opaque_values import runtime_zero
from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around


def common_shape(shape: PartialShape, other: PartialShape) -> PartialShape:
    """The most specific partial shape that both shapes are compatible with."""
    if shape.rank.is_dynamic or other.rank.is_dynamic or len(shape) != len(other):
        return PartialShape.dynamic()
    return PartialShape([a if a == b else -1 for a, b in zip(shape, other, strict=True)])


def loses_dims(outside: PartialShape, inside: PartialShape) -> bool:
    """Whether a dimension that is known outside must not be known inside."""
    if outside.rank.is_dynamic or inside.rank.is_dynamic or len(outside) != len(inside):
        return False
    return any(old.is_static and new.is_dynamic for old, new in zip(outside, inside, strict=True))


@works_around("loop_of_growing_state")
def erase_bounds(value: Output, shape: PartialShape, current_iteration: Node, kept: Collection[int] = ()) -> Output:
    """The same value with all dimensions unbounded that may change; `shape` is that of the state, `kept` as below.

    The CPU plugin gives a loop that runs zero times a wrong result when the body's result has a lower bound that the
    initial value does not meet (a concatenation is at least as long as its inputs). `current_iteration`, from 0 on, is
    not known before run time, while the execution condition of the loop may be.
    """
    entered = ops.greater_equal(current_iteration, ops.constant(0, Type.i64))
    one = ops.reshape(ops.convert(entered, Type.i64), ops.constant([1], Type.i64), False).output(0)
    value_shape = value.get_partial_shape()
    if value_shape.rank.is_static and shape.rank.is_static and len(value_shape) == len(shape):
        return hide_dims(value, shape, one, kept)
    return _opaque_reshape(value, one).output(0)


def hide_dims(value: Output, shape: PartialShape, one: Output | None, kept: Collection[int] = ()) -> Output:
    """A value that enters a loop or a branch, with its dimensions hidden from OpenVINO's passes where needed.

    Dimensions that the loop changes must be dynamic inside: a pass that rebuilds a loop, as one does that removes an
    unused input, takes the shape of the initial value for that of every iteration unless it is certain to change.

    Dynamic dimensions must have other symbols inside than outside: OpenVINO takes what a body requires of them, such as
    equal dimensions of tensors that it concatenates, to hold outside as well, where the loop may not run or the other
    branch may be taken, and then computes sizes, even the condition, from other tensors than the program does.

    Args:
        value: the value.
        shape: its partial shape inside.
        one: the result of `opaque_one` for the loop or branch.
        kept: the dynamic axes that the loop does not change: once they are known outside (`Model.reshape`), they are
            known inside.
    """
    outer_shape = value.get_partial_shape()
    if outer_shape.rank.is_dynamic or shape.rank.is_dynamic or len(outer_shape) != len(shape) or one is None:
        return value
    static = [old.is_static and new.is_static for old, new in zip(outer_shape, shape, strict=True)]
    if all(static):
        return value
    if all(axis in kept for axis, is_static in enumerate(static) if not is_static):
        return _without_symbols(value, one)
    hidden = _opaque_reshape(value, one)
    if not any(static) and not kept:
        return hidden.output(0)
    # The dimensions that are the same inside and outside are set again.
    sizes, known_sizes = sizes_of(hidden), sizes_of(value)
    dims = [
        ops.constant([old.get_length()], Type.i64)
        if is_static
        else ops.gather(
            known_sizes if axis in kept else sizes, ops.constant([axis], Type.i64), ops.constant(0, Type.i64)
        )
        for axis, (is_static, old) in enumerate(zip(static, outer_shape, strict=True))
    ]
    return ops.reshape(hidden, ops.concat(dims, 0), False).output(0)


def sizes_of(value: Output | Node) -> Node:
    """The dimensions of a value, known where the value's are, and never negative."""
    return ops.maximum(ops.shape_of(value, Type.i64), ops.constant([0], Type.i64))


def _without_symbols(value: Output, one: Output) -> Output:
    """The same value, whose unknown dimensions are not known to be those of any other value.

    OpenVINO replaces the only unknown dimension of a Reshape by -1, however it is computed, and infers the size again:
    here there is one more, of 1, which nothing knows before run time.
    """
    unit = ops.shape_of(ops.broadcast(ops.constant(0, Type.i64), one), Type.i64)
    zero = ops.constant(0, Type.i64)
    return ops.gather(ops.reshape(value, ops.concat([unit, sizes_of(value)], 0), False), zero, zero).output(0)


def _opaque_reshape(value: Output, one: Output) -> Node:
    """The same value with all dimensions dynamic; `one` is the [1] of `opaque_one`, which no pass can fold."""
    sizes = ops.multiply(ops.shape_of(value, Type.i64), one)
    if value.get_partial_shape().rank != 1:
        return ops.reshape(value, sizes, False)
    # OpenVINO replaces the only dimension of a Reshape by -1, however it is computed, and infers the size again.
    column = ops.reshape(value, ops.concat([sizes, one], 0), False)
    return ops.gather(column, ops.constant(0, Type.i64), ops.constant(1, Type.i64))


@works_around("loop_over_constants")
def unlimited(one: Output | None) -> Output:
    """The trip count of a Loop that only its condition ends.

    OpenVINO infers shapes from values, and runs Loops over constants for that, for as many iterations as the program
    asks for. Its CPU plugin does not compile those whose results have unknown sizes. Where nothing that enters a Loop
    depends on input data, the trip count itself is a value that is known only at run time.

    Args:
        one: the result of `opaque_one` for the loop.
    """
    if one is not None:
        return ops.constant(-1, Type.i64).output(0)
    return ops.subtract(runtime_zero(), ops.constant(1, Type.i64)).output(0)
