"""PIR programs that write in place to what goes by several names: as Paddle computes them, or refused."""

import numpy as np
import openvino
import pytest

import paddle2ov
from paddle2ov.errors import ModelReadError
from tests.support.models import save_layer

paddle = pytest.importorskip("paddle")
X = np.arange(6, dtype=np.float32).reshape(3, 2)
_IN_ORDER = ("FLAGS_new_executor_sequential_run", "FLAGS_new_executor_serial_run")


@pytest.fixture(autouse=True)
def in_order():
    """Paddle's threads do not see that a branch hands on what is written in place, and may read it before or after."""
    before = paddle.get_flags(list(_IN_ORDER))
    paddle.set_flags(dict.fromkeys(_IN_ORDER, True))
    yield
    paddle.set_flags(before)


def input_in_a_loop(x):
    a = x
    for i in range(paddle.shape(x)[0]):
        a[i] = a[i] + 1.0
    return a * 1, x * 1


def input_in_nested_loops(x):
    a = x
    for i in range(paddle.shape(x)[0]):
        for j in range(2):
            a[i, j] = a[i, j] + 1.0
    return a * 1, x * 1


def in_a_branch(x):
    a = x * 1
    b = a
    if x.sum() > 0:
        a[0] = 5.0
    return a * 1, b * 1


def in_a_branch_in_a_loop(x):
    a = x * 1
    for i in range(paddle.shape(x)[0]):
        if x[i].sum() > 1:
            a[i] = a[i] + 1.0
    return a * 1, x * 1


def result_of_a_branch(x):
    if x.sum() > 0:
        y = x
    else:
        y = x * 2
    y[0] = 7.0
    return y * 1


def result_of_a_loop(x):
    a = x * 1
    for _ in range(paddle.shape(x)[0]):
        a = a * 2
    a[0] = 5.0
    return a


def changing_places(x):
    a, b = paddle.assign(x), paddle.assign(x) * 2
    for i in range(paddle.shape(x)[0]):
        a[i] = 9.0
        a, b = b, a
    return a * 1, b * 1


def handed_on_twice(x):
    a, b = x * 1, x * 2
    for i in range(paddle.shape(x)[0]):
        if i < 1:
            a[:, 1:2] = a[:, 1:2] * 0.5 + 0.75
            b = a
        else:
            b = a
        a[i] = 0.875
        a = b
    return a * 1


def one_value_of_both_branches(x):
    if x.sum() > 0:
        a = x * 2
        b = a
    else:
        a = x * 3
        b = a
    a[0] = 7.0
    return a * 1, b * 1


def outer_value_of_both_branches(x):
    a = x * 1
    if x.sum() > 0:
        b = a
    else:
        b = a
    a[0] = 3.0
    return a * 1, b * 1


def states_of_one_value(x):
    a, b = x * 1, x * 2
    for i in range(paddle.shape(x)[0]):
        a[i] = 9.0
        b = a
    return a * 1, b * 1


def written_in_an_inner_loop(x):
    a, b = x * 1, x * 1
    for i in range(paddle.shape(x)[0]):
        for j in range(2):
            a[i, j] = 4.0
            b = a
        a[0] = 2.0
    return a * 1, b * 1


def one_value_of_one_branch(x):
    a = x * 2
    if x.sum() > 0:
        y = a
    else:
        y = x * 3
    a[0] = 7.0
    return a * 1, y * 1


def two_results_of_one_branch(x):
    if x.sum() > 0:
        a = x * 2
        y = a
    else:
        a, y = x * 2, x * 3
    a[0] = 7.0
    return a * 1, y * 1


def states_written_after(x):
    a, y = x * 1, x * 2
    for _ in range(paddle.shape(x)[0]):
        a = a * 2
        y = a
    a[0] = 5.0
    return a * 1, y * 1


def state_read_after_write(x):
    a, y, total = x * 1, x * 2, x.sum()
    for i in range(paddle.shape(x)[0]):
        a[i] = 9.0
        total = total + y.sum()
        y = a
    return a * 1, total


def first_values_of_one(x):
    a = x * 1
    y, total = a, x.sum()
    for i in range(paddle.shape(x)[0]):
        a[i] = 9.0
        total = total + y.sum()
        y = y * 2
    return a * 1, total


def loop_in_a_branch(x):
    a, y = x * 1, x * 2
    if x.sum() > 0:
        for i in range(paddle.shape(x)[0]):
            a[i] = 4.0
            y = a
    else:
        y = a
    a[0] = 2.0
    return a * 1, y * 1


def branch_read_later(x):
    if x.sum() > 0:
        y = x
    else:
        y = x * 2
    y[0] = 7.0
    return y * 1, x * 1


def loop_takes_another(x):
    a = paddle.assign(x)
    for i in range(paddle.shape(x)[0]):
        a[i] = a[i] + 1.0
        a = x
    return a * 1


def saved(function, folder):
    save_layer(folder, function, x=[-1, 2])
    return paddle.jit.load(str(folder / "inference"))


@pytest.mark.parametrize(
    "function",
    [
        input_in_a_loop,
        input_in_nested_loops,
        in_a_branch,
        in_a_branch_in_a_loop,
        result_of_a_branch,
        result_of_a_loop,
        changing_places,
        handed_on_twice,
        one_value_of_both_branches,
        outer_value_of_both_branches,
        states_of_one_value,
        written_in_an_inner_loop,
    ],
)
def test_as_paddle(function, tmp_path):
    expected = paddle.utils.flatten([saved(function, tmp_path)(paddle.to_tensor(X))])
    results = openvino.compile_model(paddle2ov.convert(tmp_path), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(X)
    for array, want in zip(results.values(), expected, strict=True):
        np.testing.assert_array_equal(array, want.numpy())


@pytest.mark.parametrize(
    ("function", "variable"),
    [
        (branch_read_later, "x"),
        (loop_takes_another, "x"),
        (one_value_of_one_branch, "if_"),
        (two_results_of_one_branch, "if_"),
        (states_written_after, "while_"),
        (state_read_after_write, "arg_"),
        (first_values_of_one, "arg_"),
        (loop_in_a_branch, "if_"),
    ],
)
def test_refused(function, variable, tmp_path):
    """What depends on the way of the run, or on the order in which Paddle runs operators."""
    saved(function, tmp_path)
    with pytest.raises(
        ModelReadError,
        match=rf"block \d, operator \d+ .*'{variable}\w*' is read after another variable was written",
    ):
        paddle2ov.convert(tmp_path)
