"""Constants after a node that OpenVINO fuses into it, and reads along another axis than they lie."""

import itertools

import numpy as np
import pytest
from openvino import Model
from openvino import opset16 as ops

from paddle2ov.comparison.evaluator import node_by_node
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph, run_rewrites
from paddle2ov.workarounds import rewrites_for
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import apply, parameter, random

ROW, OTHER, TWO = random(2), random(1, 2), np.float32(2)
FOLLOWING = {
    "factor": (1, lambda y: ops.multiply(ops.relu(y), ROW)),
    "addend": (1, lambda y: ops.add(ops.multiply(ops.tanh(y), TWO), ROW)),
    "constant first": (1, lambda y: ops.subtract(ops.constant(OTHER), ops.sigmoid(y))),
    "divisor": (1, lambda y: ops.divide(ops.elu(y, 1.0), np.abs(OTHER) + 1)),
    "normalization": (2, lambda y: ops.add(ops.multiply(ops.clamp(y, -1.0, 1.0), OTHER), ROW)),
    "between factors": (2, lambda y: ops.multiply(ops.swish(ops.multiply(y, ROW), np.float32(1)), OTHER)),
}


def product(sizes, lead, known, following):
    """What makes the model, its inputs, and how many constants there are."""
    m, k = sizes
    shapes = [(*lead, m, k), (*lead, k, 2)]
    count, follow = FOLLOWING[following]

    def build():
        x, y = (
            parameter(*(size if keep else -1 for size, keep in zip(shape, known, strict=False))) for shape in shapes
        )
        return Model([follow(ops.matmul(x, y, False, False))], [x, y])

    return build, [random(*shape) for shape in shapes], count


@pytest.mark.one_in(5)
@pytest.mark.parametrize("sizes", [*itertools.product((1, 2), repeat=2), (3, 2), (2, 3)], ids=str)
@pytest.mark.parametrize("lead", [(), (3,), (2, 2)], ids=str)
@pytest.mark.parametrize("following", FOLLOWING, ids=str)
def test_columns(sizes, lead, following):
    build, arrays, count = product(sizes, lead, [True] * 4, following)
    model = build()
    want = node_by_node(model.clone(), arrays)[0]
    assert row("post_ops.of_small_product")(Graph(model)) == {
        "sites": count if max(sizes) == 2 or sizes == (1, 1) else 0
    }
    compiled = compile_on_cpu(model)
    for _ in range(2):
        np.testing.assert_allclose(compiled(arrays)[0], want, rtol=1e-5, atol=1e-5)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("known", list(itertools.product((True, False), repeat=3)), ids=str)
@pytest.mark.parametrize("following", FOLLOWING, ids=str)
def test_columns_of_unknown_sizes(known, following):
    """Fixed afterwards as well."""
    build, arrays, _ = product((2, 2), (3,), known, following)
    model = build()
    want = node_by_node(model.clone(), arrays)[0]
    run_rewrites(model, rewrites_for())
    np.testing.assert_allclose(compile_on_cpu(model)(arrays)[0], want, rtol=1e-5, atol=1e-5)
    model.reshape({port: list(array.shape) for port, array in zip(model.inputs, arrays, strict=True)})
    np.testing.assert_allclose(compile_on_cpu(model)(arrays)[0], want, rtol=1e-5, atol=1e-5)


def test_rows_that_stay():
    x, y = parameter(3, 2, 2), parameter(3, 2, 2, name="y")
    out = ops.multiply(ops.relu(ops.matmul(x, y, False, False)), random(3, 1, 1))
    assert row("post_ops.of_small_product")(Graph(Model([out], [x, y]))) == {"sites": 0}


WIDTH, HEADS, TOKENS = 8, 2, 5


SCALE, NONE = np.float32(0.3), np.zeros((1, 1), np.float32)


@pytest.mark.parametrize("transpose_b", [True, False])
def test_unknown_width_post_ops(transpose_b):
    """A product of unknown width, and constants along its last axis."""
    x, y = parameter(-1, 6), parameter(*([-1, 6] if transpose_b else [6, -1]), name="y")
    numbers = random(4)
    product = ops.matmul(x, y, False, transpose_b)
    model = Model([ops.multiply(ops.relu(ops.add(product, numbers)), numbers)], [x, y])
    assert row("post_ops.of_unknown_width")(Graph(model)) == {"sites": 2}
    arrays = random(2, 6), random(4, 6)
    want = np.maximum(arrays[0] @ arrays[1].T + numbers, 0) * numbers
    arrays = arrays[0], arrays[1] if transpose_b else np.ascontiguousarray(arrays[1].T)
    np.testing.assert_allclose(compile_on_cpu(model)(arrays)[0], want, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(compile_on_cpu(model, "default")(arrays)[0], want, atol=0.1)


CHANNELS = np.linspace(0.5, 1.5, 6, dtype=np.float32)


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


def biased(behind, dims, groups=0, bias=True):
    x = parameter(*dims)
    rank = len(dims)
    filters = PIXEL_FILTERS.reshape(6, 3, *[1] * (rank - 2))
    none, ones = [0] * (rank - 2), [1] * (rank - 2)
    if groups:
        wide = ops.concat([x] * 2, 1) if groups == 6 else x  # six groups: each channel by itself
        split = filters[:, :1].reshape(groups, 6 // groups, 1, *ones)
        y = ops.group_convolution(wide, split, ones, none, none, ones)
    else:
        y = ops.convolution(x, filters, ones, none, none, ones)
    return Model([behind(ops.add(y, channel(rank, first=2)) if bias else y, rank)], [x])


PIXEL_FILTERS = random(6, 3)


@pytest.mark.one_in(7)
@pytest.mark.parametrize("follow", BEHIND, ids=str)
@pytest.mark.parametrize("groups", [0, 3, 6], ids=str)
@pytest.mark.parametrize(
    "dims", [(-1, 3, -1), (-1, 3, -1, -1), (1, 3, -1, -1), (-1, 3, 1, 1), (-1, 3, -1, 1, -1)], ids=str
)
def test_pixel_post_ops(follow, groups, dims):
    """One pixel: in bfloat16 as in float32."""
    behind, count = BEHIND[follow]
    model = biased(behind, dims, groups)
    assert row("post_ops.of_one_pixel")(Graph(model)) == {"sites": count}
    pixel = random(1, 3, *[1] * (len(dims) - 2))
    (want,) = node_by_node(biased(behind, dims, groups), [pixel])
    np.testing.assert_allclose(compile_on_cpu(model)([pixel])[0], want, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(compile_on_cpu(model, "default")([pixel])[0], want, atol=0.05 * abs(want).max())


@pytest.mark.parametrize("dims", [(-1, 3, -1), (-1, 3, -1, -1)])
def test_pixel_post_ops_of_single_channels(dims):
    """Without a bias, OpenVINO fails in the run."""
    model = biased(BEHIND["batch norm"][0], dims, 6, bias=False)
    assert row("post_ops.of_one_pixel")(Graph(model)) == {"sites": 2}
    pixel = random(1, 3, *[1] * (len(dims) - 2))
    (want,) = node_by_node(biased(BEHIND["batch norm"][0], dims, 6, bias=False), [pixel])
    np.testing.assert_allclose(compile_on_cpu(model, "default")([pixel])[0], want, atol=0.05 * abs(want).max())


PIXEL_KEPT = {
    "no bias": (lambda y, rank: ops.multiply(ops.relu(y), channel(rank)), (-1, 3, -1, -1), False),
    "known": (BEHIND["factor"][0], (1, 3, 1, 1), True),
    "larger": (BEHIND["factor"][0], (-1, 3, 2, 2), True),
    "merged": (lambda y, rank: ops.add(ops.multiply(y, channel(rank)), channel(rank)), (-1, 3, -1, -1), True),
    "a number": (lambda y, rank: ops.multiply(ops.relu(y), np.float32(2)), (-1, 3, -1, -1), True),
}


@pytest.mark.parametrize(("behind", "dims", "bias"), PIXEL_KEPT.values(), ids=PIXEL_KEPT)
def test_pixel_post_ops_fails_to_match(behind, dims, bias):
    assert row("post_ops.of_one_pixel")(Graph(biased(behind, dims, bias=bias))) == {"sites": 0}


FEATURES = random(WIDTH, 5)


ALONG = random(5, 1, 1)


ALONG_AXIS_1 = {
    "sum": (lambda y: ops.add(y, ALONG), lambda y: y + ALONG),
    "difference": (lambda y: ops.subtract(ALONG[None], y), lambda y: ALONG - y),
    "factor": (lambda y: ops.multiply(ops.tanh(y), ALONG), lambda y: np.tanh(y) * ALONG),
    "slope": (lambda y: ops.prelu(y, ALONG.reshape(-1)), lambda y: np.where(y < 0, y * ALONG, y)),
    "two": (lambda y: ops.add(ops.multiply(y, ALONG), ALONG), lambda y: y * ALONG + ALONG),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("features", [5, 4, 1])
@pytest.mark.parametrize(("change", "same"), ALONG_AXIS_1.values(), ids=ALONG_AXIS_1)
def test_spread_constants(change, same, features):
    """After a product with weights, of as many features as numbers, of others, and of one."""
    x, array = parameter(-1, 5, 3, WIDTH), random(2, 5, 3, WIDTH)
    weights = np.ascontiguousarray(FEATURES[:, :features])
    model = Model([change(ops.matmul(x, weights, False, False))], [x])
    assert row("post_ops.along_axis_1")(Graph(model))["sites"] == 1 + (same is ALONG_AXIS_1["two"][1])
    np.testing.assert_allclose(compile_on_cpu(model)([array])[0], same(array @ weights), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dims", [(-1, 3, -1, 5), (2, 3, -1, 5), (2, -1, 1, 5), (-1, -1, -1, 5)], ids=str)
def test_sum_behind_a_product_of_width_one(dims):
    """Wherever the constant lies, and whatever else is known; the first of these did not compile."""
    whole = [2, 3, 1 if dims[2] == 1 else 4, 1]
    for places in itertools.product((False, True), repeat=3):
        constant = random(*(size if is_long else 1 for size, is_long in zip(whole, (*places, False), strict=True)))
        x, weights, data = parameter(*dims), random(5, 1), random(*whole[:3], 5)
        model = Model([ops.add(ops.matmul(x, weights, False, False), constant)], [x])
        run_rewrites(model, rewrites_for())
        np.testing.assert_allclose(compile_on_cpu(model)([data])[0], data @ weights + constant, rtol=1e-4, atol=1e-5)


OTHER_CONSTANTS = {
    "one number": lambda x: ops.add(ops.matmul(x, FEATURES, False, False), SCALE),
    "features": lambda x: ops.add(ops.matmul(x, FEATURES, False, False), FEATURES[0]),
    "two axes": lambda x: ops.add(ops.matmul(x, FEATURES, False, False), np.ones((5, 3, 1), np.float32)),
    "another axis": lambda x: ops.add(ops.matmul(x, FEATURES, False, False), np.ones((3, 1), np.float32)),
    "no product": lambda x: ops.add(x, ALONG),
}


@pytest.mark.parametrize("build_result", OTHER_CONSTANTS.values(), ids=OTHER_CONSTANTS)
def test_spread_constants_fails_to_match(build_result):
    def build():
        x = parameter(-1, 5, 3, WIDTH)
        return Model([build_result(x)], [x])

    assert apply(row("post_ops.along_axis_1"), build, [2, 5, 3, WIDTH])[1] == {"sites": 0}


PER_CHANNEL = random(4)


def scaled(x, keep=False):
    return ops.multiply(x, PER_CHANNEL.reshape(4, 1) if keep else PER_CHANNEL)


def summed(x, keep=False):
    return ops.reduce_sum(x, np.array([-1]), keep)


OTHER_REDUCTIONS = {
    "number": ((2, 4, 5), lambda x: ops.multiply(summed(x), np.float32(2))),
    "nothing": ((2, 4, 5), summed),
    "not one after another": ((2, 4, 5), lambda x: scaled(ops.softmax(summed(x), -1))),
    "other axis": ((2, 4, 5), lambda x: ops.multiply(ops.reduce_sum(x, np.array([1]), False), random(5))),
    "images": ((2, 4, 3, 5), lambda x: ops.multiply(summed(x), random(4, 1))),
    "one": ((1, 4, 5), lambda x: scaled(summed(x))),
}


@pytest.mark.parametrize(("dims", "build"), OTHER_REDUCTIONS.values(), ids=OTHER_REDUCTIONS)
def test_reductions_that_stay(dims, build):
    x = parameter(*dims)
    assert row("post_ops.of_reduced_sequence")(Graph(Model([build(x)], [x]))) == {"sites": 0}
