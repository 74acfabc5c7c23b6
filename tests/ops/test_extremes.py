"""The index of the largest or smallest element of long rows, as a vocabulary is."""

import numpy as np
import pytest

from gen_models.harness.spec import paddle
from tests.support.one_operator import run_legacy

LENGTH = 5000


@pytest.mark.parametrize("operator", ["arg_max", "arg_min"])
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_long_rows_with_special_numbers(operator, special):
    """No, a few, half and all elements of a row are special; NaN is passed over, the first of equals is found."""
    rng = np.random.default_rng(0)
    x = rng.integers(-9, 9, [4, LENGTH]).astype(np.float32)
    x[rng.random(x.shape) < np.array([[0.0], [0.001], [0.5], [1.0]])] = special
    indices = run_legacy(operator, {"x": x}, {"axis": 1, "keepdims": False, "flatten": False, "dtype": 3})
    wanted = {"arg_max": paddle.argmax, "arg_min": paddle.argmin}[operator](paddle.to_tensor(x), 1)
    np.testing.assert_array_equal(indices, wanted.numpy())
