"""Constants of more axes than what they are added to, or multiplied with: the result has them all."""

import numpy as np
import pytest

import paddle2ov
from gen_models.harness.spec import paddle
from tests.support.models import save_program

WEIGHTS = np.linspace(-1, 1, 36, dtype=np.float32).reshape(6, 6)


def constant(*shape):
    return paddle.assign(np.linspace(1, 2, np.prod(shape), dtype=np.float32).reshape(shape))


def norm(x):
    return x * paddle.rsqrt(paddle.mean(x * x, -1, keepdim=True) + 1e-3)


LAYERS = {
    "bias": lambda x: paddle.matmul(x, paddle.assign(WEIGHTS)) + constant(1, 1, 6),
    "bias first": lambda x: constant(1, 1, 1, 6) - paddle.matmul(x, paddle.assign(WEIGHTS)),
    "bias of rows": lambda x: paddle.matmul(x, paddle.assign(WEIGHTS)) + constant(1, 3, 6),
    "weight of a norm": lambda x: norm(x) * constant(1, 1, 6),
    "number after a transpose": lambda x: paddle.transpose(x, [1, 0]) * paddle.full([1, 1, 1], 2.0),
    "row after a transpose": lambda x: paddle.transpose(x, [1, 0]) + constant(1, 1, 3),
}


@pytest.mark.parametrize("dims", [[3, 6], [-1, 6]], ids=str)
@pytest.mark.parametrize("layer", LAYERS)
def test_a_constant_of_more_axes(tmp_path, layer, dims):
    path = save_program(tmp_path, LAYERS[layer], x=dims)
    assert paddle2ov.verify(path, inputs={"x": WEIGHTS[:3]}).verdict == "agree"
