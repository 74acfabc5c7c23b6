"""Lengths of what a `while` appends to, where constants and sizes of inputs decide how often it runs.

OpenVINO does not infer how often a Loop runs that its condition ends. The last values get their lengths from the first
value of the counter and its limit, so that they are known once `Model.reshape` makes these known.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Sequence
from typing import NamedTuple

from openvino import Node, Output, Type

from paddle2ov.graph.constants import number_of
from paddle2ov.graph.loop_shapes import sizes_of
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.upstream import depends_on_data
from paddle2ov.graph.values import EmptyTensorArray, PlainValue, unmarked
from paddle2ov.program.model import Operator
from paddle2ov.translation.control_flow.block_values import as_output
from paddle2ov.translation.control_flow.loop_assembly import LoopBody
from paddle2ov.translation.scope import Scope
from paddle2ov.translation.translator import Translator

_COPIES = ("assign", "assign_out", "cast", "share_data")
_DETERMINED_NAMES = "cast elementwise_add elementwise_sub fill_constant full_int_array scale shape shape64 slice"
_DETERMINED = frozenset(_DETERMINED_NAMES.split())
"""Operators that compute the same inside of a loop and before it from the same operands."""
_COMPARISONS = {"less_than": (1, 0), "less_equal": (1, 1), "greater_than": (-1, 0), "greater_equal": (-1, 1)}
"""Comparisons of a counter with a limit -> the sign of the counter's steps, and 1 where the limit itself is counted."""
_PLACE = "struct_name"
"""The attribute that says which layer an operator comes from."""
_MAX_STEPS = 64
"""A chain of more copies, or of more values appended in one iteration, is not followed."""


class _Growth(NamedTuple):
    """What an iteration appends to a state: `size` along an axis; if `write_index` is given, where it is no longer."""

    axis: int
    size: int
    write_index: Node | None = None


def with_lengths(
    translator: Translator,
    operator: Operator,
    scope: Scope,
    body: LoopBody,
    carried: Sequence[int],
    final: Sequence[PlainValue],
) -> list[PlainValue]:
    """The last values of the states of a loop, with the sizes that the number of its iterations gives them.

    Args:
        translator: what translates the program.
        operator: the loop, a `while`.
        scope: the scope around it.
        body: its translated body.
        carried: the positions of the states among the loop's inputs.
        final: their last values.
    """
    values = list(final)
    dynamic = {
        k: output
        for k, output in enumerate(final)
        if isinstance(output, Output) and output.get_partial_shape().is_dynamic and dims_of(output)
    }
    if not dynamic:
        return values
    loop = _CountingLoop(translator, operator, scope, body, carried)
    grown = {k: found for k, output in dynamic.items() if (found := loop.growth(k)) is not None}
    same = {k: other for k, other in loop.same_states().items() if k in dynamic and k not in grown}
    if not (grown or same) or (count := loop.trip_count()) is None:
        return values
    for k, (axis, size, index) in grown.items():
        before = _size(as_output(body.initial[k]), axis)
        if index is None:
            length = ops.add(before, ops.multiply(count, ints([size])))
        else:
            length = ops.maximum(before, ops.add(ops.minimum(before, index), count))
        sizes = [length if i == axis else _size(dynamic[k], i) for i in range(len(dims_of(dynamic[k]) or ()))]
        values[k] = ops.reshape(dynamic[k], ops.concat(sizes, 0), False).output(0)
    for k, other in same.items():  # two states that are one value from the first iteration on
        chosen = ops.select(ops.greater(count, ints([0])), sizes_of(as_output(values[other])), sizes_of(dynamic[k]))
        values[k] = ops.reshape(dynamic[k], chosen, False).output(0)
    return values


class _CountingLoop:
    """A `while`, its states by the names that they have inside."""

    def __init__(
        self, translator: Translator, operator: Operator, scope: Scope, body: LoopBody, carried: Sequence[int]
    ) -> None:
        (block,) = operator.blocks
        self._scope, self._body = scope, body
        inner = {name: item for item in block.operators for name in item.output_names()}
        self._writers = ChainMap(inner, translator.writers)
        self._conditions = block.outputs[0], operator.inputs["cond"][0]
        self._states = [block.inputs[i] for i in carried]
        self._before = [operator.inputs["x"][i] for i in carried]
        self._after = [self._origin(block.outputs[i + 1]) for i in carried]
        self._positions: dict[str, int] = {}  # the first state that a name is, or is the next value of
        for k, names in enumerate(zip(self._states, self._after, strict=True)):
            for name in names:
                self._positions.setdefault(name, k)

    def growth(self, k: int) -> _Growth | None:
        """What each iteration appends to a state; None where that is not known, or it keeps its length."""
        parts = self._appended(self._after[k], self._states[k])
        if len(parts) < 2:
            return parts[0] if parts else None
        if any(part.write_index is not None or part.axis != parts[0].axis for part in parts):
            return None
        return _Growth(parts[0].axis, sum(part.size for part in parts))

    def same_states(self) -> dict[int, int]:
        """State -> another one of its rank that gets the same value in each iteration."""
        equal: dict[tuple[str, int], list[int]] = {}
        for k, after in enumerate(self._after):
            equal.setdefault((after, len(self._dims(self._states[k]))), []).append(k)
        groups = [group for group in equal.values() if len(group) > 1]
        return {k: next(other for other in group if other != k) for group in groups for k in group}

    def trip_count(self) -> Node | None:
        """The number of iterations [1]; None where data decide it, or anything else than a counter and its limit."""
        inner, outer = (self._writers.get(self._origin(name)) for name in self._conditions)
        if inner is None or outer is None or inner.type != outer.type or inner.type not in _COMPARISONS:
            return None
        sign, inclusive = _COMPARISONS[inner.type]
        for counted, limit, direction in (("x", "y", sign), ("y", "x", -sign)):
            count, end = self._origin(inner.inputs[counted][0]), outer.inputs[limit][0]
            if count not in self._after or not self._are_same(inner.inputs[limit][0], end):
                continue
            k = self._after.index(count)
            step, start, last = self._step(k), self._number_before(self._before[k]), self._number_before(end)
            is_tested = self._origin(outer.inputs[counted][0]) == self._origin(self._before[k])
            if step is None or start is None or last is None or step * direction <= 0 or not is_tested:
                continue
            return _length_of_range(start, last, step, inclusive * direction)
        return None

    def _appended(self, name: str, state: str) -> list[_Growth]:
        """What is appended on the way from a state to its next value; nothing where something else is done."""
        parts: list[_Growth] = []
        for _ in range(_MAX_STEPS):
            if name == state:
                return parts
            writer, growth = self._writers.get(name), None
            if writer is not None and writer.type == "concat":
                growth, name = self._concatenated(writer)
            elif writer is not None and writer.type == "write_to_array" and writer.inputs.get("array"):
                name = self._origin(writer.inputs["array"][0])
                growth = self._element(writer, name)
            if growth is None:
                break
            parts.append(growth)
        return []

    def _concatenated(self, writer: Operator) -> tuple[_Growth | None, str]:
        """What a concat appends to the only one of its operands whose length is not known, and the name of that."""
        names, axis = writer.inputs["x"], self._number(writer, "axis", 0)
        ranks = {len(self._dims(name)) for name in names}
        if axis is None or len(ranks) != 1 or not -min(ranks) <= axis < min(ranks):
            return None, ""
        sizes = [self._dims(name)[int(axis)] for name in names]
        known = [size for size in sizes if size is not None]
        if len(known) != len(sizes) - 1:
            return None, ""
        return _Growth(int(axis) % min(ranks), sum(known)), self._origin(names[sizes.index(None)])

    def _element(self, write: Operator, array: str) -> _Growth | None:
        """What a write to an array appends."""
        if (axis := write.semantics.concatenated_along) is not None:
            dims = self._dims(write.inputs["x"][0])
            size = dims[axis] if -len(dims) <= axis < len(dims) else None
            return None if size is None else _Growth(0, size)
        index = self._origin(write.inputs["i"][0])
        length = self._writers.get(index)
        if length is not None and length.type == "lod_array_length" and self._origin(length.inputs["x"][0]) == array:
            return _Growth(0, 1)
        k = self._positions.get(index)
        start = None if k is None or self._step(k) != 1 else self._number_before(self._before[k])
        if start is None or k is None:
            return None
        return _Growth(0, 1, start if index == self._states[k] else ops.add(start, ints(1)))

    def _step(self, k: int) -> int | None:
        """The constant that each iteration adds to a state."""
        writer = self._writers.get(self._after[k])
        if writer is None or [self._origin(name) for name in writer.inputs.get("x", ())] != [self._states[k]]:
            return None
        step = None
        if writer.type == "increment":
            step = self._number(writer, "value", 1)
        elif writer.type == "scale" and self._number(writer, "scale", 1) == 1:
            step = self._number(writer, "bias", 0)
        elif writer.type in ("elementwise_add", "elementwise_sub"):
            step = self._number(writer, "y", None)
            step = -step if step is not None and writer.type == "elementwise_sub" else step
        return int(step) if step and step == int(step) else None

    def _number(self, operator: Operator, name: str, default: float | None) -> float | None:
        """A number that is an attribute or a constant operand."""
        if operator.inputs.get(name):
            value = self._value(self._body.scope, operator.inputs[name][0])
            return None if value is None else number_of(value)
        value = operator.attributes.get(name, default)
        return value if isinstance(value, int | float) else None

    def _number_before(self, name: str) -> Node | None:
        """An integer before the loop, 0-D, that constants and sizes alone decide; None for any other value."""
        value = self._value(self._scope, name)
        if value is None or value.get_element_type() not in (Type.i32, Type.i64) or dims_of(value) not in ([], [1]):
            return None
        if (number := number_of(value)) is not None:
            return ints(int(number))
        return None if depends_on_data(value.get_node()) else ops.reshape(ops.convert(value, Type.i64), ints([]), False)

    def _value(self, scope: Scope, name: str) -> Output | None:
        value = unmarked(scope.find(name))
        return None if value is None or isinstance(value, EmptyTensorArray) else as_output(value)

    def _dims(self, name: str) -> Sequence[int | None]:
        """The dimensions of a value of the body; none where it has no known rank."""
        value = self._value(self._body.scope, name)
        return () if value is None else dims_of(value) or ()

    def _origin(self, name: str) -> str:
        """The variable that another one is a copy of."""
        for _ in range(_MAX_STEPS):
            writer = self._writers.get(name)
            if writer is None or writer.type not in _COPIES:
                break
            name = writer.inputs["x"][0]
        return name

    def _are_same(self, inside: str, outside: str) -> bool:
        """Whether a value is in each iteration what another one is before the loop."""
        pending, seen = [(inside, outside)], set[tuple[str, str]]()
        while pending:
            pair = pending.pop()
            if pair[0] == pair[1] or pair in seen:
                continue
            seen.add(pair)
            one, other = map(self._writers.get, pair)
            if one is None or other is None or one.type != other.type or one.type not in _DETERMINED:
                return False
            if one.inputs.keys() != other.inputs.keys() or _settings(one) != _settings(other):
                return False
            for port, names in one.inputs.items():
                if len(names) != len(other.inputs[port]):
                    return False
                pending += zip(names, other.inputs[port], strict=True)
        return True


def _settings(operator: Operator) -> dict[str, object]:
    return {name: value for name, value in operator.attributes.items() if name != _PLACE}


def _length_of_range(start: Node, last: Node, step: int, beyond: int) -> Node | None:
    """How many numbers [1] there are from `start` in steps to before `last` + `beyond`.

    None if OpenVINO computes no bounds of it.
    """
    ends = number_of(start.output(0)), number_of(last.output(0))
    if ends[0] is not None and ends[1] is not None:
        return ints([len(range(int(ends[0]), int(ends[1]) + beyond, step))])
    stop = ops.add(last, ints(beyond)) if beyond else last
    count = ops.shape_of(ops.range(start, stop, ints(step), "i64"), Type.i64)
    # A Reshape to sizes of which one has no bounds, such as a quotient, does not have the others either.
    dims = dims_of(ops.broadcast(ints(0), ops.concat([count, ints([1])], 0)))
    return count if dims and dims[-1] == 1 else None


def _size(value: Output, axis: int) -> Node:
    """A dimension [1]."""
    return ops.gather(sizes_of(value), ints([axis]), ints(0))
