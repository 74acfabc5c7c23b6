"""Sizes that are unknown at compilation, about which OpenVINO assumes too much."""

import itertools

import numpy as np
import pytest
from openvino import Dimension, Model, Type, opset16 as ops

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph, run_rewrites
from paddle2ov.workarounds import rewrites_for
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import compare, model_of, pooled, random, stays_test


@pytest.mark.one_in(5)
@pytest.mark.parametrize("times", [(2, 2), (2,), (3, 1, 1), (1, 2, 2), (2, 1, 1, 1), (2, 2, 2, 2)])
@pytest.mark.parametrize("make", [pooled, lambda x: ops.softmax(x, 1), ops.relu], ids=["pooled", "softmax", "relu"])
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
def test_unit_tiles(shape, known, make, times):
    """Pixels and channels of every kind of input, tiled and then pooled, twice."""
    shape = shape if make is pooled else (*shape[:2], shape[2] // 2, shape[3] // 2)

    def build(x):
        made = make(x)
        tiled = ops.tile(made, np.array(times))
        return [tiled, ops.max_pool(tiled, [1, 1], [1, 1], [0, 0], [0, 0], [1, 1]).output(0), made]

    dims = [size if i in known else -1 for i, size in enumerate(shape)]
    compare(row("bounds.unit_tiles"), build, dims, shapes=[[shape]] * 2)


@pytest.mark.parametrize("volume", [(4, 1, 1, 1), (1, 2, 1, 2)])
def test_unit_tiles_of_volumes(volume):
    compare(row("bounds.unit_tiles"), lambda x: ops.tile(ops.softmax(x, 1), np.array([1, 2, 2, 1, 3])), (-1, *volume))


@pytest.mark.one_in(4)
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
def test_batched_weights(known, shapes, turned):
    weights = random(3, 4, 5).swapaxes(1, 2) if turned[1] else random(3, 4, 5)

    def transposed(shape):
        return (*shape[:-2], shape[-1], shape[-2]) if turned[0] else shape

    compare(
        row("bounds.batched_weights"),
        lambda x: ops.relu(ops.matmul(x, ops.multiply(weights, np.float32(1.5)), *turned)),
        transposed(known),
        shapes=[[transposed(shape)] for shape in shapes],
        rounded=0.05,
    )


def part_and_whole(found, stop, axis=0):
    """A part of what is found, and as many sevens as are found."""
    part = ops.slice(found, np.array([0]), stop, np.array([1]), np.array([axis]))
    sevens = ops.broadcast(np.array([7]), ops.shape_of(found))
    return ops.concat([ops.multiply(ops.broadcast(np.array([1]), ops.shape_of(part)), part), sevens], axis)


@pytest.mark.parametrize("rank", [1, 2])
def test_a_slice_of_what_is_found_is_no_longer_than_it_is(rank):
    def build(stop, x):
        nonzero = ops.non_zero(x) if rank == 2 else ops.squeeze(ops.non_zero(x), np.array([0]))
        return part_and_whole(nonzero, stop, rank - 1)

    data = ([1, 0, 2, 0, 3, 4], 2), ([0, 0, 1, 0, 0, 0], 0), ([1] * 6, 4), ([0] * 6, 3)
    runs = [[np.array([end]), np.array(item, np.float32)] for item, end in data]
    compare(row("bounds.sliced_sizes"), build, (1,), (6,), types=[Type.i64], runs=runs)


@pytest.mark.parametrize("start", [0, 1, -1])
def test_sizes_of_steps_of_bounded_sizes(start):
    """A pooled image has at least one row, and so has every second of them: OpenVINO took one size for the other."""
    steps = (1, 2, 3, -1, -2)

    def build(x):
        pooled = ops.max_pool(x, [1, 1], [1, 1], [0, 0], [0, 0], [1, 1]).output(0)
        for step in steps:
            end = -(2**62) if step < 0 else 2**62
            part = ops.slice(pooled, np.array([start]), np.array([end]), np.array([step]), np.array([2]))
            rows = [ops.gather(ops.shape_of(value), np.array(2), np.array(0)) for value in (part, pooled)]
            yield from (ops.multiply(ops.range(np.array(0), r, np.array(1), "i64"), np.array(2)) for r in rows)
            yield ops.relu(part)

    model = model_of(lambda x: list(build(x)), (1, 1, -1, -1))
    run_rewrites(model, rewrites_for())
    request = compile_on_cpu(model).create_infer_request()
    for size in (5, 1, 2, 5):
        data = np.abs(random(1, 1, size, 3))
        results = list(request.infer([data]).values())
        for i, step in enumerate(steps):
            wanted = data[:, :, start::step]
            assert [len(item) for item in results[3 * i : 3 * i + 2]] == [wanted.shape[2], size]
            np.testing.assert_array_equal(results[3 * i + 2], wanted)


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("reduction", [ops.reduce_mean, ops.reduce_max])
def test_inner_dims(reduction, keep):
    """Before products of results whose size is computed; OpenVINO does not remove the check."""
    x = ops.parameter([-1, -1, -1, -1])
    rows = reduction(ops.reshape(x, np.array([0, 0, -1]), True), np.array([1]), keep)
    model = Model([ops.matmul(rows, random(8, 4), False, False)], [x])
    assert row("bounds.inner_dims")(Graph(model)) == {"sites": 1}
    compiled = compile_on_cpu(model)
    assert compiled([random(2, 3, 2, 4)])[0].shape == ((2, 1, 4) if keep else (2, 4))
    with pytest.raises(RuntimeError, match="conflicts"):
        compiled([random(2, 3, 2, 3)])


def tiled(*times):
    return lambda x: ops.tile(x, np.array(times))


def product(x, y):
    return ops.matmul(x, y, False, False)


def integers(x):
    return ops.convert(x, "i64")


STAYS = {
    "bounds.unit_tiles": {
        "known": (tiled(1, 1, 2, 2), (2, 4, 1, 1)),
        "one of two pixels": (tiled(1, 1, 2, 2), (-1, 4, 1, 2)),
        "unknown": (tiled(1, 1, 2, 2), (-1, -1, -1, 1)),
        "of rank 3": (tiled(1, 1, 2), (-1, 4, 1)),
        "to rank 5": (tiled(2, 1, 1, 2, 2), (-1, 4, 1, 1)),
        "computed": (lambda x: ops.tile(x, ops.shape_of(ops.non_zero(x))), (-1, 4, 1, 1)),
    },
    "bounds.batched_weights": {
        **{
            f"{known} by {shape}": (lambda x, shape=shape: product(x, random(*shape)), known)
            for known, shape in (
                ((1, 2, 4), (3, 4, 5)),
                ((3, -1, 4), (3, 4, 5)),
                ((-1, -1, 4), (1, 4, 5)),
                ((-1, -1, 4), (4, 5)),
                ((-1, -1, -1, 4), (3, 4, 5)),
            )
        },
        "no weights": (product, (1, -1, 4), (3, 4, -1)),
    },
    "bounds.sliced_sizes": {
        "between constants": (lambda x: part_and_whole(integers(x), np.array([2])), [Dimension(1, 6)]),
        "of any size": (lambda x, stop: part_and_whole(*map(integers, (x, stop))), [-1], [1]),
        "of a known size": (lambda x, stop: part_and_whole(*map(integers, (x, stop))), [6], [1]),
    },
    "bounds.inner_dims": {
        "known numbers of features": (product, (-1, 8), (8, 4)),
        "weights that a run gives": (product, (-1, -1), (-1, 4)),
    },
}

test_stays = stays_test(STAYS)
