"""`while` and `recurrent` become OpenVINO's Loop.

Source of the semantics: `paddle/fluid/framework/new_executor/instruction/control_flow/while_instruction.cc`,
`paddle/fluid/operators/recurrent_op.cc` (`StaticRNN`, `paddle.nn.RNN` of Paddle 2.0 to 2.4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from openvino import Node, Output, PartialShape, Type

from paddle2ov.errors import OpConversionError
from paddle2ov.graph.loop_shapes import common_shape
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.slices import reverse_along
from paddle2ov.graph.types import OV_TYPES, common_type, dtype_name
from paddle2ov.graph.values import ConstantValue, EmptyTensorArray, PlainValue, Value
from paddle2ov.graph.workarounds import works_around
from paddle2ov.program.model import Operator, Variable
from paddle2ov.translation.control_flow.block_values import (
    as_condition,
    as_output,
    as_type,
    dynamic_dim,
    empty_like,
    find_or_placeholder,
    is_undefined,
    scalar_to_rank,
    undefined_value,
)
from paddle2ov.translation.control_flow.grown_lengths import with_lengths
from paddle2ov.translation.control_flow.loop_assembly import Loop, LoopBody
from paddle2ov.translation.control_flow.visible_differences import warn_of_initial_values
from paddle2ov.translation.scope import Scope
from paddle2ov.translation.translator import Translator


def while_(translator: Translator, operator: Operator, scope: Scope) -> Mapping[str, Value]:
    """Runs the block while cond is true; its inputs are x, its outputs (cond, x) of the next iteration."""
    (body,) = operator.blocks
    names, before = operator.outputs["out"], operator.inputs["x"]
    next_condition, *after = body.outputs
    condition = find_or_placeholder(translator, scope, operator.inputs["cond"][0])
    if isinstance(condition, ConstantValue) and not condition.values().any():
        # OpenVINO infers empty shapes for the results of a loop that it knows to have no iteration.
        return {
            name: find_or_placeholder(translator, scope, before[i], name)
            for i, name in enumerate(names)
            if translator.is_used(name)
        }
    carried = _live_positions(translator, names, body.inputs)
    initial_values = {body.inputs[i]: find_or_placeholder(translator, scope, before[i], names[i]) for i in carried}
    loop_body = _body_for_all_iterations(
        translator, scope, operator, initial_values, [*(after[i] for i in carried), next_condition]
    )
    loop = Loop(loop_body, scope, None, as_condition(condition), loop_body.yielded[-1])
    results = [names[i] for i in carried]
    warn_of_initial_values(translator, operator, results, loop_body, loop.unread, as_output(condition))
    final, _ = loop.build(translator)
    return dict(zip(results, with_lengths(translator, operator, scope, loop_body, carried, final), strict=True))


def recurrent(translator: Translator, operator: Operator, scope: Scope) -> Mapping[str, Value]:
    """Runs the block once for each x[t]; in reverse order with `reverse`.

    The block's inputs are x[t] and the states, its outputs the states of the next iteration and y[t]; the results are
    the final states, and y.
    """
    (body,) = operator.blocks
    names, sequences, states = operator.outputs["out"], operator.inputs["x"], operator.inputs["states"]
    steps, arguments = body.inputs[: len(sequences)], body.inputs[len(sequences) :]
    stacked = [i for i, name in enumerate(names) if i >= len(states) and translator.is_used(name)]
    carried = _live_positions(translator, names, arguments)
    initial_values = {arguments[i]: find_or_placeholder(translator, scope, states[i], arguments[i]) for i in carried}
    reverse = operator.attributes.get("reverse", False)
    elements = dict(zip(steps, sequences, strict=True))
    wanted = [body.outputs[i] for i in (*carried, *stacked)]
    loop_body = _body_for_all_iterations(translator, scope, operator, initial_values, wanted, elements, reverse)

    axis = ints([0])
    rows = [ops.result(ops.unsqueeze(as_output(item), axis)) for item in loop_body.yielded[len(carried) :]]
    sizes = ops.shape_of(as_output(find_or_placeholder(translator, scope, sequences[0])), Type.i64)
    length = ops.gather(sizes, ints(0), ints(0))
    always: PlainValue = ops.constant(True).output(0)
    loop = Loop(loop_body, scope, length.output(0), as_condition(always), always, rows)
    results = [names[i] for i in (*carried, *stacked)]
    warn_of_initial_values(translator, operator, results, loop_body, loop.unread, length.output(0))
    final, stacks = loop.build(translator)
    stacks = [reverse_along(stack, [0]).output(0) for stack in stacks] if reverse else stacks
    return dict(zip(results, (*final, *stacks), strict=True))


def _body_for_all_iterations(
    translator: Translator,
    scope: Scope,
    operator: Operator,
    initial_values: Mapping[str, PlainValue],
    wanted: Sequence[str],
    elements: Mapping[str, str] | None = None,
    reverse: bool = False,
) -> LoopBody:
    """Translates the body repeatedly, with more and more general shapes, until these hold in every iteration.

    It yields what is `wanted`, first the next values of the states, in the order of `initial_values`. Of each sequence
    in `elements`, an iteration gets one element under the name inside.
    """
    (body,) = operator.blocks
    initial = [_as_declared(value, translator.variables.get(name)) for name, value in initial_values.items()]
    shapes = [_shape_of(value) for value in initial]
    names = translator.names.taken()
    while True:
        loop_body = LoopBody(Scope(scope), initial_values, initial, shapes, [], ops.parameter([], Type.i64), [])
        for name, sequence in (elements or {}).items():
            if translator.is_used(name):
                tensor = as_output(find_or_placeholder(translator, loop_body.scope, sequence))
                loop_body.scope.values[name] = translator.marked(name, _element(tensor, loop_body.current, reverse))
        for name, value, shape in zip(initial_values, initial, shapes, strict=True):
            if shape is None:
                loop_body.scope.values[name] = translator.marked(name, value)
                continue
            parameter = ops.parameter(shape, as_output(value).get_element_type())
            loop_body.scope.values[name] = translator.marked(name, parameter.output(0))
            loop_body.parameters.append(parameter)
        translator.translate(body, loop_body.scope)
        loop_body.yielded = [find_or_placeholder(translator, loop_body.scope, name) for name in wanted]
        adjusted: list[PlainValue] = []
        common: list[PartialShape | None] = []
        states = zip(initial_values.items(), initial, shapes, loop_body.yielded, strict=False)
        for (name, value), old, shape, new in states:
            start = _in_common_type(operator, name, value, _initial_value(old, new, scope, loop_body), new)
            adjusted.append(start)
            if start is not old or shape is None:
                shape = _shape_of(start)
            leaving = _shape_of(new)
            common.append(None if shape is None or leaving is None else common_shape(shape, leaving))
        if common == shapes and all(new is old for new, old in zip(adjusted, initial, strict=True)):
            return loop_body
        initial, shapes = adjusted, common
        translator.names.restore(names)


@works_around("loop_state_of_another_rank")
def _initial_value(old: PlainValue, new: PlainValue, scope: Scope, loop_body: LoopBody) -> PlainValue:
    """The initial value, once the type and shape of the value of the next iteration are known."""
    if isinstance(new, EmptyTensorArray):
        return old
    if isinstance(old, EmptyTensorArray):  # an array that only the body writes: now the type of its elements is known
        return empty_like(new, dynamic_dim(scope, loop_body.initial, loop_body.scope))
    # A scalar that becomes a tensor: OpenVINO's CPU plugin does not compile a loop that changes a rank.
    ranks = [as_output(value).get_partial_shape().rank for value in (old, new)]
    if ranks[0] == 0 and ranks[1].is_static and ranks[1] != 0:
        return scalar_to_rank(old, ranks[1].get_length())
    return old


def _in_common_type(operator: Operator, name: str, given: PlainValue, old: PlainValue, new: PlainValue) -> PlainValue:
    """The initial value in a type that holds it and the value of the next iteration; of two integers, the latter's.

    A number of the source that a loop adds floats to begins as an integer. OpenVINO copies the bits of the next value
    into a state of another type.
    """
    if isinstance(old, EmptyTensorArray) or isinstance(new, EmptyTensorArray):
        return old
    value, after = as_output(old), as_output(new).get_element_type()
    kind = value.get_element_type()
    if kind == after:
        return old
    shape = value.get_partial_shape()
    if is_undefined(given) and shape.rank.is_static:
        return undefined_value(after, len(shape))
    integers = kind.is_integral_number() and after.is_integral_number()
    if integers and not isinstance(given, EmptyTensorArray) and as_output(given).get_element_type() == kind:
        return as_type(value, after)  # only while it has its first type: later, the types settle on the common one
    common = common_type(kind, after)
    if common is None:
        raise OpConversionError(
            operator.place,
            f"'{name}' is {dtype_name(kind)} before an iteration and {dtype_name(after)} after it; OpenVINO wants one"
            " type of both",
        )
    return old if common == kind else as_type(value, common)


def _live_positions(translator: Translator, names: Sequence[str], arguments: Sequence[str]) -> list[int]:
    """The positions of the carried values that anything reads, after the loop or inside it."""
    return [
        i
        for i, (name, argument) in enumerate(zip(names, arguments, strict=False))
        if translator.is_used(name) or translator.is_used(argument)
    ]


def _as_declared(value: PlainValue, declared: Variable | None) -> PlainValue:
    """The initial value, with the type and rank that the program declares.

    Paddle 2 initialises variables that an iteration only reads after writing them, and ignores their type and rank: a
    variable without a value is a float, and one that an assignment to elements writes is the scalar 0.
    """
    if not isinstance(value, ConstantValue) or declared is None or declared.shape is None:
        return value
    if is_undefined(value):
        return undefined_value(OV_TYPES.get(declared.dtype or "float32", Type.f32), len(declared.shape))
    if value.array.ndim == 0 and declared.shape not in ((), (1,)):
        return scalar_to_rank(value, len(declared.shape))
    return value


@works_around("loop_over_slices_and_states")
def _element(sequence: Output, index: Output | Node, reverse: bool) -> Output:
    """Element `index` of a sequence, counted from the end if `reverse`.

    A sliced input of OpenVINO's Loop would be this element. The CPU plugin (2026.4), however, copies the next slice
    before the states of the next iteration, and computes sums of an element and a state in the element's memory.
    """
    index = ops.subtract(ints(-1), index) if reverse else index
    # Scalar elements, gathered without the unit dimension, are overwritten by the plugin where it adds to them.
    index = ops.reshape(index, ints([1]), False)
    element = ops.gather(sequence, index, ints(0))
    return ops.squeeze(element, ints([0])).output(0)


def _shape_of(value: PlainValue) -> PartialShape | None:
    return None if isinstance(value, EmptyTensorArray) else as_output(value).get_partial_shape()
