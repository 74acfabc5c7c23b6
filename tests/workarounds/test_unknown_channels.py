"""Constants along channels of unknown number, after nodes that OpenVINO would fuse them into."""

import numpy as np
import pytest
from openvino import Model
from openvino import opset16 as ops

from paddle2ov.comparison.evaluator import node_by_node
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph, run_rewrites
from paddle2ov.workarounds import rewrites_for
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import parameter, random


def resized(mode):
    return lambda x: ops.interpolate(x, np.array([4, 4]), mode, "sizes", axes=np.array([2, 3]))


IMAGES = {
    "nearest": resized("nearest"),
    "linear": resized("linear_onnx"),
    "cubic": resized("cubic"),
    "normalization": lambda x: ops.mvn(x, np.array([2, 3]), True, 1e-2, "INSIDE_SQRT"),
    "mean": lambda x: ops.reduce_mean(x, np.array([2, 3]), True),
    "maximum": lambda x: ops.reduce_max(x, np.array([3]), True),
    "activation": lambda x: ops.tanh(ops.reduce_l2(x, np.array([2, 3]), True)),
}
ROW = np.abs(random(3, 1, 1)) + 1
FOLLOWING = {
    "less": lambda y: ops.subtract(y, ROW[None]),
    "divided": lambda y: ops.divide(y, ROW),
    "less and divided": lambda y: ops.divide(ops.subtract(y, ROW), ROW[None]),  # by then there are three channels
    "product and sum": lambda y: ops.relu(ops.add(ops.multiply(ROW, y), ROW[None])),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("following", FOLLOWING)
@pytest.mark.parametrize("name", IMAGES)
def test_one_channel_among_others(name, following):
    def build():
        x = parameter(-1, -1, 6, 5)
        return Model([FOLLOWING[following](IMAGES[name](x))], [x])

    model, whole = build(), build()
    assert row("post_ops.of_unknown_channels")(Graph(model)) == {"sites": 1}
    run_rewrites(whole, rewrites_for())
    requests = [compile_on_cpu(value).create_infer_request() for value in (model, whole)]
    for batch, channels in ((2, 3), (2, 1), (1, 1), (1, 3)):
        data = random(batch, channels, 6, 5)
        want = node_by_node(build(), [data])[0]
        for request in requests:
            np.testing.assert_allclose(request.infer([data])[0], want, rtol=1e-5, atol=1e-5)


def test_one_channel_without_its_image():
    def build():
        x = parameter(-1, -1, 6, 5)
        return Model([ops.multiply(ops.reduce_mean(x, np.array([2, 3]), False), ROW.reshape(3))], [x])

    model = build()
    run_rewrites(model, rewrites_for())
    request = compile_on_cpu(model).create_infer_request()
    for channels in (3, 1):
        data = random(2, channels, 6, 5)
        want = node_by_node(build(), [data])[0]
        np.testing.assert_allclose(request.infer([data])[0], want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("dims", "constant"),
    [
        ((-1, 3, -1, -1), ROW),
        ((-1, -1, 6, 5), np.float32(2)),
        ((-1, -1, 6, 5), np.full((1, 1, 1, 1), 2, np.float32)),
        ((-1, -1, 6, 5), random(4)),
    ],
    ids=["known", "number", "number of rank 4", "along the width"],
)
def test_constants_that_stay(dims, constant):
    x = parameter(*dims)
    model = Model([ops.multiply(IMAGES["nearest"](x), constant)], [x])
    assert row("post_ops.of_unknown_channels")(Graph(model)) == {"sites": 0}


def test_a_number_has_no_channels():
    x = parameter(-1, -1)
    mean = ops.reduce_mean(x, np.array([0, 1]), False)
    model = Model([ops.multiply(ops.subtract(x, mean), np.arange(3, dtype=np.float32))], [x])
    assert row("post_ops.of_unknown_channels")(Graph(model)) == {"sites": 0}
