"""Functions whose small values OpenVINO computes with an absolute error only."""

import math

import numpy as np
import pytest
from openvino import opset16 as ops

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import model_of, stays

ONE, HALF = np.float32(1), np.float32(0.5)


EXTREME = (-np.inf, np.inf, np.nan, 100)
NUMBERS = np.array([-60, -30, -9, -1e-3, -1e-7, -1e-30, 0, 1e-30, 1e-7, 1e-3, 0.4, 0.6, 3, *EXTREME], np.float32)


REFINED = {
    "erf": (ops.erf, math.erf),
    "erf, scaled": (lambda x: ops.multiply(ops.erf(x), np.float32(2)), lambda x: 2 * math.erf(x)),
    "erf, selected": (lambda x: ops.select(ops.less(x, ONE), ops.erf(x), x), lambda x: math.erf(x) if x < 1 else x),
    "softplus": (ops.softplus, lambda x: math.log1p(math.exp(x))),
    "log": (lambda x: ops.log(ops.add(ops.exp(x), ONE)), lambda x: math.log1p(math.exp(x))),
    "log, 1 first": (lambda x: ops.log(ops.add(ONE, ops.exp(x))), lambda x: math.log1p(math.exp(x))),
    "tanh": (lambda x: ops.tanh(ops.softplus(x)), lambda x: math.tanh(math.log1p(math.exp(x)))),
}


@pytest.mark.parametrize("size", [-1, len(NUMBERS)])
def test_refine_functions(size):
    """All as parts of one model."""
    model = model_of(lambda x: [build(x) for build, _ in REFINED.values()], (size,))
    assert row("functions.small_values")(Graph(model)) == {"sites": len(REFINED)}
    for name, got in zip(REFINED, compile_on_cpu(model)([NUMBERS]).values(), strict=True):
        wanted = np.array([REFINED[name][1](float(item)) for item in NUMBERS])
        np.testing.assert_allclose(got, wanted, rtol=2e-6, err_msg=name)


def gelu(x):
    return ops.multiply(x, ops.multiply(ops.add(ops.erf(ops.multiply(x, np.float32(0.5**0.5))), ONE), HALF))


KEPT = {
    "gelu": gelu,
    "gelu, factor first": lambda x: ops.multiply(x, ops.add(ops.multiply(ops.erf(x), HALF), HALF)),
    "mish": lambda x: ops.multiply(x, ops.tanh(ops.softplus(x))),
    "mish of a logarithm": lambda x: ops.multiply(ops.tanh(ops.log(ops.add(ops.exp(x), ONE))), x),
    "another sum": lambda x: ops.log(ops.add(ops.exp(x), np.float32(2))),
    "another power": lambda x: ops.log(ops.add(ops.relu(x), ONE)),
}


@pytest.mark.parametrize("build", KEPT.values(), ids=KEPT)
def test_refine_functions_fails_to_match(build):
    assert stays(row("functions.small_values"), build, [len(NUMBERS)])
