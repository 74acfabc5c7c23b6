"""The operator `if`, which owns two blocks, becomes OpenVINO's If.

Source of the semantics: `paddle/fluid/framework/new_executor/instruction/control_flow/if_instruction.cc`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from openvino import Model, Output, Type

from paddle2ov.errors import ConversionWarning, OpConversionError
from paddle2ov.graph.opaque_values import opaque_one
from paddle2ov.graph.opset import ops
from paddle2ov.graph.values import ConstantValue, EmptyTensorArray, PlainValue, Value
from paddle2ov.graph.workarounds import works_around
from paddle2ov.program.model import Operator
from paddle2ov.translation.control_flow.block_values import (
    as_condition,
    as_output,
    empty_like,
    find_or_placeholder,
    is_undefined,
    outer_value,
    undefined_value,
)
from paddle2ov.translation.control_flow.loop_shapes import hide_dims
from paddle2ov.translation.scope import Scope
from paddle2ov.translation.translator import Translator


def if_(translator: Translator, operator: Operator, scope: Scope) -> Sequence[Value | None]:
    """out = the first block's outputs if cond is true, else the second's; a constant cond leaves one block only."""
    names = operator.outputs["out"]
    wanted = [i for i, name in enumerate(names) if translator.is_used(name)]
    condition = find_or_placeholder(translator, scope, operator.inputs["cond"][0])
    values: list[Value | None] = [None] * len(names)
    if isinstance(condition, ConstantValue):
        taken = operator.blocks[0 if bool(condition.values().reshape(-1)[0]) else 1]
        outputs = [taken.outputs[i] for i in wanted]
        for inside in taken.operators:
            translator.translate_one(inside, scope)
        for i, name in zip(wanted, outputs, strict=True):
            values[i] = scope.find(name) or translator.placeholder(names[i])  # marks are kept
        return values

    branches = []
    for block in operator.blocks:
        inner = Scope(scope)
        outputs = [block.outputs[i] for i in wanted]
        translator.translate(block, inner)
        branches.append(
            (
                inner,
                [
                    find_or_placeholder(translator, inner, name, names[i])
                    for i, name in zip(wanted, outputs, strict=True)
                ],
            )
        )
    (then, then_values), (otherwise, else_values) = branches
    then_results, else_results, positions = [], [], []
    for i, a, b in zip(wanted, then_values, else_values, strict=True):
        if isinstance(a, EmptyTensorArray) and isinstance(b, EmptyTensorArray):
            values[i] = a
            continue
        results = [
            ops.result(one) for one in _with_equal_ranks(operator, names[i], _output_like(a, b), _output_like(b, a))
        ]
        then_results.append(results[0])
        else_results.append(results[1])
        positions.append(i)
    node = ops.if_op(as_condition(condition))
    node.set_then_body(Model(then_results, list(then.captures.values())))
    node.set_else_body(Model(else_results, list(otherwise.captures.values())))
    entering = {name: outer_value(scope, name) for name in dict.fromkeys((*then.captures, *otherwise.captures))}
    one = opaque_one([as_output(condition), *entering.values()])
    for name, value in entering.items():
        value = hide_dims(value, value.get_partial_shape(), one)
        node.set_input(value, then.captures.get(name), otherwise.captures.get(name))
    for then_result, else_result in zip(then_results, else_results, strict=True):
        node.set_output(then_result, else_result)
    node.validate_and_infer_types()
    for output, i in enumerate(positions):
        values[i] = _copy_result(node.output(output), condition)
    return values


def _output_like(value: PlainValue, other: PlainValue) -> Output:
    if isinstance(value, EmptyTensorArray):
        return as_output(empty_like(other, ops.constant([1], Type.i64)))
    if is_undefined(value) and not isinstance(other, EmptyTensorArray) and not is_undefined(other):
        like = as_output(other)
        shape = like.get_partial_shape()
        return undefined_value(like.get_element_type(), len(shape) if shape.rank.is_static else 1)
    return as_output(value)


@works_around("branches_of_other_ranks")
def _with_equal_ranks(operator: Operator, name: str, *values: Output) -> Sequence[Output]:
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
            f"its branches give '{name}' {counts[0]} and {counts[1]} dimensions; OpenVINO wants one rank of both",
        )
    warnings.warn(
        f"'if': where the branch is taken that gives '{name}' 0 dimensions, it has {max(counts)} of 1\n"
        f"  at {operator.place}",
        ConversionWarning,
        stacklevel=2,
    )
    ones = ops.constant([1] * max(counts), Type.i64)
    return [
        one if count else ops.reshape(one, ones, False).output(0) for one, count in zip(values, counts, strict=True)
    ]


def _copy_result(value: Output, condition: PlainValue) -> Output:
    """A copy of an If's result if it has dynamic dimensions, made twice.

    Seen with the masks of SOLOv2: in the first inference, and only there, the CPU plugin passes on zeros instead of the
    result. It does not if an operator follows that copies it and whose output shape depends on data. Seen with the
    frames that a streaming Conformer keeps: in the first inference, and only there, that copy is of memory that nothing
    was written to. A copy of the copy is right in both.
    """
    shape = value.get_partial_shape()
    if shape.is_static or shape.rank.is_dynamic:
        return value
    one = ops.maximum(ops.convert(as_condition(condition), Type.i64), ops.constant(1, Type.i64))
    return _copy(_copy(value, one), one)


def _copy(value: Output, one: Output) -> Output:
    """All rows of a tensor, with an end that is computed from a one that only the run tells."""
    end = ops.multiply(
        ops.gather(ops.shape_of(value, Type.i64), ops.constant([0], Type.i64), ops.constant(0, Type.i64)),
        ops.reshape(one, ops.constant([1], Type.i64), False),
    )
    first, step = ops.constant([0], Type.i64), ops.constant([1], Type.i64)
    return ops.slice(value, first, end, step, ops.constant([0], Type.i64)).output(0)
