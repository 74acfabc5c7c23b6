"""Indices out of range, which Paddle refuses in the run: no memory beyond the tensor is read."""

import numpy as np
import pytest

from gen_models.harness.spec import paddle
from tests.support.one_operator import run_legacy

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("far", [1, 10**6, 2**30])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_gather_nd(depth, far, kind):
    """Those in range are found beside others; of these, an element of the tensor or zeros are taken."""
    inside = np.array([[0, 0, 0], [1, 2, 3], [-1, -3, -4]])
    outside = np.array([[2, 0, 0], [0, 3, 0], [0, 0, 4], [-3, 0, 0], [-1, -4, 0], [1, 2, -5]]) * far
    index = np.concatenate([inside, outside])[:, :depth].astype(kind)
    found = run_legacy("gather_nd", {"x": X, "index": index}, {})
    wanted = paddle.gather_nd(paddle.to_tensor(X), paddle.to_tensor(index[: len(inside)]))
    np.testing.assert_array_equal(found[: len(inside)], wanted.numpy())
    assert np.isin(found, X).all()
