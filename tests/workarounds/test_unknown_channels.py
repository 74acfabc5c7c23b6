"""Constants along channels of unknown number, after nodes that OpenVINO would fuse them into."""

import numpy as np
import pytest
from openvino import opset16 as ops

from paddle2ov.workarounds.table import row
from tests.support.passes_checks import all_rewrites, compare, random, stays_test


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
ANY_IMAGE = (-1, -1, 6, 5)
SHAPES = [[(batch, channels, 6, 5)] for batch, channels in ((2, 3), (2, 1), (1, 1), (1, 3))]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("following", FOLLOWING)
@pytest.mark.parametrize("name", IMAGES)
def test_one_channel_among_others(name, following):
    for rewrite in (row("post_ops.of_unknown_channels"), all_rewrites):
        compare(rewrite, lambda x: FOLLOWING[following](IMAGES[name](x)), ANY_IMAGE, shapes=SHAPES)


def test_one_channel_without_its_image():
    def build(x):
        return ops.multiply(ops.reduce_mean(x, np.array([2, 3]), False), ROW.reshape(3))

    compare(all_rewrites, build, ANY_IMAGE, shapes=SHAPES)


def scaled(constant):
    return lambda x: ops.multiply(IMAGES["nearest"](x), constant)


def less_their_mean(x):
    """A number has no channels."""
    return ops.multiply(ops.subtract(x, ops.reduce_mean(x, np.array([0, 1]), False)), np.float32([0, 1, 2]))


STAYS = {
    "post_ops.of_unknown_channels": {
        "known": (scaled(ROW), (-1, 3, -1, -1)),
        "number": (scaled(np.float32(2)), ANY_IMAGE),
        "number of rank 4": (scaled(np.full((1, 1, 1, 1), 2, np.float32)), ANY_IMAGE),
        "along the width": (scaled(random(4)), ANY_IMAGE),
        "less their mean": (less_their_mean, (-1, -1)),
    },
}

test_stays = stays_test(STAYS)
