"""`if` and `while`: operators that own blocks become OpenVINO's If and Loop.

Source of the semantics: `paddle/fluid/framework/new_executor/instruction/control_flow/{if,while}_instruction.cc`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from openvino import Model, Node, Output, PartialShape, Type

from paddle2ov.errors import OpConversionError
from paddle2ov.loop_shapes import opened, unbounded, widened
from paddle2ov.node_context import Value
from paddle2ov.opset import ops
from paddle2ov.program.liveness import prune
from paddle2ov.program.model import Block, Operator
from paddle2ov.translator import BlockConverter, Scope, Translator
from paddle2ov.types import EmptyArray, Known


def if_(translator: Translator, operator: Operator, scope: Scope) -> Sequence[Value | None]:
    """out = the first block's outputs where cond holds, else the second's; a known condition leaves one block only."""
    names = operator.outputs["out"]
    wanted = [i for i, name in enumerate(names) if translator.is_used(name)]
    condition = _find(translator, scope, operator.inputs["cond"][0])
    values: list[Value | None] = [None] * len(names)
    if isinstance(condition, Known):
        taken = operator.blocks[0 if bool(condition.values().reshape(-1)[0]) else 1]
        outputs = [taken.outputs[i] for i in wanted]
        translator.translate_inner(taken, outputs, scope)
        for i, name in zip(wanted, outputs, strict=True):
            values[i] = scope.find(name) or translator.placeholder(names[i])
        return values

    branches = []
    for block in operator.blocks:
        inner = Scope(scope)
        outputs = [block.outputs[i] for i in wanted]
        translator.translate_inner(block, outputs, inner)
        branches.append(
            (
                inner,
                [inner.find(name) or translator.placeholder(names[i]) for i, name in zip(wanted, outputs, strict=True)],
            )
        )
    (then, then_values), (otherwise, else_values) = branches
    then_results, else_results, positions = [], [], []
    for i, a, b in zip(wanted, then_values, else_values, strict=True):
        if isinstance(a, EmptyArray) and isinstance(b, EmptyArray):
            values[i] = a
            continue
        results = [ops.result(one) for one in (_output_like(a, b), _output_like(b, a))]
        _require_one_rank(operator, names[i], results)
        then_results.append(results[0])
        else_results.append(results[1])
        positions.append(i)
    node = ops.if_op(_boolean(condition))
    node.set_then_body(Model(then_results, list(then.captures.values())))
    node.set_else_body(Model(else_results, list(otherwise.captures.values())))
    for name in dict.fromkeys((*then.captures, *otherwise.captures)):
        node.set_input(_outer(scope, name), then.captures.get(name), otherwise.captures.get(name))
    for a, b in zip(then_results, else_results, strict=True):
        node.set_output(a, b)
    node.validate_and_infer_types()
    for output, i in enumerate(positions):
        values[i] = _kept(node.output(output), condition)
    return values


def while_(translator: Translator, operator: Operator, scope: Scope) -> Sequence[Value | None]:
    """Runs the block while cond holds; x enters it as its inputs, its outputs are (cond, x) of the next round."""
    (body,) = operator.blocks
    names = operator.outputs["out"]
    carried = _carried(translator, body, names)
    before: list[Value] = [
        (scope.find(operator.inputs["x"][i]) if operator.inputs["x"][i] else None) or translator.placeholder(names[i])
        for i in carried
    ]
    yielded = [body.outputs[0], *(body.outputs[i + 1] for i in carried)]
    # The body's inputs must fit every round: start from what enters the first one and widen what a round changes.
    shapes = [None if isinstance(value, EmptyArray) else _output(value).get_partial_shape() for value in before]
    while True:
        inner = Scope(scope)
        parameters = []
        for i, value, shape in zip(carried, before, shapes, strict=True):
            if isinstance(value, EmptyArray):
                inner.values[body.inputs[i]] = value
                continue
            parameter = ops.parameter(shape, _output(value).get_element_type())
            inner.values[body.inputs[i]] = parameter.output(0)
            parameters.append(parameter)
        translator.translate_inner(body, yielded, inner)
        after = [inner.find(name) or translator.placeholder(name) for name in yielded]
        # An array that the body writes first: now the type of its elements is known.
        started = [
            _no_elements(new, _some_size(scope, before, inner))
            if isinstance(old, EmptyArray) and not isinstance(new, EmptyArray)
            else old
            for old, new in zip(before, after[1:], strict=True)
        ]
        grown = [
            None if isinstance(new, EmptyArray) else widened(_shape(old, shape), _output(new).get_partial_shape())
            for old, new, shape in zip(started, after[1:], shapes, strict=True)
        ]
        if grown == shapes and all(new is old for new, old in zip(started, before, strict=True)):
            break
        before, shapes = started, grown

    condition = _find(translator, scope, operator.inputs["cond"][0])
    live = [k for k, value in enumerate(before) if not isinstance(value, EmptyArray)]
    round_ = ops.parameter([], Type.i64)
    results = [ops.result(_boolean(after[0]))]
    for parameter, k in zip(parameters, live, strict=True):
        value = _output(after[k + 1])
        same = value.get_partial_shape() == parameter.get_output_partial_shape(0)
        results.append(ops.result(value if same else unbounded(value, round_)))
    entering = [_output(before[k]) for k in live] + [_outer(scope, name) for name in inner.captures]
    seen = [_output(condition), *entering]
    loop = ops.loop(ops.constant(-1, Type.i64).output(0), _boolean(condition))
    loop.set_function(Model(results, [*parameters, round_, *inner.captures.values()]))
    for parameter, k, result in zip(parameters, live, results[1:], strict=True):
        shape = shapes[k]
        assert shape is not None  # that of a value that is no array without elements
        loop.set_merged_input(parameter, opened(_output(before[k]), shape, seen), result.output(0))
    for name, parameter in inner.captures.items():
        loop.set_invariant_input(parameter, _outer(scope, name))
    loop.set_special_body_ports([len(parameters), 0])
    for result in results[1:]:
        loop.get_iter_value(result.output(0), -1)
    loop.validate_and_infer_types()
    values: list[Value | None] = [None] * len(names)
    for k, i in enumerate(carried):
        values[i] = loop.output(live.index(k)) if k in live else before[k]
    return values


CONTROL_FLOW: dict[str, BlockConverter] = {"if": if_, "while": while_}


def _carried(translator: Translator, body: Block, names: Sequence[str]) -> list[int]:
    """The positions of the loop's values that are read after it, or needed by what is."""
    carried = {i for i, name in enumerate(names) if translator.is_used(name)}
    while True:
        _, read = prune(body, [body.outputs[0], *(body.outputs[i + 1] for i in carried)])
        more = {i for i, name in enumerate(body.inputs) if name in read} - carried
        if not more:
            return sorted(carried)
        carried |= more


def _find(translator: Translator, scope: Scope, name: str) -> Value:
    return scope.find(name) or translator.placeholder(name)


def _outer(scope: Scope, name: str) -> Output:
    value = scope.find(name)
    assert value is not None  # an inner block captured it from there
    return _output(value)


def _output(value: Value) -> Output:
    if isinstance(value, EmptyArray):
        raise ValueError("a tensor array that nothing was written to has no tensor")
    return value.constant().output(0) if isinstance(value, Known) else value


def _output_like(value: Value, other: Value) -> Output:
    if isinstance(value, EmptyArray):
        return _output(_no_elements(other, ops.constant([1], Type.i64)))
    if _is_undefined(value) and not isinstance(other, EmptyArray) and not _is_undefined(other):
        return _undefined_like(_output(other))
    return _output(value)


def _require_one_rank(operator: Operator, name: str, results: Sequence[Node]) -> None:
    """Refuses branches whose results differ in rank: OpenVINO's CPU plugin compiles no If with them."""
    ranks = [result.get_output_partial_shape(0).rank for result in results]
    if all(rank.is_static for rank in ranks) and ranks[0] != ranks[1]:
        counts = " and ".join(str(rank.get_length()) for rank in ranks)
        raise OpConversionError(
            operator.place, f"its branches give '{name}' {counts} dimensions; OpenVINO wants one rank of both"
        )


_UNDEFINED = np.float32(1.77113e27)
"""`RETURN_NO_VALUE_MAGIC_NUM` of `paddle/jit/dy2static/utils.py`, in a tensor of shape [1]."""


def _is_undefined(value: Value) -> bool:
    """Whether this is what dygraph-to-static puts where a branch leaves a variable undefined."""
    if not isinstance(value, Known) or value.array.shape != (1,):
        return False
    array = value.values()
    return bool(array.dtype.kind == "f" and np.float32(array[0]) == _UNDEFINED)


def _undefined_like(other: Output) -> Output:
    """A stand-in of the type and rank of the other branch's value; the program's source never reads it."""
    shape, kind = other.get_partial_shape(), other.get_element_type()
    ones = [1] * (len(shape) if shape.rank.is_static else 1)
    number = float(_UNDEFINED) if kind in (Type.f32, Type.f64) else 0
    return ops.broadcast(ops.constant(number, kind), ops.constant(ones, Type.i64)).output(0)


def _no_elements(array: Value, size: Node) -> Value:
    """An array without elements, of the type of `array`; `size` stands for dimensions that are not known."""
    output = _output(array)
    shape = output.get_partial_shape()
    if shape.rank.is_dynamic:
        raise ValueError("a tensor array whose elements have no known rank")
    dims = [ops.constant([int(dim.get_length())], Type.i64) if dim.is_static else size for dim in list(shape)[1:]]
    zero = ops.constant(0, output.get_element_type())
    return ops.broadcast(zero, ops.concat([ops.constant([0], Type.i64), *dims], 0)).output(0)


def _some_size(scope: Scope, before: Sequence[Value], inner: Scope) -> Node:
    """A size that only the run shows, of a value that enters the loop.

    An array without elements may have any size of element. A known one, however, would be taken for the size of all the
    elements that the loop adds.
    """
    entering = [value for value in before if isinstance(value, Output)]
    entering += [_outer(scope, name) for name in inner.captures]
    for value in entering:
        shape = value.get_partial_shape()
        for axis, dim in enumerate(shape if shape.rank.is_static else ()):
            if dim.is_dynamic:
                size = ops.shape_of(value, Type.i64)
                return ops.gather(size, ops.constant([axis], Type.i64), ops.constant(0, Type.i64))
    return ops.constant([1], Type.i64)


def _boolean(value: Value) -> Output:
    output = _output(value)
    if output.get_element_type() != Type.boolean:
        output = ops.convert(output, Type.boolean).output(0)
    if output.get_partial_shape().is_dynamic:  # the CPU plugin takes one element, and must know that there is one
        output = ops.reshape(output, ops.constant([1], Type.i64), False).output(0)
    return output


def _kept(value: Output, condition: Value) -> Output:
    """A copy of an If's result, where the run decides its size.

    Seen with the masks of SOLOv2: on the first run, and on that alone, the CPU plugin hands on zeros in place of the
    result. It does not where an operator follows that copies it and whose size depends on values, like this slice up to
    an end that is computed from the condition.
    """
    shape = value.get_partial_shape()
    if shape.is_static or shape.rank.is_dynamic:
        return value
    one = ops.maximum(ops.convert(_boolean(condition), Type.i64), ops.constant(1, Type.i64))
    end = ops.multiply(
        ops.gather(ops.shape_of(value, Type.i64), ops.constant([0], Type.i64), ops.constant(0, Type.i64)),
        ops.reshape(one, ops.constant([1], Type.i64), False),
    )
    first, step = ops.constant([0], Type.i64), ops.constant([1], Type.i64)
    return ops.slice(value, first, end, step, ops.constant([0], Type.i64)).output(0)


def _shape(value: Value, shape: PartialShape | None) -> PartialShape:
    return shape if shape is not None else _output(value).get_partial_shape()
