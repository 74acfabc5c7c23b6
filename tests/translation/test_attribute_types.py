"""Attributes of a wrong type: an error that names the operator, the attribute and the value; never another meaning."""

import numpy as np
import pytest

import paddle2ov
from tests.support.one_operator import program, refused

X = np.zeros((2, 3, 8, 8), np.float32)


PIXELS, IMAGES = {"input": X, "filter": np.zeros((4, 3, 3, 3), np.float32)}, {"input": X, "image": X}
FFT = {"axes": [1], "normalization": "backward", "forward": True, "onesided": True}
NAN, INFINITY = float("nan"), float("inf")
NO_NUMBER = ["axis", 1.5, NAN, INFINITY, None, [0, 1], ["a"], {"a": 1}, 1j]
NO_FLAG = ["x", 2, 0.5, NAN, None, [], [True], {}]
NO_NUMBERS = ["xy", [1.5, 0], [NAN, 0], ["a", "b"], [None, 1], [[0], [1, 2]], {}]
WRONG: list[tuple] = [
    ("softmax", "axis", NO_NUMBER, None, {}),
    ("maxout", "groups", NO_NUMBER, None, {"axis": 1}),
    ("leaky_relu", "alpha", ["x", NAN, None, [1.0, 2.0], ["a"], {}, 1j], None, {}),
    ("reduce_mean", "keepdim", NO_FLAG, None, {}),
    ("gelu", "approximate", NO_FLAG, None, {}),
    ("fft_r2c", "forward", NO_FLAG, {"x": X[0, 0]}, FFT),
    ("fft_r2c", "onesided", NO_FLAG, {"x": X[0, 0]}, FFT),
    ("transpose2", "axis", NO_NUMBERS, None, {}),
    ("conv2d", "strides", NO_NUMBERS, PIXELS, {}),
    ("prior_box", "min_sizes", ["xy", ["a", "b"], [None, 1.5], [1j], {}], IMAGES, {"variances": [0.1] * 4}),
    ("cast", "dtype", ["float", 99, 1.5, True, [], {}, "float8"], None, {}),
    ("prelu", "data_format", [5], {"x": X, "alpha": X[0, 0, 0, :1]}, {"mode": "all"}),
    ("einsum", "equation", [7], {"x": [X]}, {}),
]
MESSAGES = {
    "alpha": "alpha|negative_slope",
    "axis": "perm|axis",
    "equation": "attribute 'equation' is 7; a string is expected",
    "min_sizes": "attribute 'min_sizes' is .*; (a number or numbers|a list of numbers) is expected",
    **{
        name: f"attribute '{name}' is .*; a boolean is expected"
        for name in ("keepdim", "approximate", "forward", "onesided")
    },
}


@pytest.mark.parametrize(
    ("op_type", "name", "value", "inputs", "others"),
    [(kind, name, value, inputs, others) for kind, name, values, inputs, others in WRONG for value in values],
)
def test_a_value_of_a_wrong_type(op_type, name, value, inputs, others):
    refused(MESSAGES.get(name, name), op_type, inputs or {"x": X}, {**others, name: value})


def test_what_a_converter_did_not_expect_names_what_it_asked_for():
    message, pair = r"Error: .* \(attributes: functor_list=7\)", {"x": X, "y": X}
    refused(message, "fused_elemwise_activation", pair, {"functor_list": 7})
    assert len(str(refused("", "einsum", {"x": [X]}, {"equation": "a" * 100_000}))) < 2_000


@pytest.mark.parametrize("op_type", ["fft_c2c", "fft_r2c", "fft_c2r"])
def test_a_transform_along_no_axis(op_type):
    x = X[0, 0] if op_type == "fft_r2c" else X[0, 0].astype(np.complex64)
    refused(r"axes=\[\]: no axis", op_type, {"x": x}, FFT | {"axes": [], "last_dim_size": 0})


@pytest.mark.parametrize("number", [2**62, -(2**62), 6])
def test_absurd_numbers_of_levels_and_steps(number):
    boxes = {"fpn_rois": np.zeros((5, 4), np.float32)}
    levels = {"min_level": 2, "max_level": number, "refer_level": 4, "refer_scale": 224}
    message, results = f"max_level={number}: the operator has 1 levels", ("multi_fpn_rois", "restore_index")
    refused(message, "distribute_fpn_proposals", boxes, levels, results)
    weights = {"weight": X[0, 0], "u": X[0, 0, 0], "v": X[0, 0, 0]}
    if number != 6:
        refused(f"power_iters={number}: 0 to 1000 steps", "spectral_norm", weights, {"power_iters": number})


@pytest.mark.parametrize("bits", [0, 17, 2**62, -3])
def test_absurd_numbers_of_bits(bits):
    refused(f"bit_length={bits}", "fake_quantize_dequantize_abs_max", {"x": X}, {"bit_length": bits})


@pytest.mark.parametrize(
    ("op_type", "attributes"),
    [
        ("softmax", {"axis": 1.0}),
        ("softmax", {"axis": True}),
        ("leaky_relu", {"alpha": 1}),
        ("reduce_mean", {"keepdim": 1}),
        ("cast", {"dtype": 5}),
        ("reduce_sum", {"dtype": "Undefined(ALL_DTYPE)"}),
        ("reduce_sum", {"dtype": -1}),
    ],
)
def test_what_older_writers_store(op_type, attributes):
    whole, _ = program(op_type, {"x": X}, attributes)
    paddle2ov.convert(whole)
