"""Transposes that OpenVINO would merge with the change of layout after them, and read other data."""

import itertools

import numpy as np
import pytest
from openvino import opset16 as ops

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import check_close, compare, model_of, node_by_node, random, stays, transpose

SPLITS = {
    "bands": (1, 1, 6, 4, 5),
    "images of bands": (3, 1, 6, 4, 5),
    "frames": (1, 2, 3, 4, 5),
    "one band each": (2, 6, 1, 4, 5),
    "height": (1, 6, 2, 2, 5),
    "width": (1, 6, 4, 5, 1),
    "batch": (1, 2, 6, 4, 5),
}
BANDS = {"bands", "images of bands"}
KEPT = {"one band each", "height", "width", "batch"}


FILTERS = random(8, 6, 1, 1, 1)


def over(image, channels):
    return ops.convolution(image, FILTERS[:, :channels].copy(), [1, 1, 1], [0, 0, 0], [0, 0, 0], [1, 1, 1])


def split(name, perm):
    """What builds the model, and the shape of its input."""
    first = 2 if name == "batch" else SPLITS[name][0]

    def build(x):
        moved, target = transpose(ops.relu(x), *perm), np.array(SPLITS[name])
        image = ops.unsqueeze(moved, np.array([1])) if name in BANDS else ops.reshape(moved, target, False)
        return over(image, target[1])

    return build, [(first, 6, 4, 5)[perm.index(axis)] for axis in range(4)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", SPLITS)
@pytest.mark.parametrize("perm", [(0, *perm) for perm in itertools.permutations((1, 2, 3))], ids=str)
def test_splits_after_transposes(name, perm):
    sites = int(perm == (0, 3, 1, 2) and name not in KEPT)
    compare(row("moved.transpose_of_split_channels"), *split(name, perm), sites=sites)


@pytest.mark.parametrize("unknown", [(0,), (1, 2), (3,), (0, 1, 2, 3)], ids=str)
def test_sizes_that_are_fixed_later(unknown):
    build, shape = split("images of bands", (0, 3, 1, 2))
    dims = [-1 if axis in unknown else size for axis, size in enumerate(shape)]
    model = compare(row("moved.transpose_of_split_channels"), build, dims, shapes=[[shape]])
    data = random(*shape)
    want = node_by_node(model_of(build, shape), [data])
    model.reshape(shape)
    check_close(compile_on_cpu(model)([data]).values(), want, 1e-5)


def test_images_that_stay():
    def build(x):
        moved = transpose(x, 0, 3, 1, 2)
        return [ops.reshape(moved, np.array([1, 6, 20]), False), ops.relu(moved)]

    assert stays(row("moved.transpose_of_split_channels"), build, (1, 4, 5, 6))
