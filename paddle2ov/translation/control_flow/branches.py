"""The operator `if`, which owns two blocks, becomes OpenVINO's If.

Source of the semantics: `paddle/fluid/framework/new_executor/instruction/control_flow/if_instruction.cc`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from openvino import Model, Output, Type
from openvino.op.util import BodyOutputDescription, InvariantInputDescription

from paddle2ov.errors import OpConversionError, warn_of_operator
from paddle2ov.graph.block_records import IfRecord
from paddle2ov.graph.constants import number_of
from paddle2ov.graph.loop_shapes import sizes_of
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import static_dims
from paddle2ov.graph.types import OV_TYPES, common_type, dtype_name
from paddle2ov.graph.upstream import inputs_behind
from paddle2ov.graph.values import ConstantValue, EmptyTensorArray, PlainValue, Value
from paddle2ov.graph.workarounds import works_around
from paddle2ov.program.model import Block, Operator
from paddle2ov.translation.control_flow.block_values import (
    as_condition,
    as_output,
    as_type,
    empty_like,
    find_or_placeholder,
    is_undefined,
    outer_value,
    scalar_to_rank,
    undefined_value,
)
from paddle2ov.translation.scope import Scope
from paddle2ov.translation.translator import Translator

_FEW = 16


def if_(translator: Translator, operator: Operator, scope: Scope) -> Mapping[str, Value]:
    """out = the first block's outputs if cond is true, else the second's; a constant cond leaves one block only."""
    names = operator.outputs["out"]
    wanted = [i for i, name in enumerate(names) if translator.is_used(name)]
    condition = find_or_placeholder(translator, scope, operator.inputs["cond"][0])
    if isinstance(condition, ConstantValue):
        taken = operator.blocks[0 if bool(condition.values().reshape(-1)[0]) else 1]
        for inside in taken.operators:
            translator.translate_one(inside, scope)
        return {names[i]: scope.find(taken.outputs[i]) or translator.placeholder(names[i]) for i in wanted}

    then, otherwise = (_translate_branch(translator, block, scope, names, wanted) for block in operator.blocks)
    captured = [{item.get_name(): name for name, item in branch.captures.items()} for branch, _ in (then, otherwise)]
    values: dict[str, Value] = {}
    pairs: dict[str, Sequence[Output]] = {}
    for name, a, b in zip((names[i] for i in wanted), then[1], otherwise[1], strict=True):
        if isinstance(a, EmptyTensorArray) and isinstance(b, EmptyTensorArray):
            values[name] = a
        elif (same := _captured(a, captured[0])) is not None and same == _captured(b, captured[1]):
            if (outer := scope.find(same)) is not None:
                values[name] = outer  # with its marks
        else:
            decides = as_output(condition)
            same_rank = _with_equal_ranks(translator, operator, name, decides, _output_like(a, b), _output_like(b, a))
            pair = _with_equal_types(translator, operator, name, decides, *same_rank)
            outside = [_outside(value, entered, scope) for value, entered in zip(pair, captured, strict=True)]
            if (selected := _selected(decides, *outside)) is not None:
                values[name] = selected
            else:
                pairs[name] = pair
    if not pairs:
        return values
    record = _build_if(as_output(condition), then[0], otherwise[0], list(pairs.values()), scope)
    translator.records.append(record)
    for name, output in zip(pairs, record.node.outputs(), strict=True):
        values[name] = _copy_result(output, condition)
    return values


def _translate_branch(
    translator: Translator, block: Block, scope: Scope, names: Sequence[str], wanted: Sequence[int]
) -> tuple[Scope, list[PlainValue]]:
    """Translates a block into a scope of its own, and the values of its outputs, which are called `names` outside."""
    inner = Scope(scope)
    translator.translate(block, inner)
    return inner, [find_or_placeholder(translator, inner, block.outputs[i], names[i]) for i in wanted]


def _captured(value: PlainValue, captured: Mapping[str, str]) -> str | None:
    """The name of the outer value that a branch hands on as it is; None for any other."""
    return captured.get(value.get_node().get_name()) if isinstance(value, Output) else None


def _outside(value: Output, captured: Mapping[str, str], scope: Scope) -> Output | None:
    """What a branch only passes on, as a value of the outer scope; None for what it computes."""
    if value.get_node().get_type_name() == "Constant":
        return value
    name = _captured(value, captured)
    return None if name is None else outer_value(scope, name)


@works_around("integer_select_in_float32")
def _selected(condition: Output, then: Output | None, otherwise: Output | None) -> Output | None:
    """The result of an If whose branches pass on small values, without the If; None for any other."""
    if then is None or otherwise is None or then.get_element_type().is_integral_number():
        return None  # a Select rounds large integers
    dims = static_dims(then)
    if dims is None or dims != static_dims(otherwise) or math.prod(dims) > _FEW:
        return None
    shaped = ops.reshape(as_condition(condition), ints([1] * len(dims)), False)
    if then.get_element_type() == Type.boolean and number_of(then) == 1:
        return ops.logical_or(shaped, otherwise).output(0)
    return ops.select(shaped, then, otherwise).output(0)


def _build_if(
    condition: Output, then: Scope, otherwise: Scope, pairs: Sequence[Sequence[Output]], scope: Scope
) -> IfRecord:
    """Builds an If of two translated branches; `pairs` are the values of each output in both."""
    results = [[ops.result(value) for value in pair] for pair in pairs]
    decides = as_condition(condition)
    node = ops.if_op(decides)
    node.set_then_body(Model([item for item, _ in results], list(then.captures.values())))
    node.set_else_body(Model([item for _, item in results], list(otherwise.captures.values())))
    entering = {name: outer_value(scope, name) for name in dict.fromkeys((*then.captures, *otherwise.captures))}
    parameters = [(then.captures.get(name), otherwise.captures.get(name)) for name in entering]
    # All at once: the functions that set a single input or output validate both bodies each time.
    node.set_arguments([decides, *entering.values()])
    for branch, captures in enumerate((then.captures, otherwise.captures)):
        places = {name: i for i, name in enumerate(captures)}
        inputs = [InvariantInputDescription(i, places[name]) for i, name in enumerate(entering, 1) if name in places]
        node.set_input_descriptions(branch, inputs)
        node.set_output_descriptions(branch, [BodyOutputDescription(i, i, -1) for i in range(len(pairs))])
    node.set_output_size(len(pairs))
    node.validate_and_infer_types()
    return IfRecord(node, list(zip(parameters, entering.values(), strict=True)))


def _output_like(value: PlainValue, other: PlainValue) -> Output:
    if isinstance(value, EmptyTensorArray):
        return as_output(empty_like(other, ints([1])))
    if is_undefined(value) and not isinstance(other, EmptyTensorArray) and not is_undefined(other):
        like = as_output(other)
        shape = like.get_partial_shape()
        return undefined_value(like.get_element_type(), len(shape) if shape.rank.is_static else 1)
    return as_output(value)


@works_around("branches_of_other_ranks")
def _with_equal_ranks(
    translator: Translator, operator: Operator, name: str, decides: Output, *values: Output
) -> Sequence[Output]:
    """The branches' values, refused if their ranks differ: OpenVINO's CPU plugin does not compile such an If.

    A scalar in one branch becomes a tensor of one element, which broadcasts as the scalar does. Paddle 2 yields the
    scalar 0 where one branch writes a tensor in place that the other leaves unchanged.
    """
    ranks = [value.get_partial_shape().rank for value in values]
    if any(rank.is_dynamic for rank in ranks) or ranks[0] == ranks[1]:
        return values
    counts = [rank.get_length() for rank in ranks]
    if min(counts) > 0:
        raise OpConversionError(
            operator.place,
            f"its branches give '{name}' {counts[0]} and {counts[1]} dimensions; OpenVINO needs equal ranks",
        )
    if translator.shown.rank_of(name, max(counts)):
        warn_of_operator(
            operator.place,
            f"where its condition, of {inputs_behind(decides)}, is {str(counts[0] == 0).lower()}, the rank of "
            f"'{name.partition('@')[0]}' is 0 in Paddle and {max(counts)} here (each dimension is 1). Give it one "
            "rank in the network",
        )
    return [value if count else scalar_to_rank(value, max(counts)) for value, count in zip(values, counts, strict=True)]


def _with_equal_types(
    translator: Translator, operator: Operator, name: str, decides: Output, then: Output, otherwise: Output
) -> Sequence[Output]:
    """The branches' values in one type: the one that both become where they meet.

    Paddle 2 yields the values as they are, whatever the program declares. A number of the source is float64 there; it
    gets the declared type, as float64 is computed with the digits of float32 anyway.
    """
    kinds = then.get_element_type(), otherwise.get_element_type()
    if kinds[0] == kinds[1]:
        return then, otherwise
    common = common_type(*kinds)
    first, second = map(dtype_name, kinds)
    if common is None:
        raise OpConversionError(
            operator.place, f"its branches give '{name}' as {first} and {second}; OpenVINO wants one type of both"
        )
    declared = translator.variables.get(name)
    if set(kinds) == {Type.f32, Type.f64} and declared is not None:
        common = OV_TYPES.get(declared.dtype or "", common)
    if translator.shown.type_of(name):
        warn_of_operator(
            operator.place,
            f"Paddle gives '{name}' as {first} where its condition, of {inputs_behind(decides)}, is true, and "
            f"else as {second}; here it is {dtype_name(common)} in both. Give it one type in both branches of the "
            "network",
        )
    return as_type(then, common), as_type(otherwise, common)


def _copy_result(value: Output, condition: PlainValue) -> Output:
    """A copy of an If's result if it has dynamic dimensions, made twice.

    Seen with the masks of SOLOv2: in the first inference only, the CPU plugin passes on zeros instead of the result. It
    does not if the next operator copies it to a shape that depends on data, such as this slice with an end that is
    computed from the condition. Seen with the frames that a streaming Conformer keeps: in the first inference only,
    that copy is of memory that nothing was written to. A copy of the copy is right in both.
    """
    shape = value.get_partial_shape()
    if shape.is_static or shape.rank.is_dynamic:
        return value
    one = ops.maximum(ops.convert(as_condition(condition), Type.i64), ints(1)).output(0)
    return ops.reshape(_copy(_copy(value, one), one), sizes_of(value), False).output(0)


def _copy(value: Output, one: Output) -> Output:
    """All rows of a tensor, with an end that is computed from a one that only the run tells."""
    rows = ops.gather(ops.shape_of(value, Type.i64), ints([0]), ints(0))
    end = ops.multiply(rows, ops.reshape(one, ints([1]), False))
    return ops.slice(value, ints([0]), end, ints([1]), ints([0])).output(0)
