"""Reductions that OpenVINO would move before a Transpose or an Unsqueeze."""

import itertools

import numpy as np
import pytest
from openvino import Model
from openvino import opset16 as ops

from paddle2ov.comparison.evaluator import node_by_node
from paddle2ov.compilation.running import compile_on_cpu
from paddle2ov.passes import Graph, run_rewrites
from paddle2ov.workarounds import rewrites_for
from paddle2ov.workarounds.table import row
from tests.support.passes_checks import parameter, random

VIEWS = {
    "none": lambda y: y,
    "copy": lambda y: ops.broadcast(y, np.array(y.get_output_shape(0))),
    "one joined": lambda y: ops.concat([y], 0),
    "times one": lambda y: ops.multiply(np.float32(1), y),
    "minus nothing": lambda y: ops.subtract(y, np.float32(0)),
    "two": lambda y: ops.tile(ops.power(y, np.float32(1)), np.ones(len(y.get_output_shape(0)), np.int64)),
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
        for name in ("of_unsqueezed", "of_unsqueezed_copy"):
            moved += row(f"moved_reductions.{name}")(Graph(model))["sites"]
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
    shape = (4, 4, 4) if axis != added else (1, 4, 5)
    x = parameter(*shape)
    reduced = ops.reduce_max(ops.unsqueeze(x, np.array([added])), np.array([axis]), False)
    model, array = Model([BEHIND_UNSQUEEZED[follow](reduced)], [x]), random(*shape)
    (want,) = node_by_node(model, [array])
    run_rewrites(model, rewrites_for())
    got = compile_on_cpu(model)([array])[0]
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


STAYING = {
    "the added axis, dropped": lambda x: ops.reduce_l2(ops.unsqueeze(x, np.array([1])), np.array([1]), False),
    "after the added axis": lambda x: ops.reduce_sum(ops.unsqueeze(x, np.array([0])), np.array([1]), True),
    "the added axis": lambda x: ops.reduce_sum(ops.unsqueeze(x, np.array([2])), np.array([2]), True),
    "nothing is added": lambda x: ops.reduce_sum(ops.reshape(x, np.array([4, 3]), False), np.array([0]), True),
    "more is computed": lambda x: ops.reduce_sum(ops.relu(ops.unsqueeze(x, np.array([2]))), np.array([0]), True),
}


@pytest.mark.parametrize("build", STAYING.values(), ids=STAYING)
def test_reductions_that_stay_behind(build):
    x = parameter(3, 4)
    assert row("moved_reductions.of_unsqueezed")(Graph(Model([build(x)], [x]))) == {"sites": 0}


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


def test_reduce_before_transpose_refuses():
    order, axes = ops.parameter([3], np.int64), ops.parameter([1], np.int64)
    for dims, perm, over, keep in (
        ((2, 1, 3), np.array([2, 0, 1]), np.array([0]), True),
        ((2, -1, 3), np.array([2, 0, 1]), np.array([0]), False),
        ((2, 1, 3), order, np.array([0]), False),
        ((2, 1, 3), np.array([2, 0, 1]), axes, False),
    ):
        x = parameter(*dims)
        model = Model([ops.reduce_sum(ops.transpose(x, perm), over, keep)], [x, order, axes])
        assert row("moved_reductions.of_transposed")(Graph(model)) == {"sites": 0}


@pytest.mark.parametrize("first", [ops.reduce_sum, ops.reduce_max])
@pytest.mark.parametrize("second", [ops.reduce_sum, ops.reduce_max])
def test_reductions_of_what_is_unsqueezed_twice(first, second):
    """One application does all, whichever reduction is looked at first."""
    x, array = parameter(3, 4, 5), random(3, 4, 5)
    wide = ops.unsqueeze(ops.unsqueeze(x, np.array([3])), np.array([2]))
    model = Model([second(first(wide, np.array([0]), True), np.array([1]), True)], [x])
    (want,) = node_by_node(model, [array])
    assert row("moved_reductions.of_unsqueezed")(Graph(model)) != {"sites": 0}
    assert row("moved_reductions.of_unsqueezed")(Graph(model)) == {"sites": 0}
    np.testing.assert_allclose(compile_on_cpu(model)([array])[0], want, rtol=1e-5)


def test_a_long_chain_of_reductions():
    x = parameter(1, 4)
    y = ops.unsqueeze(x, np.array([2]))
    for _ in range(1200):
        y = ops.reduce_sum(y, np.array([0]), True)
    model = Model([y], [x])
    row("moved_reductions.of_unsqueezed")(Graph(model))
    assert [node.get_type_name() for node in model.get_ordered_ops()[-2:]] == ["Unsqueeze", "Result"]
