"""Graphs that OpenVINO would fuse into others: sums of constants, slopes, gates, and broadcasts that it would move."""

import itertools

import numpy as np
import pytest
from openvino import Model, Type
from openvino import opset16 as ops

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph
from paddle2ov.passes.drop_neutral import drop_neutral
from paddle2ov.passes.workarounds.avoid_broadcast_transition import avoid_broadcast_transition
from paddle2ov.passes.workarounds.avoid_constant_sums import avoid_constant_sums
from paddle2ov.passes.workarounds.avoid_shared_filter_factors import avoid_shared_filter_factors
from tests.support.passes_checks import parameter, random
from tests.support.random_graphs import node_by_node


def compare(build, rewrite, counts, *runs, tolerance=1e-6):
    """The rewritten model, compiled, computes what each node of the model as it was computes."""
    model = build()
    assert rewrite(Graph(model)) == counts
    request = compile_on_cpu(model).create_infer_request()
    for arrays in runs:
        want, got = node_by_node(build(), arrays), request.infer(arrays)
        for i, expected in enumerate(want):
            assert got[i].shape == expected.shape
            np.testing.assert_allclose(got[i], expected, rtol=tolerance, atol=tolerance)


# --- sums of constants ---

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
    counts = {"sums": 0 if computed and name == "large" else 1}
    if counts["sums"]:
        compare(build, avoid_constant_sums, counts, [np.array([[1, 1, 1, 0, 0]], np.float32)])
    else:
        assert avoid_constant_sums(Graph(build())) == counts


def test_numbers_that_are_none_stay():
    def build():
        x = parameter(-1)
        return Model([SUMS["mask"](x, np.float32(2))], [x])

    compare(build, avoid_constant_sums, {"sums": 1}, [np.array([np.nan, 1, np.inf, -np.inf], np.float32)])


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
    assert avoid_constant_sums(Graph(Model([out(x)], [x]))) == {"sums": 0}


# --- broadcasts ---


@pytest.mark.parametrize("mode", ["NUMPY", "BIDIRECTIONAL"])
@pytest.mark.parametrize("kind", ["add", "divide", "power"])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("other", [(), (1,), (2,), (-1,), (1, 2), (-1, -1)], ids=str)
@pytest.mark.parametrize("data", [(), (1,), (-1, 1)], ids=str)
def test_broadcasts_to_nothing(mode, kind, first, other, data):
    def build():
        x, y, shape = parameter(*data), parameter(*other), ops.parameter([2], Type.i64)
        sides = [ops.broadcast(x, shape, None, mode), y]
        return Model([getattr(ops, kind)(*sides[:: 1 if first else -1])], [x, y, shape])

    def arrays(rows):
        x = np.full([1] * len(data), 3, np.float32)
        sizes = [other]
        if -1 in other:
            sizes = [(1,), (2,)] if len(other) == 1 else [(1, 1), (rows, 2)]
        return [[x, np.abs(random(*size)), np.array([rows, 2])] for size in sizes]

    compare(build, avoid_broadcast_transition, {"broadcasts": 1}, *itertools.chain(*map(arrays, (3, 0, 1))))


@pytest.mark.parametrize(
    ("target", "other", "dims"),
    [
        (np.array([3, 2]), (1,), ()),  # there are elements
        (None, (4, 2), ()),  # the target can only be (1 or 4, 1 or 2)
        (None, (1,), (4, 2)),
    ],
)
def test_broadcasts_that_stay(target, other, dims):
    x, y, shape = parameter(*dims), parameter(*other), ops.parameter([2], Type.i64)
    out = ops.add(ops.broadcast(x, shape if target is None else target), y)
    inputs = [x, y, shape] if target is None else [x, y]
    assert avoid_broadcast_transition(Graph(Model([out], inputs))) == {"broadcasts": 0}


# --- slopes ---


# --- gates ---


# --- pooled convolutions ---


# --- convolutions of parts ---


@pytest.mark.parametrize("shape", [(1, 3, 1, 1), (1, 1, 4, 1), (1, 1, 1, 1, 1)], ids=["channels", "rows", "rank 5"])
def test_neutral_constants_that_may_broadcast_stay(shape):
    def build():
        x = parameter(-1, -1, -1, 4)
        return Model([ops.sqrt(ops.add(ops.relu(x), np.zeros(shape, np.float32)))], [x])

    compare(build, drop_neutral, {"nodes": 0}, [random(2, 1, 1, 4)])


def test_a_sum_with_zeros_that_is_a_result_stays_one():
    def build():
        x = parameter(-1, 4)
        total = ops.add(ops.relu(x), np.float32(0))
        return Model([total, ops.negative(total)], [x])

    compare(build, drop_neutral, {"nodes": 1}, [random(2, 4)])


def test_copies_of_states_stay():
    def build():
        x = parameter(-1, 4)
        return Model([ops.negative(ops.add(x, np.float32(0)))], [x])

    graph = Graph(build(), is_body=True)
    assert drop_neutral(graph) == {"nodes": 0}
    assert graph.match_failures == {"drop_neutral": {"it may be the copy of a state": 1}}


# --- recurrent cells ---


# --- places, parts, statistics, factors ---


@pytest.mark.parametrize("is_constant", [False, True])
def test_factors_of_shared_filters(is_constant):
    weights = random(4, 1, 3, 3)

    def build():
        x, y, w = parameter(2, 4, 6, 6), parameter(2, 4, 6, 6), parameter(4, 1, 3, 3)
        filters = ops.reshape(weights if is_constant else w, np.array([4, 1, 1, 3, 3]), False)
        layers = [ops.group_convolution(one, filters, [1, 1], [0, 0], [0, 0], [1, 1]) for one in (x, y)]
        scaled = ops.multiply(layers[0], np.arange(1, 5, dtype=np.float32).reshape(1, 4, 1, 1))
        return Model([scaled, ops.relu(layers[1]), ops.relu(w)], [x, y, w])

    arrays = [random(2, 4, 6, 6), random(2, 4, 6, 6), random(4, 1, 3, 3)]
    compare(build, avoid_shared_filter_factors, {"convolutions": 0 if is_constant else 1}, arrays, tolerance=1e-4)
