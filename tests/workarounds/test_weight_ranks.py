"""RMS norms by hand and linear layers, whose weight or bias has more axes than the data."""

import numpy as np
import pytest
from openvino import opset16 as ops

from paddle2ov.workarounds.table import row
from tests.support.passes_checks import all_rewrites, compare, of_rows, random, stays

ONE, TWO, HALF, EPSILON = np.float32(1), np.float32(2), np.float32(0.5), np.float32(1e-3)
SHAPES = [[(3, 8)]]


def deviation(x, square=lambda x: ops.power(x, TWO)):
    return ops.sqrt(ops.add(ops.reduce_mean(square(x), np.array([-1]), True), EPSILON))


FORMS = {
    "power": lambda x: ops.multiply(x, ops.power(deviation(x), -ONE)),
    "quotient": lambda x: ops.divide(x, deviation(x)),
    "inverse": lambda x: ops.multiply(x, ops.divide(ONE, deviation(x))),
    "product": lambda x: ops.divide(x, deviation(x, lambda x: ops.multiply(x, x))),
}


def check(build, dims, sites):
    """A model after this rewrite alone, and after all."""
    compare(row("moved.weight_of_higher_rank"), build, dims, sites=sites, shapes=SHAPES)
    compare(all_rewrites, build, dims, shapes=SHAPES)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("dims", [(3, 8), (-1, 8), (-1, -1)], ids=str)
@pytest.mark.parametrize("shape", [(1, 1, 8), (1, 1, 1, 8), (1, 3, 8), (1, 1, 1), (1, 3, 1), (2, 1, 8)], ids=str)
def test_weights_of_higher_rank(form, dims, shape):
    step, weight = 1 if form in ("power", "product") else -1, random(*shape)
    check(lambda x: ops.multiply(*[ops.constant(weight), FORMS[form](x)][::step]), dims, int(shape[0] == 1))


WEIGHTS, ROW = random(8, 8), random(8)
LAYERS = {
    "bias": lambda x, c: ops.add(ops.matmul(x, WEIGHTS, False, False), c),
    "bias first": lambda x, c: ops.add(c, ops.matmul(x, WEIGHTS, False, True)),
    "less": lambda x, c: ops.subtract(c, ops.matmul(x, WEIGHTS, False, False)),
    "scaled": lambda x, c: ops.add(ops.multiply(ops.matmul(x, WEIGHTS, False, False), ROW), c),
    "factor": lambda x, c: ops.multiply(ops.add(ops.matmul(x, WEIGHTS, False, False), ROW), c),
    "quotient of a norm": lambda x, c: ops.divide(FORMS["power"](x), c),
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("layer", LAYERS, ids=str)
@pytest.mark.parametrize("dims", [(3, 8), (-1, 8)], ids=str)
@pytest.mark.parametrize("shape", [(1, 1, 8), (1, 1, 1, 8), (1, 3, 8), (1, 1, 1)], ids=str)
def test_biases_of_higher_rank(layer, dims, shape):
    constant = np.abs(random(*shape)) + 1
    check(lambda x: LAYERS[layer](x, ops.constant(constant)), dims, 1)


STAYS = {
    "moved.weight_of_higher_rank": {
        name: (lambda x, out=out: [out(x), ops.reduce_mean(x, np.array([1]), True)], (3, 8))
        for name, out in {
            "of the same rank": lambda x: ops.multiply(FORMS["power"](x), random(8)),
            "activation between": lambda x: ops.multiply(ops.relu(FORMS["power"](x)), random(1, 1, 8)),
            "no norm": lambda x: ops.multiply(ops.multiply(x, HALF), random(1, 1, 8)),
            "softmax": lambda x: ops.multiply(ops.softmax(x, -1), random(1, 1, 8)),
        }.items()
    },
}


@pytest.mark.parametrize(("name", "build", "dims"), of_rows(STAYS))
def test_stays(name, build, dims):
    assert stays(row(name), build, *dims)
