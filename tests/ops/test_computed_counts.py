"""Tensors repeated by counts that each run computes."""

import numpy as np
import pytest

import paddle2ov
from gen_models.harness.spec import paddle
from paddle2ov.compilation.running import compile_on_cpu
from tests.support.models import saved_request


@pytest.mark.parametrize(
    ("known", "counts"),
    [
        pytest.param(0, [[2, 3, 2, 3], [1, 1, 1, 1], [2, 1, 0, 2], [3, 2, 2, 2]], id="four"),
        pytest.param(0, [[2, 3, 2], [1, 2, 2]], id="three of four"),
        pytest.param(0, [[2, 3, 2, 3, 2], [2, 1, 3, 1, 2]], id="five of four"),
        pytest.param(4, [[2, 3, 2, 3], [2, 1, 3, 2]], id="known sizes"),
    ],
)
def test_tile(known, counts, tmp_path):
    dims = [2, 3, 2, 3]
    request = saved_request(
        tmp_path, paddle.tile, x=[*dims[:known], *[-1] * (4 - known)], counts=([len(counts[0])], "int32")
    )
    for run, times in enumerate(counts):
        data = np.random.default_rng(run).standard_normal(dims if known or run % 2 == 0 else [1, 2, 4, 2])
        results = request.infer([data.astype(np.float32), np.array(times, np.int32)], share_outputs=False)
        wanted = paddle.tile(paddle.to_tensor(data.astype(np.float32)), paddle.to_tensor(times, dtype="int32"))
        np.testing.assert_array_equal(results[0], wanted.numpy())


def test_tile_along_one_axis(tmp_path):
    """Counts that are known to be 1 cost nothing."""

    def function(x):
        return paddle.tile(x, [paddle.shape(x)[3], 1, 1, 1])

    specs = [paddle.static.InputSpec([-1, 3, -1, -1], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(function, input_spec=specs, full_graph=True), str(tmp_path / "inference"))
    model = paddle2ov.convert(tmp_path)
    assert [node.get_type_name() for node in model.get_ops()].count("Tile") == 1
    data = np.random.default_rng(0).standard_normal([1, 3, 2, 4]).astype(np.float32)
    results = compile_on_cpu(model).create_infer_request().infer([data])
    np.testing.assert_array_equal(results[0], function(paddle.to_tensor(data)).numpy())


def _tile(x, count):
    return paddle.tile(x, [1, count])


def _topk(x, count):
    return paddle.topk(x, count, axis=1)[0]


@pytest.mark.parametrize("function", [_tile, _topk], ids=["tile", "topk"])
def test_no_rows(function, tmp_path):
    """The shape is that of each run, not of the one before, where there are no rows."""
    request = saved_request(tmp_path, function, x=[-1, 9], count=([], "int32"))
    for rows, count in ((2, 3), (0, 7), (0, 3), (0, 7), (2, 7)):
        data = np.random.default_rng(count).standard_normal([rows, 9]).astype(np.float32)
        results = request.infer([data, np.array(count, np.int32)], share_outputs=False)
        wanted = function(paddle.to_tensor(data), paddle.to_tensor(count))
        np.testing.assert_array_equal(results[0], wanted.numpy())


def test_adaptive_pool(tmp_path):
    """A size may be a tensor of one element."""

    def function(x, size):
        return paddle.nn.functional.adaptive_avg_pool2d(x, [size, size])

    request = saved_request(tmp_path, function, x=[-1, 2, -1, -1], size=([1], "int32"))
    for size in (3, 2):
        data = np.random.default_rng(size).standard_normal([1, 2, 7, 9]).astype(np.float32)
        results = request.infer([data, np.array([size], np.int32)], share_outputs=False)
        wanted = paddle.nn.functional.adaptive_avg_pool2d(paddle.to_tensor(data), size)
        np.testing.assert_allclose(results[0], wanted.numpy(), rtol=1e-5, atol=1e-6)
