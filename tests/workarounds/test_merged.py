"""Constants and paddings that OpenVINO would merge into a node that has no place for them."""

import numpy as np
import pytest
from openvino import Model, Type
from openvino import opset16 as ops

from paddle2ov.comparison.evaluator import node_by_node
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import compare, parameter, random


def padded_images(kind, dims, stride, **attributes):
    """A layer over a padded image of four channels."""
    rank = len(dims)
    x = parameter(2, 4, *dims)
    sides = np.array([0, 0, *[1] * rank]), np.array([0, 0, 2, *[1] * (rank - 1)])
    image = ops.pad(x, *sides, "constant", np.float32(0))
    filters = PAD_FILTERS[rank]
    grouped = filters.reshape(2, 2, *filters.shape[1:])
    if "Backprop" in kind:
        layer = ops.group_convolution_backprop_data if "Group" in kind else ops.convolution_backprop_data
        pads = {"pads_begin": [1] * rank, "pads_end": [2] * rank}
        out = layer(image, grouped if "Group" in kind else filters, strides=[stride] * rank, **pads, **attributes)
    else:
        layer = ops.group_convolution if "Group" in kind else ops.convolution
        geometry = [stride] * rank, [0] * rank, [0] * rank, [1] * rank
        out = layer(image, grouped[:, :, :2] if "Group" in kind else filters, *geometry, *attributes.values())
    return Model([out], [x])


PAD_FILTERS = {rank: random(4, 4, *[3] * rank) for rank in (1, 2, 3)}


PAD_FUSIONS = {
    "transposed": ("ConvolutionBackpropData", 2, {}),
    "transposed groups": ("GroupConvolutionBackpropData", 3, {}),
    "transposed, stride 1": ("ConvolutionBackpropData", 1, {}),
    "longer result": ("ConvolutionBackpropData", 2, {"output_padding": 1}),
    "same size": ("Convolution", 2, {"auto_pad": "same_upper"}),
    "same size, groups": ("GroupConvolution", 1, {"auto_pad": "same_upper"}),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("dims", [(4,), (4, 5), (4, 3, 4)])
@pytest.mark.parametrize(("kind", "stride", "attributes"), PAD_FUSIONS.values(), ids=PAD_FUSIONS)
def test_pad_fusion(kind, stride, attributes, dims, is_known):
    def build():
        more = {
            key: [attribute] * len(dims) if key == "output_padding" else attribute
            for key, attribute in attributes.items()
        }
        return padded_images(kind, dims if is_known else [-1] * len(dims), stride, **more)

    model, array = build(), random(2, 4, *dims)
    assert row("merged.pad_of_convolution")(Graph(model)) == {"sites": 1}
    (want,) = node_by_node(build(), [array])
    got = compile_on_cpu(model)([array])[0]
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_pad_fusion_fails_to_match():
    """What OpenVINO fuses rightly."""
    model = padded_images("Convolution", [4, 5], 2)
    assert row("merged.pad_of_convolution")(Graph(model)) == {"sites": 0}


def scaled_image(scale, kind="Multiply", groups=False, kernel=3, rank=2):
    """x * scale or x / scale, then a convolution, and what it is to give."""
    x = parameter(-1, 2, *[3] * rank)
    factor = random(*scale) + 2
    scaled = (ops.multiply if kind == "Multiply" else ops.divide)(x, factor)
    options = [1] * rank, [1] * rank, [1] * rank, [1] * rank
    if groups:
        filters = random(2, 2, 1, *[kernel] * rank)
        out, plain = ops.group_convolution(scaled, filters, *options), ops.group_convolution(x, filters, *options)
    else:
        filters = random(4, 2, *[kernel] * rank)
        out, plain = ops.convolution(scaled, filters, *options), ops.convolution(x, filters, *options)
    data = random(2, 2, *[3] * rank)
    scaled_data = data * factor if kind == "Multiply" else data / factor
    return Model([out], [x]), data, compile_on_cpu(Model([plain], [x]))([scaled_data])[0]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("groups", [False, True], ids=["convolution", "groups"])
@pytest.mark.parametrize("kind", ["Multiply", "Divide"])
@pytest.mark.parametrize("scale", [(3,), (3, 1), (1, 1, 1, 3), (1, 2, 3, 3), (1, 1, 3, 3)], ids=str)
def test_scales_of_pixels(scale, kind, groups):
    model, data, want = scaled_image(scale, kind, groups)
    assert row("merged.scale_of_pixels")(Graph(model)) == {"sites": 1}
    np.testing.assert_allclose(compile_on_cpu(model)([data])[0], want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rank", [1, 3])
def test_scales_of_pixels_of_other_ranks(rank):
    model, data, want = scaled_image((3,) * rank, rank=rank)
    assert row("merged.scale_of_pixels")(Graph(model)) == {"sites": 1}
    np.testing.assert_allclose(compile_on_cpu(model)([data])[0], want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("scale", "kernel"), [((1, 2, 1, 1), 3), ((1,), 3), ((1, 3), 2)], ids=str)
def test_scales_that_stay(scale, kernel):
    model, data, want = scaled_image(scale, kernel=kernel)
    assert row("merged.scale_of_pixels")(Graph(model)) == {"sites": 0}
    np.testing.assert_allclose(compile_on_cpu(model)([data])[0], want, rtol=1e-5, atol=1e-5)


BIAS = np.linspace(-1, 1, 5, dtype=np.float32)


SUMS = {
    "mask": lambda x, c: ops.add(ops.multiply(ops.subtract(np.float32(1), x), np.float32(-1e9)), c),
    "constant first": lambda x, c: ops.add(c, ops.multiply(ops.subtract(np.float32(1), x), np.float32(-1e9))),
    "subtracted": lambda x, c: ops.subtract(ops.multiply(ops.subtract(x, np.float32(1)), np.float32(1e9)), c),
    "subtracted from": lambda x, c: ops.subtract(c, ops.multiply(ops.subtract(x, np.float32(1)), np.float32(1e9))),
    "divided": lambda x, c: ops.add(ops.divide(ops.subtract(x, np.float32(1)), np.float32(1e-8)), c),
    "negative": lambda x, c: ops.add(ops.negative(ops.multiply(ops.add(x, np.float32(-1)), np.float32(1e7))), c),
    "large": lambda x, c: ops.add(ops.subtract(x, np.float32(1)), ops.multiply(c, np.float32(1e-7))),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("shape", [(5,), (2, 1, 5), (3, 4, 4, 5)], ids=str)
@pytest.mark.parametrize("computed", [False, True])
@pytest.mark.parametrize("name", SUMS)
def test_a_small_constant_is_not_lost_in_a_large_one(name, computed, shape):
    def build():
        x = parameter(-1, 5)
        constant = np.broadcast_to(BIAS, shape).copy()
        # A table of which the model takes all rows, such as one of positions of known number.
        c = ops.gather(constant, np.arange(shape[0]), np.int64(0)) if computed else ops.constant(constant)
        return Model([SUMS[name](x, c)], [x])

    # What takes computing is taken for a weight, of size 1.
    counts = {"sites": 0 if computed and name == "large" else 1}
    if counts["sites"]:
        compare(build, row("merged.constants_of_sums"), counts, [np.array([[1, 1, 1, 0, 0]], np.float32)])
    else:
        assert row("merged.constants_of_sums")(Graph(build())) == counts


def test_numbers_that_are_none_stay():
    def build():
        x = parameter(-1)
        return Model([SUMS["mask"](x, np.float32(2))], [x])

    compare(build, row("merged.constants_of_sums"), {"sites": 1}, [np.array([np.nan, 1, np.inf, -np.inf], np.float32)])


@pytest.mark.parametrize(
    "out",
    [
        lambda x: ops.add(ops.add(x, np.float32(1)), np.float32(0.5)),
        lambda x: ops.add(ops.multiply(ops.add(x, np.float32(100)), np.float32(0.01)), np.float32(0.5)),
        lambda x: ops.add(ops.relu(ops.add(x, np.float32(1e9))), np.float32(0.5)),
        lambda x: ops.add(ops.add(x, np.float32(1e9)), np.float32(0)),
        lambda x: ops.add(ops.add(x, x), np.float32(0.5)),
        lambda x: ops.add(ops.add(ops.convert(x, Type.i64), np.int64(1000)), np.int64(1)),
        lambda x: ops.add(ops.add(x, np.float32(-np.inf)), np.float32(1)),
    ],
    ids=["alike", "scaled down", "relu between", "zero", "none constant", "integers", "infinite"],
)
def test_other_sums_stay(out):
    x = parameter(-1)
    assert row("merged.constants_of_sums")(Graph(Model([out(x)], [x]))) == {"sites": 0}


@pytest.mark.parametrize("is_constant", [False, True])
def test_factors_of_shared_filters(is_constant):
    weights = random(4, 1, 3, 3)

    def build():
        x, y, w = parameter(2, 4, 6, 6), parameter(2, 4, 6, 6), parameter(4, 1, 3, 3)
        filters = ops.reshape(weights if is_constant else w, np.array([4, 1, 1, 3, 3]), False)
        layers = [ops.group_convolution(value, filters, [1, 1], [0, 0], [0, 0], [1, 1]) for value in (x, y)]
        scaled = ops.multiply(layers[0], np.arange(1, 5, dtype=np.float32).reshape(1, 4, 1, 1))
        return Model([scaled, ops.relu(layers[1]), ops.relu(w)], [x, y, w])

    arrays = [random(2, 4, 6, 6), random(2, 4, 6, 6), random(4, 1, 3, 3)]
    compare(build, row("merged.factor_of_shared_filters"), {"sites": 0 if is_constant else 1}, arrays, tolerance=1e-4)
