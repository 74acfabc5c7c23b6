"""Random graphs compute the same after all rewrites, compiled as a whole and run twice, as their nodes one by one."""

import numpy as np
import pytest

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import run_rewrites
from paddle2ov.workarounds import rewrites_for
from tests.support.passes_checks import node_by_node
from tests.support.random_graphs import random_graph

SEEDS = 25


def pytest_generate_tests(metafunc):
    metafunc.parametrize("seed", range(metafunc.config.getoption("--seeds") or SEEDS))


@pytest.mark.one_in(4)
def test_random_graph(seed):
    check(seed)


@pytest.mark.one_in(4)
def test_with_constants_for_data(seed):
    """Learned tensors, some of them read by several nodes, stand where data that vary do."""
    check(seed, learned=0.3)


def check(seed, learned=0.0):
    model, inputs = random_graph(seed, learned)
    plain, _ = random_graph(seed, learned)
    run_rewrites(model, rewrites_for())
    for port, same in zip(model.outputs, plain.outputs, strict=True):
        assert port.get_partial_shape() == same.get_partial_shape()
    wanted = node_by_node(plain, inputs)
    request = compile_on_cpu(model).create_infer_request()
    for _ in range(2):  # what a run leaves in memory must not matter to the next
        computed = request.infer(inputs)
        for i, want in enumerate(wanted):
            largest = np.abs(want).max(initial=1)
            np.testing.assert_allclose(computed[i], want, rtol=1e-4, atol=1e-4 * largest)
