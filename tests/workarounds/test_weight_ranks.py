"""RMS norms by hand and linear layers, whose weight or bias has more axes than the data."""

import functools

import numpy as np
import pytest
from openvino import Model
from openvino import opset16 as ops

from paddle2ov.comparison.evaluator import node_by_node
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph, run_rewrites
from paddle2ov.workarounds import rewrites_for
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import parameter, random

ONE, TWO, HALF, EPSILON = np.float32(1), np.float32(2), np.float32(0.5), np.float32(1e-3)


def deviation(x, square):
    return ops.sqrt(ops.add(ops.reduce_mean(square(x), np.array([-1]), True), EPSILON))


def squared(x):
    return ops.power(x, TWO)


FORMS = {
    "power": lambda x: ops.multiply(x, ops.power(deviation(x, squared), -ONE)),
    "quotient": lambda x: ops.divide(x, deviation(x, squared)),
    "inverse": lambda x: ops.multiply(x, ops.divide(ONE, deviation(x, squared))),
    "product": lambda x: ops.divide(x, deviation(x, lambda x: ops.multiply(x, x))),
}


def check(build, expected):
    """A model after this rewrite alone, and after all."""
    data, want = expected
    for rewrites in ((row("moved.weight_of_higher_rank"),), rewrites_for()):
        model = build()
        run_rewrites(model, rewrites)
        actual = compile_on_cpu(model)([data])[0]
        assert actual.shape == want.shape
        np.testing.assert_allclose(actual, want, rtol=1e-5, atol=1e-5)


@functools.cache
def expected_of(build):
    data = random(3, 8)
    return data, node_by_node(build(3, 8), [data])[0]


@functools.cache
def norm(form, shape):
    weight = random(*shape)

    def build(*dims):
        x = parameter(*dims)
        sides = [ops.constant(weight), FORMS[form](x)]
        return Model([ops.multiply(*sides[:: 1 if form in ("power", "product") else -1])], [x])

    return build


@pytest.mark.one_in(4)
@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("dims", [(3, 8), (-1, 8), (-1, -1)], ids=str)
@pytest.mark.parametrize("shape", [(1, 1, 8), (1, 1, 1, 8), (1, 3, 8), (1, 1, 1), (1, 3, 1), (2, 1, 8)], ids=str)
def test_weights_of_higher_rank(form, dims, shape):
    build = norm(form, shape)
    assert row("moved.weight_of_higher_rank")(Graph(build(*dims))) == {"sites": int(shape[0] == 1)}
    check(lambda: build(*dims), expected_of(build))


WEIGHTS, ROW = random(8, 8), random(8)
LAYERS = {
    "bias": lambda x, c: ops.add(ops.matmul(x, WEIGHTS, False, False), c),
    "bias first": lambda x, c: ops.add(c, ops.matmul(x, WEIGHTS, False, True)),
    "less": lambda x, c: ops.subtract(c, ops.matmul(x, WEIGHTS, False, False)),
    "scaled": lambda x, c: ops.add(ops.multiply(ops.matmul(x, WEIGHTS, False, False), ROW), c),
    "factor": lambda x, c: ops.multiply(ops.add(ops.matmul(x, WEIGHTS, False, False), ROW), c),
    "quotient of a norm": lambda x, c: ops.divide(FORMS["power"](x), c),
}


@functools.cache
def layer_of(name, shape):
    constant = np.abs(random(*shape)) + 1

    def build(*dims):
        x = parameter(*dims)
        return Model([LAYERS[name](x, ops.constant(constant))], [x])

    return build


@pytest.mark.one_in(4)
@pytest.mark.parametrize("layer", LAYERS, ids=str)
@pytest.mark.parametrize("dims", [(3, 8), (-1, 8)], ids=str)
@pytest.mark.parametrize("shape", [(1, 1, 8), (1, 1, 1, 8), (1, 3, 8), (1, 1, 1)], ids=str)
def test_biases_of_higher_rank(layer, dims, shape):
    build = layer_of(layer, shape)
    assert row("moved.weight_of_higher_rank")(Graph(build(*dims))) == {"sites": 1}
    check(lambda: build(*dims), expected_of(build))


@pytest.mark.parametrize(
    "out",
    [
        lambda x: ops.multiply(FORMS["power"](x), random(8)),
        lambda x: ops.multiply(ops.relu(FORMS["power"](x)), random(1, 1, 8)),
        lambda x: ops.multiply(ops.multiply(x, HALF), random(1, 1, 8)),
        lambda x: ops.multiply(ops.softmax(x, -1), random(1, 1, 8)),
    ],
    ids=["of the same rank", "activation between", "no norm", "softmax"],
)
def test_other_products_stay(out):
    x = parameter(3, 8)
    assert row("moved.weight_of_higher_rank")(Graph(Model([out(x), ops.reduce_mean(x, np.array([1]), True)], [x]))) == {
        "sites": 0
    }
