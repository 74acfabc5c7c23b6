"""What is known of shapes in loops and branches: what holds in every round, for every pass of OpenVINO to see."""

from __future__ import annotations

from collections.abc import Sequence

from openvino import Node, Output, PartialShape, Type

from paddle2ov.graph.opset import ops


def widened(shape: PartialShape, other: PartialShape) -> PartialShape:
    """The shape that both fit."""
    if shape.rank.is_dynamic or other.rank.is_dynamic or len(shape) != len(other):
        return PartialShape.dynamic()
    return PartialShape([a if a == b else -1 for a, b in zip(shape, other, strict=True)])


def unbounded(value: Output, round_: Node) -> Output:
    """The same value, of which nothing but the rank is known.

    The CPU plugin gives a loop that runs zero times a wrong result when the body's result has a lower bound that what
    enters the loop does not meet (a concatenation is at least as long as its parts). `round_` counts the rounds from
    0 on, which only the run shows: the condition on which the loop begins may be known.
    """
    entered = ops.greater_equal(round_, ops.constant(0, Type.i64))
    one = ops.reshape(ops.convert(entered, Type.i64), ops.constant([1], Type.i64), False)
    return ops.reshape(value, ops.multiply(ops.shape_of(value, Type.i64), one), False).output(0)


def opened(value: Output, shape: PartialShape, one: Output | None) -> Output:
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
        one: what `unforeseen` gives for the loop or branch.
    """
    given = value.get_partial_shape()
    if given.rank.is_dynamic or shape.rank.is_dynamic or len(given) != len(shape) or one is None:
        return value
    stays = [old.is_static and new.is_static for old, new in zip(given, shape, strict=True)]
    if all(stays):
        return value
    nothing = ops.reshape(value, ops.multiply(ops.shape_of(value, Type.i64), one), False)
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


def unforeseen(seen: Sequence[Output]) -> Output | None:
    """[1], which no pass of OpenVINO knows: computed from one of these values that the run alone shows, if any."""
    shown = next((one for one in seen if _is_computed(one)), None)
    if shown is None:
        return None
    zero, step = ops.constant([0], Type.i64), ops.constant([1], Type.i64)
    flat = ops.reshape(shown, ops.constant([-1], Type.i64), False)
    first = ops.convert(ops.slice(flat, zero, step, step, zero), Type.boolean)
    anything = ops.reduce_logical_or(first, zero, True)
    return ops.maximum(ops.convert(anything, Type.i64), ops.constant(1, Type.i64)).output(0)


def sources(values: Sequence[Output | Node]) -> set[str]:
    """The names of all nodes whose elements, and not their sizes alone, decide these values."""
    left = [one.get_node() if isinstance(one, Output) else one for one in values]
    found: set[str] = set()
    while left:
        node = left.pop()
        if node.get_name() not in found and node.get_type_name() != "ShapeOf":
            found.add(node.get_name())
            left += [one.get_node() for one in node.input_values()]
    return found


def beside(value: Output, state: Node) -> Output:
    """What a round gives for a state that it does not read, computed so that it does.

    Of a state that the body does not read OpenVINO 2026.4 drops what enters the loop: after no rounds it holds zeros,
    or what an earlier run left there, of any size.
    """
    one = unforeseen([state.output(0)])
    assert one is not None  # the body's inputs are what the run alone shows
    single = ops.squeeze(one, ops.constant([0], Type.i64))
    kind = value.get_element_type()
    if kind == Type.boolean:
        return ops.logical_and(value, ops.convert(single, kind)).output(0)
    return ops.multiply(value, ops.convert(single, kind)).output(0)


def _is_computed(value: Output) -> bool:
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
