"""Nodes that OpenVINO would eliminate although they change something."""

import numpy as np
import pytest
from openvino import opset16 as ops

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import run_rewrites
from paddle2ov.workarounds import rewrites_for
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import branched, compare, model_of, reshape, stays_test, transpose


@pytest.mark.parametrize(("before", "after"), [(0, 3), (1, 0), (2, 3), (2, 1)])
def test_single_gather(before, after):
    axis = np.array([before])

    def build(x):
        index = ops.squeeze(np.array([[-1]]), np.array([0]))
        same = ops.squeeze(ops.gather(ops.unsqueeze(x, axis), index, np.int64(before)), axis)
        return ops.unsqueeze(same, np.array([after]))

    compare(row("elided.gather_of_one"), build, (-1, -1, -1))


def mean(x, *axes, keep=False):
    return ops.reduce_mean(x, np.array(axes), keep)


RESHAPED = {
    "column": lambda x: reshape(mean(x, 1), -1, 1),
    "row": lambda x: reshape(mean(x, 0), 1, -1),
    "transposed": lambda x: transpose(mean(x, 1), 1, 0),
    "there and back": lambda x: reshape(ops.unsqueeze(mean(x, -2), np.array([0])), -1, 1),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("sizes", [(1, 4, 3), (-1, 4, 3), (-1, -1, -1)])
@pytest.mark.parametrize("build", RESHAPED.values(), ids=RESHAPED)
def test_keep_reduced(build, sizes):
    """OpenVINO leaves the reshape out."""
    compare(row("elided.reshape_of_reduced"), build, sizes, shapes=[[(1, 4, 3)]])


LEFT, RIGHT = np.array([-1.5, 2, 3, 4], np.float32), np.array([1, 5, 1, 2], np.float32)


def size_of(x):
    return ops.gather(ops.shape_of(x), np.array([0]), np.int64(0))


BOUNDED = {
    "constants": lambda x: ops.subtract(ops.constant(LEFT), RIGHT),
    "a size": lambda x: ops.subtract(size_of(x), np.array([5])),
    "a size as a float": lambda x: ops.subtract(ops.convert(size_of(x), "f32"), np.float32(4.5)),
    "a size of 32 bits": lambda x: ops.subtract(ops.convert(size_of(x), "i32"), np.int32(5)),
}


@pytest.mark.parametrize("build", BOUNDED.values(), ids=BOUNDED)
def test_abs_of_what_is_bounded(build):
    compare(row("elided.abs_of_sizes"), lambda x: [ops.abs(build(x)), ops.relu(x)], (-1,))


def test_abs_of_minus_zero_is_zero():
    zeros = ops.constant(np.array([-0.0, 0], np.float32))
    model = model_of(lambda x: ops.add(ops.abs(ops.multiply(zeros, np.float32(3))), x), (2,))
    run_rewrites(model, rewrites_for())
    got = compile_on_cpu(model)([np.array([-0.0, -0.0], np.float32)])[0]
    assert not np.signbit(got).any()


@pytest.mark.parametrize("chosen", [True, False])
def test_abs_in_a_branch_that_is_put_in_place_of_the_if(chosen):
    body = [lambda y: ops.abs(ops.subtract(y, RIGHT))] * 2
    model = model_of(lambda x: ops.add(branched(ops.constant(chosen), ops.constant(LEFT).output(0), *body), x), (4,))
    assert run_rewrites(model, rewrites_for())["elided.abs_of_sizes"] == {"sites": 2}
    assert run_rewrites(model, rewrites_for())["elided.abs_of_sizes"] == {"sites": 0}
    np.testing.assert_array_equal(compile_on_cpu(model)([np.zeros(4, np.float32)])[0], np.abs(LEFT - RIGHT))


def sliced(x, stop, axis, start=0):
    return ops.slice(x, np.array([start]), stop, np.array([1]), np.array([axis]))


PLACES = [[1, 2], [3, 7]]
GATHERED = {
    "other axis": ((3, 8), lambda x: sliced(x, np.array([2]), 0), PLACES),
    "its axis": ((2, 8), lambda x: sliced(x, np.array([4]), 1), [[1, 2], [3, 0]]),
    "index from the end": ((2, 8), lambda x: sliced(x, np.array([4]), 1), [[-1, 2], [3, -4]]),
    "end from the end": ((3, 8), lambda x: sliced(x, np.array([-1]), 0), PLACES),
    "computed end": ((3, 8), lambda x: sliced(x, ops.subtract(size_of(x), np.array([1])), 0), PLACES),
    "what changes nothing between": ((3, 8), lambda x: transpose(sliced(x, np.array([2]), 0), 0, 1), PLACES),
    "a reshape between": ((3, 8), lambda x: reshape(sliced(x, np.array([2]), 0), 2, 8), PLACES),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("is_dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize(("shape", "build", "index"), GATHERED.values(), ids=GATHERED)
def test_elements_gathered_from_a_slice(shape, build, index, is_dynamic):
    compare(
        row("elided.slice_before_gather"),
        lambda x: ops.gather_elements(build(x), np.array(index), 1),
        [-1, -1] if is_dynamic else shape,
        shapes=[[shape]],
    )


MATRIX = (-1, 4, 3)
STAYS = {
    "elided.gather_of_one": {
        f"{index} of {dims}": (lambda x, index=index: ops.relu(ops.gather(x, np.array(index), np.int64(0))), dims)
        for dims, index in (((2, 3), [0]), ((-1, 3), [0]), ((1, 3), [0, 0]), ((1, 3), 0))
    },
    "elided.reshape_of_reduced": {
        "kept": (lambda x: reshape(mean(x, 1, keep=True), 1, -1, 1), MATRIX),
        "another rank": (lambda x: ops.unsqueeze(mean(x, 1), np.array([1])), MATRIX),
        "activation": (lambda x: reshape(ops.relu(mean(x, 1)), -1, 1), MATRIX),
        "one axis left": (lambda x: reshape(mean(x, 0, 1), -1), MATRIX),
    },
    "elided.abs_of_sizes": {
        "data": (lambda x: ops.abs(ops.subtract(x, ops.convert(size_of(x), "f32"))), (-1,)),
    },
    "elided.slice_before_gather": {
        "nothing gathered by elements": (lambda x: ops.relu(sliced(x, np.array([2]), 0)), (3, 8)),
        "a later start": (lambda x: ops.gather_elements(sliced(x, np.array([3]), 0, 1), np.array(PLACES), 1), (-1, 8)),
    },
}

test_stays = stays_test(STAYS)
