"""Constants after a node that OpenVINO fuses into it, and reads along another axis than they lie."""

import itertools

import numpy as np
import pytest
from openvino import opset16 as ops

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import run_rewrites
from paddle2ov.workarounds import rewrites_for
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import (
    arrays_for,
    check_close,
    compare,
    convolved,
    model_of,
    node_by_node,
    random,
    stays_test,
)


def check_all(build, *dims, shapes):
    """A graph after all rewrites, with its sizes as they are and fixed afterwards."""
    model = model_of(build, *dims)
    arrays = arrays_for(model, shapes)
    want = node_by_node(model, arrays)
    run_rewrites(model, rewrites_for())
    check_close(compile_on_cpu(model)(arrays).values(), want, 1e-4)
    model.reshape({port: list(array.shape) for port, array in zip(model.inputs, arrays, strict=True)})
    check_close(compile_on_cpu(model)(arrays).values(), want, 1e-4)


ROW, OTHER, TWO = random(2), random(1, 2), np.float32(2)
FOLLOWING = {
    "factor": (1, lambda y: ops.multiply(ops.relu(y), ROW)),
    "addend": (1, lambda y: ops.add(ops.multiply(ops.tanh(y), TWO), ROW)),
    "constant first": (1, lambda y: ops.subtract(ops.constant(OTHER), ops.sigmoid(y))),
    "divisor": (1, lambda y: ops.divide(ops.elu(y, 1.0), np.abs(OTHER) + 1)),
    "normalization": (2, lambda y: ops.add(ops.multiply(ops.clamp(y, -1.0, 1.0), OTHER), ROW)),
    "between factors": (2, lambda y: ops.multiply(ops.swish(ops.multiply(y, ROW), np.float32(1)), OTHER)),
}


def product(x, y):
    return ops.matmul(x, y, False, False)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("sizes", [*itertools.product((1, 2), repeat=2), (3, 2), (2, 3)], ids=str)
@pytest.mark.parametrize("lead", [(), (3,), (2, 2)], ids=str)
@pytest.mark.parametrize("following", FOLLOWING, ids=str)
def test_columns(sizes, lead, following):
    (m, k), (count, follow) = sizes, FOLLOWING[following]
    sites = count if max(sizes) == 2 or sizes == (1, 1) else 0
    dims = (*lead, m, k), (*lead, k, 2)
    compare(row("post_ops.of_small_product"), lambda x, y: follow(product(x, y)), *dims, sites=sites)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("known", list(itertools.product((True, False), repeat=3)), ids=str)
@pytest.mark.parametrize("following", FOLLOWING, ids=str)
def test_columns_of_unknown_sizes(known, following):
    shape = (3, 2, 2)
    dims = [size if keep else -1 for size, keep in zip(shape, known, strict=True)]
    check_all(lambda x, y: FOLLOWING[following][1](product(x, y)), dims, dims, shapes=[shape, shape])


@pytest.mark.parametrize("transpose_b", [True, False])
def test_unknown_width_post_ops(transpose_b):
    """A product of unknown width, and constants along its last axis."""
    numbers = random(4)
    compare(
        row("post_ops.of_unknown_width"),
        lambda x, y: ops.multiply(ops.relu(ops.add(ops.matmul(x, y, False, transpose_b), numbers)), numbers),
        (-1, 6),
        (-1, 6) if transpose_b else (6, -1),
        shapes=[[(2, 6), (4, 6) if transpose_b else (6, 4)]],
        sites=2,
        rounded=0.05,
    )


CHANNELS = np.linspace(0.5, 1.5, 6, dtype=np.float32)
PIXEL_FILTERS = random(6, 3)


def channel(rank, *, first=1):
    return ops.constant((CHANNELS * first).reshape(1, 6, *[1] * (rank - 2)))


BEHIND = {
    "factor": (lambda y, rank: ops.multiply(ops.relu(y), channel(rank)), 1),
    "batch norm": (lambda y, rank: ops.add(ops.multiply(ops.hswish(y), channel(rank)), channel(rank, first=-1)), 2),
    "slope": (lambda y, rank: ops.prelu(y, channel(rank)), 1),
    "slope of one axis": (lambda y, rank: ops.prelu(y, CHANNELS), 1),
    "difference": (lambda y, rank: ops.subtract(channel(rank), ops.sigmoid(y)), 1),
    "twice": (lambda y, rank: ops.divide(ops.tanh(ops.add(ops.relu(y), channel(rank))), channel(rank)), 2),
}


def biased(behind, groups=0, bias=True):
    """A convolution of three channels by pixels, and what is behind it."""

    def build(x):
        rank = len(x.get_output_partial_shape(0))
        filters, none, ones = PIXEL_FILTERS.reshape(6, 3, *[1] * (rank - 2)), [0] * (rank - 2), [1] * (rank - 2)
        if groups:
            wide = ops.concat([x] * 2, 1) if groups == 6 else x  # six groups: each channel by itself
            split = filters[:, :1].reshape(groups, 6 // groups, 1, *ones)
            y = ops.group_convolution(wide, split, ones, none, none, ones)
        else:
            y = convolved(x, filters)
        return behind(ops.add(y, channel(rank, first=2)) if bias else y, rank)

    return build


def pixel(dims):
    return [[(1, 3, *[1] * (len(dims) - 2))]]


@pytest.mark.one_in(7)
@pytest.mark.parametrize("follow", BEHIND, ids=str)
@pytest.mark.parametrize("groups", [0, 3, 6], ids=str)
@pytest.mark.parametrize(
    "dims", [(-1, 3, -1), (-1, 3, -1, -1), (1, 3, -1, -1), (-1, 3, 1, 1), (-1, 3, -1, 1, -1)], ids=str
)
def test_pixel_post_ops(follow, groups, dims):
    """One pixel: in bfloat16 as in float32."""
    behind, count = BEHIND[follow]
    build = biased(behind, groups)
    compare(row("post_ops.of_one_pixel"), build, dims, sites=count, shapes=pixel(dims), tolerance=1e-4, rounded=0.05)


@pytest.mark.parametrize("dims", [(-1, 3, -1), (-1, 3, -1, -1)])
def test_pixel_post_ops_of_single_channels(dims):
    """Without a bias, OpenVINO fails in the run."""
    build = biased(BEHIND["batch norm"][0], 6, bias=False)
    compare(row("post_ops.of_one_pixel"), build, dims, sites=2, shapes=pixel(dims), rounded=0.05)


FEATURES, ALONG = random(8, 5), random(5, 1, 1)
ALONG_AXIS_1 = {
    "sum": lambda y: ops.add(y, ALONG),
    "difference": lambda y: ops.subtract(ALONG[None], y),
    "factor": lambda y: ops.multiply(ops.tanh(y), ALONG),
    "slope": lambda y: ops.prelu(y, ALONG.reshape(-1)),
    "two": lambda y: ops.add(ops.multiply(y, ALONG), ALONG),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("features", [5, 4, 1])
@pytest.mark.parametrize("change", ALONG_AXIS_1)
def test_constants_along_axis_1(change, features):
    """After a product with weights, of as many features as numbers, of others, and of one."""
    weights, sites = np.ascontiguousarray(FEATURES[:, :features]), 1 + (change == "two")
    compare(
        row("post_ops.along_axis_1"),
        lambda x: ALONG_AXIS_1[change](product(x, weights)),
        (-1, 5, 3, 8),
        sites=sites,
    )


@pytest.mark.parametrize("dims", [(-1, 3, -1, 5), (2, 3, -1, 5), (2, -1, 1, 5), (-1, -1, -1, 5)], ids=str)
def test_sum_behind_a_product_of_width_one(dims):
    """Wherever the constant lies, and whatever else is known; the first of these did not compile."""
    whole = [2, 3, 1 if dims[2] == 1 else 4, 1]

    def build(x):
        for places in itertools.product((False, True), repeat=3):
            constant = random(*(size if is_long else 1 for size, is_long in zip(whole, (*places, False), strict=True)))
            yield ops.add(product(x, random(5, 1)), constant)

    check_all(lambda x: list(build(x)), dims, shapes=[(*whole[:3], 5)])


PER_CHANNEL = random(4)


def scaled(x, keep=False):
    return ops.multiply(x, PER_CHANNEL.reshape(4, 1) if keep else PER_CHANNEL)


def summed(x, keep=False):
    return ops.reduce_sum(x, np.array([-1]), keep)


MET = {
    "channels": lambda x: scaled(summed(x)),
    "kept": lambda x: scaled(summed(x, True), True),
    "put back": lambda x: scaled(ops.unsqueeze(summed(x), np.array([2])), True),
    "after others": lambda x: scaled(ops.relu(ops.add(ops.reduce_mean(x, np.array([2])), TWO))),
    "over the batch": lambda x: ops.multiply(ops.reduce_max(x, np.array([0]), False), PER_CHANNEL.reshape(4, 1)),
    "slopes": lambda x: ops.prelu(summed(x), PER_CHANNEL),
    # OpenVINO merges both sums, so that the first has a single reader.
    "beside another sum": lambda x: ops.add(scaled(summed(x, True), True), ops.reduce_sum(summed(x, True), [2], True)),
}
"""What OpenVINO 2026.4 computes wrongly from the second of a batch on."""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("batch", [-1, 3])
@pytest.mark.parametrize("build", MET.values(), ids=MET)
def test_reductions(build, batch):
    compare(row("post_ops.of_reduced_sequence"), build, (batch, 4, 5), shapes=[[(3, 4, 5)]])


@pytest.mark.parametrize("batch", [-1, 1])
def test_reductions_of_one_batch_item(batch):
    """Over the batch the numbers of other channels are taken there as well."""
    compare(row("post_ops.of_reduced_sequence"), MET["over the batch"], (batch, 4, 5), shapes=[[(1, 4, 5)]])


def added_to_batch(x, y):
    return ops.add(x, convolved(y, random(3, 3, 1, 1)))


IMAGES, SEQUENCES = (-1, 3, -1, -1), (2, 4, 5)
STAYS = {
    "post_ops.of_small_product": {
        "of the rows": (lambda x, y: ops.multiply(ops.relu(product(x, y)), random(3, 1, 1)), (3, 2, 2), (3, 2, 2)),
    },
    "post_ops.of_one_pixel": {
        "no bias": (biased(BEHIND["factor"][0], bias=False), IMAGES),
        "known": (biased(BEHIND["factor"][0]), (1, 3, 1, 1)),
        "larger": (biased(BEHIND["factor"][0]), (-1, 3, 2, 2)),
        "merged": (biased(lambda y, rank: ops.add(ops.multiply(y, channel(rank)), channel(rank))), IMAGES),
        "a number": (biased(lambda y, rank: ops.multiply(ops.relu(y), TWO)), IMAGES),
    },
    "post_ops.along_axis_1": {
        "one number": (lambda x: ops.add(product(x, FEATURES), TWO), (-1, 5, 3, 8)),
        "features": (lambda x: ops.add(product(x, FEATURES), FEATURES[0]), (-1, 5, 3, 8)),
        "two axes": (lambda x: ops.add(product(x, FEATURES), np.ones((5, 3, 1), np.float32)), (-1, 5, 3, 8)),
        "another axis": (lambda x: ops.add(product(x, FEATURES), np.ones((3, 1), np.float32)), (-1, 5, 3, 8)),
        "no product": (lambda x: ops.add(x, ALONG), (-1, 5, 3, 8)),
    },
    "post_ops.of_reduced_sequence": {
        "number": (lambda x: ops.multiply(summed(x), TWO), SEQUENCES),
        "nothing": (summed, SEQUENCES),
        "not one after another": (lambda x: scaled(ops.softmax(summed(x), -1)), SEQUENCES),
        "other axis": (lambda x: ops.multiply(ops.reduce_sum(x, np.array([1]), False), random(5)), SEQUENCES),
        "images": (lambda x: ops.multiply(summed(x), random(4, 1)), (2, 4, 3, 5)),
        "one": (lambda x: scaled(summed(x)), (1, 4, 5)),
    },
    "post_ops.of_single_image": {"added to a known batch": (added_to_batch, (2, 3, 5, 5), (1, 3, 5, 5))},
}

test_stays = stays_test(STAYS)


@pytest.mark.parametrize("dims", [(-1, 3, 5, 5), (-1, 3, -1, -1)], ids=str)
@pytest.mark.parametrize("is_constant", [True, False])
def test_a_convolved_image_is_added_to_each_of_a_batch(dims, is_constant):
    image, filters = random(1, 3, 5, 5), random(3, 3, 3, 3)

    def build(x, y):
        read = ops.add(y, ops.constant(image)) if not is_constant else ops.constant(image)
        return ops.add(ops.relu(ops.add(x, convolved(read, filters, 1))), y)

    check_all(build, dims, (1, 3, 5, 5), shapes=[(2, 3, 5, 5), (1, 3, 5, 5)])
