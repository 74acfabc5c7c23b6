"""Patterns that OpenVINO recognises without a look at all that they depend on."""

import numpy as np
import pytest
from openvino import Model, Type
from openvino import opset16 as ops

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph
from paddle2ov.passes.drop_neutral import drop_neutral
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import compare, parameter, random, transpose

IMAGES = [
    ([1, -1, 2, 2, 4], [0, 1, 3, 2, 4], [-1, 2, 8]),
    ([1, -1, 2, 2, 4], [0, 2, 1, 3, 4], [-1, 2, 8]),
    ([2, -1, 2, 4], [0, 2, 1, 3], [-1, 2, 8]),
    ([2, -1, 4, 4], [0, 2, 1, 3], [-1, 2, 2, 4]),
    ([2, -1, 2, 2, 4], [1, 0, 2, 4, 3], [-1, 16]),
]


@pytest.mark.parametrize(("between", "perm", "after"), IMAGES)
def test_avoid_channel_shuffle(between, perm, after):
    x = parameter(-1, 2, 2, 4)
    moved = transpose(ops.reshape(x, np.array(between), False), *perm)
    model = Model([ops.reshape(moved, np.array(after), False)], [x])
    assert row("misrecognised.channel_shuffle")(Graph(model)) == {"sites": 1}
    compiled = compile_on_cpu(model)
    for batch in (4, 2):
        data = random(batch, 2, 2, 4)
        want = data.reshape(between).transpose(perm).reshape(after)
        np.testing.assert_array_equal(compiled([data])[0], want)


@pytest.mark.parametrize(
    ("shape", "between", "after"),
    [
        ([-1, 2, 2, -1], [2, -1, 2, 2], [-1, 8]),  # of unknown width
        ([-1, 2, 4], [2, -1, 2, 4], [-1, 8]),  # no image
        ([-1, 4, 2, 4], [-1, 2, 2, 2, 4], [-1, 4, 2, 4]),  # groups of known size
        ([-1, 2, 2, 4], [2, -1, 2, 4], None),
    ],
)
def test_avoid_channel_shuffle_fails_to_match(shape, between, after):
    x = parameter(*shape)
    moved = transpose(ops.reshape(x, np.array(between), False), 0, 2, 1, *range(3, len(between)))
    out = ops.relu(moved) if after is None else ops.reshape(moved, np.array(after), False)
    assert row("misrecognised.channel_shuffle")(Graph(Model([out], [x]))) == {"sites": 0}


half = np.float32(0.5)


SLOPES = {
    "absolute": lambda x, a: ops.add(ops.relu(x), ops.multiply(ops.multiply(a, ops.subtract(x, ops.abs(x))), half)),
    "half first": lambda x, a: ops.add(ops.multiply(ops.multiply(half, ops.subtract(x, ops.abs(x))), a), ops.relu(x)),
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
    sizes = [(4,) * rank, (2,) * (rank - 1) + (4,)] if slope[-1] == 4 or slope == (1,) else [(4,) * rank]

    def build(dims):
        x = parameter(*dims)
        values = np.linspace(0.1, 0.4, 4 if slope != (1,) else 1, dtype=np.float32).reshape(slope)
        return Model([SLOPES[name](x, ops.constant(values))], [x])

    counts = {"sites": 1 if slope == (4,) and rank > 2 else 0}
    for dims, runs in [(size, [size]) for size in sizes] if is_known else [([-1] * (rank - 1) + [4], sizes)]:
        compare(
            lambda dims=dims: build(dims),
            row("misrecognised.slopes_of_channels"),
            counts,
            *([random(*run)] for run in runs),
        )


def convolution(x, *shape, pads=0):
    rank = len(shape) - 2
    return ops.convolution(x, random(*shape), [1] * rank, [pads] * rank, [pads] * rank, [1] * rank)


def pooled(x):
    return ops.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2]).output(0)


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


@pytest.mark.one_in(2)
@pytest.mark.parametrize("dims", [(1, 4, 6, 6), (-1, 4, 6, 6), (-1, 4, -1, -1)], ids=str)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_behind_poolings_of_convolutions(name, dims):
    weights = random(3, 4, 3, 3)

    def build():
        x = parameter(*dims)
        convolved = ops.add(ops.convolution(x, weights, [1, 1], [1, 1], [1, 1], [1, 1]), np.float32(0.1))
        return Model([ACTIVATIONS[name](pooled(convolved))], [x])

    compare(build, row("misrecognised.activation_of_pool"), {"sites": 1}, [random(1, 4, 6, 6)], tolerance=1e-4)


@pytest.mark.parametrize("name", ["relu", "not of a convolution", "read by a layer"])
def test_poolings_that_stay(name):
    x = parameter(1, 4, 6, 6)
    below = pooled(ops.softmax(x, 1) if name == "not of a convolution" else convolution(x, 3, 4, 3, 3))
    above = ops.relu(below) if name == "relu" else ops.swish(below)
    results = [above, convolution(below, 2, 3, 1, 1)] if name == "read by a layer" else [above]
    assert row("misrecognised.activation_of_pool")(Graph(Model(results, [x]))) == {"sites": 0}


def test_readers_of_the_indices_of_a_pooling():
    x = parameter(1, 4, 6, 6)
    pool = ops.max_pool(convolution(x, 3, 4, 3, 3), [2, 2], [1, 1], [0, 0], [0, 0], [2, 2])
    results = [ops.relu(pool.output(0)), ops.subtract(pool.output(1), np.int64(1))]
    assert row("misrecognised.activation_of_pool")(Graph(Model(results, [x]))) == {"sites": 0}


PARTS: dict[str, tuple[list[int | None], int]] = {
    "swapped": ([1, 0], 1),
    "one twice": ([0, 0], 1),
    "axis 0": ([0, 1], 0),
    "axis 2": ([0, 1], 2),
    "two of three": ([0, 2], 1),
    "beside an input": ([0, None], 1),
    "in order": ([0, 1], 1),
}


@pytest.mark.parametrize("batch", [2, -1])
@pytest.mark.parametrize("name", PARTS)
def test_convolutions_of_parts(name, batch):
    order, axis = PARTS[name]
    count = 3 if name == "two of three" else 2
    weights = [random(2, 2, 3, 3) for _ in order]

    def build():
        x, y = parameter(batch, 2 * count, 4, 4), parameter(batch, 2, 4, 4)
        parts = ops.split(x, np.int64(1), count).outputs()
        around = [1, 1], [1, 1], [1, 1], [1, 1]
        sides = [
            y if item is None else ops.convolution(parts[item], weight, *around)
            for item, weight in zip(order, weights, strict=True)
        ]
        return Model([ops.concat(sides, axis), ops.relu(y)], [x, y])

    counts = {"sites": 0 if name == "in order" else 1}
    compare(
        build,
        row("misrecognised.convolutions_as_groups"),
        counts,
        [random(2, 2 * count, 4, 4), random(2, 2, 4, 4)],
        tolerance=1e-4,
    )


_ZEROS, _ONES = np.zeros((1, 2, 1, 1), np.float32), np.ones((2, 1, 1), np.float32)


NEUTRAL = {
    "zeros": lambda x: ops.add(x, _ZEROS),
    "zeros first": lambda x: ops.add(_ZEROS, x),
    "subtracted zeros": lambda x: ops.subtract(x, np.float32(0)),
    "ones": lambda x: ops.multiply(ops.multiply(_ONES, x), _ONES),
    "divided by ones": lambda x: ops.divide(x, _ONES),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("batch", [2, -1])
@pytest.mark.parametrize("before", [False, True], ids=["behind", "before"])
@pytest.mark.parametrize("name", NEUTRAL)
def test_convolutions_of_parts_with_neutral_constants(name, before, batch):
    weights = random(2, 2, 3, 3)

    def build():
        x = parameter(batch, 4, 4, 4)
        around = [1, 1], [1, 1], [1, 1], [1, 1]
        parts = ops.split(x, np.int64(1), 2).outputs()
        sides = [
            ops.convolution(NEUTRAL[name](part), weights, *around)
            if before
            else NEUTRAL[name](ops.convolution(part, weights, *around))
            for part in reversed(parts)
        ]
        return Model([ops.concat(sides, 1)], [x])

    def rewrite(graph):
        return {**drop_neutral(graph), **row("misrecognised.convolutions_as_groups")(graph)}

    counts = {"nodes": 4 if name == "ones" else 2, "sites": 1}
    compare(build, rewrite, counts, [random(2, 4, 4, 4)], tolerance=1e-4)


@pytest.mark.parametrize("kind", [Type.i32, Type.i64, Type.u8], ids=str)
def test_places_of_truncated_numbers(kind):
    def build():
        x = parameter(-1)
        return Model([ops.non_zero(ops.convert(x, kind))], [x])

    compare(
        build, row("misrecognised.nonzero_of_convert"), {"sites": 1}, [np.array([0.5, 0, 1.5, 0.99, 2], np.float32)]
    )


def test_places_of_other_conversions_stay():
    x = ops.parameter([-1], Type.i32)
    model = Model([ops.non_zero(ops.convert(x, Type.i64)), ops.non_zero(ops.convert(x, Type.boolean))], [x])
    assert row("misrecognised.nonzero_of_convert")(Graph(model)) == {"sites": 0}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", [Type.f32, Type.i32, Type.boolean], ids=str)
@pytest.mark.parametrize("length", [2, 4, -1])
@pytest.mark.parametrize("axis", [1, 2, 3])
def test_repeated_parts(axis, length, kind):
    dims = [1, 2, 2, 2]
    dims[axis] = length

    def build():
        x = parameter(*dims)
        value = ops.greater(x, np.float32(0)) if kind == Type.boolean else ops.convert(x, kind)
        first, second = ops.split(value, np.int64(axis), 2).outputs()
        joined = ops.concat([first, first, second, second], axis)
        return Model([joined if kind != Type.boolean else ops.convert(joined, Type.f32)], [x])

    size = [1, 2, 2, 2]
    size[axis] = 2 if length == 2 else 4
    counts = {"sites": 0 if length == 2 and kind == Type.f32 else 1}
    compare(build, row("misrecognised.interpolated_parts"), counts, [np.float32(1e6) * random(*size)])


ONE = np.array([1])


STATISTICS = {
    "softmax": lambda x: (lambda e: ops.divide(e, ops.reduce_sum(e, ONE, False)))(ops.exp(x)),
    "softmax of the largest": lambda x: (lambda e: ops.divide(e, ops.reduce_sum(e, ONE, True)))(
        ops.exp(ops.subtract(x, ops.reduce_max(x, ONE, False)))
    ),
    "layer norm": lambda x: (
        lambda d: ops.divide(
            d, ops.sqrt(ops.add(ops.reduce_mean(ops.power(d, np.float32(2)), ONE, False), np.float32(1e-3)))
        )
    )(ops.subtract(x, ops.reduce_mean(x, ONE, False))),
    "L2": lambda x: ops.divide(
        x, ops.sqrt(ops.add(ops.reduce_sum(ops.power(x, np.float32(2)), ONE, False), np.float32(1e-3)))
    ),
    "RMS": lambda x: ops.multiply(
        ops.multiply(
            x,
            ops.power(
                ops.sqrt(ops.add(ops.reduce_mean(ops.power(x, np.float32(2)), ONE, False), np.float32(1e-2))),
                np.float32(-1),
            ),
        ),
        np.float32([1, 2, 3, 4]),
    ),
}


@pytest.mark.parametrize("dims", [(4, 4), (-1, 4), (-1, -1)], ids=str)
@pytest.mark.parametrize("name", STATISTICS)
def test_statistics_without_their_axis(name, dims):
    def build():
        x = parameter(*dims)
        return Model([STATISTICS[name](x)], [x])

    counts = {"sites": 2 if name == "layer norm" else 1}
    compare(build, row("misrecognised.statistics_of_rows"), counts, [random(4, 4)], tolerance=1e-5)


@pytest.mark.parametrize(
    "out",
    [
        lambda x: ops.relu(ops.reduce_sum(x, ONE, False)),
        lambda x: ops.multiply(ops.reduce_sum(x, ONE, False), np.float32(2)),
        lambda x: ops.subtract(x, ops.reduce_sum(x, ONE, True)),
    ],
    ids=["alone", "scaled", "with its axis"],
)
def test_statistics_that_stay(out):
    x = parameter(4, 4)
    assert row("misrecognised.statistics_of_rows")(Graph(Model([out(x)], [x]))) == {"sites": 0}


@pytest.mark.parametrize("beta", ["computed", "wider", "of higher rank", "one", "a row"])
def test_factors_in_a_swish(beta):
    shapes = {"wider": 3, "of higher rank": (3, 1, 1), "one": (), "a row": 1}

    def build():
        x, b = parameter(4, 1), parameter(1)
        factor = b if beta == "computed" else np.full(shapes[beta], 1.5, np.float32)
        return Model([ops.multiply(x, ops.sigmoid(ops.multiply(x, factor))), ops.relu(b)], [x, b])

    counts = {"sites": 1 if beta in ("computed", "wider", "of higher rank") else 0}
    compare(build, row("misrecognised.swish_of_vectors"), counts, [random(4, 1), np.float32([1.5])])
