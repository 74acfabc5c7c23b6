"""Loops that converters build, over a number of slices known at run time only."""

import itertools

import numpy as np
import pytest
from openvino import Model, Node, PartialShape, Type

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.converters.graph.loops import loop, scan
from paddle2ov.graph.bodies import bodies_of, walk
from paddle2ov.graph.guards import empty_constants
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.types import constant
from paddle2ov.passes import REWRITES, run_rewrites


@pytest.fixture(autouse=True)
def _nothing_seen():
    """Nodes are checked, and bodies not kept, where something without elements was made before, as in other tests."""
    empty_constants.seen = False


def test_bodies_that_are_kept_hold_each_integer_once():
    """Not so other constants: those of one reader are fused into it."""

    def step(iteration, state, invariants):
        turned = ops.transpose(ops.transpose(state[0], ints([1, 0])), ints([1, 0]))
        return [ops.multiply(ops.multiply(turned, np.float32(2)), np.float32(2))], None

    x = ops.parameter([2, 3], Type.f32)
    outputs = [loop(ints(i), [x], [], step, template="shared")[0] for i in (1, 2)]
    for output in outputs:
        (body,) = bodies_of(output.get_node())
        constants = [node for node in body.get_ops() if node.get_type_name() == "Constant"]
        assert sum(constant.get_element_type() == Type.i64 for constant in constants) == 1
        assert sum(constant.get_element_type() == Type.f32 for constant in constants) == 2
    results = compile_on_cpu(Model(outputs, [x]))([np.ones((2, 3), np.float32)])
    for i, factor in enumerate((4, 16)):
        np.testing.assert_array_equal(results[i], np.full((2, 3), factor, np.float32))


@pytest.mark.parametrize("axis", [0, 1])
def test_scan_takes_each_slice_and_none_where_there_is_none(axis):
    x = ops.parameter(PartialShape([-1, -1, 3]), Type.f32)
    start = ops.parameter(PartialShape([3]), Type.f32)

    def step(slices, state, invariants):
        total = ops.add(state[0], ops.squeeze(slices[0], ints([0, 1])))
        return [total], [ops.unsqueeze(total, ints([0, 1]))]

    compiled = compile_on_cpu(Model(scan(axis, [x], [start], [], step), [x, start]))
    for count in (4, 0, 2, 11):
        array = np.arange(count * 3, dtype=np.float32).reshape([*np.roll([count, 1], axis), 3])
        (sums,) = compiled([array, np.ones(3, np.float32)]).values()
        np.testing.assert_array_equal(sums, 1 + array.cumsum(axis))


def test_a_body_that_was_built_before_is_cloned():
    """A body is built once for each template and type; nodes of the clones have names of their own."""
    built = []

    def step(iteration, state, invariants):
        built.append(state[0].get_element_type())

        def inner(iteration, state, invariants):
            return [ops.add(state[0], invariants[0])], None

        return loop(ints(2), state, invariants, inner), None

    x = {kind: ops.parameter([2], kind) for kind in (Type.f32, Type.f64)}
    kinds = [Type.f32, Type.f32, Type.f64, Type.f32, Type.f64]
    outputs = [loop(ints(i), [x[kind]], [x[kind]], step, template="test") for i, kind in enumerate(kinds)]
    assert built == [Type.f32, Type.f64]
    model = Model(list(itertools.chain(*outputs)), list(x.values()))
    names = [node.get_friendly_name() for node in walk(model)]
    assert len(names) == len(set(names))
    results = compile_on_cpu(model)([np.array([1, 2], np.float32), np.array([3, 4], np.float64)])
    for i, kind in enumerate(kinds):
        np.testing.assert_array_equal(results[i], (1 + 2 * i) * np.array([3, 4] if kind == Type.f64 else [1, 2]))


@pytest.mark.parametrize("template", [None, "neutral"])
def test_rewrites_leave_bodies_as_they_are_that_are_kept(template):
    x = ops.parameter([2, 3], Type.f32)

    def step(iteration, state, invariants):
        return [ops.relu(ops.transpose(ops.transpose(state[0], ints([1, 0])), ints([1, 0])))], None

    (result,) = loop(ints(3), [x], [], step, template)
    run_rewrites(Model([result], [x]), REWRITES)
    (body,) = bodies_of(result.get_node())
    assert ("Transpose" in map(Node.get_type_name, body.get_ops())) == (template is not None)


def test_weights_in_a_body_are_those_outside():
    """No copies: a recurrent layer's weights, or its parts, are as large as the model."""
    array = np.arange(24, dtype=np.float32).reshape(6, 4)
    flat = ops.reshape(constant(array), ints([-1]), False)
    first, second = ops.variadic_split(flat, ints(0), ints([16, 8])).outputs()
    weights = [constant(array), ops.reshape(first, [4, 4], False), ops.reshape(second, [2, 4], False)]
    x = ops.parameter([5, 4], Type.f32)

    def step(slices, state, weights):
        after = ops.matmul(ops.add(state[0], slices[0]), weights[1], False, False)
        return [after], [ops.matmul(after, ops.concat([weights[0], weights[2]], 0), False, True)]

    (result,) = scan(0, [x], [ops.constant(np.zeros((1, 4), np.float32))], weights, step)
    del flat, first, second, weights
    (body,) = bodies_of(result.get_node())
    inside = [node.get_data() for node in body.get_ops() if node.get_type_name() == "Constant"]
    inside = [values for values in inside if values.dtype == np.float32]
    assert [values.shape for values in sorted(inside, key=np.size)] == [(2, 4), (4, 4), (6, 4)]
    assert all(np.shares_memory(values, array) for values in inside)
    state, expected = np.zeros(4), []
    data = np.linspace(0, 1e-3, 20, dtype=np.float32).reshape(5, 4)
    for row in data:
        state = (state + row) @ array[:4]
        expected.append(np.concatenate([array, array[4:]]) @ state)
    np.testing.assert_allclose(compile_on_cpu(Model([result], [x]))([data])[0], expected, rtol=1e-5)
