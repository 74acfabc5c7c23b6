"""Inputs and results of bfloat16."""

import numpy as np
import paddle
import pytest

from paddle2ov import ConversionInputError
from tests.inference.small_models import ours, saved


@pytest.fixture(scope="module")
def predictor(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bfloat16")
    return ours(saved(folder, lambda x: paddle.concat([x, x]), "bfloat16", [-1, 3]))


def rounded(values):
    """What Paddle rounds float32 to."""
    return paddle.to_tensor(values).astype("bfloat16").astype("float32").numpy()


VALUES = np.array(
    [
        [1.00390625, 1.01171875, -1.00390625],  # between two numbers: to the even one
        [3.14159274, -1e-40, 3.4e38],
        [np.inf, -np.inf, 0.0],
        [65504.0, 1e-30, -2.7],
    ],
    np.float32,
)


@pytest.mark.parametrize("give", ["copy_from_cpu", "share_external_data", "run"])
def test_float32_is_rounded_to_the_nearest_even(predictor, give):
    expected = rounded(VALUES)
    handle = predictor.get_input_handle("x")
    if give == "run":
        (actual,) = predictor.run([VALUES])
    else:
        getattr(handle, give)(VALUES)
        predictor.run()
        actual = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
    np.testing.assert_array_equal(handle.copy_to_cpu(), expected)
    np.testing.assert_array_equal(actual, np.concatenate([expected, expected]))


def test_nan_stays_nan(predictor):
    bits = np.array([[0x7F800001, 0x7FFFFFFF, 0xFFFFFFFF]], np.uint32)  # of the first, bfloat16 keeps what inf has
    (result,) = predictor.run([bits.view(np.float32)])
    assert np.isnan(result).all()


def test_bits_are_taken_as_they_are(predictor):
    tensor = paddle.to_tensor(VALUES).astype("bfloat16")
    for value in (tensor, tensor.numpy()):
        (result,) = predictor.run([value])
        np.testing.assert_array_equal(result[:4], rounded(VALUES))
    handle = predictor.get_input_handle("x")
    handle.copy_from_cpu(tensor.numpy())
    np.testing.assert_array_equal(handle.copy_to_cpu(), rounded(VALUES))
    (result,) = predictor.run([result])  # results are float32, and may be given back
    np.testing.assert_array_equal(result[:4], rounded(VALUES))


def test_no_rows(predictor):
    (result,) = predictor.run([np.zeros((0, 3), np.float32)])
    assert result.shape == (0, 3)
    assert result.dtype == np.float32


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((1, 3), np.complex64), "the array is complex64; its bits are taken as uint16"),
        (
            np.full((1, 3), 0.1),
            "the array is float64 and holds 0.1, which bfloat16 cannot: give array.astype.'float32'.$",
        ),
        (np.full((1, 3), 257, np.int16), "the array is int16 and holds 257, which bfloat16 cannot"),
    ],
)
def test_other_types_are_refused(predictor, array, message):
    with pytest.raises(ConversionInputError, match=f"input 'x' is bfloat16, {message}"):
        predictor.get_input_handle("x").copy_from_cpu(array)
