"""Operators whose input turns out to have no elements, between runs that have some."""

import warnings

import numpy as np
import pytest

import paddle2ov
from gen_models.harness.spec import paddle
from paddle2ov.program.model import Variable
from tests.support import programs
from tests.support.models import check_beside_paddle, saved_request

SOUGHT = [[0.5, float("nan")]] * 2
FUNCTIONS = {
    "median": lambda x: [paddle.median(x), paddle.median(x, 1, keepdim=True), *paddle.median(x, 1, mode="min")],
    "nanmedian": lambda x: [paddle.nanmedian(x), paddle.nanmedian(x, -1), *paddle.nanmedian(x, 1, mode="min")],
    "quantiles": lambda x: [
        paddle.quantile(x, [0.2, 0.5], 1),
        paddle.quantile(x, 0.5),
        paddle.nanquantile(x, 0.3, -1, keepdim=True),
    ],
    "search": lambda x: [
        paddle.searchsorted(x, paddle.to_tensor(SOUGHT)),
        paddle.bucketize(paddle.to_tensor(SOUGHT), x[0], out_int32=True, right=True),
    ],
    "density": lambda x: paddle.histogram(x, 4, -1.0, 1.0, density=True),
    "along_axis": lambda x: paddle.take_along_axis(x, paddle.zeros([2, 1], "int64"), 1, broadcast=False),
    "norms": lambda x: [paddle.renorm(x, p, 0, 0.5) for p in (0.0, 1.0, 2.0)],
    "mask": lambda x: paddle.nn.functional.sequence_mask((3 * x).astype("int64")),
}


def uniform(seed, *shape):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_rows_of_nothing(function, tmp_path):
    runs = [[np.sort(uniform(size, 2, size))] for size in (5, 0, 1, 3, 0)]
    check_beside_paddle(tmp_path, function, *runs, tolerance=1e-6, x=[2, -1])


@pytest.mark.parametrize(("axis", "dims"), [(None, [-1]), (None, [-1, -1]), (0, [-1, 2]), (1, [2, -1])])
def test_unique(axis, dims, tmp_path):
    def function(x):
        unique = paddle.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=axis)
        return [*unique, paddle.unique(x, axis=axis)]

    request = saved_request(tmp_path, function, x=dims)
    for size in (5, 0, 1, 3, 0):
        shape = [size if dim == -1 else dim for dim in dims]
        data = np.random.default_rng(size).integers(0, 3, shape).astype(np.float32)
        results = request.infer([data], share_outputs=False).values()
        wanted = [item.numpy() for item in function(paddle.to_tensor(data))]
        if axis is None:  # Paddle keeps the shape of a matrix of nothing, whose elements the program declares as 1-D
            wanted = [item.reshape(-1) for item in wanted]
        for actual, desired in zip(results, wanted, strict=True):
            np.testing.assert_array_equal(actual, desired)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("transform", ["irfft", "hfft"])
def test_transform_to_nothing(transform, axis, tmp_path):
    def function(x):
        return getattr(paddle.fft, transform)(paddle.complex(x, 2 * x), axis=axis)

    runs = [[uniform(size, 2, size) if axis else uniform(size, size, 2)] for size in (3, 1, 4, 2, 1)]
    check_beside_paddle(tmp_path, function, *runs, tolerance=1e-5, x=[-1, -1])


def test_a_resize_to_nothing_divides_by_no_size():
    """Paddle refuses it only as the program runs."""
    rows = [("nearest_interp_v2", "x=x out_size=size", "output=out", {"align_corners": False})]
    sizes = {"size": np.array([0, 4], np.int32)}
    program = programs.program(rows, [Variable("x", "float32", (1, 1, 5, 4))], "out", parameters=sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = paddle2ov.convert(program)
    assert model.output(0).get_partial_shape() == [1, 1, 0, 4]
