"""Graphs over constants and sizes that OpenVINO folds wrongly, or does not compile."""

import numpy as np
import pytest
from openvino import Model, PartialShape, Type
from openvino import opset16 as ops

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph, run_rewrites
from paddle2ov.passes.workarounds.avoid_abs_elimination import avoid_abs_elimination
from paddle2ov.passes.workarounds.avoid_slice_elision import avoid_slice_elision
from paddle2ov.passes.workarounds.hide_bounds_of_slices import hide_bounds_of_slices
from paddle2ov.workarounds import rewrites_for
from tests.support.passes_checks import parameter, random, reshape, transpose

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
    assert avoid_abs_elimination(Graph(model)) == {"abs": 1}
    np.testing.assert_array_equal(compile_on_cpu(model)([random(2)])[0], np.abs(signed))


def test_abs_of_data_stays():
    x = parameter(-1)
    model = Model([ops.abs(ops.subtract(x, ops.convert(size_of(x), "f32")))], [x])
    assert avoid_abs_elimination(Graph(model)) == {"abs": 0}


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
    assert run_rewrites(model, rewrites_for())["avoid_abs_elimination"] == {"abs": 2}
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
    assert avoid_slice_elision(Graph(model)) == {"slices": 1}
    kept = 4 if min(map(min, index)) < 0 else 8  # -1 is the last element of the slice
    want = np.take_along_axis(data[:2, :kept], np.array(index), 1)
    np.testing.assert_array_equal(compile_on_cpu(model)([data])[0], want)


def test_slices_stay_where_nothing_is_gathered_by_elements():
    x = parameter(3, 8)
    model = Model([ops.relu(sliced(x, np.array([2]), 0))], [x])
    assert avoid_slice_elision(Graph(model)) == {"slices": 0}


def test_slices_that_start_later_stay():
    x = parameter(-1, 8)
    part = ops.slice(x, np.array([1]), np.array([3]), np.array([1]), np.array([0]))
    model = Model([ops.gather_elements(part, np.array([[1, 2], [3, 7]]), 1)], [x])
    assert avoid_slice_elision(Graph(model)) == {"slices": 0}


def test_sizes_whose_lower_bound_is_negative():
    """n - 1, where n is at most 8, as the size of what is filled."""
    from paddle2ov.graph.opset import ops as checked

    x = ops.parameter(PartialShape("0..8"), Type.f32)
    less = checked.add(checked.shape_of(x), checked.constant([-1], Type.i64))
    model = Model([checked.broadcast(checked.constant(1.0, Type.f32), less)], [x])
    assert compile_on_cpu(model)([random(4)])[0].shape == (3,)


# --- slices of bounded sizes ---


def part_and_whole(found, stop, axis=0):
    """A part of what is found, and as many sevens as are found."""
    part = ops.slice(found, np.array([0]), stop, np.array([1]), np.array([axis]))
    sevens = ops.broadcast(np.array([7]), ops.shape_of(found))
    return ops.concat([ops.multiply(ops.broadcast(np.array([1]), ops.shape_of(part)), part), sevens], axis)


@pytest.mark.parametrize("rank", [1, 2])
def test_a_slice_of_what_is_found_is_no_longer_than_it_is(rank):
    x, stop = parameter(6), ops.parameter(PartialShape([1]), Type.i64)
    found = ops.non_zero(x) if rank == 2 else ops.squeeze(ops.non_zero(x), np.array([0]))
    model = Model([part_and_whole(found, stop, rank - 1)], [x, stop])
    assert hide_bounds_of_slices(Graph(model)) == {"slices": 1}
    request = compile_on_cpu(model).create_infer_request()
    for data, end in (([1, 0, 2, 0, 3, 4], 2), ([0, 0, 1, 0, 0, 0], 0), ([1] * 6, 4), ([0] * 6, 3)):
        data = np.array(data, np.float32)
        got = request.infer([data, np.array([end])])[0]
        places = np.flatnonzero(data)
        np.testing.assert_array_equal(got.reshape(-1), [*places[:end], *[7] * len(places)])


def test_slices_between_constants_and_of_any_size_stay():
    stop = ops.parameter(PartialShape([1]), Type.i64)
    x = ops.parameter(PartialShape([(1, 6)]), Type.i64)
    assert hide_bounds_of_slices(Graph(Model([part_and_whole(x, np.array([2]))], [x]))) == {"slices": 0}
    for dims in ([-1], [6]):
        x = ops.parameter(PartialShape(dims), Type.i64)
        assert hide_bounds_of_slices(Graph(Model([part_and_whole(x, stop)], [x, stop]))) == {"slices": 0}


@pytest.mark.parametrize("start", [0, 1, -1])
@pytest.mark.parametrize("step", [1, 2, 3, -1, -2])
def test_sizes_of_steps_of_bounded_sizes(start, step):
    """A pooled image has at least one row, and so has every second of them: OpenVINO took one size for the other."""
    x = parameter(1, 1, -1, -1)
    pooled = ops.max_pool(x, [1, 1], [1, 1], [0, 0], [0, 0], [1, 1]).output(0)
    end = -(2**62) if step < 0 else 2**62
    part = ops.slice(pooled, np.array([start]), np.array([end]), np.array([step]), np.array([2]))
    rows = [ops.gather(ops.shape_of(one), np.array(2), np.array(0)) for one in (part, pooled)]
    counted = [ops.multiply(ops.range(np.array(0), one, np.array(1), "i64"), np.array(2)) for one in rows]
    model = Model([*counted, ops.relu(part)], [x])
    run_rewrites(model, rewrites_for())
    request = compile_on_cpu(model).create_infer_request()
    for size in (5, 1, 2, 5):
        data = np.abs(random(1, 1, size, 3))
        wanted = data[:, :, start::step]
        found = list(request.infer([data]).values())
        assert [len(one) for one in found[:2]] == [wanted.shape[2], size]
        np.testing.assert_array_equal(found[2], wanted)
