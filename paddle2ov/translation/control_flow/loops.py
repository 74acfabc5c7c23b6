"""`while` and `recurrent`: blocks that run again and again become OpenVINO's Loop.

Source of the semantics: `paddle/fluid/framework/new_executor/instruction/control_flow/while_instruction.cc`,
`paddle/fluid/operators/recurrent_op.cc` (`StaticRNN`, `paddle.nn.RNN` of Paddle 2.0 to 2.4).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from openvino import Model, Node, Output, PartialShape, Type
from openvino.op import Parameter, Result

from paddle2ov.errors import ConversionWarning
from paddle2ov.graph.loop import wired_loop
from paddle2ov.graph.opset import ops
from paddle2ov.graph.types import OV_TYPES, EmptyArray, Known, Value
from paddle2ov.program.liveness import prune
from paddle2ov.program.model import Block, Operator, Variable
from paddle2ov.translation.control_flow.block_values import (
    as_condition,
    as_output,
    find,
    is_undefined,
    no_elements,
    of_rank,
    outer,
    some_size,
    undefined,
)
from paddle2ov.translation.control_flow.loop_shapes import beside, opened, sources, unbounded, unforeseen, widened
from paddle2ov.translation.scope import Scope
from paddle2ov.translation.translator import Translator


def while_(translator: Translator, operator: Operator, scope: Scope) -> Sequence[Value | None]:
    """Runs the block while cond holds; x enters it as its inputs, its outputs are (cond, x) of the next round."""
    (body,) = operator.blocks
    names, before = operator.outputs["out"], operator.inputs["x"]
    goes_on, *after = body.outputs
    used = {i for i, name in enumerate(names) if translator.is_used(name)}
    condition = find(translator, scope, operator.inputs["cond"][0])
    if isinstance(condition, Known) and not condition.values().any():
        # OpenVINO takes the shapes that a loop leaves for empty where it knows that there is no round.
        return [_entering(translator, scope, before[i], name) if i in used else None for i, name in enumerate(names)]
    carried = _carried(body, body.inputs, after, used, [goes_on])
    first = {body.inputs[i]: _entering(translator, scope, before[i], names[i]) for i in carried}
    found = _settled(translator, scope, body, first, [*(after[i] for i in carried), goes_on])
    _warn_of_ranks(operator, first, found)
    loop = _loop(found, scope, ops.constant(-1, Type.i64).output(0), as_condition(condition), found.yielded[-1])
    values: list[Value | None] = [None] * len(names)
    for i, value in zip(carried, _left(loop, found), strict=True):
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
    used = [i for i, name in enumerate(names) if translator.is_used(name)]
    stacked = [i for i in used if i >= len(states)]
    results = [body.outputs[i] for i in stacked]
    carried = _carried(body, arguments, body.outputs, set(used) - set(stacked), results)
    first = {arguments[i]: _entering(translator, scope, states[i], arguments[i]) for i in carried}
    reverse = operator.attributes.get("reverse", False)
    parts = dict(zip(steps, sequences, strict=True))
    found = _settled(translator, scope, body, first, [*(body.outputs[i] for i in carried), *results], parts, reverse)
    _warn_of_ranks(operator, first, found)

    axis = ops.constant([0], Type.i64)
    rows = [ops.result(ops.unsqueeze(as_output(one), axis)) for one in found.yielded[len(carried) :]]
    sizes = ops.shape_of(as_output(find(translator, scope, sequences[0])), Type.i64)
    length = ops.gather(sizes, ops.constant(0, Type.i64), ops.constant(0, Type.i64))
    always: Value = ops.constant(True).output(0)
    loop = _loop(found, scope, length.output(0), as_condition(always), always, rows)
    values: list[Value | None] = [None] * len(names)
    for i, value in zip(carried, _left(loop, found), strict=True):
        values[i] = value
    for k, i in enumerate(stacked):
        values[i] = loop.output(loop.get_output_size() - len(stacked) + k)
    if reverse:
        for i in stacked:
            values[i] = _backwards(as_output(values[i]))
    return values


@dataclass(slots=True)
class _Round:
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
    before: list[Value]
    shapes: list[PartialShape | None]
    parameters: list[Parameter]
    number: Parameter
    yielded: list[Value]


def _settled(
    translator: Translator,
    scope: Scope,
    body: Block,
    first: Mapping[str, Value],
    wanted: Sequence[str],
    parts: Mapping[str, str] | None = None,
    reverse: bool = False,
) -> _Round:
    """The body, translated for what enters the first round and widened by what a round changes.

    `first` goes by the names inside. Of the names that are `wanted` those of what enters the next round come first, in
    the order of `first`. `parts` are names inside, and those of the sequences of which each round sees one element.
    """
    before = [_as_declared(value, translator.variables.get(name)) for name, value in first.items()]
    shapes = [_shape_of(value) for value in before]
    read = prune(body, wanted)[1]
    while True:
        found = _Round(Scope(scope), before, shapes, [], ops.parameter([], Type.i64), [])
        for name, sequence in (parts or {}).items():
            if name in read:
                whole = as_output(find(translator, found.scope, sequence))
                found.scope.values[name] = _element(whole, found.number, reverse)
        for name, value, shape in zip(first, before, shapes, strict=True):
            if shape is None:
                found.scope.values[name] = value
                continue
            parameter = ops.parameter(shape, as_output(value).get_element_type())
            found.scope.values[name] = parameter.output(0)
            found.parameters.append(parameter)
        translator.translate_inner(body, wanted, found.scope)
        found.yielded = [find(translator, found.scope, name) for name in wanted]
        after = found.yielded[: len(before)]
        started = [_started(old, new, scope, found) for old, new in zip(before, after, strict=True)]
        entering = [
            shape if start is old and shape is not None else _shape_of(start)
            for start, old, shape in zip(started, before, shapes, strict=True)
        ]
        grown = [
            None if shape is None or isinstance(new, EmptyArray) else widened(shape, as_output(new).get_partial_shape())
            for shape, new in zip(entering, after, strict=True)
        ]
        if grown == shapes and all(new is old for new, old in zip(started, before, strict=True)):
            return found
        before, shapes = started, grown


def _started(old: Value, new: Value, scope: Scope, found: _Round) -> Value:
    """What is to enter the first round, now that it is known what enters the next one."""
    if isinstance(new, EmptyArray):
        return old
    if isinstance(old, EmptyArray):  # an array that the body writes first: now the type of its elements is known
        return no_elements(new, some_size(scope, found.before, found.scope))
    # A number that becomes a tensor: OpenVINO's CPU plugin compiles no loop that changes a rank.
    ranks = [as_output(one).get_partial_shape().rank for one in (old, new)]
    if ranks[0] == 0 and ranks[1].is_static and ranks[1] != 0:
        return of_rank(old, ranks[1].get_length())
    return old


def _loop(
    found: _Round, scope: Scope, rounds: Output, begins: Output, goes_on: Value, joined: Sequence[Result] = ()
) -> Node:
    """A loop of that body; `joined` are its results besides those that enter the next round."""
    live = [k for k, shape in enumerate(found.shapes) if shape is not None]
    read = sources([as_condition(goes_on), *(as_output(found.yielded[k]) for k in live), *joined])
    results = []
    for parameter, k in zip(found.parameters, live, strict=True):
        value = as_output(found.yielded[k])
        if value.get_partial_shape() != parameter.get_output_partial_shape(0):
            value = unbounded(value, found.number)
        if _may_be_handed_on(value, parameter):
            value = _copy(value, found.number)
        if parameter.get_name() not in read:
            value = beside(value, parameter)
        results.append(ops.result(value))
    captures = found.scope.captures
    held = [(parameter, outer(scope, name)) for name, parameter in captures.items()]
    one = unforeseen([begins, *(as_output(found.before[k]) for k in live), *(value for _, value in held)])
    held = [(parameter, opened(value, value.get_partial_shape(), one)) for parameter, value in held]
    starts = []
    for k in live:
        shape = found.shapes[k]
        assert shape is not None  # that of a value that is no array without elements
        starts.append(opened(as_output(found.before[k]), shape, one))
    inputs = [*found.parameters, found.number, *captures.values()]
    return wired_loop(
        rounds,
        begins,
        Model([ops.result(as_condition(goes_on)), *results, *joined], inputs),
        [len(found.parameters), 0],
        list(zip(found.parameters, starts, results, strict=True)),
        held,
        joined,
    )


def _left(loop: Node, found: _Round) -> list[Value]:
    """What the last round leaves of what the loop carries."""
    outputs = iter(loop.outputs())
    return [old if shape is None else next(outputs) for old, shape in zip(found.before, found.shapes, strict=True)]


def _carried(
    body: Block, arguments: Sequence[str], after: Sequence[str], used: Iterable[int], results: Sequence[str]
) -> list[int]:
    """The positions of a loop's values that are read after it (`used`), or needed by what is."""
    carried = set(used)
    while True:
        _, read = prune(body, [*results, *(after[i] for i in carried)])
        more = {i for i, name in enumerate(arguments) if name in read} - carried
        if not more:
            return sorted(carried)
        carried |= more


def _entering(translator: Translator, scope: Scope, name: str, stand_in: str) -> Value:
    """What enters the first round; zeros like `stand_in` where nothing has been written yet."""
    return (scope.find(name) if name else None) or translator.placeholder(stand_in)


def _as_declared(value: Value, declared: Variable | None) -> Value:
    """What enters the first round, of the type and the rank that the program declares.

    Before a loop, Paddle 2 writes what nothing reads but in a round that wrote it: for a variable without a value a
    float, whatever its type is, and for what an assignment to elements writes the number 0, whatever its rank is.
    """
    if not isinstance(value, Known) or declared is None or declared.shape is None:
        return value
    if is_undefined(value):
        return undefined(OV_TYPES.get(declared.dtype or "float32", Type.f32), len(declared.shape))
    if value.array.ndim == 0 and declared.shape not in ((), (1,)):
        return of_rank(value, len(declared.shape))
    return value


def _warn_of_ranks(operator: Operator, first: Mapping[str, Value], found: _Round) -> None:
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


_MOVES = re.compile(
    "Broadcast|Convert|Gather|Pad|Reduce.*|Reshape|Slice|Split|Squeeze|StridedSlice|Tile|Transpose|Unsqueeze|VariadicSplit"
)
_ARITHMETIC = ("Add", "Divide", "Multiply", "Power", "Subtract")


def _may_be_handed_on(value: Output, own: Parameter) -> bool:
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
        if _MOVES.fullmatch(kind):
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


def _backwards(sequence: Output) -> Output:
    """A sequence with its last element first; OpenVINO's Loop itself goes through one forwards only."""
    last, before_first, back = (ops.constant([one], Type.i64) for one in (-1, np.iinfo(np.int64).min, -1))
    return ops.slice(sequence, last, before_first, back, ops.constant([0], Type.i64)).output(0)


def _shape_of(value: Value) -> PartialShape | None:
    return None if isinstance(value, EmptyArray) else as_output(value).get_partial_shape()
