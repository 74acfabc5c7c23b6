"""What the states of a Loop hand to each other, by every kind of node that may compute where it reads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import openvino
import pytest
from openvino import Model, Output, PartialShape, Tensor, Type

from paddle2ov.graph.loop_counters import counter_ranges
from paddle2ov.graph.loop_node import build_loop
from paddle2ov.graph.opset import ops

Step = Callable[[Output], Output]
SHAPE = [3, 4]


def _ints(*values: int | list[int]) -> openvino.Node:
    return ops.constant(np.array(values, np.int64))


def _viewed(x: Output, step: Callable[[Output], openvino.Node]) -> Output:
    flat = ops.reshape(x, _ints(-1), False)
    return ops.reshape(step(flat.output(0)), ops.shape_of(x), False).output(0)


def _scattered(x: Output) -> openvino.Node:
    return ops.scatter_update(x, _ints(1), ops.constant(np.array([0.75], np.float32)), _ints(0))


def _shifted(x: Output) -> Output:
    return ops.concat(
        [ops.slice(x, _ints(1), _ints(3), _ints(1), _ints(0)), ops.constant(np.ones((1, 4), np.float32))], 0
    ).output(0)


HALF = np.float32(0.5)
STEPS: dict[str, Step] = {
    "itself": lambda x: x,
    "abs": lambda x: ops.abs(x).output(0),
    "scaled": lambda x: ops.multiply(x, ops.constant(HALF)).output(0),
    "squared": lambda x: ops.multiply(x, x).output(0),
    "chain": lambda x: ops.tanh(ops.add(ops.abs(x), ops.constant(HALF))).output(0),
    "softmax": lambda x: ops.softmax(x, 1).output(0),
    "mvn": lambda x: ops.mvn(x, _ints(1), True, 1e-3, "INSIDE_SQRT").output(0),
    "viewed abs": lambda x: _viewed(x, ops.abs),
    "viewed chain": lambda x: _viewed(x, lambda flat: ops.tanh(ops.add(ops.abs(flat), ops.constant(HALF)))),
    "scattered": lambda x: ops.scatter_update(
        x, _ints(1), ops.constant(np.full((1, 4), 0.75, np.float32)), _ints(0)
    ).output(0),
    "viewed scatter": lambda x: _viewed(x, _scattered),
    "scattered elements": lambda x: ops.scatter_elements_update(
        x, _ints([0, 1]), ops.constant(np.array([[0.25, 0.75]], np.float32)), _ints(0)
    ).output(0),
    "scattered nd": lambda x: ops.scatter_nd_update(
        x, _ints([1, 2]), ops.constant(np.array([0.75], np.float32))
    ).output(0),
    "shifted": _shifted,
    "transposed twice": lambda x: ops.transpose(ops.abs(ops.transpose(x, _ints(1, 0))), _ints(1, 0)).output(0),
    "selected": lambda x: ops.select(ops.greater(x, ops.constant(HALF)), x, ops.constant(HALF)).output(0),
    "rounded": lambda x: ops.convert(
        ops.convert(ops.multiply(x, ops.constant(np.float32(9))), Type.i32), Type.f32
    ).output(0),
}
WAYS: dict[str, Callable[[Step, Output, Output], tuple[Output, Output]]] = {
    "the first becomes the second": lambda step, a, b: (b, step(a)),
    "the second becomes the first": lambda step, a, b: (step(b), a),
    "both change places": lambda step, a, b: (step(b), step(a)),
    "both become one": lambda step, a, b: (step(a), step(a)),
    "their sum": lambda step, a, b: (b, ops.add(step(a), b).output(0)),
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("known", [True, False], ids=["known sizes", "unknown sizes"])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_states_come_out_as_without_a_loop(
    step: Step, way: Callable[[Step, Output, Output], tuple[Output, Output]], known: bool
) -> None:
    """Three iterations are what OpenVINO evaluates for the same steps written out."""
    shape = PartialShape(SHAPE) if known else PartialShape([-1, -1])
    data = list(np.random.default_rng(0).uniform(-1, 1, [2, *SHAPE]).astype(np.float32))
    inputs = [ops.parameter(SHAPE, Type.f32) for _ in data]
    states = tuple(input_.output(0) for input_ in inputs)
    for _ in range(3):
        states = way(step, *states)
    plain = Model([ops.result(state) for state in states], inputs)
    expected = [Tensor(Type.f32, SHAPE) for _ in data]
    assert plain.evaluate(expected, [Tensor(item) for item in data])
    compiled = openvino.compile_model(_loop(step, way, shape), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    for _ in range(2):
        for actual, item in zip(compiled(data).values(), expected, strict=True):
            np.testing.assert_allclose(actual, item.data, 1e-5, 1e-5)


def _loop(step: Step, way: Callable[[Step, Output, Output], tuple[Output, Output]], shape: PartialShape) -> Model:
    current = ops.parameter([], Type.i64)
    states, starts = ([ops.parameter(shape, Type.f32) for _ in range(2)] for _ in range(2))
    results = [ops.result(item) for item in way(step, *(state.output(0) for state in states))]
    go_on = ops.constant(np.array(True))
    body = Model([ops.result(go_on), *results], [current, *states])
    carried = list(zip(states, (start.output(0) for start in starts), results, strict=True))
    loop = build_loop(ops.constant(np.array(3)).output(0), go_on.output(0), body, [0, 0], carried, [])
    return Model([ops.result(output) for output in loop.outputs()], starts)


@pytest.mark.parametrize("limit", [np.inf, np.nan])
def test_a_condition_that_limits_no_integer(limit: float) -> None:
    """`while error < float("inf")` is a loop without a counter."""
    x = ops.parameter([], Type.f32)
    assert counter_ranges([], ops.less(x, ops.constant(np.float32(limit))).output(0)) == {}
