"""What is known of shapes in loops and branches: what holds in every round, for every pass of OpenVINO to see."""

from __future__ import annotations

from collections.abc import Sequence

from openvino import Node, Output, PartialShape, Type

from paddle2ov.graph.opset import ops


def common_shape(shape: PartialShape, other: PartialShape) -> PartialShape:
    """The shape that both fit."""
    if shape.rank.is_dynamic or other.rank.is_dynamic or len(shape) != len(other):
        return PartialShape.dynamic()
    return PartialShape([a if a == b else -1 for a, b in zip(shape, other, strict=True)])


def erase_bounds(value: Output, round_: Node) -> Output:
    """The same value, of which nothing but the rank is known.

    The CPU plugin gives a loop that runs zero times a wrong result when the body's result has a lower bound that what
    enters the loop does not meet (a concatenation is at least as long as its parts). `round_` counts the rounds from
    0 on, which only the run shows: the condition on which the loop begins may be known.
    """
    entered = ops.greater_equal(round_, ops.constant(0, Type.i64))
    one = ops.reshape(ops.convert(entered, Type.i64), ops.constant([1], Type.i64), False)
    return _opaque_reshape(value, one.output(0)).output(0)


def hide_dims(value: Output, shape: PartialShape, one: Output | None) -> Output:
    """A value that enters a loop or a branch, where no pass of OpenVINO may know its dimensions as the value's own.

    Those that the loop changes are not known inside: OpenVINO takes the shape of what enters for that of every round
    where a pass builds a loop anew, as one does that finds an input without use, and a change that it cannot rule out
    is none for it.

    Those that nobody knows are other ones inside than outside: what a body demands of them, such as the equal ones of
    tensors that it concatenates, OpenVINO takes for true outside as well, where the loop may have no round or the
    other branch may be taken, and computes sizes, even the condition, from other tensors than the program does.

    Args:
        value: the value.
        shape: what is known of it inside.
        one: what `opaque_one` gives for the loop or branch.
    """
    given = value.get_partial_shape()
    if given.rank.is_dynamic or shape.rank.is_dynamic or len(given) != len(shape) or one is None:
        return value
    stays = [old.is_static and new.is_static for old, new in zip(given, shape, strict=True)]
    if all(stays):
        return value
    nothing = _opaque_reshape(value, one)
    if not any(stays):
        return nothing.output(0)
    # The dimensions that stay, named once more.
    sizes = ops.maximum(ops.shape_of(nothing, Type.i64), ops.constant([0], Type.i64))
    dims = [
        ops.constant([old.get_length()], Type.i64)
        if kept
        else ops.gather(sizes, ops.constant([axis], Type.i64), ops.constant(0, Type.i64))
        for axis, (kept, old) in enumerate(zip(stays, given, strict=True))
    ]
    return ops.reshape(nothing, ops.concat(dims, 0), False).output(0)


def _opaque_reshape(value: Output, one: Output) -> Node:
    """The same value, of which nothing but the rank is known; `one` is [1], which no pass knows."""
    sizes = ops.multiply(ops.shape_of(value, Type.i64), one)
    if value.get_partial_shape().rank != 1:
        return ops.reshape(value, sizes, False)
    # OpenVINO makes -1 of the one size of a Reshape, whatever computes it, and knows the elements' number again.
    column = ops.reshape(value, ops.concat([sizes, one], 0), False)
    return ops.gather(column, ops.constant(0, Type.i64), ops.constant(1, Type.i64))


def opaque_one(seen: Sequence[Output]) -> Output | None:
    """[1], which no pass of OpenVINO knows: computed from one of these values that the run alone shows, if any."""
    shown = next((one for one in seen if _depends_on_data(one)), None)
    if shown is None:
        return None
    zero, step = ops.constant([0], Type.i64), ops.constant([1], Type.i64)
    flat = ops.reshape(shown, ops.constant([-1], Type.i64), False)
    first = ops.convert(ops.slice(flat, zero, step, step, zero), Type.boolean)
    anything = ops.reduce_logical_or(first, zero, True)
    return ops.maximum(ops.convert(anything, Type.i64), ops.constant(1, Type.i64)).output(0)


def _depends_on_data(value: Output) -> bool:
    """Whether a value depends on the numbers that the model is given, and not on their shapes alone."""
    left, done = [value.get_node()], set()
    while left:
        node = left.pop()
        if node.get_type_name() == "Parameter":
            return True
        if node.get_type_name() in ("ShapeOf", "Constant") or node.get_name() in done:
            continue
        done.add(node.get_name())
        left += [one.get_node() for one in node.input_values()]
    return False
