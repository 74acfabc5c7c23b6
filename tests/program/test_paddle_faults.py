"""Paddle's own faults, as `docs/limits.md` lists them: a test that fails says that an upgrade of Paddle mended one."""

from pathlib import Path

import numpy as np
import openvino
import paddle
import pytest

import paddle2ov
from tests.support.models import edited, files_of, save_layer, save_program

X = np.arange(1, 7, dtype=np.float32).reshape(2, 3)


class Saved:
    """A static program: what Paddle computes from it, and from its file when that is read back."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "inference")
        self._executor = paddle.static.Executor(paddle.CPUPlace())

    def save(self, build, **inputs):
        """Returns what is computed before it is saved. An input is an array, or its declared shape and an array."""
        self.inputs = {name: input_[1] if isinstance(input_, tuple) else input_ for name, input_ in inputs.items()}
        dims = {name: input_[0] if isinstance(input_, tuple) else input_.shape for name, input_ in inputs.items()}
        main = paddle.static.Program()
        with paddle.static.scope_guard(paddle.static.Scope()), paddle.static.program_guard(main):
            data = [paddle.static.data(name, dims[name], "float32") for name in inputs]
            made = build(*data)
            results = list(made) if isinstance(made, tuple) else [made]
            computed = self._executor.run(main, feed=self.inputs, fetch_list=results)
            paddle.static.save_inference_model(self.path, data, results, self._executor, program=main)
        return computed

    def read_back(self):
        with paddle.static.scope_guard(paddle.static.Scope()):
            program, names, results = paddle.static.load_inference_model(self.path, self._executor)
            feed = {name: self.inputs[name] for name in names}
            return self._executor.run(program, feed=feed, fetch_list=results, return_numpy=False)

    def ours(self):
        compiled = openvino.compile_model(paddle2ov.convert(Path(self.path).parent), "CPU")
        return [np.array(value) for value in compiled(self.inputs).values()]


@pytest.fixture
def saved(tmp_path):
    paddle.enable_static()
    try:
        yield Saved(tmp_path)
    finally:
        paddle.disable_static()


def test_a_number_added_to_an_input_is_not_saved(saved):
    (computed,) = saved.save(lambda x: x + 1.0, x=X)
    np.testing.assert_array_equal(computed, X + 1)
    np.testing.assert_array_equal(np.asarray(saved.read_back()[0]), X)
    np.testing.assert_array_equal(saved.ours()[0], X)


def test_an_input_returned_twice_is_there_once(saved):
    saved.save(lambda x: (x, x), x=X)
    first, second = saved.read_back()
    np.testing.assert_array_equal(np.asarray(first), X)
    assert not second._is_initialized()
    for item in saved.ours():
        np.testing.assert_array_equal(item, X)


def twice(x):
    y = paddle.nn.functional.relu(x)
    return y, y


def test_a_layer_that_returns_a_tensor_twice_is_saved_with_one_result(tmp_path):
    assert len(paddle2ov.convert(save_layer(tmp_path, twice, x=[2, 3])).outputs) == 1


def test_an_attribute_that_is_nan_is_not_read_back(saved):
    saved.save(lambda x: paddle.full([2, 3], float("nan")) + x, x=X)
    with pytest.raises(Exception, match="key 'D' not found"):
        saved.read_back()


def test_dequantize_linear_quantizes(saved):
    def dequantized(x):
        scale, zero, state = (paddle.assign(np.float32([number])) for number in (0.5, 0.0, 0.0))
        return paddle._C_ops.dequantize_linear(x, scale, zero, state, state, -1, 8, -128, 127, 0, True, False)[0]

    (computed,) = saved.save(dequantized, x=X)
    np.testing.assert_array_equal(computed, np.full((2, 3), 127, np.float32))
    np.testing.assert_allclose(saved.ours()[0], X * 0.5 / 127, rtol=1e-6)


def test_atan2_has_the_shape_of_its_first_operand(saved):
    y = X[::-1].copy()
    (computed,) = saved.save(paddle.atan2, x=((-1, 3), X[:1]), y=((-1, 3), y))
    assert computed.shape == (1, 3)
    np.testing.assert_allclose(saved.ours()[0], np.arctan2(X[:1], y), rtol=1e-5)


def test_unfold_slides_beyond_the_image(saved):
    """(4 - 5) // 2 is 0 in C++, so that there is one window."""
    image = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)
    (computed,) = saved.save(lambda x: paddle.nn.functional.unfold(x, [5, 5], strides=2), x=image)
    np.testing.assert_array_equal(computed, np.pad(image, [(0, 0), (0, 0), (0, 1), (0, 1)]).reshape(1, 25, 1))
    np.testing.assert_array_equal(saved.ours()[0], computed)


def test_hardshrink_keeps_what_equals_the_threshold(saved):
    saved.save(lambda x: paddle.nn.functional.hardshrink(x, 3.0), x=X)
    np.testing.assert_array_equal(np.asarray(saved.read_back()[0]), [[0, 0, 3], [4, 5, 6]])
    np.testing.assert_array_equal(saved.ours()[0], [[0, 0, 0], [4, 5, 6]])


def test_a_bias_that_a_pass_gave_a_convolution_is_left_out(tmp_path):
    def build(x, weight, bias):
        return paddle.nn.functional.conv2d(x, weight), bias + 1

    folder = save_program(tmp_path, build, legacy=True, x=[1, 1, 2, 2], weight=[1, 1, 1, 1], bias=[1])
    path, _ = files_of(folder)
    with edited(path) as desc:
        convolution = next(op for op in desc.blocks[0].ops if op.type == "conv2d")
        convolution.inputs.add(parameter="Bias", arguments=["bias"])
    ones = {"x": np.ones((1, 1, 2, 2), np.float32), "weight": np.ones((1, 1, 1, 1), np.float32)}
    inputs = ones | {"bias": np.full(1, 5, np.float32)}
    report = paddle2ov.verify(path, inputs=[inputs])
    assert report.verdict == "differ"
    assert report.culprit.type == "conv2d"
    assert report.runs[0].outputs[0].absolute == 5
    assert np.unique(openvino.compile_model(paddle2ov.convert(path), "CPU")(inputs)[0]) == 6
