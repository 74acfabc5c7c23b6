"""Tensors whose memory OpenVINO gives to something else, or forgets to clear."""

import numpy as np
import pytest
from openvino import Core, Model, Node, opset16 as ops, save_model

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import compare, model_of, parameter, random, repeated, reshape, stays_test, transpose

IMAGE, KERNEL = random(2, 3, 6, 6), random(3, 3, 1, 1)


def convolved(x):
    return ops.convolution(x, KERNEL, [1, 1], [0, 0], [0, 0], [1, 1])


FILTERS = {rank: random(2, 4, *[1] * (rank - 2)) for rank in (3, 4, 5)}


def channels_first(x):
    rank = len((x.output(0) if isinstance(x, Node) else x).get_partial_shape())
    ones, none = [1] * (rank - 2), [0] * (rank - 2)
    return ops.convolution(transpose(x, 0, rank - 1, *range(1, rank - 1)), FILTERS[rank], ones, none, none, ones)


RESULTS = {
    "rows": lambda x: reshape(x, -1, 4),
    "one more": lambda x: ops.unsqueeze(x, np.array([0])),
    "joined": lambda x: ops.concat([x, ops.tanh(x)], 0),
    "joined rows": lambda x: reshape(ops.concat([x, ops.tanh(x)], 0), -1, 4),
    "joined elsewhere": lambda x: ops.tanh(ops.concat([x, ops.tanh(x)], 1)),
    "joined, activated": lambda x: ops.tanh(ops.concat([x, ops.tanh(x)], 0)),
    "joined, summed up": lambda x: ops.reduce_sum(ops.concat([ops.tanh(x), x], 0), np.array([1]), False),
    "activated": lambda x: ops.tanh(reshape(x, -1, 4)),
    "viewed as well": lambda x: ops.relu(channels_first(ops.unsqueeze(reshape(x, 2, -1, 4), np.array([1])))),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("rank", [3, 4, 5])
@pytest.mark.parametrize("of", RESULTS.values(), ids=RESULTS)
def test_transpose_views(of, rank):
    """OpenVINO 2026.4 lets the convolution read other memory where something else shares that of its input."""

    def build(x):
        last = ops.relu(x)
        return [channels_first(last), of(last)]

    compare(row("memory.transpose_views"), build, (2, *[3] * (rank - 2), 4))


PARTS = {
    "parts": lambda x: ops.split(x, np.array(3), 2).output(1),
    "unequal parts": lambda x: ops.variadic_split(x, np.array(3), np.array([4, 4])).output(0),
    "rows": lambda x: ops.split(reshape(x, 4, 3, 3, 4), np.array(0), 2).output(1),
    "parts of parts": lambda x: ops.split(ops.split(x, np.array(3), 2).output(0), np.array(0), 1).output(0),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("of", RESULTS.values(), ids=RESULTS)
@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_transpose_views_of_parts_of_an_input(part, of):
    """The parts of an input are copies, and these share their memory; the input itself does not."""

    def build(x):
        last = part(x)
        return [channels_first(last), of(last)]

    compare(row("memory.transpose_views"), build, (2, 3, 3, 8), sites=None)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_transpose_views_of_steps(direction):
    """A recurrent layer with the steps first, over what is also returned as another shape."""
    count = 2 if direction == "bidirectional" else 1
    weights = random(count, 2, 4), random(count, 2, 2), random(count, 2)
    state, lengths = np.zeros((3, count, 2), np.float32), np.full(3, 5)

    def build(x):
        steps = ops.relu(x)
        layer = ops.rnn_sequence(transpose(steps, 1, 0, 2), state, lengths, *weights, 2, direction)
        return [layer.output(0), reshape(steps, -1)]

    compare(row("memory.transpose_views"), build, (5, 3, 4))


SUMS = {
    "normalized": (1, lambda x: ops.normalize_l2(x, np.array([1]), 1e-6, "add")),
    "gathered": (0, lambda x: ops.swish(ops.gather(x, np.array([0]), np.array(0)))),
    "elementwise": (0, lambda x: ops.sigmoid(ops.multiply(ops.tanh(x), np.float32(2)))),
    "of a convolution": (0, lambda x: ops.add(convolved(x), x)),
}


@pytest.mark.parametrize(("copied", "layer"), SUMS.values(), ids=SUMS)
def test_what_every_iteration_reads(copied, layer):
    """Three iterations that add the same layer of the same tensor: the layer is copied before where it may write."""

    def build(x):
        zeros = ops.constant(np.zeros((1, 3, 6, 6), np.float32)).output(0)
        return repeated(3, lambda total, kept: ops.add(total, layer(kept)), zeros, x.output(0))

    model, x, array = model_of(build, (1, 3, 6, 6)), parameter(1, 3, 6, 6), random(1, 3, 6, 6)
    assert row("memory.loop_invariants")(Graph(model)) == {"sites": copied}
    once = compile_on_cpu(Model([layer(x)], [x]))([array])[0]
    np.testing.assert_allclose(compile_on_cpu(model)([array])[0], 3 * once, rtol=1e-4, atol=1e-5)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("dims", [(2, 4, 3, 5), (-1, 16, -1, -1), (1, 20, 1, 1)])
@pytest.mark.parametrize("axes", [[0, 2, 3], [-1, 0, -2]])
def test_avoid_channel_means(dims, axes, keep):
    filters = random(dims[1], 1, 1, 3, 3)

    def build(x):
        convolved = ops.group_convolution_backprop_data(x, filters, strides=[1, 1], pads_begin=[1, 1], pads_end=[1, 1])
        return ops.reduce_mean(convolved, np.array(axes), keep)

    compare(row("memory.channel_means"), build, dims)


def resized(beside, axes=(1, 2)):
    """A resize, and what else reads its input."""
    sizes = np.array([6, 6] if axes == (1, 2) else [6, 8])

    def build(x):
        last = ops.relu(x)
        return [ops.interpolate(last, sizes, "nearest", "sizes", axes=np.array(axes)), beside(last)]

    return build


BESIDE = {
    "a reshaped result": lambda x: reshape(x, -1, 4),
    "a reshaped tensor": lambda x: ops.relu(reshape(x, -1, 4)),
    "joined": lambda x: ops.concat([x, ops.abs(x)], 1),
    "joined along channels": lambda x: ops.concat([x, ops.abs(x)], 3),
}


@pytest.mark.parametrize("name", BESIDE)
def test_resize_views(name):
    compare(row("memory.resize_views"), resized(BESIDE[name]), (1, 2, 3, 4))


@pytest.mark.parametrize("is_saved", [False, True])
@pytest.mark.parametrize(
    ("transposed", "sites"),
    [((False, True), 1), ((True, False), 1), ((True, False, True), 2), ((True, True), 0), ((False, False), 0)],
)
def test_square_weights(transposed, sites, is_saved, tmp_path):
    """Constants of the same elements are one in a saved model."""
    x, weights, data = parameter(3, 16), random(16, 16), random(3, 16)
    shared = ops.constant(weights)
    products = [
        ops.matmul(ops.multiply(x, np.float32(k + 1)), shared, False, is_transposed)
        for k, is_transposed in enumerate(transposed)
    ]
    model = Model(products, [x])
    assert row("memory.square_weights")(Graph(model)) == {"sites": sites}
    if is_saved:
        save_model(model, tmp_path / "model.xml", compress_to_fp16=False)
        model = Core().read_model(tmp_path / "model.xml")
    results = compile_on_cpu(model)([data])
    for k, is_transposed in enumerate(transposed):
        np.testing.assert_allclose(
            results[k], (k + 1) * data @ (weights.T if is_transposed else weights), rtol=1e-4, atol=1e-5
        )


def of_one_weight(x):
    shared = ops.constant(random(16, 8))
    return ops.matmul(ops.matmul(x, shared, False, False), shared, False, True)


def of_relu(results):
    return lambda x: results(ops.relu(x))


IMAGES, IMAGE = (2, 3, 3, 4), (1, 2, 3, 4)
STAYS = {
    "memory.transpose_views": {
        "as it is": (of_relu(lambda x: [channels_first(x), x]), IMAGES),
        "multiplied": (
            of_relu(lambda x: [channels_first(x), ops.matmul(reshape(x, -1, 4), FILTERS[3][0], False, False)]),
            IMAGES,
        ),
        "other order": (of_relu(lambda x: [transpose(x, 0, 2, 1, 3), reshape(x, -1, 4)]), IMAGES),
    },
    "memory.channel_means": {
        str(axes): (lambda x, axes=axes: ops.reduce_mean(x, np.array(axes), True), (2, 3, 4, 5))
        for axes in ([0, 2], [2, 3], [0, 1, 2, 3], [0, 1, 3])
    },
    "memory.resize_views": {
        "the same": (resized(ops.abs), IMAGE),
        "of the last axes": (resized(BESIDE["a reshaped result"], (2, 3)), IMAGE),
    },
    "memory.square_weights": {"rectangular": (of_one_weight, (3, 16))},
}

test_stays = stays_test(STAYS)
