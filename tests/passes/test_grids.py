"""Tokens that become images and images that become tokens: which of them are transposed as images, and which stay."""

import numpy as np
import pytest
from openvino import Model
from openvino import opset16 as ops

from paddle2ov.passes import run_rewrites
from paddle2ov.passes.layout.transpose_feature_maps import transpose_feature_maps
from paddle2ov.workarounds import rewrites_for
from tests.support.passes_checks import apply, kinds, parameter, random, reshape, transpose

KERNEL = random(3, 5)


def _convolved(image):
    rank = len(image.get_output_partial_shape(0)) - 2
    kernel = KERNEL.reshape(3, 5, *[1] * rank)
    return ops.convolution(image, kernel, [1] * rank, [0] * rank, [0] * rank, [1] * rank)


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
    def build():
        x = parameter(*dims)
        return Model([_convolved(reshape(transpose(x, 0, 2, 1), *target))], [x])

    model, counts = apply(transpose_feature_maps, build, [2, 12, 5])
    assert counts == {"to images": 1, "to tokens": 0, "widened": 0}
    assert orders(model) == [order]


@pytest.mark.parametrize(
    ("dims", "target"),
    [
        ([2, 12, 5], [2, 5, 3, 4]),  # OpenVINO does it itself
        ([-1, 12, 5], [-1, 4, 3, 5]),  # channels that are not those of the tokens
        ([-1, 12, 5], [1, 5, 6, -1]),  # the batch lies along the rows
        ([-1, -1, 5], [-1, 5, 3, 4]),
        ([-1, 12, -1], [0, 0, 3, 4]),
        ([-1, 12, 5], [0, 5, 12]),
    ],
)
def test_not_to_images(dims, target):
    def build():
        x = parameter(*dims)
        image = reshape(transpose(x, 0, 2, 1), *target)
        return Model([_convolved(image) if target[1] in (0, 5) and len(target) > 3 else ops.relu(image)], [x])

    assert not any(apply(transpose_feature_maps, build, [2, 12, 5])[1].values())


@pytest.mark.parametrize("sizes", [True, False])
def test_to_images_of_a_computed_shape(sizes):
    """Sizes that the shape names as constants are known; those that it computes are not."""

    def build():
        x, y = parameter(-1, 12, 5), parameter(-1, -1, name="y")
        batch = ops.gather(ops.shape_of(x), np.array([0]), np.array(0))
        target = [batch, np.array([5, 3, 4])] if sizes else [batch, np.array([5]), ops.shape_of(y)]
        image = ops.reshape(transpose(x, 0, 2, 1), ops.concat(target, 0), False)
        return Model([_convolved(image), ops.relu(y)], [x, y])

    assert apply(transpose_feature_maps, build, [2, 12, 5], [3, 4])[1]["to images"] == sizes


def _two_readers(value):
    return [ops.softmax(value, -1), ops.relu(value)]


@pytest.mark.parametrize(
    ("dims", "target", "order"),
    [([2, 5, 3, 4], [2, 5, -1], [0, 2, 3, 1]), ([2, 5, 2, 3, 2], [0, 0, 12], [0, 2, 3, 4, 1])],
)
def test_to_tokens(dims, target, order):
    def build():
        x = parameter(*dims)
        return Model(_two_readers(transpose(reshape(x, *target), 0, 2, 1)), [x])

    model, counts = apply(transpose_feature_maps, build, dims)
    assert counts == {"to images": 0, "to tokens": 1, "widened": 0}
    assert orders(model) == [order]


@pytest.mark.parametrize(
    ("dims", "target", "readers"),
    [
        ([-1, 5, 3, 4], [0, 5, -1], _two_readers),  # takes longer
        ([2, 5, 3, 4], [2, 5, 12], lambda value: [ops.relu(value)]),  # OpenVINO does it itself
        ([2, 5, 3, 4], [2, 15, 4], _two_readers),  # other axes are joined
        ([2, 5, 3, 4], [10, 3, 4], _two_readers),
    ],
)
def test_not_to_tokens(dims, target, readers):
    def build():
        x = parameter(*dims)
        return Model(readers(transpose(reshape(x, *target), 0, 2, 1)), [x])

    assert apply(transpose_feature_maps, build, [2, 5, 3, 4])[1]["to tokens"] == 0


def test_what_others_read_stays():
    def build():
        x, y = parameter(-1, 12, 5), parameter(2, 5, 3, 4, name="y")
        columns, tokens = transpose(x, 0, 2, 1), reshape(y, 2, 5, 12)
        read = [_convolved(reshape(columns, -1, 5, 3, 4)), ops.relu(columns)]
        return Model([*read, *_two_readers(transpose(tokens, 0, 2, 1)), ops.relu(tokens)], [x, y])

    assert not any(apply(transpose_feature_maps, build, [2, 12, 5], [2, 5, 3, 4])[1].values())


def test_other_orders_stay():
    def build():
        x = parameter(-1, 12, 5)
        return Model([ops.relu(reshape(transpose(x, 2, 0, 1), 5, -1, 3, 4))], [x])

    assert not any(apply(transpose_feature_maps, build, [2, 12, 5])[1].values())


def _heads(dims, target):
    def build():
        x = parameter(*dims)
        return Model([ops.relu(reshape(transpose(x, 0, 2, 1), *target))], [x])

    return build


@pytest.mark.parametrize("batch", [2, -1])
def test_widened(batch):
    """Values of deformable attention, 8 heads of 8."""
    model, counts = apply(transpose_feature_maps, _heads([batch, 8192, 64], [-1, 8, 64, 128]), [2, 8192, 64])
    assert counts == {"to images": 0, "to tokens": 0, "widened": 1}
    assert orders(model) == [[0, 3, 1, 2]]


@pytest.mark.parametrize(
    ("dims", "target"),
    [
        ([-1, 8000, 64], [-1, 8, 80, 100]),  # in the cache
        ([-1, 8192, 96], [-1, 8, 64, 128]),  # columns beside each other
        ([-1, 16384, 32], [-1, 8, 128, 128]),
        ([-1, -1, 64], [-1, 8, 64, 128]),
        ([-1, 8192, 64], [-1, 8, 8192]),  # no image
    ],
)
def test_not_widened(dims, target):
    shape = [2, 8192 if dims[1] == -1 else dims[1], dims[2]]
    assert not any(apply(transpose_feature_maps, _heads(dims, target), shape)[1].values())


def test_transposes_that_meet_come_first():
    """An image, tokens, and an image again: nothing is transposed."""

    def build():
        x = parameter(2, 5, 3, 4)
        tokens = ops.relu(transpose(reshape(x, 2, 5, 12), 0, 2, 1))
        return Model([ops.relu(reshape(transpose(tokens, 0, 2, 1), 2, 5, 3, 4))], [x])

    model = build()
    counts = run_rewrites(model, rewrites_for())["transpose_feature_maps"]
    assert counts == {"to images": 0, "to tokens": 0, "widened": 0}
    assert kinds(model)["Transpose"] == 0
