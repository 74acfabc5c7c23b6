"""`while` and `recurrent`: blocks that run again and again become OpenVINO's Loop.

Source of the semantics: `paddle/fluid/framework/new_executor/instruction/control_flow/while_instruction.cc`,
`paddle/fluid/operators/recurrent_op.cc` (`StaticRNN`, `paddle.nn.RNN` of Paddle 2.0 to 2.4).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from openvino import Model, Node, Output, PartialShape, Type
from openvino.op import Constant, Parameter, Result

from paddle2ov.errors import ConversionWarning
from paddle2ov.graph.loop import build_loop
from paddle2ov.graph.opset import ops
from paddle2ov.graph.types import OV_TYPES
from paddle2ov.graph.values import ConstantValue, EmptyTensorArray, PlainValue, Value
from paddle2ov.program.model import Block, Operator, Variable
from paddle2ov.translation.control_flow.block_values import (
    as_condition,
    as_output,
    dynamic_dim,
    empty_like,
    find_or_placeholder,
    is_undefined,
    outer_value,
    scalar_to_rank,
    undefined_value,
)
from paddle2ov.translation.control_flow.loop_shapes import common_shape, erase_bounds, hide_dims, opaque_one
from paddle2ov.translation.scope import Scope
from paddle2ov.translation.translator import Translator


def while_(translator: Translator, operator: Operator, scope: Scope) -> Sequence[Value | None]:
    """Runs the block while cond holds; x enters it as its inputs, its outputs are (cond, x) of the next round."""
    (body,) = operator.blocks
    names, before = operator.outputs["out"], operator.inputs["x"]
    goes_on, *after = body.outputs
    condition = find_or_placeholder(translator, scope, operator.inputs["cond"][0])
    if isinstance(condition, ConstantValue) and not condition.values().any():
        # OpenVINO takes the shapes that a loop leaves for empty where it knows that there is no round.
        return [
            find_or_placeholder(translator, scope, before[i], name) if translator.is_used(name) else None
            for i, name in enumerate(names)
        ]
    carried = _live_positions(translator, names, body.inputs)
    first = {body.inputs[i]: find_or_placeholder(translator, scope, before[i], names[i]) for i in carried}
    found = _body_for_all_iterations(translator, scope, body, first, [*(after[i] for i in carried), goes_on])
    _warn_of_ranks(operator, first, found)
    loop = _loop(found, scope, ops.constant(-1, Type.i64).output(0), as_condition(condition), found.yielded[-1])
    values: list[Value | None] = [None] * len(names)
    for i, value in zip(carried, _final_values(loop, found), strict=True):
        values[i] = value
    return values


def recurrent(translator: Translator, operator: Operator, scope: Scope) -> Sequence[Value | None]:
    """Runs the block once for each x[t], with `reverse` from the last one on.

    The block's inputs are x[t] and the states, its outputs the states of the next round and y[t]; the results are the
    states that the last round left, and y.
    """
    (body,) = operator.blocks
    names, sequences, states = operator.outputs["out"], operator.inputs["x"], operator.inputs["states"]
    steps, arguments = body.inputs[: len(sequences)], body.inputs[len(sequences) :]
    stacked = [i for i, name in enumerate(names) if i >= len(states) and translator.is_used(name)]
    results = [body.outputs[i] for i in stacked]
    carried = _live_positions(translator, names, arguments)
    first = {arguments[i]: find_or_placeholder(translator, scope, states[i], arguments[i]) for i in carried}
    reverse = operator.attributes.get("reverse", False)
    parts = dict(zip(steps, sequences, strict=True))
    found = _body_for_all_iterations(
        translator, scope, body, first, [*(body.outputs[i] for i in carried), *results], parts, reverse
    )
    _warn_of_ranks(operator, first, found)

    axis = ops.constant([0], Type.i64)
    rows = [ops.result(ops.unsqueeze(as_output(one), axis)) for one in found.yielded[len(carried) :]]
    sizes = ops.shape_of(as_output(find_or_placeholder(translator, scope, sequences[0])), Type.i64)
    length = ops.gather(sizes, ops.constant(0, Type.i64), ops.constant(0, Type.i64))
    always: PlainValue = ops.constant(True).output(0)
    loop = _loop(found, scope, length.output(0), as_condition(always), always, rows)
    values: list[Value | None] = [None] * len(names)
    for i, value in zip(carried, _final_values(loop, found), strict=True):
        values[i] = value
    for k, i in enumerate(stacked):
        stack = loop.output(loop.get_output_size() - len(stacked) + k)
        values[i] = _reversed(stack) if reverse else stack
    return values


@dataclass(slots=True)
class _Iteration:
    """A body that every round of a loop fits.

    Attributes:
        scope: the values inside.
        before: what enters the first round.
        shapes: those of what enters any round; None for an array without elements, which does not.
        parameters: what enters, without such arrays.
        number: that of the round, from 0 on.
        yielded: what enters the next round, and whatever else was asked for.
    """

    scope: Scope
    before: list[PlainValue]
    shapes: list[PartialShape | None]
    parameters: list[Parameter]
    number: Parameter
    yielded: list[PlainValue]


def _body_for_all_iterations(
    translator: Translator,
    scope: Scope,
    body: Block,
    first: Mapping[str, PlainValue],
    wanted: Sequence[str],
    parts: Mapping[str, str] | None = None,
    reverse: bool = False,
) -> _Iteration:
    """The body, translated for what enters the first round and widened by what a round changes.

    `first` goes by the names inside. Of the names that are `wanted` those of what enters the next round come first, in
    the order of `first`. `parts` are names inside, and those of the sequences of which each round sees one element.
    """
    before = [_as_declared(value, translator.variables.get(name)) for name, value in first.items()]
    shapes = [_shape_of(value) for value in before]
    while True:
        found = _Iteration(Scope(scope), before, shapes, [], ops.parameter([], Type.i64), [])
        for name, sequence in (parts or {}).items():
            if translator.is_used(name):
                whole = as_output(find_or_placeholder(translator, found.scope, sequence))
                found.scope.values[name] = translator.marked(name, _element(whole, found.number, reverse))
        for name, value, shape in zip(first, before, shapes, strict=True):
            if shape is None:
                found.scope.values[name] = translator.marked(name, value)
                continue
            parameter = ops.parameter(shape, as_output(value).get_element_type())
            found.scope.values[name] = translator.marked(name, parameter.output(0))
            found.parameters.append(parameter)
        translator.translate(body, found.scope)
        found.yielded = [find_or_placeholder(translator, found.scope, name) for name in wanted]
        after = found.yielded[: len(before)]
        started = [_initial_value(old, new, scope, found) for old, new in zip(before, after, strict=True)]
        entering = [
            shape if start is old and shape is not None else _shape_of(start)
            for start, old, shape in zip(started, before, shapes, strict=True)
        ]
        grown = [
            None
            if shape is None or isinstance(new, EmptyTensorArray)
            else common_shape(shape, as_output(new).get_partial_shape())
            for shape, new in zip(entering, after, strict=True)
        ]
        if grown == shapes and all(new is old for new, old in zip(started, before, strict=True)):
            return found
        before, shapes = started, grown


def _initial_value(old: PlainValue, new: PlainValue, scope: Scope, found: _Iteration) -> PlainValue:
    """What is to enter the first round, now that it is known what enters the next one."""
    if isinstance(new, EmptyTensorArray):
        return old
    if isinstance(old, EmptyTensorArray):  # an array that the body writes first: now the type of its elements is known
        return empty_like(new, dynamic_dim(scope, found.before, found.scope))
    # A number that becomes a tensor: OpenVINO's CPU plugin compiles no loop that changes a rank.
    ranks = [as_output(one).get_partial_shape().rank for one in (old, new)]
    if ranks[0] == 0 and ranks[1].is_static and ranks[1] != 0:
        return scalar_to_rank(old, ranks[1].get_length())
    return old


def _loop(
    found: _Iteration, scope: Scope, rounds: Output, begins: Output, goes_on: PlainValue, joined: Sequence[Result] = ()
) -> Node:
    """A loop of that body; `joined` are its results besides those that enter the next round."""
    live = [k for k, shape in enumerate(found.shapes) if shape is not None]
    results = []
    for parameter, k in zip(found.parameters, live, strict=True):
        value = as_output(found.yielded[k])
        if value.get_partial_shape() != parameter.get_output_partial_shape(0):
            value = erase_bounds(value, found.number)
        if _may_alias_parameter(value, parameter):
            value = _copy(value, found.number)
        results.append(ops.result(value))
    captures = found.scope.captures
    held = [(parameter, outer_value(scope, name)) for name, parameter in captures.items()]
    one = opaque_one([begins, *(as_output(found.before[k]) for k in live), *(value for _, value in held)])
    held = [(parameter, hide_dims(value, value.get_partial_shape(), one)) for parameter, value in held]
    starts = []
    for k in live:
        shape = found.shapes[k]
        assert shape is not None  # that of a value that is no array without elements
        starts.append(hide_dims(as_output(found.before[k]), shape, one))
    # The number stands first: OpenVINO, where it removes an input, does not move the position that it has of it.
    inputs = [found.number, *found.parameters, *captures.values()]
    condition = as_condition(goes_on)
    if not _runs_at_least_once(rounds, begins):
        condition = _with_reads_of(
            _unread_parameters(found.parameters, [condition, *results, *joined]), condition, found.number
        )
    return build_loop(
        rounds,
        begins,
        Model([ops.result(condition), *results, *joined], inputs),
        [0, 0],
        list(zip(found.parameters, starts, results, strict=True)),
        held,
        joined,
    )


def _final_values(loop: Node, found: _Iteration) -> list[PlainValue]:
    """What the last round leaves of what the loop carries."""
    outputs = iter(loop.outputs())
    return [old if shape is None else next(outputs) for old, shape in zip(found.before, found.shapes, strict=True)]


def _live_positions(translator: Translator, names: Sequence[str], arguments: Sequence[str]) -> list[int]:
    """The positions of a loop's values that are read after it, or inside of it."""
    return [
        i
        for i, (name, argument) in enumerate(zip(names, arguments, strict=False))
        if translator.is_used(name) or translator.is_used(argument)
    ]


def _as_declared(value: PlainValue, declared: Variable | None) -> PlainValue:
    """What enters the first round, of the type and the rank that the program declares.

    Before a loop, Paddle 2 writes what nothing reads but in a round that wrote it: for a variable without a value a
    float, whatever its type is, and for what an assignment to elements writes the number 0, whatever its rank is.
    """
    if not isinstance(value, ConstantValue) or declared is None or declared.shape is None:
        return value
    if is_undefined(value):
        return undefined_value(OV_TYPES.get(declared.dtype or "float32", Type.f32), len(declared.shape))
    if value.array.ndim == 0 and declared.shape not in ((), (1,)):
        return scalar_to_rank(value, len(declared.shape))
    return value


def _warn_of_ranks(operator: Operator, first: Mapping[str, PlainValue], found: _Iteration) -> None:
    """Warns of numbers that enter as tensors: the program may read them where no round has written any."""
    for (name, value), started in zip(first.items(), found.before, strict=True):
        shape, other = _shape_of(value), _shape_of(started)
        if is_undefined(value) or shape is None or other is None:
            continue
        if shape.rank == 0 and other.rank != 0:
            warnings.warn(
                f"'{operator.type}': where '{name}' is read before it is written, it has {len(other)} dimensions of 1,"
                f" not 0\n  at {operator.place}",
                ConversionWarning,
                stacklevel=2,
            )


_DATA_MOVEMENT = re.compile(
    "Broadcast|Convert|Gather|Pad|Reduce.*|Reshape|Slice|Split|Squeeze|StridedSlice|Tile|Transpose|Unsqueeze|VariadicSplit"
)
_ARITHMETIC = ("Add", "Divide", "Multiply", "Power", "Subtract")


def _may_alias_parameter(value: Output, own: Parameter) -> bool:
    """Whether OpenVINO may find a value to be what entered the round as another one, or to lie in its memory."""
    left, seen = [value.get_node()], {own.get_name()}
    while left:
        node = left.pop()
        if node.get_name() in seen:
            continue
        seen.add(node.get_name())
        kind = node.get_type_name()
        if kind == "Parameter":
            return True
        inputs = [one.get_node() for one in node.input_values()]
        if _DATA_MOVEMENT.fullmatch(kind):
            left.append(inputs[0])
        elif kind == "Concat":
            left += inputs
        elif kind in _ARITHMETIC:  # with 0 or 1 it may be nothing
            computed = [one for one in inputs if one.get_type_name() != "Constant"]
            left += computed if len(computed) == 1 else []
    return False


def _copy(value: Output, number: Node) -> Output:
    """The same value in memory of its own.

    For what enters a round and is handed on as something else: the CPU plugin writes the states of the next round one
    after the other over those of this round, and cannot compile a state that becomes what a loop never changes.
    """
    entered = ops.greater_equal(number, ops.constant(0, Type.i64))  # always; no pass knows that
    return ops.select(entered, value, value).output(0)


def _runs_at_least_once(rounds: Output, begins: Output) -> bool:
    """Whether it is known that a loop runs at least once."""
    known = [one.get_node() for one in (rounds, begins)]
    return all(isinstance(one, Constant) and bool(one.data.reshape(-1)[0]) for one in known)


def _unread_parameters(parameters: Sequence[Parameter], results: Sequence[Output | Result]) -> list[Parameter]:
    """Those of the parameters on whose elements, as far as is seen here, no result depends."""
    left = [one if isinstance(one, Node) else one.get_node() for one in results]
    seen: set[str] = set()
    while left:
        node = left.pop()
        if node.get_name() in seen:
            continue
        seen.add(node.get_name())
        kind = node.get_type_name()
        if kind == "ShapeOf":
            continue
        # Whether a branch or a loop inside reads what it is given is not looked into, but its condition it reads.
        read = {"If": 1, "Loop": 2}.get(kind)
        left += [one.get_node() for one in node.input_values()[:read]]
    return [one for one in parameters if one.get_name() not in seen]


def _with_reads_of(parameters: Sequence[Parameter], condition: Output, number: Node) -> Output:
    """The same condition, for which these parameters are read.

    OpenVINO removes a parameter that the body does not read, and with it what enters the loop: where there is no round,
    its CPU plugin then leaves in the loop's result whatever the memory holds.
    """
    zero, step = ops.constant([0], Type.i64), ops.constant([1], Type.i64)
    for parameter in parameters:
        flat = ops.reshape(parameter, ops.constant([-1], Type.i64), False)
        first = ops.convert(ops.slice(flat, zero, step, step, zero), Type.boolean)
        entered = ops.greater_equal(number, ops.constant(0, Type.i64))  # always; no pass knows that
        always = ops.logical_or(entered, ops.reduce_logical_or(first, zero, False))
        condition = ops.logical_and(condition, always).output(0)
    return condition


def _element(sequence: Output, number: Output | Node, reverse: bool) -> Output:
    """Element `number` of a sequence, counted from the end if `reverse`.

    OpenVINO's Loop can hand one in by itself. Its CPU plugin (2026.4), however, hands in the next one before it copies
    the states of the next round, and computes sums of an element and a state in the element's memory.
    """
    place = ops.subtract(ops.constant(-1, Type.i64), number) if reverse else number
    # Of a sequence of numbers, without the dimension of 1, the plugin computes sums in the memory of what is added.
    place = ops.reshape(place, ops.constant([1], Type.i64), False)
    part = ops.gather(sequence, place, ops.constant(0, Type.i64))
    return ops.squeeze(part, ops.constant([0], Type.i64)).output(0)


def _reversed(sequence: Output) -> Output:
    """A sequence with its last element first; OpenVINO's Loop itself goes through one forwards only."""
    last, before_first, back = (ops.constant([one], Type.i64) for one in (-1, np.iinfo(np.int64).min, -1))
    return ops.slice(sequence, last, before_first, back, ops.constant([0], Type.i64)).output(0)


def _shape_of(value: PlainValue) -> PartialShape | None:
    return None if isinstance(value, EmptyTensorArray) else as_output(value).get_partial_shape()
