"""Nodes that OpenVINO would eliminate although they change something."""

import numpy as np
import pytest
from openvino import Model, Type
from openvino import opset16 as ops

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph, run_rewrites
from paddle2ov.workarounds import rewrites_for
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import apply, parameter, random, reshape, transpose


@pytest.mark.parametrize(("before", "after"), [(0, 3), (1, 0), (2, 3), (2, 1)])
def test_single_gather(before, after):
    x, axis, data = parameter(-1, -1, -1), np.array([before]), random(2, 3, 4)
    index = ops.squeeze(np.array([[-1]]), np.array([0]))
    same = ops.squeeze(ops.gather(ops.unsqueeze(x, axis), index, np.int64(before)), axis)
    model = Model([ops.unsqueeze(same, np.array([after]))], [x])
    assert row("elided.gather_of_one")(Graph(model)) == {"sites": 1}
    np.testing.assert_array_equal(compile_on_cpu(model)([data])[0], np.expand_dims(data, after))


@pytest.mark.parametrize(("dims", "index"), [((2, 3), [0]), ((-1, 3), [0]), ((1, 3), [0, 0]), ((1, 3), 0)], ids=str)
def test_gathers_that_stay(dims, index):
    x = parameter(*dims)
    model = Model([ops.relu(ops.gather(x, np.array(index), np.int64(0)))], [x])
    assert row("elided.gather_of_one")(Graph(model)) == {"sites": 0}


def mean(x, *axes, keep=False):
    return ops.reduce_mean(x, np.array(axes), keep)


RESHAPED = {
    "column": (lambda x: reshape(mean(x, 1), -1, 1), lambda x: x.mean(1).reshape(-1, 1)),
    "row": (lambda x: reshape(mean(x, 0), 1, -1), lambda x: x.mean(0).reshape(1, -1)),
    "transposed": (lambda x: transpose(mean(x, 1), 1, 0), lambda x: x.mean(1).T),
    "there and back": (
        lambda x: reshape(ops.unsqueeze(mean(x, -2), np.array([0])), -1, 1),
        lambda x: x.mean(1).reshape(-1, 1),
    ),
}


@pytest.mark.parametrize("sizes", [(1, 4, 3), (-1, 4, 3), (-1, -1, -1)])
@pytest.mark.parametrize(("build", "same"), RESHAPED.values(), ids=RESHAPED)
def test_keep_reduced(build, same, sizes):
    """OpenVINO leaves the reshape out."""
    x, array = parameter(*sizes), random(1, 4, 3)
    model = Model([build(x)], [x])
    assert row("elided.reshape_of_reduced")(Graph(model)) == {"sites": 1}
    computed = compile_on_cpu(model)([array])[0]
    assert computed.shape == same(array).shape
    np.testing.assert_allclose(computed, same(array), rtol=1e-5, atol=1e-6)


NOT_RESHAPED = {
    "kept": lambda x: reshape(mean(x, 1, keep=True), 1, -1, 1),
    "another rank": lambda x: ops.unsqueeze(mean(x, 1), np.array([1])),
    "activation": lambda x: reshape(ops.relu(mean(x, 1)), -1, 1),
    "one axis left": lambda x: reshape(mean(x, 0, 1), -1),
}


@pytest.mark.parametrize("build_result", NOT_RESHAPED.values(), ids=NOT_RESHAPED)
def test_keep_reduced_fails_to_match(build_result):
    def build():
        x = parameter(-1, 4, 3)
        return Model([build_result(x)], [x])

    assert apply(row("elided.reshape_of_reduced"), build, [2, 4, 3])[1] == {"sites": 0}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("counted", ["from the first", "from the last"])
@pytest.mark.parametrize("index", [[0], [0, 0, 0], [[0, 0]], [-1, 0], 0], ids=str)
@pytest.mark.parametrize("axis", range(4))
@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
def test_gathers_of_unsqueezed_axes(axis, index, counted, is_dynamic):
    """By constants and by what is computed, with the axis of either node counted from either end."""
    dims = (2, 3, 4)
    x, places = parameter(*(-1 if is_dynamic else size for size in dims)), parameter(*np.shape(index), kind=Type.i64)
    signs = (axis, axis - 4) if counted == "from the first" else (axis - 4, axis)
    results = [
        ops.gather(ops.unsqueeze(x, np.array([added])), indices, np.array(along))
        for added in signs
        for along in signs
        for indices in (np.array(index), places)
    ]
    model = Model(results, [x, places])
    data = random(*dims)
    row("elided.unsqueeze_before_gather")(Graph(model))
    want = np.take(np.expand_dims(data, axis), index, axis)
    for gathered in compile_on_cpu(model)([data, np.array(index)]).values():
        np.testing.assert_array_equal(gathered, want)


LEFT, RIGHT = np.array([-1.5, 2, 3, 4], np.float32), np.array([1, 5, 1, 2], np.float32)


def size_of(x):
    return ops.gather(ops.shape_of(x), np.array([0]), np.int64(0))


BOUNDED = {
    "constants": (lambda x: ops.subtract(ops.constant(LEFT), RIGHT), LEFT - RIGHT),
    "a size": (lambda x: ops.subtract(size_of(x), np.array([5])), [2 - 5]),
    "a size as a float": (lambda x: ops.subtract(ops.convert(size_of(x), "f32"), np.float32(4.5)), [2 - 4.5]),
    "a size of 32 bits": (lambda x: ops.subtract(ops.convert(size_of(x), "i32"), np.int32(5)), [2 - 5]),
}


@pytest.mark.parametrize(("build", "signed"), BOUNDED.values(), ids=BOUNDED)
def test_abs_of_what_is_bounded(build, signed):
    x = parameter(-1)
    model = Model([ops.abs(build(x))], [x])
    assert row("elided.abs_of_sizes")(Graph(model)) == {"sites": 1}
    np.testing.assert_array_equal(compile_on_cpu(model)([random(2)])[0], np.abs(signed))


def test_abs_of_data_stays():
    x = parameter(-1)
    model = Model([ops.abs(ops.subtract(x, ops.convert(size_of(x), "f32")))], [x])
    assert row("elided.abs_of_sizes")(Graph(model)) == {"sites": 0}


def test_abs_of_minus_zero_is_zero():
    x = parameter(2)
    model = Model(
        [ops.add(ops.abs(ops.multiply(ops.constant(np.array([-0.0, 0], np.float32)), np.float32(3))), x)], [x]
    )
    run_rewrites(model, rewrites_for())
    got = compile_on_cpu(model)([np.array([-0.0, -0.0], np.float32)])[0]
    assert not np.signbit(got).any()


@pytest.mark.parametrize("chosen", [True, False])
def test_abs_in_a_branch_that_is_put_in_place_of_the_if(chosen):
    entering, other, x = parameter(4), parameter(4), parameter(4)
    branch = Model([ops.abs(ops.subtract(entering, RIGHT))], [entering])
    node = ops.if_op(ops.constant(np.array(chosen)))
    node.set_then_body(branch)
    node.set_else_body(Model([ops.abs(ops.subtract(other, RIGHT))], [other]))
    node.set_input(ops.constant(LEFT).output(0), entering, other)
    out = node.set_output(node.get_then_body().get_results()[0], node.get_else_body().get_results()[0])
    model = Model([ops.add(out, x)], [x])
    assert run_rewrites(model, rewrites_for())["elided.abs_of_sizes"] == {"sites": 2}
    assert run_rewrites(model, rewrites_for())["elided.abs_of_sizes"] == {"sites": 0}
    np.testing.assert_array_equal(compile_on_cpu(model)([np.zeros(4, np.float32)])[0], np.abs(LEFT - RIGHT))


def sliced(x, stop, axis):
    return ops.slice(x, np.array([0]), stop, np.array([1]), np.array([axis]))


GATHERED = {
    "other axis": ((3, 8), lambda x: sliced(x, np.array([2]), 0), [[1, 2], [3, 7]]),
    "its axis": ((2, 8), lambda x: sliced(x, np.array([4]), 1), [[1, 2], [3, 0]]),
    "index from the end": ((2, 8), lambda x: sliced(x, np.array([4]), 1), [[-1, 2], [3, -4]]),
    "end from the end": ((3, 8), lambda x: sliced(x, np.array([-1]), 0), [[1, 2], [3, 7]]),
    "computed end": ((3, 8), lambda x: sliced(x, ops.subtract(size_of(x), np.array([1])), 0), [[1, 2], [3, 7]]),
    "what changes nothing between": ((3, 8), lambda x: transpose(sliced(x, np.array([2]), 0), 0, 1), [[1, 2], [3, 7]]),
    "a reshape between": ((3, 8), lambda x: reshape(sliced(x, np.array([2]), 0), 2, 8), [[1, 2], [3, 7]]),
}


@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize(("shape", "build", "index"), GATHERED.values(), ids=GATHERED)
def test_elements_gathered_from_a_slice(shape, build, index, is_dynamic):
    x = parameter(*(-1 if is_dynamic else size for size in shape))
    model = Model([ops.gather_elements(build(x), np.array(index), 1)], [x])
    data = random(*shape)
    assert row("elided.slice_before_gather")(Graph(model)) == {"sites": 1}
    kept = 4 if min(map(min, index)) < 0 else 8  # -1 is the last element of the slice
    want = np.take_along_axis(data[:2, :kept], np.array(index), 1)
    np.testing.assert_array_equal(compile_on_cpu(model)([data])[0], want)


def test_slices_stay_where_nothing_is_gathered_by_elements():
    x = parameter(3, 8)
    model = Model([ops.relu(sliced(x, np.array([2]), 0))], [x])
    assert row("elided.slice_before_gather")(Graph(model)) == {"sites": 0}


def test_slices_that_start_later_stay():
    x = parameter(-1, 8)
    part = ops.slice(x, np.array([1]), np.array([3]), np.array([1]), np.array([0]))
    model = Model([ops.gather_elements(part, np.array([[1, 2], [3, 7]]), 1)], [x])
    assert row("elided.slice_before_gather")(Graph(model)) == {"sites": 0}
