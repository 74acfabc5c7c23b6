"""Axes of size 1: dropped between an Unsqueeze and a Squeeze, left alone where something is at work along them."""

import numpy as np
import pytest
from openvino import Type, opset16 as ops

from gen_models.harness.spec import paddle
from paddle2ov import ConversionReport, convert
from paddle2ov.passes.layout.sink_squeezes import sink_squeezes
from paddle2ov.passes.layout.squeeze_unit_axes import squeeze_unit_axes
from tests.support.models import save_layer
from tests.support.passes_checks import apply, kinds, random, stays, transpose


def unsqueeze(x, *axes):
    return ops.unsqueeze(x, np.array(axes))


def squeeze(x, *axes):
    return ops.squeeze(x, np.array(axes))


def convolution(x, filters, pads=(0, 1), steps=(1, 1)):
    return ops.convolution(x, filters, list(steps), list(pads), list(pads), [1, 1])


def through(middle, axes):
    """x → Unsqueeze → `middle` → Squeeze."""
    return lambda x: squeeze(middle(unsqueeze(x, *axes)), *axes)


def grouped(x):
    filters = random(3, 2, 1, 1, 3)
    return ops.group_convolution(x, filters, [1, 1], [0, 2], [0, 2], [1, 2], "explicit")


def turned(x):
    y = convolution(transpose(x, 0, 3, 1, 2), random(4, 3, 1, 3))
    return ops.add(transpose(y, 0, 2, 3, 1), random(4))


def pooled(x):
    largest = ops.max_pool(x, [1, 2], [1, 1], [0, 1], [0, 1], [1, 3]).output(0)
    return ops.avg_pool(largest, [1, 1], [0, 1], [0, 1], [1, 3], True, dilations=[1, 1])


def padded(x):
    begin, end = np.array([0, 0, 0, 2]), np.array([0, 1, 0, 1])
    return ops.prelu(ops.pad(x, begin, end, "constant", np.float32(1)), random(4))


CHANNELS, SHAPE = [-1, 3, -1], [2, 3, 8]
MIDDLES = {
    "biased": (
        lambda x: ops.relu(ops.add(convolution(x, random(4, 3, 1, 3)), random(4, 1, 1))),
        [2],
        CHANNELS,
        SHAPE,
    ),
    "a step along the axis of 1, which goes nowhere": (
        lambda x: convolution(x, ops.unsqueeze(random(4, 3, 3), np.array([2])), steps=(2, 2)),
        [-2],
        CHANNELS,
        SHAPE,
    ),
    "grouped": (grouped, [2], CHANNELS, SHAPE),
    "turned": (turned, [1], [-1, -1, 3], [2, 8, 3]),
    "pooled": (pooled, [2], CHANNELS, SHAPE),
    "padded": (padded, [2], CHANNELS, SHAPE),
    "several axes": (lambda x: ops.pad(x, [0, 0, 1, 0, 0], [0, 0, 2, 0, 0], "reflect"), [3, 4], [-1, 2, -1], [1, 2, 5]),
    "averaged": (lambda x: ops.reduce_mean(x, np.array([-2, -1]), True), [2], CHANNELS, SHAPE),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("middle", "axes", "dims", "shape"), MIDDLES.values(), ids=MIDDLES)
def test_dropped(middle, axes, dims, shape, known):
    build = through(middle, axes)
    model, counts = apply(squeeze_unit_axes, build, shape if known else dims, shapes=[shape])
    assert sum(counts.values()) == 1
    assert kinds(model)["Unsqueeze"] == 0
    nodes = [node for node in model.get_ops() if node.get_type_name() not in ("Constant", "Squeeze")]
    assert all(len(node.get_output_partial_shape(0)) == 3 for node in nodes)


def both_results(x):
    pooling = ops.max_pool(unsqueeze(x, 2), [1, 2], [1, 1], [0, 0], [0, 0], [1, 2])
    return [squeeze(pooling.output(0), 2), squeeze(pooling.output(1), 2)]


STAYS = {
    "tall": through(lambda x: convolution(x, random(4, 3, 3, 3), (1, 1)), [2]),
    # Several rows come of one, of which the Squeeze takes the only one that a pooling leaves.
    "widened": through(lambda x: ops.reduce_max(ops.add(x, random(1, 1, 2, 1)), np.array([2, 3]), True), [2]),
    "edged": through(
        lambda x: ops.reduce_max(ops.pad(x, np.array([0, 0, 1, 0]), np.zeros(4, int), "edge"), np.array([2, 3]), True),
        [2],
    ),
    "lost": through(lambda x: ops.reduce_max(x, np.array([3]), False), [2]),
    "read twice": through(lambda x: ops.add(y := ops.relu(x), ops.sigmoid(y)), [2]),
    "other axes": lambda x: squeeze(ops.relu(unsqueeze(x, 1, 3)), 3),
    "indices": both_results,
}


@pytest.mark.parametrize("name", STAYS)
def test_left_alone(name):
    assert stays(squeeze_unit_axes, STAYS[name], [-1, 3, 8])


def test_types_that_numpy_lacks():
    """Elements of bfloat16 stay what they are."""

    def build(x):
        x = ops.convert(x, Type.bf16)
        down = squeeze(ops.add(unsqueeze(x, 2), ops.constant([[[1.5]], [[-0.25]]], Type.bf16)), 2)
        up = squeeze(deconvolution(x, ops.constant(np.eye(2)[..., None, None], Type.bf16)), 3)
        up = ops.multiply(up, ops.constant([[3.0], [0.75]], Type.bf16))
        return [ops.convert(value, Type.f32) for value in (down, up)]

    for rewrite in (squeeze_unit_axes, sink_squeezes):
        assert sum(apply(rewrite, build, [1, 2, 4])[1].values()) == 1


def deconvolution(x, filters):
    return ops.convolution_backprop_data(unsqueeze(x, 3), filters, [2, 1])


@pytest.mark.parametrize("dims", [[2, 4, 8], [-1, 4, -1]])
def test_sunk(dims):
    """Below batch norm and activations, up to the next convolution or to what has another operand."""
    first, second = random(4, 4, 2, 1), random(4, 4, 2, 1)
    factor, shift, slope = random(1, 4, 1), random(4, 1), random(4)

    def build(x):
        y = squeeze(ops.add(deconvolution(x, first), factor[..., None]), 3)
        y = ops.prelu(ops.subtract(shift, ops.multiply(y, factor)), slope)
        y = ops.relu(squeeze(deconvolution(y, second), 3))
        return ops.multiply(y, ops.sigmoid(y))

    model, counts = apply(sink_squeezes, build, dims)
    assert counts == {"sunk": 1, "cancelled": 1}
    assert kinds(model)["Squeeze"] == kinds(model)["Unsqueeze"] == 1


def read_beside(x):
    y = squeeze(deconvolution(x, random(4, 4, 2, 1)), 3)
    return [ops.add(y, ops.relu(y)), squeeze(ops.relu(unsqueeze(x, 3)), 3)]


def slope(x):
    return ops.prelu(random(2, 3), squeeze(deconvolution(x, random(4, 1, 1, 1)), 1, 2, 3))


def factor(x):
    return ops.swish(random(2, 3), squeeze(deconvolution(x, random(4, 1, 1, 1)), 0, 1, 2, 3))


@pytest.mark.parametrize(("build", "dims"), [(read_beside, [2, 4, 8]), (slope, [1, 4, 1]), (factor, [1, 4, 1])])
def test_not_sunk(build, dims):
    """Below what reads it beside something else; a number by which constants are bent is no data."""
    assert stays(sink_squeezes, build, dims)


def test_a_report_changes_nothing(tmp_path):
    """The report keeps no node alive that has been replaced: it would read what it stood behind."""
    net = paddle.nn.Conv1D(3, 4, 3, data_format="NLC")
    layer = paddle.nn.Sequential(net, paddle.nn.ReLU(), paddle.nn.Conv1D(4, 4, 3, data_format="NLC"))
    save_layer(tmp_path, layer, x=[-1, -1, 3])
    assert kinds(convert(tmp_path)) == kinds(convert(tmp_path, report=ConversionReport()))
    assert kinds(convert(tmp_path))["Transpose"] == 2
