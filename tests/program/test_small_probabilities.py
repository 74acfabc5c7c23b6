"""Softmaxes whose smallest values a program tells from 0 are Paddle's to the last; others are plain nodes."""

import numpy as np
import paddle
import paddle.nn.functional as functional
import pytest

import paddle2ov
from paddle2ov.op_table import OP_TABLE
from paddle2ov.program.small_probabilities import PASSING_ON, TELLING
from paddle2ov.testing import check_model
from tests.support.models import save_layer

LOGITS = np.array([[0, -50, -70, -1e4], [-3e4, 90, 0, -1e30], [1, 2, 3, 4]], np.float32)


def in_loop(x):
    """The next iteration takes the logarithm of what this one computes."""
    i, y = paddle.zeros([], "int64"), functional.softmax(x)
    while i < 3:
        y = functional.softmax(x - paddle.log(y))
        i += 1
    return y + 0.0 * x


def in_branch(x):
    y = functional.softmax(x)
    if x.sum() < 0:
        z = paddle.log(y)
    else:
        z = y * 2
    return z


TOLD = {
    "log": lambda x: paddle.log(functional.softmax(x)),
    "axis": lambda x: paddle.log(functional.softmax(x, 0)),
    "moved": lambda x: paddle.log2(functional.softmax(x).transpose([1, 0]).reshape([2, -1])[:, 1:]),
    "chosen": lambda x: paddle.log(paddle.gather(functional.softmax(x), paddle.to_tensor([3, 2]), 1)),
    "above": lambda x: functional.softmax(x) > 0,
    "positive": lambda x: (functional.softmax(x) * 0.5 == 0).astype("float32"),
    "indices": lambda x: paddle.nonzero(functional.softmax(x)),
    "sign": lambda x: paddle.sign(functional.softmax(x)[:, 2:]),
    "quotient": lambda x: (lambda p: p[:, 2:] / p[:, 2:].sum(-1, keepdim=True))(functional.softmax(x)),
    "entropy": lambda x: (lambda p: -(p * paddle.log(p)).sum(-1))(functional.softmax(x)),
    "in_loop": in_loop,
    "in_branch": in_branch,
}


@pytest.mark.parametrize("name", TOLD)
def test_what_is_told_from_0(name, tmp_path):
    check_model(save_layer(tmp_path, TOLD[name], x=[-1, 4]), {"x": LOGITS})


def test_logits_are_bounded_only_where_that_can_be_told(tmp_path):
    folder = save_layer(
        tmp_path, lambda x: functional.softmax(paddle.matmul(functional.softmax(x), x, transpose_y=True)), x=[-1, 4]
    )
    assert "Maximum" not in [node.get_type_name() for node in paddle2ov.convert(folder).get_ops()]


def test_the_lists_name_operators():
    assert sorted((TELLING | PASSING_ON) - OP_TABLE.keys()) == []
