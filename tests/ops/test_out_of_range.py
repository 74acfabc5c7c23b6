"""Indices out of range, which Paddle refuses in the run: no memory beyond the tensor is read."""

import math

import numpy as np
import pytest

import paddle2ov
from gen_models.harness.spec import paddle
from paddle2ov.compilation.running import compile_on_cpu
from tests.support.models import save_layer, saved_request
from tests.support.one_operator import refused, run_legacy

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("far", [1, 10**6, 2**30])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_gather_nd(depth, far, kind):
    """Those in range are found beside others; of these, an element of the tensor or zeros are taken."""
    inside = np.array([[0, 0, 0], [1, 2, 3], [-1, -3, -4]])
    outside = np.array([[2, 0, 0], [0, 3, 0], [0, 0, 4], [-3, 0, 0], [-1, -4, 0], [1, 2, -5]]) * far
    index = np.concatenate([inside, outside])[:, :depth].astype(kind)
    gathered = run_legacy("gather_nd", {"x": X, "index": index}, {})
    wanted = paddle.gather_nd(paddle.to_tensor(X), paddle.to_tensor(index[: len(inside)]))
    np.testing.assert_array_equal(gathered[: len(inside)], wanted.numpy())
    assert np.isin(gathered, X).all()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", ["int32", "int64", "float32"])
@pytest.mark.parametrize("far", [1, 10**6, 2**30])
@pytest.mark.parametrize("dims", [[-1], [4]], ids=["unknown", "known"])
def test_gather_of_a_vector(dims, far, kind, tmp_path):
    """Those in range are found beside others; of these, zeros are taken."""

    def function(x, index):
        return paddle.gather(x * 2, index)

    request = saved_request(tmp_path, function, x=(dims, kind), index=([-1], "int64"))
    x, inside = np.array([3, 5, 7, 9], kind), np.array([2, 0, -1, -4])
    outside = np.clip(np.array([4, 5, 63, 64, -5, -9]) * far, -(2**31), 2**31 - 1)
    (gathered,) = request.infer([x, np.concatenate([inside, outside])]).values()
    wanted = function(paddle.to_tensor(x), paddle.to_tensor(inside)).numpy()
    np.testing.assert_array_equal(gathered, np.concatenate([wanted, np.zeros(len(outside), kind)]))


@pytest.mark.parametrize("kind", ["int32", "float32"])
def test_cross_of_another_size(kind, tmp_path):
    """Not three numbers, which Paddle refuses: an error."""

    def function(x, y):
        return paddle.cross(x * 2, y, axis=0)

    folder = save_layer(tmp_path, function, x=([3, -1], kind), y=([3, -1], kind))
    request = compile_on_cpu(paddle2ov.convert(folder, input={"x": [-1, -1], "y": [-1, -1]})).create_infer_request()
    x, y = np.array([[1, 2], [3, 4], [5, 6]], kind), np.array([[7, 8], [9, 1], [2, 3]], kind)
    wanted = function(paddle.to_tensor(x), paddle.to_tensor(y)).numpy()
    np.testing.assert_array_equal(next(iter(request.infer([x, y]).values())), wanted)
    with pytest.raises(RuntimeError, match="hape"):
        request.infer([x[:1], y[:1]])


@pytest.mark.parametrize("parts", [[2, 1, -1], [-1, 3], [2, -1, 1]], ids=["last", "first", "between"])
def test_split_of_too_few(parts, tmp_path):
    """Where the other parts take more than there is, Paddle refuses the input: an error."""

    def function(x):
        return paddle.split(x * 2, parts, 0)

    request = saved_request(tmp_path, function, x=[-1, 4])
    for rows in (5, 4, 8):
        x = np.arange(rows * 4, dtype=np.float32).reshape(rows, 4)
        for part, wanted in zip(request.infer([x]).values(), function(paddle.to_tensor(x)), strict=True):
            np.testing.assert_array_equal(part, wanted.numpy())
    for rows in (1, 2):
        with pytest.raises(RuntimeError, match="hape"):
            request.infer([np.ones((rows, 4), np.float32)])


IMAGE, PAIR = {"x": X[None]}, {"x": [X[0], X[0]]}
BY_ZERO, EXPECTED = ".*: division by zero", "1 or more is expected"
IMPOSSIBLE = [
    ("maxout", IMAGE, {"groups": 0, "axis": 1}, f"groups=0{BY_ZERO}"),
    (
        "shard_index",
        {"input": np.ones((2, 1), np.int64)},
        {"nshards": 0, "index_num": 20, "shard_id": 1},
        f"nshards=0{BY_ZERO}",
    ),
    ("truncated_gaussian_random", {}, {"std": 0.0, "shape": [4], "mean": 1.0}, rf"std=0\.0{BY_ZERO}"),
    (
        "prior_box",
        {"input": X[None], "image": X[None]},
        {"aspect_ratios": [0.0], "min_sizes": [2.0]},
        rf"aspect_ratios=\[0\.0\]{BY_ZERO}",
    ),
    ("leaky_relu", IMAGE, {"alpha": math.nan}, "attribute 'negative_slope' is nan; a number is expected"),
    ("pool2d", IMAGE, {"pooling_type": "max", "ksize": [2, 0]}, rf"kernel_size=\[2, 0\]: {EXPECTED}"),
    ("pool2d", IMAGE, {"pooling_type": "max", "ksize": [2, 2], "strides": [0, 1]}, rf"strides=\[0, 1\]: {EXPECTED}"),
    ("max_pool2d_with_index", IMAGE, {"ksize": [2, 2], "paddings": [-1, 0]}, r"paddings=\[-1, 0\]: negative paddings"),
    (
        "slice",
        {"input": X[None]},
        {"axes": [1, 1], "starts": [0, 1], "ends": [1, 2]},
        r"OpenVINO refuses Slice\(f32\[1,2,3,4\], i64\[2\].*\): Slice .* unique\. \(attributes: axes=\[1, 1\]",
    ),
    # Equations that Paddle's `einsum` writes into no program, as only a file made otherwise has them.
    ("einsum", PAIR, {"equation": "01,12->02"}, "labels are letters"),
    ("einsum", PAIR, {"equation": "ij,jk->iz"}, "the result has a label that no operand has"),
    ("einsum", PAIR, {"equation": "ij,jk->ii"}, "a label twice in the result is not supported"),
    ("einsum", PAIR, {"equation": "ij->ij"}, "it names 1 operands of 2"),
    ("einsum", PAIR, {"equation": "ijk,jk->i"}, "'ijk' does not fit rank 2"),
    ("einsum", PAIR, {"equation": "ij," * 400 + "jk"}, "an equation of 1202 characters is not supported"),
    ("fused_softplus", IMAGE, {"beta": 0.0}, rf"beta=0\.0{BY_ZERO}"),
    ("spp", IMAGE, {"pooling_type": "least", "pyramid_height": 1}, "pooling_type='least': unknown"),
    ("qr", {"x": X}, {"mode": "full"}, "mode='full': unknown mode"),
    ("crop", {"x": X[0]}, {"offsets": [0, 0], "shape": [2, -1]}, r"shape=\[2, -1\]: no shape for this input"),
    ("crop", {"x": X[0]}, {"offsets": [0], "shape": [2, 1]}, r"offsets=\[0\]: 2 numbers are expected"),
    ("eye", {}, {"num_rows": 2, "num_columns": -2}, "num_columns=-2: a negative size"),
    ("tril_indices", {}, {"rows": -1, "cols": 2, "offset": 0}, "rows=-1, columns=2: a negative size"),
    ("triu_indices", {}, {"row": 2, "col": -1, "offset": 0}, "rows=2, columns=-1: a negative size"),
]


@pytest.mark.parametrize(("type", "inputs", "attributes", "message"), IMPOSSIBLE)
def test_an_impossible_attribute(type, inputs, attributes, message):
    """It is named with its value."""
    refused(message, type, inputs, attributes, format="legacy")


@pytest.mark.parametrize("missing", ["mean", "variance"])
def test_a_missing_statistic(missing):
    inputs = {"x": X} | dict.fromkeys(["mean", "variance", "scale", "bias"], np.ones(3, np.float32))
    del inputs[missing]
    refused(rf"input '{missing}' \[0\] is missing", "batch_norm", inputs, {"is_test": True})


ROWS, VECTOR, COMPLEX = np.ones((2, 6), np.float32), np.ones(3, np.float32), X.astype(np.complex64)
POOLED = {"x": X[None], "out": X[None, :, :2, :2], "out_grad": X[None, :, :2, :2]}
UNSUPPORTED = [
    ("atan2", {"x": COMPLEX, "y": COMPLEX}, {}, ["out"], "complex numbers are not supported by this operator"),
    ("svd", {"x": COMPLEX}, {}, ["vh"], "the vectors 'vh' of complex matrices are not supported"),
    (
        "batch_norm_grad",
        {"x": X[None], "mean_out": VECTOR, "variance_out": VECTOR, "out_grad": X[None]},
        {},
        ["x_grad"],
        "is_test=False: the gradient of batch statistics is for training",
    ),
    (
        "pool2d_grad",
        POOLED,
        {"pooling_type": "avg", "ksize": [2, 2], "ceil_mode": True},
        ["x_grad"],
        "ceil_mode=True: the gradient of an average is not supported",
    ),
    (
        "conv2d_grad",
        {"input": X[None], "filter": X[None], "out_grad": X[None, :1, :1, :1]},
        {},
        ["filter_grad"],
        "the gradient of a filter of unknown size is not supported",
    ),
    (
        "gru_unit",
        {"input": ROWS, "hidden_prev": ROWS[:, :2], "weight": ROWS},
        {},
        ["hidden"],
        "a weight of unknown size is not supported",
    ),
]


@pytest.mark.parametrize(("type", "inputs", "attributes", "results", "message"), UNSUPPORTED)
def test_what_is_not_supported(type, inputs, attributes, results, message):
    """It is told, whatever the sizes are."""
    refused(message, type, inputs, attributes, results, dynamic=True, format="legacy")


def test_squeeze_of_what_is_not_one(tmp_path):
    """Axes that the program computes: where one of them stays in Paddle, as its size is not 1, the run fails."""

    def function(x, axis):
        return paddle.squeeze(x * 2, axis)

    with pytest.warns(paddle2ov.ConversionWarning, match="here all must be 1, or the run fails"):
        request = saved_request(tmp_path, function, x=([-1, -1, -1], "float32"), axis=([2], "int32"))
    x, axis = X[:1, :, :1], np.array([-1, 0], "int32")
    (squeezed,) = request.infer([x, axis]).values()
    np.testing.assert_array_equal(squeezed, paddle.squeeze(paddle.to_tensor(x * 2), [-1, 0]).numpy())
    for wide in (X[:1], X[:, :, :1]):
        with pytest.raises(RuntimeError, match="reshape"):
            request.infer([wide, axis])
