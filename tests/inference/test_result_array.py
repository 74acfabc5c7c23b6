"""The arrays that `run` returns: NumPy's, with the method of Paddle's tensors."""

import copy
import pickle

import numpy as np
import paddle
import pytest

from paddle2ov.inference.result_array import ResultArray
from tests.inference.small_models import ours, saved, theirs


def test_code_for_paddles_tensors_runs(tmp_path):
    folder = saved(tmp_path, lambda x: (x * 2, x.sum()), "float32")
    x = np.arange(4, dtype=np.float32).reshape(2, 2)
    expected = [item.numpy() for item in theirs(folder).run([paddle.to_tensor(x)])]
    predictor = ours(folder)
    for results in (predictor.run([x]), predictor.run([[x], [x]])[1]):
        assert all(isinstance(item, np.ndarray) for item in results)
        for actual, desired in zip(results, expected, strict=True):
            assert type(actual.numpy()) is np.ndarray
            np.testing.assert_array_equal(actual.numpy(), desired, strict=True)
            assert actual.numpy().base is not None  # not copied
    (doubled, _) = predictor.run(predictor.run([x])[:1])  # results are inputs
    np.testing.assert_array_equal(doubled, x * 4)


@pytest.fixture
def array():
    return np.arange(6, dtype=np.float32).reshape(2, 3).view(ResultArray)


def test_what_is_computed_of_them_is_plain(array):
    for computed in (array + 1, np.exp(array), array > 2, array.sum(0), np.concatenate([array, array])):
        assert type(computed) is np.ndarray
    for number in (array.sum(), array.max(), array.mean(), array[0, 0], array.reshape(-1)[:1].reshape(()) + 1):
        assert isinstance(number, np.float32)
    assert type(pickle.loads(pickle.dumps(array))) is np.ndarray
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(array)), array)


def test_parts_of_them_have_the_method_too(array):
    first = array
    first += 1
    for part in (first, array[0], array.reshape(-1), array.copy(), copy.deepcopy(array), array.astype(int)):
        np.testing.assert_array_equal(part.numpy(), np.asarray(part))
    assert first is array
