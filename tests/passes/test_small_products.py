"""Constants of the columns after products of small matrices, for which OpenVINO has a kernel of its own."""

import itertools

import numpy as np
import pytest
from openvino import Model
from openvino import opset16 as ops

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph, run_rewrites
from paddle2ov.passes.workarounds.avoid_small_product_post_ops import avoid_small_product_post_ops
from paddle2ov.workarounds import rewrites_for
from tests.support.passes_checks import parameter, random
from tests.support.random_graphs import node_by_node

ROW, OTHER, TWO = random(2), random(1, 2), np.float32(2)
FOLLOWING = {
    "factor": (1, lambda y: ops.multiply(ops.relu(y), ROW)),
    "addend": (1, lambda y: ops.add(ops.multiply(ops.tanh(y), TWO), ROW)),
    "constant first": (1, lambda y: ops.subtract(ops.constant(OTHER), ops.sigmoid(y))),
    "divisor": (1, lambda y: ops.divide(ops.elu(y, 1.0), np.abs(OTHER) + 1)),
    "normalization": (2, lambda y: ops.add(ops.multiply(ops.clamp(y, -1.0, 1.0), OTHER), ROW)),
    "between factors": (2, lambda y: ops.multiply(ops.swish(ops.multiply(y, ROW), np.float32(1)), OTHER)),
}


def product(sizes, lead, known, following):
    """What makes the model, its inputs, and how many constants there are."""
    m, k = sizes
    shapes = [(*lead, m, k), (*lead, k, 2)]
    count, follow = FOLLOWING[following]

    def build():
        x, y = (
            parameter(*(size if keep else -1 for size, keep in zip(shape, known, strict=False))) for shape in shapes
        )
        return Model([follow(ops.matmul(x, y, False, False))], [x, y])

    return build, [random(*shape) for shape in shapes], count


@pytest.mark.parametrize("following", FOLLOWING)
@pytest.mark.parametrize("lead", [(), (3,), (2, 2)], ids=str)
@pytest.mark.parametrize("sizes", [*itertools.product((1, 2), repeat=2), (3, 2), (2, 3)], ids=str)
def test_columns(sizes, lead, following):
    build, arrays, count = product(sizes, lead, [True] * 4, following)
    model = build()
    want = node_by_node(model.clone(), arrays)[0]
    assert avoid_small_product_post_ops(Graph(model)) == {
        "constants": count if max(sizes) == 2 or sizes == (1, 1) else 0
    }
    compiled = compile_on_cpu(model)
    for _ in range(2):
        np.testing.assert_allclose(compiled(arrays)[0], want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("following", FOLLOWING)
@pytest.mark.parametrize("known", itertools.product((True, False), repeat=3), ids=str)
def test_columns_of_unknown_sizes(known, following):
    """Fixed afterwards as well."""
    build, arrays, _ = product((2, 2), (3,), known, following)
    model = build()
    want = node_by_node(model.clone(), arrays)[0]
    run_rewrites(model, rewrites_for())
    np.testing.assert_allclose(compile_on_cpu(model)(arrays)[0], want, rtol=1e-5, atol=1e-5)
    model.reshape({port: list(array.shape) for port, array in zip(model.inputs, arrays, strict=True)})
    np.testing.assert_allclose(compile_on_cpu(model)(arrays)[0], want, rtol=1e-5, atol=1e-5)


def test_rows_that_stay():
    x, y = parameter(3, 2, 2), parameter(3, 2, 2, name="y")
    out = ops.multiply(ops.relu(ops.matmul(x, y, False, False)), random(3, 1, 1))
    assert avoid_small_product_post_ops(Graph(Model([out], [x, y]))) == {"constants": 0}
