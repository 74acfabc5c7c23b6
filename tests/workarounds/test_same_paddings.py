"""Convolutions that pad to the same size compute the same after all rewrites, whatever sizes are known."""

import itertools

import numpy as np
import openvino.opset16 as ops
import pytest
from openvino import Model

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import run_rewrites
from paddle2ov.workarounds import rewrites_for
from tests.support.passes_checks import parameter, random

SIZES: list[tuple[int, ...]] = [
    *[(6, 1), (6, 2), (1, 5), (3, 3), (1, 1)],
    *[(1, 6, 2), (3, 6, 1), (1, 1, 4), (2, 3, 3)],
]
CASES = [
    (dims, unknown, taps, stride)
    for dims in SIZES
    for unknown in itertools.product([False, True], repeat=len(dims))
    for taps in (1, 2, 3)
    for stride in (1, 2)
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("auto_pad", ["same_upper", "same_lower"])
def test_same_paddings(auto_pad, groups):
    """All cases as parts of one model, each with a result of its own."""
    inputs, arrays, results = [], [], []
    for dims, unknown, taps, stride in CASES:
        rank = len(dims)
        x = parameter(-1, 4, *(-1 if item else size for item, size in zip(unknown, dims, strict=True)))
        filters = random(*([groups] if groups > 1 else []), 4 // groups, 4 // groups, *[taps] * rank)
        convolution = ops.convolution if groups == 1 else ops.group_convolution
        none, ones = [0] * rank, [1] * rank
        inputs.append(x)
        arrays.append(random(2, 4, *dims))
        results.append(convolution(x, filters, [stride] * rank, none, none, ones, auto_pad))
    model = Model(results, inputs)
    plain = model.clone()
    run_rewrites(model, rewrites_for())
    rewritten, wanted = (list(compile_on_cpu(value)(arrays).values()) for value in (model, plain))
    for case, actual, desired in zip(CASES, rewritten, wanted, strict=True):
        np.testing.assert_allclose(actual, desired, rtol=1e-5, atol=1e-5, err_msg=str(case))
