"""Operators whose input turns out to have no elements, between runs that have some."""

import numpy as np
import pytest

import paddle2ov
from paddle2ov.testing import compile_on_cpu


@pytest.mark.parametrize(("axis", "dims"), [(None, [-1]), (None, [-1, -1]), (0, [-1, 2]), (1, [2, -1])])
def test_unique(axis, dims, tmp_path):
    import paddle

    def function(x):
        found = paddle.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=axis)
        return [*found, paddle.unique(x, axis=axis)]

    spec = [paddle.static.InputSpec(dims, "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(function, input_spec=spec, full_graph=True), str(tmp_path / "inference"))
    request = compile_on_cpu(paddle2ov.convert(tmp_path)).create_infer_request()
    for size in (5, 0, 1, 3, 0):
        shape = [size if one == -1 else one for one in dims]
        data = np.random.default_rng(size).integers(0, 3, shape).astype(np.float32)
        found = request.infer([data], share_outputs=False).values()
        wanted = [one.numpy() for one in function(paddle.to_tensor(data))]
        if axis is None:  # Paddle keeps the shape of a matrix of nothing, whose elements the program declares as 1-D
            wanted = [one.reshape(-1) for one in wanted]
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, other)
