"""Transposes that OpenVINO would merge with the change of layout after them, and read other data."""

import itertools

import numpy as np
import pytest
from openvino import Model
from openvino import opset16 as ops

from paddle2ov.comparison.evaluator import node_by_node
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import parameter, random, transpose

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


def over(image, channels):
    filters = random(8, channels, 1, 1, 1)
    return ops.convolution(image, filters, [1, 1, 1], [0, 0, 0], [0, 0, 0], [1, 1, 1])


def split(name, perm, unknown=()):
    """What makes the model, and its input."""
    first = 2 if name == "batch" else SPLITS[name][0]
    shape = [(first, 6, 4, 5)[perm.index(axis)] for axis in range(4)]

    def build():
        x = parameter(*(-1 if axis in unknown else size for axis, size in enumerate(shape)))
        moved, target = transpose(ops.relu(x), *perm), np.array(SPLITS[name])
        image = ops.unsqueeze(moved, np.array([1])) if name in BANDS else ops.reshape(moved, target, False)
        return Model([over(image, target[1])], [x])

    return build, random(*shape)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", SPLITS)
@pytest.mark.parametrize("perm", [(0, *perm) for perm in itertools.permutations((1, 2, 3))], ids=str)
def test_splits_after_transposes(name, perm):
    build, data = split(name, perm)
    model = build()
    want = node_by_node(model.clone(), [data])
    assert row("moved.transpose_of_split_channels")(Graph(model)) == {
        "sites": int(perm == (0, 3, 1, 2) and name not in KEPT)
    }
    compiled = compile_on_cpu(model)
    for _ in range(2):
        np.testing.assert_allclose(compiled([data])[0], want[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("unknown", [(0,), (1, 2), (3,), (0, 1, 2, 3)], ids=str)
def test_sizes_that_are_fixed_later(unknown):
    build, data = split("images of bands", (0, 3, 1, 2), unknown)
    model = build()
    want = node_by_node(model.clone(), [data])
    assert row("moved.transpose_of_split_channels")(Graph(model)) == {"sites": 1}
    np.testing.assert_allclose(compile_on_cpu(model)([data])[0], want[0], rtol=1e-5, atol=1e-5)
    model.reshape(list(data.shape))
    np.testing.assert_allclose(compile_on_cpu(model)([data])[0], want[0], rtol=1e-5, atol=1e-5)


def test_images_that_stay():
    x = parameter(1, 4, 5, 6)
    moved = transpose(x, 0, 3, 1, 2)
    out = ops.reshape(moved, np.array([1, 6, 20]), False)
    assert row("moved.transpose_of_split_channels")(Graph(Model([out, ops.relu(moved)], [x]))) == {"sites": 0}
