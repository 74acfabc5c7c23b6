"""Reductions that OpenVINO would move before a Transpose or an Unsqueeze."""

import itertools

import numpy as np
import pytest
from openvino import Model, opset16 as ops

from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph
from paddle2ov.passes.drop_neutral import drop_neutral
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import (
    all_rewrites,
    apply,
    compare,
    node_by_node,
    parameter,
    random,
    reshape,
    stays_test,
    transpose,
)

VIEWS = {
    "none": lambda y: y,
    "copy": lambda y: ops.broadcast(y, np.array(y.get_output_shape(0))),
    "one joined": lambda y: ops.concat([y], 0),
    "times one": lambda y: ops.multiply(np.float32(1), y),
    "minus nothing": lambda y: ops.subtract(y, np.float32(0)),
    "two": lambda y: ops.tile(ops.divide(y, np.float32(1)), np.ones(len(y.get_output_shape(0)), np.int64)),
}


REDUCING = (ops.reduce_sum, ops.reduce_mean, ops.reduce_max, ops.reduce_l2)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("keep", [False, True])
def test_reduce_before_unsqueeze(rank, view, keep):
    """Every axis that may be added, and every set of axes that is reduced."""
    rng, shape, models, moved = np.random.default_rng(rank), [3, 1, 2][:rank], [], 0
    for added in range(rank + 1):
        for count in range(1, rank + 2):
            for axes in itertools.combinations(range(rank + 1), count):
                x = parameter(*shape)
                wide = [*shape[:added], 1, *shape[added:]]
                as_reshape = rng.random() < 0.5
                y = ops.reshape(x, np.array(wide), False) if as_reshape else ops.unsqueeze(x, np.array([added]))
                models.append(Model([REDUCING[int(rng.integers(4))](VIEWS[view](y), np.array(axes), keep)], [x]))
    array = random(*shape)
    expected = [node_by_node(model, [array])[0] for model in models]
    for model in models:
        graph = Graph(model)
        drop_neutral(graph)
        moved += row("moved_reductions.of_unsqueezed")(graph)["sites"]
    results = [result for model in models for result in model.get_results()]
    parameters = [parameter for model in models for parameter in model.get_parameters()]
    computed = compile_on_cpu(Model(results, parameters))([array] * len(models))
    for want, got in zip(expected, computed.values(), strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    assert moved


BEHIND_UNSQUEEZED = {
    "factors": lambda y: ops.multiply(y, random(1, 4, 1)),
    "reshaped": lambda y: ops.reshape(y, np.array([-1, 1]), False),
    "transposed": lambda y: ops.relu(ops.transpose(y, np.array([1, 0, 2]))),
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("follow", BEHIND_UNSQUEEZED)
@pytest.mark.parametrize("added", range(4))
@pytest.mark.parametrize("axis", range(4))
def test_what_follows_a_reduction_of_what_is_unsqueezed(follow, added, axis):
    """All rules together: what is right alone lets OpenVINO make what others go around."""

    def build(x):
        return BEHIND_UNSQUEEZED[follow](ops.reduce_max(ops.unsqueeze(x, np.array([added])), np.array([axis]), False))

    compare(all_rewrites, build, (4, 4, 4) if axis != added else (1, 4, 5))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("shape", [(2, 1, 4, 4), (1, 3, 4, 5), (2, 3, 1, 4), (2, 3, 1), (1, 3, 4), (1, 1, 3, 3)])
@pytest.mark.parametrize("is_known", [True, False])
def test_reduce_before_transpose(shape, is_known):
    """Every permutation and every choice of axes; sizes above 1 are known, or none of them."""
    rank, data = len(shape), random(*shape)
    x, results, wanted = parameter(*(size if is_known or size == 1 else -1 for size in shape)), [], []
    for i, perm in enumerate(itertools.permutations(range(rank))):
        for count in range(1, rank):
            for axes in itertools.combinations(range(rank), count):
                signed_axes = [axis - rank if i % 2 else axis for axis in axes]
                moved = ops.transpose(ops.multiply(x, np.float32(i + 1)), np.array(perm))
                results.append(ops.reduce_max(moved, np.array(signed_axes), False))
                wanted.append((data * np.float32(i + 1)).transpose(perm).max(axes))
    model = Model(results, [x])
    assert row("moved_reductions.of_transposed")(Graph(model)) == {"sites": len(wanted)}
    got = compile_on_cpu(model)([data])
    for i, want in enumerate(wanted):
        np.testing.assert_array_equal(got[i], want)


@pytest.mark.parametrize("first", [ops.reduce_sum, ops.reduce_max])
@pytest.mark.parametrize("second", [ops.reduce_sum, ops.reduce_max])
def test_reductions_of_what_is_unsqueezed_twice(first, second):
    """One application does all, whichever reduction is looked at first."""

    def build(x):
        wide = ops.unsqueeze(ops.unsqueeze(x, np.array([3])), np.array([2]))
        return second(first(wide, np.array([0]), True), np.array([1]), True)

    model, _ = apply(row("moved_reductions.of_unsqueezed"), build, (3, 4, 5))
    assert row("moved_reductions.of_unsqueezed")(Graph(model)) == {"sites": 0}


def test_a_long_chain_of_reductions():
    x = parameter(1, 4)
    y = ops.unsqueeze(x, np.array([2]))
    for _ in range(1200):
        y = ops.reduce_sum(y, np.array([0]), True)
    model = Model([y], [x])
    row("moved_reductions.of_unsqueezed")(Graph(model))
    assert [node.get_type_name() for node in model.get_ordered_ops()[-2:]] == ["Unsqueeze", "Result"]


def unsqueezed(*added):
    return lambda x: ops.unsqueeze(x, np.array(added))


def summed(change, axis, keep=True):
    return lambda x: ops.reduce_sum(change(x), np.array([axis]), keep)


def transposed(x):
    return transpose(x, 2, 0, 1)


def counts_of(x):
    """Indices that only the run tells."""
    return ops.shape_of(ops.non_zero(x))


STAYS = {
    "moved_reductions.of_unsqueezed": {
        "the added axis, dropped": (lambda x: ops.reduce_l2(unsqueezed(1)(x), np.array([1]), False), (3, 4)),
        "after the added axis": (summed(unsqueezed(0), 1), (3, 4)),
        "the added axis": (summed(unsqueezed(2), 2), (3, 4)),
        "an axis of a number": (summed(unsqueezed(0, 1), 1, False), ()),
        "nothing is added": (summed(lambda x: reshape(x, 4, 3), 0), (3, 4)),
        "more is computed": (summed(lambda x: ops.relu(ops.unsqueeze(x, np.array([2]))), 0), (3, 4)),
    },
    "moved_reductions.of_transposed": {
        "all axes kept": (summed(transposed, 0), (2, 1, 3)),
        "nothing of size 1": (summed(transposed, 0, False), (2, -1, 3)),
        "unknown axes": (lambda x: ops.reduce_sum(transposed(x), counts_of(x), False), (2, 1, 3)),
    },
}

test_stays = stays_test(STAYS)
