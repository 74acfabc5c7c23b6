"""The time of rewrites grows with the model, and not with its square."""

import numpy as np
import pytest
from openvino import Type, opset16 as ops

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
from tests.support.passes_checks import model_of, reshape, transpose


def joined(many, x):
    """A Concat of many transposes and one other value."""
    parts = [transpose(ops.multiply(x, np.float32(i)), 0, 2, 1) for i in range(many)]
    return transpose(ops.concat([*parts, reshape(x, 2, 4, 3)], 1), 0, 2, 1)


def residual(many, x):
    """A long sum of what is computed in another order: one region with all transposes around it."""
    for _ in range(many):
        inner = ops.cum_sum(transpose(x, 0, 3, 1, 2), np.array(1))
        x = ops.add(x, transpose(inner, 0, 2, 3, 1))
    return x


def fanned(many, x):
    """A transpose that many transposes read."""
    first = transpose(x, 0, 2, 1)
    return [transpose(first, 2, 0, 1) for _ in range(many)]


def spread(many, x):
    """What is computed element by element, and many transposes read."""
    value = ops.relu(x)
    return [transpose(value, 2, 0, 1) for _ in range(many)]


def rolled(many, x):
    """Rolls in a row of batch items that differ in length."""
    for i in range(many // 4):
        x = reshape(ops.roll(x, np.array([1]), np.array([1])), -1, 6 if i % 2 else 4, 8, 4)
    return x


def masked(many, x):
    """Masks that are added to what many nodes have computed."""
    scores, mask = ops.matmul(x, x, False, True), np.ones((1, 4, 1, 4, 4), np.float32)
    for _ in range(many):
        scores = ops.add(scores, np.float32(1))
    masked = [ops.add(reshape(scores, -1, 4, 2, 4, 4), mask) for _ in range(many)]
    return [ops.softmax(reshape(item, -1, 2, 4, 4), -1) for item in masked]


def chosen(many, x):
    """Choices whose sums share their zeros."""
    value, zeros = x, ops.broadcast(np.float32(0), ops.shape_of(x))
    for _ in range(many):
        value = ops.select(ops.greater(value, x), ops.add(x, zeros), ops.add(value, zeros))
    return value


def aliased(many, x):
    """A tensor that is many results."""
    value = ops.relu(x).output(0)
    return [value.get_node(), *(alias(value).get_node() for _ in range(many))]


def neutral(many, x):
    """A Concat of many tensors, each times 1."""
    return ops.concat([ops.multiply(ops.add(x, np.float32(i)), np.float32(1)) for i in range(many)], 1)


def sliced(many, indices, x):
    """Slices from computed starts of a long chain, and a GatherElements."""
    sizes = ops.slice(ops.shape_of(x), [0], [1], [1])
    for _ in range(many):
        x = ops.slice(x, ops.subtract(sizes, sizes), sizes, np.array([1]), np.array([0]))
    return ops.gather_elements(x, indices, 0)


def gathered(many, x, seen):
    """Rows that are gathered of what is joined of many, and of a long chain."""
    rows = ops.concat([ops.multiply(x, np.float32(i)) for i in range(many)], 1)
    for _ in range(many):
        rows = ops.add(rows, np.float32(1))
    mask = ops.greater(seen, np.float32(0))
    return ops.gather(rows, ops.squeeze(ops.non_zero(mask, "i64"), np.array(0)), np.array(1))


@pytest.mark.parametrize(
    ("rewrite", "build", "dims"),
    [
        (gather_pushdown, gathered, [(2, 6, 4), (-1,)]),
        (move_transposes, joined, [(2, 3, 4)]),
        (move_transposes, residual, [(2, 5, 6, 4)]),
        (move_transposes, spread, [(2, 3, 4)]),
        (fuse_transposes, fanned, [(2, 3, 4)]),
        (gather_windows, rolled, [(-1, 6, 8, 4)]),
        (add_masks_to_scores, masked, [(-1, 2, 4, 4)]),
        (broadcast_select, chosen, [(-1, -1)]),
        (squeeze_unit_axes, aliased, [(2, 3)]),
        (drop_neutral, neutral, [(2, 3)]),
        (row("elided.slice_before_gather"), sliced, [(2, 4), (-1, 4)]),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_growth(rewrite, build, dims):
    def run(many):
        graph = Graph(model_of(lambda *xs: build(many, *xs), *dims, types=[Type.i64] if build is sliced else []))
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
