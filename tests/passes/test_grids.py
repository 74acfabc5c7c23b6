"""Tokens that become images and images that become tokens: which of them are transposed as images, and which stay."""

import numpy as np
import pytest
from openvino import opset16 as ops

from paddle2ov.passes import run_rewrites
from paddle2ov.passes.layout.transpose_feature_maps import transpose_feature_maps
from paddle2ov.workarounds import rewrites_for
from tests.support.passes_checks import apply, convolved, kinds, model_of, random, reshape, stays, transpose

KERNEL = random(3, 5)


def _convolved(image):
    rank = len(image.get_output_partial_shape(0)) - 2
    return convolved(image, KERNEL.reshape(3, 5, *[1] * rank))


def images_of(target, read=_convolved):
    return lambda x: read(reshape(transpose(x, 0, 2, 1), *target))


def tokens_of(target, read):
    return lambda x: read(transpose(reshape(x, *target), 0, 2, 1))


def orders(model):
    transposes = [node for node in model.get_ordered_ops() if node.get_type_name() == "Transpose"]
    return [node.input_value(1).get_node().get_data().tolist() for node in transposes]


@pytest.mark.parametrize(
    ("dims", "target", "order"),
    [
        ([-1, 12, 5], [-1, 5, 3, 4], [0, 3, 1, 2]),
        ([-1, 12, 5], [0, 0, 3, 4], [0, 3, 1, 2]),
        ([-1, 12, 5], [0, 5, 3, -1], [0, 3, 1, 2]),
        ([-1, 12, 5], [0, 0, -1, 1], [0, 3, 1, 2]),
        ([-1, -1, 5], [0, 5, 3, -1], [0, 3, 1, 2]),
        ([-1, -1, 5], [0, 5, 3, 4], [0, 3, 1, 2]),
        ([2, -1, 5], [2, 5, -1, 4], [0, 3, 1, 2]),
        ([-1, 12, 5], [-1, 5, 2, 3, 2], [0, 4, 1, 2, 3]),
    ],
)
def test_to_images(dims, target, order):
    model, counts = apply(transpose_feature_maps, images_of(target), dims, shapes=[[2, 12, 5]])
    assert counts == {"to images": 1, "to tokens": 0, "widened": 0}
    assert orders(model) == [order]


@pytest.mark.parametrize("sizes", [True, False])
def test_to_images_of_a_computed_shape(sizes):
    """Sizes that the shape names as constants are known; those that it computes are not."""

    def build(x, y):
        batch = ops.gather(ops.shape_of(x), np.array([0]), np.array(0))
        target = [batch, np.array([5, 3, 4])] if sizes else [batch, np.array([5]), ops.shape_of(y)]
        image = ops.reshape(transpose(x, 0, 2, 1), ops.concat(target, 0), False)
        return [_convolved(image), ops.relu(y)]

    counts = apply(transpose_feature_maps, build, [-1, 12, 5], [-1, -1], shapes=[[2, 12, 5], [3, 4]])[1]
    assert counts["to images"] == sizes


def two_readers(value):
    return [ops.softmax(value, -1), ops.relu(value)]


@pytest.mark.parametrize(
    ("dims", "target", "order"),
    [([2, 5, 3, 4], [2, 5, -1], [0, 2, 3, 1]), ([2, 5, 2, 3, 2], [0, 0, 12], [0, 2, 3, 4, 1])],
)
def test_to_tokens(dims, target, order):
    model, counts = apply(transpose_feature_maps, tokens_of(target, two_readers), dims)
    assert counts == {"to images": 0, "to tokens": 1, "widened": 0}
    assert orders(model) == [order]


@pytest.mark.parametrize("batch", [2, -1])
def test_widened(batch):
    """Values of deformable attention, 8 heads of 8."""
    model, counts = apply(transpose_feature_maps, images_of([-1, 8, 64, 128], ops.relu), [batch, 8192, 64])
    assert counts == {"to images": 0, "to tokens": 0, "widened": 1}
    assert orders(model) == [[0, 3, 1, 2]]


def read_by_others(x, y):
    columns, tokens = transpose(x, 0, 2, 1), reshape(y, 2, 5, 12)
    read = [_convolved(reshape(columns, -1, 5, 3, 4)), ops.relu(columns)]
    return [*read, *two_readers(transpose(tokens, 0, 2, 1)), ops.relu(tokens)]


STAYS = {
    "what OpenVINO does itself": (images_of([2, 5, 3, 4]), [2, 12, 5]),
    "channels that are not those of the tokens": (images_of([-1, 4, 3, 5], ops.relu), [-1, 12, 5]),
    "a batch along the rows": (images_of([1, 5, 6, -1], ops.relu), [-1, 12, 5]),
    "unknown tokens": (images_of([-1, 5, 3, 4]), [-1, -1, 5]),
    "unknown channels": (images_of([0, 0, 3, 4]), [-1, 12, -1]),
    "no image": (images_of([0, 5, 12], ops.relu), [-1, 12, 5]),
    "another order": (lambda x: ops.relu(reshape(transpose(x, 2, 0, 1), 5, -1, 3, 4)), [-1, 12, 5]),
    "tokens that take longer": (tokens_of([0, 5, -1], two_readers), [-1, 5, 3, 4]),
    "tokens by OpenVINO itself": (tokens_of([2, 5, 12], ops.relu), [2, 5, 3, 4]),
    "other joined axes": (tokens_of([2, 15, 4], two_readers), [2, 5, 3, 4]),
    "a joined batch": (tokens_of([10, 3, 4], two_readers), [2, 5, 3, 4]),
    "read by others": (read_by_others, [-1, 12, 5], [2, 5, 3, 4]),
    "wide, in the cache": (images_of([-1, 8, 80, 100], ops.relu), [-1, 8000, 64]),
    "wide, columns beside each other": (images_of([-1, 8, 64, 128], ops.relu), [-1, 8192, 96]),
    "wide, of four channels": (images_of([-1, 8, 128, 128], ops.relu), [-1, 16384, 32]),
    "wide, of unknown number": (images_of([-1, 8, 64, 128], ops.relu), [-1, -1, 64]),
    "wide, no image": (images_of([-1, 8, 8192], ops.relu), [-1, 8192, 64]),
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    assert stays(transpose_feature_maps, *STAYS[name])


def test_transposes_that_meet_come_first():
    """An image, tokens, and an image again: nothing is transposed."""

    def build(x):
        tokens = ops.relu(transpose(reshape(x, 2, 5, 12), 0, 2, 1))
        return ops.relu(reshape(transpose(tokens, 0, 2, 1), 2, 5, 3, 4))

    model = model_of(build, [2, 5, 3, 4])
    counts = run_rewrites(model, rewrites_for())["transpose_feature_maps"]
    assert counts == {"to images": 0, "to tokens": 0, "widened": 0}
    assert kinds(model)["Transpose"] == 0
