"""Random attentions compute the same after all rewrites as their nodes one by one, in float32 and in bfloat16.

Of a few lengths and head sizes, known or not, with what networks have between the product and the softmax: scales,
masks of any rank that are constants or inputs, choices, several of them.
"""

import numpy as np
import pytest
from openvino import Model, Type, opset16 as ops

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import run_rewrites
from paddle2ov.workarounds import rewrites_for
from tests.support.passes_checks import node_by_node

SEEDS = 40


def pytest_generate_tests(metafunc):
    metafunc.parametrize("seed", range(metafunc.config.getoption("--seeds") or SEEDS))


class Maker:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.parameters, self.inputs = [], []
        self.unknown = self.among("nothing", "batch", "all")
        self.lead = [self.among(1, 2, 3)] + [self.among(1, 2, 4)] * self.among(0, 1, 1, 1)
        self.queries, self.keys, self.size = (
            self.among(1, 2, 5, 17),
            self.among(1, 2, 5, 17),
            self.among(1, 2, 8, 16, 20),
        )

    def among(self, *choices):
        return choices[int(self.rng.integers(len(choices)))]

    def numbers(self, *shape):
        return self.rng.standard_normal(shape, np.float32)

    def input(self, array):
        """A Parameter that is fed with the array."""
        dims = [
            -1 if self.unknown == "all" or (self.unknown == "batch" and axis == 0 and array.ndim > 2) else size
            for axis, size in enumerate(array.shape)
        ]
        self.parameters.append(ops.parameter(dims, array.dtype))
        self.inputs.append(array)
        return self.parameters[-1]

    def mask_shape(self):
        """Some of the last axes of the scores, each whole or of one element."""
        full = [*self.lead, self.queries, self.keys]
        return [self.among(1, size) for size in full[int(self.rng.integers(len(full) + 1)) :]]

    def step(self, scores):
        """The scores after one more node, mostly with a mask.

        Constants tell no size that the scores leave open: conversion would put it on the inputs.
        """
        mask = whole = self.numbers(*self.mask_shape())
        if self.unknown == "all":
            mask = mask[(slice(1),) * mask.ndim]
        return self.among(
            lambda: ops.add(scores, mask),
            lambda: ops.add(ops.constant(mask), scores),
            lambda: ops.add(scores, self.input(whole)),
            lambda: ops.subtract(scores, mask),
            lambda: ops.subtract(ops.constant(mask), scores),
            lambda: ops.multiply(scores, np.float32(self.among(0.3, 0.5, 2))),
            lambda: ops.divide(scores, np.abs(mask) + np.float32(1)),
            lambda: ops.multiply(scores, np.sign(mask)),
            lambda: ops.relu(scores),
            lambda: ops.select(ops.constant(mask > -0.5), scores, np.float32(-30)),
            lambda: ops.select(self.input(whole > -0.5), scores, np.float32(-30)),
        )()

    def model(self):
        rank = len(self.lead) + 2
        q, k, v = (
            self.input(self.numbers(*self.lead, count, self.size)) for count in (self.queries, self.keys, self.keys)
        )
        turned = [*range(rank - 2), rank - 1, rank - 2]
        scores = self.among(
            lambda: ops.matmul(q, k, False, True),
            lambda: ops.matmul(q, ops.transpose(k, np.array(turned)), False, False),
            lambda: ops.matmul(ops.multiply(q, np.float32(0.5)), k, False, True),
        )()
        for _ in range(self.among(0, 1, 1, 2, 3, 4)):
            scores = self.step(scores)
        y = ops.matmul(ops.softmax(scores, self.among(-1, rank - 1)), v, False, False)
        if rank == 4 and self.among(True, False):
            y = ops.reshape(ops.transpose(y, np.array([0, 2, 1, 3])), np.array([0, 0, -1]), True)
        return Model([y], self.parameters), self.inputs


@pytest.mark.one_in(4)
def test_random_attention(seed):
    model, inputs = Maker(seed).model()
    (want,) = node_by_node(model, inputs)
    run_rewrites(model, rewrites_for())
    assert model.output(0).get_element_type() == Type.f32
    np.testing.assert_allclose(compile_on_cpu(model)(inputs)[0], want, rtol=1e-4, atol=1e-5)
    request = compile_on_cpu(model, "bf16").create_infer_request()
    for _ in range(2):
        actual = request.infer(inputs)[0]
        assert actual.shape == want.shape
        assert np.square(actual - want).mean() < 0.06**2 * np.square(want).mean()


@pytest.fixture(autouse=True)
def _quiet(caplog):
    caplog.set_level("ERROR")
