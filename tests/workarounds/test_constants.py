"""Nodes over constants."""

import numpy as np
import pytest
from openvino import Model, opset16 as ops

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import compare, convolved, parameter, random, repeated, stays, transpose

ONE, HALF = np.float32(1), np.float32(0.5)


IMAGE, KERNEL = random(2, 3, 6, 6), random(3, 3, 1, 1)
REGION = np.array([[0, 0, 2, 2]], np.float32)
STATE, INPUT, RECURRENT, BIAS = random(2, 1, 8), random(1, 24, 6), random(1, 24, 8), random(1, 24)


def recurrent(x):
    x = ops.reshape(x, np.array([2, 18, 6]), False)
    lengths = np.array([18, 18])
    node = ops.gru_sequence(x, *map(ops.constant, (STATE, lengths, INPUT, RECURRENT, BIAS)), 8, "forward")
    return ops.reshape(node.output(0), np.array([2, 3, 6, 8]), False)


LAYERS = {
    "convolution": lambda x: convolved(x, KERNEL),
    "two": lambda x: convolved(ops.relu(convolved(x, KERNEL)), KERNEL),
    "pooling": lambda x: ops.avg_pool(x, [1, 1], [0, 0], [0, 0], [2, 2], True, dilations=[1, 1]),
    "recurrent": recurrent,
    "neighbours": lambda x: ops.lrn(x, np.array([1]), 1.0, 1.0, 1.0, 3),
    "searched": lambda x: ops.convert(ops.bucketize(x, ops.constant(np.array([-0.5, 0.5], np.float32))), "f32"),
    "regions": lambda x: ops.roi_align(x, ops.constant(REGION), ops.constant(np.array([1])), 2, 2, 2, 1.0, "avg"),
    "remainder": lambda x: ops.mod(x, ops.constant(HALF)),
    "accumulated": lambda x: ops.cum_sum(x, np.int64(1)),
    "reversed": lambda x: ops.reverse_sequence(x, np.array([2, 3]), 0, 1),
}


def image_of(layer):
    return layer(ops.constant(IMAGE)).get_output_shape(0)


@pytest.mark.parametrize("name", LAYERS)
def test_compute_constants(name):
    """In the second run as in the first, in every precision."""
    layer = LAYERS[name]
    compare(
        row("constants.compute"),
        lambda x: ops.add(layer(ops.constant(IMAGE)), x),
        image_of(layer),
        sites=1,  # of two layers, each run computes what the second one reads
        rounded=0.02,
    )


@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
def test_compute_constants_fails_to_match(layer):
    """A layer that reads what differs between runs, directly or through another."""
    assert stays(row("constants.compute"), lambda x: layer(ops.add(ops.constant(IMAGE), x)), IMAGE.shape)


@pytest.mark.parametrize("factor", [None, 0.5], ids=["known shape", "dynamic shape"])
def test_compute_constants_leaves_unknown_indices_to_each_run(factor):
    """Elements of a constant that a mask finds; what is computed of them does not overwrite them."""
    values = np.arange(8, dtype=np.float32).reshape(2, 4) - 3

    def build(x):
        table = ops.constant(values) if factor is None else ops.divide(ops.constant(values / 2), np.float32(factor))
        indices = ops.transpose(ops.non_zero(ops.less(np.float32(0), table)), np.array([1, 0]))
        total = ops.reduce_sum(ops.gather_nd(table, indices), np.array([0]), False)
        return ops.add(total, ops.reduce_sum(x, np.array([0]), False))

    runs = [[np.full(1, number, np.float32)] for number in (1, 2, 4, 1)]
    compare(row("constants.compute"), build, (1,), runs=runs)


def test_constants_that_can_be_evaluated_are_constants():
    """Such as the mask of shifted windows."""
    bounds = [np.array(value) for value in ([0, 0], [-2, -2], [1, 1], [1, 2])]
    rows = np.arange(80, dtype=np.float32).reshape(1, 8, 10)
    corner = ops.broadcast(np.float32(7), np.array([1, 6, 8]))
    mask = transpose(ops.slice_scatter(ops.slice_scatter(rows, corner, *bounds), corner, *bounds), 0, 2, 1)
    x = parameter(1, 10, 8)
    model = Model([ops.add(x, mask)], [x])
    assert row("constants.compute")(Graph(model)) == {"sites": 2}
    assert "SliceScatter" not in {node.get_type_name() for node in model.get_ops()}
    rows[:, :6, :8] = 7
    result = compile_on_cpu(model)([np.zeros((1, 10, 8), np.float32)])[0]
    np.testing.assert_array_equal(result, rows.transpose(0, 2, 1))


LEFT, RIGHT = np.array([-1.5, 2, 3, 4], np.float32), np.array([1, 5, 1, 2], np.float32)


@pytest.mark.parametrize(("axis", "index"), [(0, [0, 3]), (0, [[0], [3]]), (-2, [1, 0, 3]), (0, [2])])
@pytest.mark.parametrize("kind", [np.float32, np.int64])
def test_scatter_update_of_constants(axis, index, kind):
    data = np.arange(16).reshape(4, 4, 1).astype(kind)
    index = np.array(index)
    first = axis % 3
    updates = 100 + np.arange(index.size * 4).reshape(*data.shape[:first], *index.shape, *data.shape[first + 1 :])
    x = ops.parameter([1], kind)
    written = ops.scatter_update(ops.constant(data), index, ops.constant(updates.astype(kind)), np.int64(axis))
    model = Model([ops.add(written, x)], [x])
    assert row("constants.compute")(Graph(model)) == {"sites": 1}
    want = np.moveaxis(data.copy(), first, 0)
    rows = updates.reshape(*data.shape[:first], index.size, *data.shape[first + 1 :])
    want[index.reshape(-1)] = np.moveaxis(rows, first, 0)
    for _ in range(2):
        got = compile_on_cpu(model)([np.ones(1, kind)])[0]
        np.testing.assert_array_equal(got, np.moveaxis(want, 0, first) + 1)


def test_constants_of_long_chains_are_left_to_each_run():
    """Evaluating them would take more calls in one another than Python has."""

    def build(x):
        table = ops.constant(IMAGE)
        for _ in range(600):
            table = ops.add(table, ONE)
        return ops.add(ops.roll(table, np.array([1]), np.array([3])), x)

    compare(row("constants.compute"), build, IMAGE.shape, sites=1)


def test_polynomials_of_float64_constants():
    """Compiling them never ended."""
    values = np.linspace(-2, 2, 12).reshape(3, 4)

    def build(x):
        square = ops.multiply(ops.constant(values), ops.constant(values))
        inner = ops.add(ops.multiply(np.float64(0.5), square), np.float64(-0.25))
        return ops.add(ops.convert(ops.multiply(inner, square), "f32"), x)

    compare(row("constants.compute"), build, (1,), sites=4)


@pytest.mark.parametrize("inputs", [0, 1])
def test_loop_over_constants_that_is_run_again(inputs):
    """What a loop makes of constants, then changed in place: in every run the same."""
    left, right = (ops.constant(item).output(0) for item in (LEFT, RIGHT))
    out = repeated(3, lambda state, step: ops.add(state, ops.tanh(step)), left, right)
    x = [parameter(4)][:inputs]
    model = Model([ops.add(ops.multiply(out, np.float32(2)), x[0]) if x else ops.multiply(out, np.float32(2))], x)
    assert row("constants.computed_once")(Graph(model)) == {"sites": 2}
    compiled = compile_on_cpu(model)
    request = compiled.create_infer_request()
    for _ in range(3):
        got = request.infer([np.zeros(4, np.float32)][:inputs])[0]
        np.testing.assert_allclose(got, 2 * (LEFT + 3 * np.tanh(RIGHT)), rtol=1e-5)
