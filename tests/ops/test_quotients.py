"""Quotients whose fraction is dropped: whole ones are whole, in the converted model and in the one that is saved."""

import numpy as np
import openvino
import pytest

import paddle2ov
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.deployment.saving import save_model

X = np.concatenate([np.arange(-3000, 3000), [1e30, np.inf, -np.inf, 3.4e38, -3.4e38]]).astype(np.float32)
FUNCTIONS = {
    "floor": lambda paddle, x, y: paddle.floor(x / y),
    "ceil": lambda paddle, x, y: paddle.ceil(x / y + 1),
    "trunc": lambda paddle, x, y: paddle.trunc(1 - x / y),
    "cast": lambda paddle, x, y: paddle.cast(paddle.clip(x, -1e4, 1e4) / y, "int64"),
    "greater_equal": lambda paddle, x, y: x / y >= 1.0,
    "floor_divide": lambda paddle, x, y: paddle.clip(x, -1e4, 1e4) // y,
    "remainder": lambda paddle, x, y: paddle.clip(x, -1e4, 1e4) % y,
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("known", [False, True])
def test_whole_quotients(name, known, tmp_path):
    """47 * (1 / 47) is less than 1 in float32, and a converted model that divides so gives 0 for its floor."""
    import paddle

    def run(x, y=None):
        return FUNCTIONS[name](paddle, x, paddle.full([1], 47.0) if y is None else y)

    specs = [paddle.static.InputSpec([-1], "float32", item) for item in ("x" if known else "xy")]
    program = paddle.jit.to_static(run, input_spec=specs, full_graph=True)
    paddle.jit.save(program, str(tmp_path / "inference"))
    inputs = [X] if known else [X, np.full_like(X, 47)]
    expected = run(*map(paddle.to_tensor, inputs)).numpy()
    model = paddle2ov.convert(tmp_path)
    save_model(model, tmp_path / "saved.xml", fp16=False)
    for value in (model, tmp_path / "saved.xml"):
        compiled = openvino.compile_model(value, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        actual = compiled(inputs)[0]
        np.testing.assert_array_equal(actual[:-2], expected[:-2])
        # What is too large to be corrected is what OpenVINO divides, off in the last place.
        np.testing.assert_allclose(actual[-2:], expected[-2:], rtol=2**-23)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("dims", [(), (1,), (4, 1), (6,), (4, 6)])
@pytest.mark.parametrize("which", ["floor_divide", "remainder", "both"])
def test_quotients_of_known_sizes_compile(dims, which, tmp_path):
    """Where they do not suffice, OpenVINO does not compile a kernel: a processor with AVX2 has 16 registers."""
    import paddle

    def run(x, y):
        results = {"floor_divide": x // y, "remainder": x % y}
        return [*results.values()] if which == "both" else results[which]

    specs = [paddle.static.InputSpec(shape, "float32", item) for item, shape in (("x", [4, 6]), ("y", dims))]
    paddle.jit.save(paddle.jit.to_static(run, input_spec=specs, full_graph=True), str(tmp_path / "inference"))
    rng = np.random.default_rng(0)
    inputs = [rng.uniform(-9, 9, shape).astype(np.float32) for shape in ((4, 6), dims)]
    expected = paddle.utils.flatten(run(*map(paddle.to_tensor, inputs)))
    compiled = openvino.compile_model(paddle2ov.convert(tmp_path), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    for actual, wanted in zip(compiled(inputs).values(), expected, strict=True):
        np.testing.assert_allclose(actual, wanted.numpy(), rtol=1e-6, atol=1e-6)


PICKED = {
    "pooled": lambda paddle, x: paddle.nn.functional.max_pool2d(x, 3, 1, 1),
    "expanded": lambda paddle, x: paddle.expand(x, [2, -1, -1, -1]),
    "largest": lambda paddle, x: paddle.max(x, axis=-1, keepdim=True),
}


@pytest.mark.parametrize("name", PICKED)
def test_quotients_are_equal_to_what_is_picked_of_them(name, tmp_path):
    """Where one side of a comparison is divided exactly and the other is not, few elements are their own maximum."""
    import paddle

    def run(x):
        quotient = x / paddle.full([1], 47.0)
        picked = PICKED[name](paddle, quotient)
        return picked == quotient, picked - 1.0 <= quotient - 1.0

    specs = [paddle.static.InputSpec([-1, 2, -1, -1], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(run, input_spec=specs, full_graph=True), str(tmp_path / "inference"))
    x = np.random.default_rng(0).uniform(-9, 9, (1, 2, 15, 17)).astype(np.float32)
    compiled = openvino.compile_model(paddle2ov.convert(tmp_path), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    for actual, expected in zip(compiled(x).values(), run(paddle.to_tensor(x)), strict=True):
        np.testing.assert_array_equal(actual, expected.numpy())


def test_the_variance_of_one_element_is_not_a_number(tmp_path):
    """Numbers of elements are divided exactly: 3 * (1 / 3) - 1 is no 0 where it is computed by rounded inverses."""
    import paddle

    def deviations(x):
        return [paddle.std(x, 0), paddle.std(x, [0, 1], keepdim=True), paddle.std(x[:, :1], 1), x / paddle.std(x, 0)]

    dims = [[-1, 3], [-1, -1]]
    for i, dim in enumerate(dims):
        spec = [paddle.static.InputSpec(dim, "float32", "x")]
        program = paddle.jit.to_static(deviations, input_spec=spec, full_graph=True)
        paddle.jit.save(program, str(tmp_path / str(i) / "inference"))
        compiled = compile_on_cpu(paddle2ov.convert(tmp_path / str(i)))
        for rows in (5, 1):
            data = np.random.default_rng(rows).normal(size=(rows, 3)).astype(np.float32)
            for actual, wanted in zip(compiled([data]).values(), deviations(paddle.to_tensor(data)), strict=True):
                np.testing.assert_allclose(actual, wanted.numpy(), rtol=1e-5)
