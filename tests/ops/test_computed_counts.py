"""Tensors repeated by counts that each run computes."""

import numpy as np
import pytest

import paddle2ov
from gen_models.harness.spec import paddle
from tests.support.models import check_beside_paddle


def normal(*shape):
    return np.random.default_rng(shape[0]).standard_normal(shape).astype(np.float32)


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
    sizes = [dims if known or run % 2 == 0 else [1, 2, 4, 2] for run in range(len(counts))]
    runs = [(normal(*shape), np.array(times, np.int32)) for shape, times in zip(sizes, counts, strict=True)]
    inputs = {"x": [*dims[:known], *[-1] * (4 - known)], "counts": ([len(counts[0])], "int32")}
    check_beside_paddle(tmp_path, paddle.tile, *runs, **inputs)


def test_tile_along_one_axis(tmp_path):
    """Counts that are known to be 1 cost nothing."""

    def function(x):
        return paddle.tile(x, [paddle.shape(x)[3], 1, 1, 1])

    check_beside_paddle(tmp_path, function, [normal(1, 3, 2, 4)], x=[-1, 3, -1, -1])
    model = paddle2ov.convert(tmp_path)
    assert [node.get_type_name() for node in model.get_ops()].count("Tile") == 1


def _tile(x, count):
    return paddle.tile(x, [1, count])


def _topk(x, count):
    return paddle.topk(x, count, axis=1)[0]


@pytest.mark.parametrize("function", [_tile, _topk], ids=["tile", "topk"])
def test_no_rows(function, tmp_path):
    """The shape is that of each run, not of the one before, where there are no rows."""
    runs = [(normal(rows, 9), np.array(count, np.int32)) for rows, count in ((2, 3), (0, 7), (0, 3), (0, 7), (2, 7))]
    check_beside_paddle(tmp_path, function, *runs, x=[-1, 9], count=([], "int32"))


def _adaptive_pool(x, size):
    return paddle.nn.functional.adaptive_avg_pool2d(x, [size, size])


def test_adaptive_pool(tmp_path):
    """A size may be a tensor of one element."""
    runs = [(normal(1, 2, 7, 9), np.array([size], np.int32)) for size in (3, 2)]
    check_beside_paddle(tmp_path, _adaptive_pool, *runs, tolerance=1e-5, x=[-1, 2, -1, -1], size=([1], "int32"))


def test_repeats_of_each_element(tmp_path):
    """As many as 400 elements of a graph's edges: what a run holds grows with the result, not with its square."""
    counts = np.random.default_rng(1).integers(0, 20, 400)
    runs = [(normal(size), counts[:size]) for size in (400, 3, 1, 400)]
    check_beside_paddle(tmp_path, paddle.repeat_interleave, *runs, x=[-1], repeats=([-1], "int64"))
    model = paddle2ov.convert(tmp_path)
    assert {len(output.get_partial_shape()) for node in model.get_ops() for output in node.outputs()} == {0, 1}
