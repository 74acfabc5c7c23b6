"""Quotients whose fraction is dropped: whole ones are whole, in the converted model and in the one that is saved."""

import numpy as np
import openvino
import pytest

import paddle2ov
from gen_models.harness.spec import paddle
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.deployment.saving import save_model
from tests.support.models import check_beside_paddle, save_layer

X = np.concatenate([np.arange(-3000, 3000), [1e30, np.inf, -np.inf, 3.4e38, -3.4e38]]).astype(np.float32)
FUNCTIONS = {
    "floor": lambda x, y: paddle.floor(x / y),
    "ceil": lambda x, y: paddle.ceil(x / y + 1),
    "trunc": lambda x, y: paddle.trunc(1 - x / y),
    "cast": lambda x, y: paddle.cast(paddle.clip(x, -1e4, 1e4) / y, "int64"),
    "greater_equal": lambda x, y: x / y >= 1.0,
    "floor_divide": lambda x, y: paddle.clip(x, -1e4, 1e4) // y,
    "remainder": lambda x, y: paddle.clip(x, -1e4, 1e4) % y,
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("known", [False, True])
def test_whole_quotients(name, known, tmp_path):
    """47 * (1 / 47) is less than 1 in float32, and a converted model that divides so gives 0 for its floor."""

    def run(x, y=None):
        return FUNCTIONS[name](x, paddle.full([1], 47.0) if y is None else y)

    inputs = {"x": X} if known else {"x": X, "y": np.full_like(X, 47)}
    model = paddle2ov.convert(save_layer(tmp_path, run, **{name: [-1] for name in inputs}))
    expected = run(*map(paddle.to_tensor, inputs.values())).numpy()
    save_model(model, tmp_path / "saved.xml", fp16=False)
    for value in (model, openvino.Core().read_model(tmp_path / "saved.xml")):
        actual = compile_on_cpu(value)(inputs)[0]
        np.testing.assert_array_equal(actual[:-2], expected[:-2])
        # What is too large to be corrected is what OpenVINO divides, off in the last place.
        np.testing.assert_allclose(actual[-2:], expected[-2:], rtol=2**-23)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("dims", [(), (1,), (4, 1), (6,), (4, 6)])
@pytest.mark.parametrize("which", ["floor_divide", "remainder", "both"])
def test_quotients_of_known_sizes_compile(dims, which, tmp_path):
    """Where they do not suffice, OpenVINO does not compile a kernel: a processor with AVX2 has 16 registers."""

    def run(x, y):
        results = {"floor_divide": x // y, "remainder": x % y}
        return [*results.values()] if which == "both" else results[which]

    rng = np.random.default_rng(0)
    arrays = [rng.uniform(-9, 9, shape).astype(np.float32) for shape in ((4, 6), dims)]
    check_beside_paddle(tmp_path, run, arrays, tolerance=1e-6, x=[4, 6], y=list(dims))


PICKED = {
    "pooled": lambda x: paddle.nn.functional.max_pool2d(x, 3, 1, 1),
    "expanded": lambda x: paddle.expand(x, [2, -1, -1, -1]),
    "largest": lambda x: paddle.max(x, axis=-1, keepdim=True),
}


@pytest.mark.parametrize("name", PICKED)
def test_quotients_are_equal_to_what_is_picked_of_them(name, tmp_path):
    """Where one side of a comparison is divided exactly and the other is not, few elements are their own maximum."""

    def run(x):
        quotient = x / paddle.full([1], 47.0)
        picked = PICKED[name](quotient)
        return picked == quotient, picked - 1.0 <= quotient - 1.0

    x = np.random.default_rng(0).uniform(-9, 9, (1, 2, 15, 17)).astype(np.float32)
    check_beside_paddle(tmp_path, run, [x], x=[-1, 2, -1, -1])


def test_the_variance_of_one_element_is_not_a_number(tmp_path):
    """Numbers of elements are divided exactly: 3 * (1 / 3) - 1 is no 0 where it is computed by rounded inverses."""

    def deviations(x):
        return [paddle.std(x, 0), paddle.std(x, [0, 1], keepdim=True), paddle.std(x[:, :1], 1), x / paddle.std(x, 0)]

    runs = [[np.random.default_rng(rows).normal(size=(rows, 3)).astype(np.float32)] for rows in (5, 1)]
    for dims in ([-1, 3], [-1, -1]):
        check_beside_paddle(tmp_path, deviations, *runs, tolerance=1e-5, x=dims)
