"""The first of equal elements, and rows that are compared at once."""

import numpy as np
import pytest
from openvino import Model, Type, opset16 as ops

from paddle2ov.compilation.running import run as run_model
from paddle2ov.converters.graph.sorting import sort, topk
from tests.support.passes_checks import kinds, parameter


def model_of(dims, k, largest, axis=-1, kind=Type.f32):
    x = parameter(*dims, kind=kind)
    return Model(list(topk(x.output(0), ops.constant(np.array(k)), axis % len(dims), largest)), [x])


def first_ones(x, k, largest):
    """The indices of the first k of the rows, of equal elements the first."""
    return np.argsort(-x if largest else x, axis=-1, kind="stable")[..., :k]


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize(
    ("dims", "shape", "k", "rows"),
    [
        ([16, 256], [16, 256], 8, 16),
        ([2, 100, 60], [2, 100, 60], 16, 50),
        ([-1, 196, 128], [3, 196, 128], 3, 49),
        ([-1, 64, 64], [0, 64, 64], 8, 64),
        ([-1, 3, 128, 99], [2, 3, 128, 99], 16, 64),
        ([64, 512], [64, 512], 512, 64),
        ([97, 512], [97, 512], 8, None),  # of no fitting number of rows
        ([7, 5000], [7, 5000], 8, None),
        ([16, 64], [16, 64], 8, None),  # few comparisons
        ([-1, 1024], [32, 1024], 8, None),
        ([1024, -1], [1024, 64], 8, None),
    ],
)
def test_the_first_of_equal_elements(dims, shape, k, rows, largest):
    model = model_of(dims, k, largest)
    (node,) = (node for node in model.get_ops() if node.get_type_name() == "TopK")
    shape_of_node = node.input_value(0).get_partial_shape()
    assert kinds(model)["Transpose"] == (3 if rows else 0)
    assert rows is None or shape_of_node[len(dims)].get_length() == rows
    x = np.random.default_rng(0).integers(0, 9, shape).astype(np.float32)
    values, indices = (result.array for result in run_model(model, {"x": x}))
    np.testing.assert_array_equal(indices, first_ones(x, k, largest))
    np.testing.assert_array_equal(values, np.take_along_axis(x, indices, -1))


@pytest.mark.parametrize(("dims", "shape"), [([16, 256], [32, 256]), ([2, 64, 128], [3, 128, 128])])
def test_another_number_of_rows(dims, shape):
    """As many rows are compared at once in a model whose inputs are given other shapes."""
    model = model_of(dims, 8, largest=True)
    assert kinds(model)["Transpose"] == 3
    model.reshape(shape)
    x = np.random.default_rng(0).integers(0, 9, shape).astype(np.float32)
    np.testing.assert_array_equal(run_model(model, {"x": x})[1].array, first_ones(x, 8, largest=True))


def test_a_number_of_rows_that_does_not_fit():
    """It is refused: the rows are those that the model was made for."""
    with pytest.raises(RuntimeError):
        model_of([2, 64, 128], 8, largest=True).reshape([2, 32, 128])


def test_integers_in_rows():
    model = model_of([32, 400], 5, largest=True, kind=Type.i32)
    assert kinds(model)["Transpose"] == 3
    x = np.random.default_rng(0).integers(-9, 9, [32, 400]).astype(np.int32)
    values, indices = (result.array for result in run_model(model, {"x": x}))
    np.testing.assert_array_equal(indices, first_ones(x, 5, largest=True))
    np.testing.assert_array_equal(values, np.take_along_axis(x, indices, -1))


@pytest.mark.parametrize(("dims", "k", "axis"), [([64, 256, 3], 8, 1), ([64, 600], 600, 1)])
def test_what_stays(dims, k, axis):
    """Another axis, and so many elements that a stable order would take long."""
    assert kinds(model_of(dims, k, largest=True, axis=axis))["Transpose"] == 0


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize(
    ("shape", "transposes", "sorts"),
    [([48, 64], 3, 1), ([5, 200], 0, 1), ([24, 300], 0, 2), ([3, 16, 256], 3, 1)],
)
def test_sorts_are_stable(shape, transposes, sorts, descending):
    """Many rows are sorted as columns; longer ones twice, the second time by their groups of equal elements."""
    x = parameter(*shape)
    model = Model(list(sort(x.output(0), len(shape) - 1, descending)), [x])
    assert (kinds(model)["Transpose"], kinds(model)["TopK"]) == (transposes, sorts)
    array = np.random.default_rng(0).integers(0, 9, shape).astype(np.float32)
    values, indices = (result.array for result in run_model(model, {"x": array}))
    np.testing.assert_array_equal(indices, first_ones(array, shape[-1], descending))
    np.testing.assert_array_equal(values, np.take_along_axis(array, indices, -1))
