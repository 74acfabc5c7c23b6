"""Constants and paddings that OpenVINO would merge into a node that has no place for them."""

import numpy as np
import pytest
from openvino import Type, opset16 as ops

from paddle2ov.workarounds.table import row
from tests.support.passes_checks import compare, random, stays_test

PAD_FILTERS = {rank: random(4, 4, *[3] * rank) for rank in (1, 2, 3)}


def padded_images(kind, rank, stride, **attributes):
    """A layer over a padded image of four channels."""
    sides = np.array([0, 0, *[1] * rank]), np.array([0, 0, 2, *[1] * (rank - 1)])
    filters = PAD_FILTERS[rank]
    grouped = filters.reshape(2, 2, *filters.shape[1:])
    pads = {"pads_begin": [1] * rank, "pads_end": [2] * rank}
    geometry = [stride] * rank, [0] * rank, [0] * rank, [1] * rank

    def build(x):
        image = ops.pad(x, *sides, "constant", np.float32(0))
        if "Backprop" in kind:
            layer = ops.group_convolution_backprop_data if "Group" in kind else ops.convolution_backprop_data
            return layer(image, grouped if "Group" in kind else filters, [stride] * rank, **pads, **attributes)
        layer = ops.group_convolution if "Group" in kind else ops.convolution
        return layer(image, grouped[:, :, :2] if "Group" in kind else filters, *geometry, *attributes.values())

    return build


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
    more = {key: [value] * len(dims) if key == "output_padding" else value for key, value in attributes.items()}
    build = padded_images(kind, len(dims), stride, **more)
    known = dims if is_known else [-1] * len(dims)
    compare(row("merged.pad_of_convolution"), build, (2, 4, *known), shapes=[[(2, 4, *dims)]])


def scaled_image(scale, kind="multiply", groups=False, kernel=3, rank=2):
    """x * scale or x / scale, then a convolution."""
    filters = random(2, 2, 1, *[kernel] * rank) if groups else random(4, 2, *[kernel] * rank)
    factor, options = random(*scale) + 2, [[1] * rank] * 4
    layer = ops.group_convolution if groups else ops.convolution
    return lambda x: layer(getattr(ops, kind)(x, factor), filters, *options)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("groups", [False, True], ids=["convolution", "groups"])
@pytest.mark.parametrize("kind", ["multiply", "divide"])
@pytest.mark.parametrize(
    ("rank", "scale"),
    [(1, (3,)), (2, (3,)), (2, (3, 1)), (2, (1, 1, 1, 3)), (2, (1, 2, 3, 3)), (2, (1, 1, 3, 3)), (3, (3, 3, 3))],
)
def test_scales_of_pixels(rank, scale, kind, groups):
    compare(row("merged.scale_of_pixels"), scaled_image(scale, kind, groups, rank=rank), (-1, 2, *[3] * rank))


BIAS, ONE = np.linspace(-1, 1, 5, dtype=np.float32), np.float32(1)
SUMS = {
    "mask": lambda x, c: ops.add(ops.multiply(ops.subtract(ONE, x), np.float32(-1e9)), c),
    "constant first": lambda x, c: ops.add(c, ops.multiply(ops.subtract(ONE, x), np.float32(-1e9))),
    "subtracted": lambda x, c: ops.subtract(ops.multiply(ops.subtract(x, ONE), np.float32(1e9)), c),
    "subtracted from": lambda x, c: ops.subtract(c, ops.multiply(ops.subtract(x, ONE), np.float32(1e9))),
    "divided": lambda x, c: ops.add(ops.divide(ops.subtract(x, ONE), np.float32(1e-8)), c),
    "negative": lambda x, c: ops.add(ops.negative(ops.multiply(ops.add(x, -ONE), np.float32(1e7))), c),
    "large": lambda x, c: ops.add(ops.subtract(x, ONE), ops.multiply(c, np.float32(1e-7))),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("shape", [(5,), (2, 1, 5), (3, 4, 4, 5)], ids=str)
@pytest.mark.parametrize("computed", [False, True])
@pytest.mark.parametrize("name", SUMS)
def test_a_small_constant_is_not_lost_in_a_large_one(name, computed, shape):
    constant = np.broadcast_to(BIAS, shape).copy()

    def build(x):
        # A table of which the model takes all rows, such as one of positions of known number.
        c = ops.gather(constant, np.arange(shape[0]), np.int64(0)) if computed else ops.constant(constant)
        return SUMS[name](x, c)

    # What takes computing is taken for a weight, of size 1.
    sites = 0 if computed and name == "large" else 1
    runs = [[np.array([numbers], np.float32)] for numbers in ([1, 1, 1, 0, 0], [np.nan, 1, np.inf, -np.inf, 0])]
    compare(row("merged.constants_of_sums"), build, (-1, 5), sites=sites, runs=runs)


@pytest.mark.parametrize("is_constant", [False, True])
def test_factors_of_shared_filters(is_constant):
    weights = random(4, 1, 3, 3)

    def build(x, y, w):
        filters = ops.reshape(weights if is_constant else w, np.array([4, 1, 1, 3, 3]), False)
        layers = [ops.group_convolution(value, filters, [1, 1], [0, 0], [0, 0], [1, 1]) for value in (x, y)]
        scaled = ops.multiply(layers[0], np.arange(1, 5, dtype=np.float32).reshape(1, 4, 1, 1))
        return [scaled, ops.relu(layers[1]), ops.relu(w)]

    dims, sites = [(2, 4, 6, 6)] * 2, 0 if is_constant else 1
    compare(row("merged.factor_of_shared_filters"), build, *dims, (4, 1, 3, 3), sites=sites, tolerance=1e-4)


def plus(x, number):
    return ops.add(x, np.float32(number))


NUMBERS, IMAGE = (-1,), (-1, 2, 3, 3)
STAYS = {
    "merged.pad_of_convolution": {"fused rightly": (padded_images("Convolution", 2, 2), (2, 4, 4, 5))},
    "merged.scale_of_pixels": {
        "of channels": (scaled_image((1, 2, 1, 1)), IMAGE),
        "one": (scaled_image((1,)), IMAGE),
        "of two pixels": (scaled_image((1, 3), kernel=2), IMAGE),
    },
    "merged.constants_of_sums": {
        "alike": (lambda x: plus(plus(x, 1), 0.5), NUMBERS),
        "scaled down": (lambda x: plus(ops.multiply(plus(x, 100), np.float32(0.01)), 0.5), NUMBERS),
        "relu between": (lambda x: plus(ops.relu(plus(x, 1e9)), 0.5), NUMBERS),
        "zero": (lambda x: plus(plus(x, 1e9), 0), NUMBERS),
        "none constant": (lambda x: plus(ops.add(x, x), 0.5), NUMBERS),
        "integers": (lambda x: ops.add(ops.add(ops.convert(x, Type.i64), np.int64(1000)), np.int64(1)), NUMBERS),
        "infinite": (lambda x: plus(plus(x, -np.inf), 1), NUMBERS),
    },
}

test_stays = stays_test(STAYS)
