"""Sizes that are unknown at compilation, about which OpenVINO assumes too much."""

import itertools

import numpy as np
import pytest
from openvino import Model, PartialShape, Type
from openvino import opset16 as ops

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph, run_rewrites
from paddle2ov.workarounds import rewrites_for
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import parameter, random


def _pooled(x):
    return ops.max_pool(x, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2]).output(0)


def _softmax(x):
    return ops.softmax(x, 1)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("times", [(2, 2), (2,), (3, 1, 1), (1, 2, 2), (2, 1, 1, 1), (2, 2, 2, 2)])
@pytest.mark.parametrize("make", [_pooled, _softmax, ops.relu])
@pytest.mark.parametrize(
    ("shape", "known"),
    [
        ((2, 4, 2, 2), (2, 3)),
        ((2, 4, 2, 2), (0, 2, 3)),
        ((2, 4, 2, 2), (1, 2, 3)),
        ((2, 1, 4, 4), (1,)),
        ((2, 1, 4, 4), (1, 2, 3)),
        ((2, 1, 2, 6), (0, 1, 2)),
        ((1, 1, 2, 2), (1, 2, 3)),
    ],
)
def test_avoid_unit_tiles(shape, known, make, times):
    """Pixels and channels of every kind of input, tiled and then pooled, twice."""
    shape = shape if make is _pooled else (*shape[:2], shape[2] // 2, shape[3] // 2)
    x = parameter(*(size if i in known else -1 for i, size in enumerate(shape)))
    made = make(x)
    tiled = ops.tile(made, np.array(times))
    pooled = ops.max_pool(tiled, [1, 1], [1, 1], [0, 0], [0, 0], [1, 1]).output(0)
    model = Model([ops.result(value) for value in (tiled, pooled, made)], [x])
    assert row("bounds.unit_tiles")(Graph(model)) == {"sites": 1}
    request = compile_on_cpu(model).create_infer_request()
    for seed in range(2):
        got = request.infer([np.random.default_rng(seed).standard_normal(shape).astype(np.float32)])
        for i in range(2):
            np.testing.assert_array_equal(got[i], np.tile(got[2], times))


@pytest.mark.parametrize("volume", [(1, 1, 1), (2, 1, 2)])
def test_avoid_unit_tiles_of_volumes(volume):
    x = parameter(-1, 4 if volume == (1, 1, 1) else 1, *volume)
    soft = ops.softmax(x, 1)
    model = Model([ops.result(ops.tile(soft, np.array([1, 2, 2, 1, 3]))), ops.result(soft)], [x])
    assert row("bounds.unit_tiles")(Graph(model)) == {"sites": 1}
    got = compile_on_cpu(model)([random(2, 4 if volume == (1, 1, 1) else 1, *volume)])
    np.testing.assert_array_equal(got[0], np.tile(got[1], (1, 2, 2, 1, 3)))


def test_avoid_unit_tiles_refuses():
    for dims, times in (
        ((2, 4, 1, 1), np.array([1, 1, 2, 2])),
        ((-1, 4, 1, 2), np.array([1, 1, 2, 2])),
        ((-1, -1, -1, 1), np.array([1, 1, 2, 2])),
        ((-1, 4, 1), np.array([1, 1, 2])),
        ((-1, 4, 1, 1), np.array([2, 1, 1, 2, 2])),
        ((-1, 4, 1, 1), ops.parameter([4], np.int64)),
    ):
        x = parameter(*dims)
        inputs = [x] if isinstance(times, np.ndarray) else [x, times]
        assert row("bounds.unit_tiles")(Graph(Model([ops.tile(x, times)], inputs))) == {"sites": 0}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("precision", ["f32", "bf16"])
@pytest.mark.parametrize("turned", list(itertools.product((False, True), repeat=2)))
@pytest.mark.parametrize(
    ("known", "shapes"),
    [
        ((1, -1, 4), [(1, 2, 4), (1, 5, 4)]),
        ((-1, -1, 4), [(1, 2, 4), (3, 5, 4), (1, 3, 4)]),
        ((-1, 3, 4), [(3, 3, 4), (1, 3, 4)]),
        ((1, -1, -1), [(1, 2, 4), (1, 1, 4)]),
        ((-1, 4), [(2, 4), (1, 4)]),
        ((-1, -1), [(2, 4), (7, 4)]),
    ],
)
def test_avoid_batched_weights(known, shapes, turned, precision):
    def transposed(shape):
        return (*shape[:-2], shape[-1], shape[-2]) if turned[0] else shape

    x, weights = parameter(*transposed(known)), random(3, 4, 5)
    scaled = ops.multiply(weights.swapaxes(1, 2) if turned[1] else weights, np.float32(1.5))
    model = Model([ops.relu(ops.matmul(x, scaled, *turned))], [x])
    shape = model.outputs[0].get_partial_shape()
    assert row("bounds.batched_weights")(Graph(model)) == {"sites": 1}
    assert model.outputs[0].get_partial_shape() == shape
    request = compile_on_cpu(model, precision).create_infer_request()
    for item in shapes:
        data = random(*item)
        got = request.infer([np.ascontiguousarray(data.reshape(item).swapaxes(-1, -2)) if turned[0] else data])[0]
        want = np.maximum(data @ (1.5 * weights), 0)
        np.testing.assert_allclose(got, want, atol=1e-5 if precision == "f32" else 0.1)


def test_avoid_batched_weights_refuses():
    for known, shape in (
        ((1, 2, 4), (3, 4, 5)),
        ((3, -1, 4), (3, 4, 5)),
        ((-1, -1, 4), (1, 4, 5)),
        ((-1, -1, 4), (4, 5)),
        ((-1, -1, -1, 4), (3, 4, 5)),
    ):
        x = parameter(*known)
        assert row("bounds.batched_weights")(Graph(Model([ops.matmul(x, random(*shape), False, False)], [x]))) == {
            "sites": 0
        }
    x, y = parameter(1, -1, 4), parameter(3, 4, -1)
    assert row("bounds.batched_weights")(Graph(Model([ops.matmul(x, y, False, False)], [x, y]))) == {"sites": 0}


def part_and_whole(found, stop, axis=0):
    """A part of what is found, and as many sevens as are found."""
    part = ops.slice(found, np.array([0]), stop, np.array([1]), np.array([axis]))
    sevens = ops.broadcast(np.array([7]), ops.shape_of(found))
    return ops.concat([ops.multiply(ops.broadcast(np.array([1]), ops.shape_of(part)), part), sevens], axis)


@pytest.mark.parametrize("rank", [1, 2])
def test_a_slice_of_what_is_found_is_no_longer_than_it_is(rank):
    x, stop = parameter(6), ops.parameter(PartialShape([1]), Type.i64)
    nonzero = ops.non_zero(x) if rank == 2 else ops.squeeze(ops.non_zero(x), np.array([0]))
    model = Model([part_and_whole(nonzero, stop, rank - 1)], [x, stop])
    assert row("bounds.sliced_sizes")(Graph(model)) == {"sites": 1}
    request = compile_on_cpu(model).create_infer_request()
    for data, end in (([1, 0, 2, 0, 3, 4], 2), ([0, 0, 1, 0, 0, 0], 0), ([1] * 6, 4), ([0] * 6, 3)):
        data = np.array(data, np.float32)
        got = request.infer([data, np.array([end])])[0]
        places = np.flatnonzero(data)
        np.testing.assert_array_equal(got.reshape(-1), [*places[:end], *[7] * len(places)])


def test_slices_between_constants_and_of_any_size_stay():
    stop = ops.parameter(PartialShape([1]), Type.i64)
    x = ops.parameter(PartialShape([(1, 6)]), Type.i64)
    assert row("bounds.sliced_sizes")(Graph(Model([part_and_whole(x, np.array([2]))], [x]))) == {"sites": 0}
    for dims in ([-1], [6]):
        x = ops.parameter(PartialShape(dims), Type.i64)
        assert row("bounds.sliced_sizes")(Graph(Model([part_and_whole(x, stop)], [x, stop]))) == {"sites": 0}


@pytest.mark.parametrize("start", [0, 1, -1])
@pytest.mark.parametrize("step", [1, 2, 3, -1, -2])
def test_sizes_of_steps_of_bounded_sizes(start, step):
    """A pooled image has at least one row, and so has every second of them: OpenVINO took one size for the other."""
    x = parameter(1, 1, -1, -1)
    pooled = ops.max_pool(x, [1, 1], [1, 1], [0, 0], [0, 0], [1, 1]).output(0)
    end = -(2**62) if step < 0 else 2**62
    part = ops.slice(pooled, np.array([start]), np.array([end]), np.array([step]), np.array([2]))
    rows = [ops.gather(ops.shape_of(value), np.array(2), np.array(0)) for value in (part, pooled)]
    counted = [ops.multiply(ops.range(np.array(0), row, np.array(1), "i64"), np.array(2)) for row in rows]
    model = Model([*counted, ops.relu(part)], [x])
    run_rewrites(model, rewrites_for())
    request = compile_on_cpu(model).create_infer_request()
    for size in (5, 1, 2, 5):
        data = np.abs(random(1, 1, size, 3))
        wanted = data[:, :, start::step]
        results = list(request.infer([data]).values())
        assert [len(item) for item in results[:2]] == [wanted.shape[2], size]
        np.testing.assert_array_equal(results[2], wanted)


REDUCTIONS = {"mean": ops.reduce_mean, "max": ops.reduce_max}


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("reduction", REDUCTIONS.values(), ids=REDUCTIONS)
def test_check_inner_dims(reduction, keep):
    """Before products of results whose size is computed; OpenVINO does not remove the check."""
    x = ops.parameter([-1, -1, -1, -1])
    rows = reduction(ops.reshape(x, np.array([0, 0, -1]), True), np.array([1]), keep)
    model = Model([ops.matmul(rows, random(8, 4), False, False)], [x])
    assert row("bounds.inner_dims")(Graph(model)) == {"sites": 1}
    compiled = compile_on_cpu(model)
    assert compiled([random(2, 3, 2, 4)])[0].shape == ((2, 1, 4) if keep else (2, 4))
    with pytest.raises(RuntimeError, match="conflicts"):
        compiled([random(2, 3, 2, 3)])


def test_check_inner_dims_refuses():
    """Known numbers of features, and weights that a run gives."""
    for x, y in (("?,8", "8,4"), ("?,?", "?,4")):
        x, y = ops.parameter(PartialShape(x)), ops.parameter(PartialShape(y))
        assert row("bounds.inner_dims")(Graph(Model([ops.matmul(x, y, False, False)], [x, y]))) == {"sites": 0}
