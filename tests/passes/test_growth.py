"""The time of rewrites grows with the model, and not with its square."""

import numpy as np
import pytest
from openvino import Model
from openvino import opset16 as ops

from paddle2ov.graph.aliases import alias
from paddle2ov.passes import Graph
from paddle2ov.passes.attention.add_masks_to_scores import add_masks_to_scores
from paddle2ov.passes.attention.gather_windows import gather_windows
from paddle2ov.passes.broadcast_select import broadcast_select
from paddle2ov.passes.detection.gather_pushdown import gather_pushdown
from paddle2ov.passes.drop_neutral import drop_neutral
from paddle2ov.passes.layout.fuse_transposes import fuse_transposes
from paddle2ov.passes.layout.move_transposes import move_transposes
from paddle2ov.passes.layout.squeeze_unit_axes import squeeze_unit_axes
from paddle2ov.workarounds.table import row
from tests.support.growth import grows_less
from tests.support.passes_checks import parameter, reshape, transpose


def _joined(many):
    """A Concat of many transposes and one other value."""
    x = parameter(2, 3, 4)
    parts = [transpose(ops.multiply(x, np.float32(i)), 0, 2, 1) for i in range(many)]
    joined = ops.concat([*parts, reshape(x, 2, 4, 3)], 1)
    return Model([transpose(joined, 0, 2, 1)], [x])


def _residual(many):
    """A long sum of what is computed in another order: one region with all transposes around it."""
    x = value = parameter(2, 5, 6, 4)
    for _ in range(many):
        inner = ops.cum_sum(transpose(value, 0, 3, 1, 2), np.array(1))
        value = ops.add(value, transpose(inner, 0, 2, 3, 1))
    return Model([value], [x])


def _fanned(many):
    """A transpose that many transposes read."""
    x = parameter(2, 3, 4)
    first = transpose(x, 0, 2, 1)
    return Model([transpose(first, 2, 0, 1) for _ in range(many)], [x])


def _spread(many):
    """What is computed element by element, and many transposes read."""
    x = parameter(2, 3, 4)
    value = ops.relu(x)
    return Model([transpose(value, 2, 0, 1) for _ in range(many)], [x])


def _rolled(many):
    """Rolls in a row of batch items that differ in length."""
    x = value = parameter(-1, 6, 8, 4)
    for i in range(many // 4):
        value = ops.roll(value, np.array([1]), np.array([1]))
        value = reshape(value, -1, 6 if i % 2 else 4, 8, 4)
    return Model([value], [x])


def _masked(many):
    """Masks that are added to what many nodes have computed."""
    x = parameter(-1, 2, 4, 4)
    scores, mask = ops.matmul(x, x, False, True), np.ones((1, 4, 1, 4, 4), np.float32)
    for _ in range(many):
        scores = ops.add(scores, np.float32(1))
    masked = [ops.add(reshape(scores, -1, 4, 2, 4, 4), mask) for _ in range(many)]
    return Model([ops.softmax(reshape(item, -1, 2, 4, 4), -1) for item in masked], [x])


def _chosen(many):
    """Choices whose sums share their zeros."""
    x = value = parameter(-1, -1)
    zeros = ops.broadcast(np.float32(0), ops.shape_of(x))
    for _ in range(many):
        value = ops.select(ops.greater(value, x), ops.add(x, zeros), ops.add(value, zeros))
    return Model([value], [x])


def _aliased(many):
    """A tensor that is many results."""
    x = parameter(2, 3)
    value = ops.relu(x).output(0)
    return Model([value.get_node(), *(alias(value).get_node() for _ in range(many))], [x])


def _neutral(many):
    """A Concat of many tensors, each times 1."""
    x = parameter(2, 3)
    return Model([ops.concat([ops.multiply(ops.add(x, np.float32(i)), np.float32(1)) for i in range(many)], 1)], [x])


def _sliced(many):
    """Slices from computed starts of a long chain, and a GatherElements."""
    x, indices = parameter(-1, 4), ops.parameter([2, 4], np.int64)
    value, sizes = x, ops.slice(ops.shape_of(x), [0], [1], [1])
    for _ in range(many):
        value = ops.slice(value, ops.subtract(sizes, sizes), sizes, np.array([1]), np.array([0]))
    return Model([ops.gather_elements(value, indices, 0)], [x, indices])


def _gathered(many):
    """Rows that are gathered of what is joined of many, and of a long chain."""
    x, mask = parameter(2, 6, 4), ops.parameter([6 * many], np.bool_)
    rows = ops.concat([ops.multiply(x, np.float32(i)) for i in range(many)], 1)
    for _ in range(many):
        rows = ops.add(rows, np.float32(1))
    index = ops.squeeze(ops.non_zero(mask, "i64"), np.array(0))
    return Model([ops.gather(rows, index, np.array(1))], [x, mask])


@pytest.mark.parametrize(
    ("rewrite", "build"),
    [
        (gather_pushdown, _gathered),
        (move_transposes, _joined),
        (move_transposes, _residual),
        (move_transposes, _spread),
        (fuse_transposes, _fanned),
        (gather_windows, _rolled),
        (add_masks_to_scores, _masked),
        (broadcast_select, _chosen),
        (squeeze_unit_axes, _aliased),
        (drop_neutral, _neutral),
        (row("elided.slice_before_gather"), _sliced),
    ],
    ids=lambda one: one.__name__.lstrip("_"),
)
def test_growth(rewrite, build):
    def run(many):
        graph = Graph(build(many))
        return lambda: rewrite(graph)

    assert grows_less(run, 30, 240, 20)  # eight times the work; 64 times if it were quadratic


@pytest.mark.parametrize(("power", "expected"), [(1, True), (2, False)])
def test_growth_is_told_on_a_busy_machine(monkeypatch, power, expected):
    """Of a linear time and a quadratic one, where each measurement takes up to twice as long as it should."""
    rng = np.random.default_rng(0)
    clock = [0.0]
    monkeypatch.setattr("tests.support.growth.time.process_time", lambda: clock[0])

    def run(size):
        def work():
            clock[0] += size**power * rng.uniform(1, 2)

        return work

    assert {grows_less(run, 30, 240, 20) for _ in range(100)} == {expected}
