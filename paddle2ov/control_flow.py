"""`if` and `while`: operators that own blocks become OpenVINO's If and Loop.

Source of the semantics: `paddle/fluid/framework/new_executor/instruction/control_flow/{if,while}_instruction.cc`.
"""

from __future__ import annotations

from collections.abc import Sequence

from openvino import Model, Output, PartialShape, Type

from paddle2ov.node_context import Value
from paddle2ov.opset import ops
from paddle2ov.program.model import Block, Operator
from paddle2ov.translator import BlockConverter, Scope, Translator
from paddle2ov.types import Known


def if_(translator: Translator, operator: Operator, scope: Scope) -> Sequence[Value]:
    """out = the first block's outputs where cond holds, else the second's; a known condition leaves one block only."""
    condition = _find(translator, scope, operator.inputs["cond"][0])
    if isinstance(condition, Known):
        taken = operator.blocks[0] if bool(condition.values().reshape(-1)[0]) else operator.blocks[1]
        return _inline(translator, taken, scope)
    node = ops.if_op(_boolean(condition))
    branches = []
    for block in operator.blocks:
        inner = Scope(scope)
        translator.translate_inner(block, inner)
        results = [
            ops.result(_output(inner.find(name) or translator.placeholder(declared)))
            for name, declared in zip(block.outputs, operator.outputs["out"], strict=True)
        ]
        branches.append((inner, results))
    (then, then_results), (otherwise, else_results) = branches
    node.set_then_body(Model(then_results, list(then.captures.values())))
    node.set_else_body(Model(else_results, list(otherwise.captures.values())))
    for name in dict.fromkeys((*then.captures, *otherwise.captures)):
        outer = scope.find(name)
        assert outer is not None  # it was captured from there
        node.set_input(_output(outer), then.captures.get(name), otherwise.captures.get(name))
    outputs = [node.set_output(a, b) for a, b in zip(then_results, else_results, strict=True)]
    node.validate_and_infer_types()
    return [node.output(i) for i in range(len(outputs))]


def while_(translator: Translator, operator: Operator, scope: Scope) -> Sequence[Value]:
    """Runs the block while cond holds; x enters it as its inputs, its outputs are (cond, x) of the next round."""
    (body,) = operator.blocks
    condition = _boolean(_output(_find(translator, scope, operator.inputs["cond"][0])))
    before = [
        _output((scope.find(name) if name else None) or translator.placeholder(declared))
        for name, declared in zip(operator.inputs["x"], operator.outputs["out"], strict=True)
    ]
    shapes = [value.get_partial_shape() for value in before]
    # The body's inputs must fit every round: start from the first round's shapes and widen what a round changes.
    while True:
        inner = Scope(scope)
        parameters = [
            ops.parameter(shape, value.get_element_type()) for shape, value in zip(shapes, before, strict=True)
        ]
        for name, parameter in zip(body.inputs, parameters, strict=True):
            inner.values[name] = parameter.output(0)
        translator.translate_inner(body, inner)
        after = [_output(_find(translator, inner, name)) for name in body.outputs]
        widened = [_widen(shape, value.get_partial_shape()) for shape, value in zip(shapes, after[1:], strict=True)]
        if widened == shapes:
            break
        shapes = widened
    results = [ops.result(_boolean(after[0])), *(ops.result(value) for value in after[1:])]
    loop = ops.loop(ops.constant(-1, Type.i64), condition)
    loop.set_function(Model(results, [*parameters, *inner.captures.values()]))
    for parameter, value, result in zip(parameters, before, results[1:], strict=True):
        loop.set_merged_input(parameter, value, result.output(0))
    for name, parameter in inner.captures.items():
        outer = scope.find(name)
        assert outer is not None  # it was captured from there
        loop.set_invariant_input(parameter, _output(outer))
    loop.set_special_body_ports([-1, 0])
    for result in results[1:]:
        loop.get_iter_value(result.output(0), -1)
    loop.validate_and_infer_types()
    return [loop.output(i) for i in range(len(before))]


CONTROL_FLOW: dict[str, BlockConverter] = {"if": if_, "while": while_}


def _inline(translator: Translator, block: Block, scope: Scope) -> list[Value]:
    translator.translate_inner(block, scope)
    return [_find(translator, scope, name) for name in block.outputs]


def _find(translator: Translator, scope: Scope, name: str) -> Value:
    return scope.find(name) or translator.placeholder(name)


def _output(value: Value) -> Output:
    return value.constant().output(0) if isinstance(value, Known) else value


def _boolean(value: Value) -> Output:
    output = _output(value)
    if output.get_element_type() != Type.boolean:
        output = ops.convert(output, Type.boolean).output(0)
    return output


def _widen(shape: PartialShape, other: PartialShape) -> PartialShape:
    if shape.rank.is_dynamic or other.rank.is_dynamic or len(shape) != len(other):
        return PartialShape.dynamic()
    return PartialShape([a if a == b else -1 for a, b in zip(shape, other, strict=True)])
