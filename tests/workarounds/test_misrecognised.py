"""Patterns that OpenVINO recognises without a look at all that they depend on."""

import numpy as np
import pytest
from openvino import opset16 as ops

from paddle2ov.passes.drop_neutral import drop_neutral
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import compare, convolved, pooled, random, stays_test, transpose

HALF, ONES = np.float32(0.5), [1, 1]
IMAGES = [
    ([1, -1, 2, 2, 4], [0, 1, 3, 2, 4], [-1, 2, 8]),
    ([1, -1, 2, 2, 4], [0, 2, 1, 3, 4], [-1, 2, 8]),
    ([2, -1, 2, 4], [0, 2, 1, 3], [-1, 2, 8]),
    ([2, -1, 4, 4], [0, 2, 1, 3], [-1, 2, 2, 4]),
    ([2, -1, 2, 2, 4], [1, 0, 2, 4, 3], [-1, 16]),
]


def shuffled(between, after, perm=None):
    def build(x):
        order = perm or (0, 2, 1, *range(3, len(between)))
        moved = transpose(ops.reshape(x, np.array(between), False), *order)
        return ops.reshape(moved, np.array(after), False) if after else ops.relu(moved)

    return build


@pytest.mark.parametrize(("between", "perm", "after"), IMAGES)
def test_channel_shuffle(between, perm, after):
    shapes = [[(batch, 2, 2, 4)] for batch in (4, 2)]
    compare(row("misrecognised.channel_shuffle"), shuffled(between, after, perm), (-1, 2, 2, 4), shapes=shapes)


SLOPES = {
    "absolute": lambda x, a: ops.add(ops.relu(x), ops.multiply(ops.multiply(a, ops.subtract(x, ops.abs(x))), HALF)),
    "half first": lambda x, a: ops.add(ops.multiply(ops.multiply(HALF, ops.subtract(x, ops.abs(x))), a), ops.relu(x)),
    "negative": lambda x, a: ops.subtract(ops.relu(x), ops.multiply(a, ops.relu(ops.negative(x)))),
    "both": lambda x, a: ops.add(ops.relu(x), ops.multiply(ops.negative(ops.relu(ops.negative(x))), a)),
    "product": lambda x, a: ops.subtract(ops.relu(x), ops.multiply(a, ops.relu(ops.multiply(x, np.float32(-1))))),
    "sum": lambda x, a: ops.add(ops.relu(x), ops.multiply(ops.relu(ops.multiply(x, np.float32(-1))), a)),
}
SLOPE_SHAPES = [
    (rank, slope)
    for rank in (1, 2, 3, 4)
    for slope in ((4,), (1, 4), (1, 1, 4), (4, 1), (1,), (4, 1, 1))
    if len(slope) <= rank
]


@pytest.mark.one_in(7)
@pytest.mark.parametrize("shapes", SLOPE_SHAPES, ids=str)
@pytest.mark.parametrize("name", SLOPES, ids=str)
@pytest.mark.parametrize("is_known", [False, True], ids=str)
def test_slopes(shapes, name, is_known):
    rank, slope = shapes
    sizes = [(4,) * rank, *([(2,) * (rank - 1) + (4,)] if slope[-1] == 4 or slope == (1,) else [])]
    values = np.linspace(0.1, 0.4, 4 if slope != (1,) else 1, dtype=np.float32).reshape(slope)
    sites = 1 if slope == (4,) and rank > 2 else 0
    for dims, runs in [(size, [size]) for size in sizes] if is_known else [((-1,) * (rank - 1) + (4,), sizes)]:
        compare(
            row("misrecognised.slopes_of_channels"),
            lambda x: SLOPES[name](x, ops.constant(values)),
            dims,
            sites=sites,
            shapes=[[run] for run in runs],
        )


def convolution(x, *shape, pads=0):
    return convolved(x, random(*shape), pads)


ACTIVATIONS = {
    "abs": ops.abs,
    "gelu": lambda x: ops.gelu(x, "erf"),
    "hswish": ops.hswish,
    "mish": ops.mish,
    "negative": ops.negative,
    "swish": ops.swish,
    "swish by hand": lambda x: ops.multiply(x, ops.sigmoid(x)),
    "leaky": lambda x: ops.prelu(x, np.float32([-0.5])),
    "scaled": lambda x: ops.multiply(x, np.float32(-2)),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dims", [(1, 4, 6, 6), (-1, 4, 6, 6), (-1, 4, -1, -1)], ids=str)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_behind_poolings_of_convolutions(name, dims):
    def build(x):
        return ACTIVATIONS[name](pooled(ops.add(convolution(x, 3, 4, 3, 3, pads=1), np.float32(0.1))))

    compare(row("misrecognised.activation_of_pool"), build, dims, shapes=[[(1, 4, 6, 6)]], tolerance=1e-4)


def read_by_a_layer(x):
    below = pooled(convolution(x, 3, 4, 3, 3))
    return [ops.swish(below), convolution(below, 2, 3, 1, 1)]


def with_indices(x):
    image = convolution(x, 3, 4, 3, 3)
    return [ops.relu(pooled(image)), ops.subtract(pooled(image, output=1), np.int64(1))]


PARTS: dict[str, tuple[list[int | None], int]] = {
    "swapped": ([1, 0], 1),
    "one twice": ([0, 0], 1),
    "axis 0": ([0, 1], 0),
    "axis 2": ([0, 1], 2),
    "two of three": ([0, 2], 1),
    "beside an input": ([0, None], 1),
    "in order": ([0, 1], 1),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("batch", [2, -1])
@pytest.mark.parametrize("name", PARTS)
def test_convolutions_of_parts(name, batch):
    order, axis = PARTS[name]
    count = 3 if name == "two of three" else 2

    def build(x, y):
        parts = ops.split(x, np.int64(1), count).outputs()
        sides = [y if item is None else convolution(parts[item], 2, 2, 3, 3, pads=1) for item in order]
        return [ops.concat(sides, axis), ops.relu(y)]

    dims = (batch, 2 * count, 4, 4), (batch, 2, 4, 4)
    sites = 0 if name == "in order" else 1
    compare(row("misrecognised.convolutions_as_groups"), build, *dims, sites=sites, tolerance=1e-4)


_ZEROS, _ONES = np.zeros((1, 2, 1, 1), np.float32), np.ones((2, 1, 1), np.float32)
NEUTRAL = {
    "zeros": lambda x: ops.add(x, _ZEROS),
    "zeros first": lambda x: ops.add(_ZEROS, x),
    "subtracted zeros": lambda x: ops.subtract(x, np.float32(0)),
    "ones": lambda x: ops.multiply(ops.multiply(_ONES, x), _ONES),
    "divided by ones": lambda x: ops.divide(x, _ONES),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("batch", [2, -1])
@pytest.mark.parametrize("before", [False, True], ids=["behind", "before"])
@pytest.mark.parametrize("name", NEUTRAL)
def test_convolutions_of_parts_with_neutral_constants(name, before, batch):
    weights = random(2, 2, 3, 3)

    def layer(part):
        return convolved(part, weights, 1)

    def build(x):
        parts = ops.split(x, np.int64(1), 2).outputs()
        change = NEUTRAL[name]
        return ops.concat([layer(change(part)) if before else change(layer(part)) for part in reversed(parts)], 1)

    def rewrite(graph):
        return {**drop_neutral(graph), **row("misrecognised.convolutions_as_groups")(graph)}

    counts = {"nodes": 4 if name == "ones" else 2, "sites": 1}
    compare(rewrite, build, (batch, 4, 4, 4), sites=counts, tolerance=1e-4)


AXIS = np.array([1])


def softmax_of_sums(x, keep=False):
    powers = ops.exp(x)
    return ops.divide(powers, ops.reduce_sum(powers, AXIS, keep))


def deviation(x, reduction, epsilon):
    return ops.sqrt(ops.add(reduction(ops.power(x, np.float32(2)), AXIS, False), np.float32(epsilon)))


def layer_norm(x):
    centred = ops.subtract(x, ops.reduce_mean(x, AXIS, False))
    return ops.divide(centred, deviation(centred, ops.reduce_mean, 1e-3))


STATISTICS = {
    "softmax": softmax_of_sums,
    "softmax of the largest": lambda x: softmax_of_sums(ops.subtract(x, ops.reduce_max(x, AXIS, False)), True),
    "layer norm": layer_norm,
    "L2": lambda x: ops.divide(x, deviation(x, ops.reduce_sum, 1e-3)),
    "RMS": lambda x: ops.multiply(
        ops.multiply(x, ops.power(deviation(x, ops.reduce_mean, 1e-2), np.float32(-1))), np.float32([1, 2, 3, 4])
    ),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("dims", [(4, 4), (-1, 4), (-1, -1)], ids=str)
@pytest.mark.parametrize("name", STATISTICS)
def test_statistics_without_their_axis(name, dims):
    sites = 2 if name == "layer norm" else 1
    compare(row("misrecognised.statistics_of_rows"), STATISTICS[name], dims, sites=sites, shapes=[[(4, 4)]])


IMAGE = (1, 4, 6, 6)


@pytest.mark.parametrize("beta", ["computed", "wider", "of higher rank", "one", "a row"])
def test_factors_in_a_swish(beta):
    shapes = {"wider": 3, "of higher rank": (3, 1, 1), "one": (), "a row": 1}

    def build(x, b):
        factor = b if beta == "computed" else np.full(shapes[beta], 1.5, np.float32)
        return [ops.multiply(x, ops.sigmoid(ops.multiply(x, factor))), ops.relu(b)]

    sites = 1 if beta in ("computed", "wider", "of higher rank") else 0
    compare(row("misrecognised.swish_of_vectors"), build, (4, 1), (1,), sites=sites)


STAYS = {
    "misrecognised.channel_shuffle": {
        "of unknown width": (shuffled([2, -1, 2, 2], [-1, 8]), (-1, 2, 2, -1)),
        "no image": (shuffled([2, -1, 2, 4], [-1, 8]), (-1, 2, 4)),
        "groups of known size": (shuffled([-1, 2, 2, 2, 4], [-1, 4, 2, 4]), (-1, 4, 2, 4)),
        "not reshaped": (shuffled([2, -1, 2, 4], None), (-1, 2, 2, 4)),
    },
    "misrecognised.activation_of_pool": {
        "relu": (lambda x: ops.relu(pooled(convolution(x, 3, 4, 3, 3))), IMAGE),
        "not of a convolution": (lambda x: ops.swish(pooled(ops.softmax(x, 1))), IMAGE),
        "read by a layer": (read_by_a_layer, IMAGE),
        "indices": (with_indices, IMAGE),
    },
    "misrecognised.statistics_of_rows": {
        "alone": (lambda x: ops.relu(ops.reduce_sum(x, AXIS, False)), (4, 4)),
        "scaled": (lambda x: ops.multiply(ops.reduce_sum(x, AXIS, False), np.float32(2)), (4, 4)),
        "with its axis": (lambda x: ops.subtract(x, ops.reduce_sum(x, AXIS, True)), (4, 4)),
    },
}

test_stays = stays_test(STAYS)
