"""Numbers looked up in sorted rows, as rays of a radiance field are sampled, of any length."""

import numpy as np
import pytest

from gen_models.harness.spec import paddle
from paddle2ov import convert
from tests.support.models import check_beside_paddle


def _left(sequence, values):
    return paddle.searchsorted(sequence, values)


def _right(sequence, values):
    return paddle.searchsorted(sequence, values, right=True)


@pytest.mark.parametrize("is_known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("rows", [[], [3]], ids=["one", "rows"])
@pytest.mark.parametrize("function", [_left, _right])
def test_any_length(function, rows, is_known, tmp_path):
    rng = np.random.default_rng(0)
    lengths = [63] if is_known else [63, 1, 2, 64, 7, 8]
    runs = []
    for length in lengths:
        sequence = np.sort(rng.integers(0, 40, [*rows, length]).astype(np.float32))
        runs.append([sequence, rng.integers(-1, 41, [*rows, 128]).astype(np.float32)])
    shape = [*rows, 63 if is_known else -1]
    check_beside_paddle(tmp_path, function, *runs, sequence=shape, values=[*rows, -1])


def test_many_rows_are_not_left_to_openvino(tmp_path):
    """OpenVINO's SearchSorted takes half a minute for what Paddle does in 6 ms: 128 values in each of 1,024 rows."""
    rng = np.random.default_rng(0)
    runs = [[np.sort(rng.random((1024, 63), np.float32)), rng.random((1024, 128), np.float32)]]
    check_beside_paddle(tmp_path, _right, *runs, sequence=[1024, 63], values=[1024, 128])
    assert "SearchSorted" not in {node.get_type_name() for node in convert(tmp_path).get_ops()}


def test_integers_beyond_the_digits_of_floats(tmp_path):
    sequence = np.array([2**24, 2**24 + 1, 2**24 + 2, 2**30 + 1], np.int32)
    check_beside_paddle(tmp_path, _left, [sequence, sequence], sequence=([4], "int32"), values=([4], "int32"))
