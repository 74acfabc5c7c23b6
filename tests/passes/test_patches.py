"""Slices of every other row and column that are joined: moved at once, and left alone where they are not all of x."""

import itertools

import numpy as np
import pytest
from openvino import opset16 as ops

from paddle2ov.passes import Graph
from paddle2ov.passes.attention.merge_patches import merge_patches
from tests.support.passes_checks import apply, kinds, model_of, stays

END = 2**31 - 1


def taken(x, start, step, axes, stop=END):
    stops = stop if isinstance(stop, list) else [stop] * len(axes)
    return ops.slice(x, np.array(start), np.array(stops), np.array(step), np.array(axes))


def joined(axes, steps, axis, order=None, changed=None):
    """What joins the slices of all offsets, which count up along `order`."""

    def build(x):
        count = list(itertools.product(*(range(steps[i]) for i in order or range(len(axes)))))
        starts = [[item[(order or range(len(axes))).index(i)] for i in range(len(axes))] for item in count]
        parts = [taken(x, start, steps, axes) for start in starts]
        return ops.relu(ops.concat((changed or list)(parts), axis))

    return build


@pytest.mark.one_in(2)
@pytest.mark.parametrize("batch", [2, -1])
@pytest.mark.parametrize(
    ("dims", "axes", "steps", "axis", "order"),
    [
        ([6, 8, 3], [1, 2], [2, 2], 3, [1, 0]),  # Swin's patch merging
        ([6, 8, 3], [1, 2], [2, 2], -1, [0, 1]),
        ([3, 8, 6], [2, 3], [2, 2], 1, [1, 0]),  # the Focus of YOLOX
        ([3, 6, 8], [-2, -1], [3, 4], 1, [0, 1]),
        ([6, 4], [1], [3], 2, [0]),
        ([6, 4], [1], [2], 1, [0]),  # even ones before odd ones
        ([6, 8, 3], [1, 2], [2, 4], 2, [1, 0]),
        ([6, 8, 1], [1, 2], [2, 2], 3, [1, 0]),
        ([2, 8], [1, 2], [2, 2], 0, [1, 0]),  # along the batch
    ],
)
def test_merge(batch, dims, axes, steps, axis, order):
    model, counts = apply(merge_patches, joined(axes, steps, axis, order), [batch, *dims])
    assert counts == {"joins": 1, "slices": int(np.prod(steps))}
    left = kinds(model)
    assert (left["Transpose"], left["Slice"], left["Concat"]) == (1, 0, 0)


def test_merge_of_a_stepped_batch():
    counts = apply(merge_patches, joined([0, 1], [2, 2], 2, [1, 0]), [4, 6, -1])[1]
    assert counts == {"joins": 1, "slices": 4}


def test_many_strided_axes():
    """Their orders are not tried one after the other: nine axes have 362,880."""
    axes, order = range(1, 10), [3, 8, 0, 5, 1, 7, 2, 6, 4]
    build = joined([*axes], [2] * 9, 0, order)
    assert merge_patches(Graph(model_of(build, [1, *[2] * 9]))) == {"joins": 1, "slices": 512}
    backwards = joined([*axes], [2] * 9, 0, order, lambda parts: parts[::-1])
    assert merge_patches(Graph(model_of(backwards, [1, *[2] * 9]))) == {"joins": 0, "slices": 0}


def test_whole_axes_and_ends_that_are_counted():
    def build(x):
        parts = [taken(x, [0, i - 6, 0], [1, 2, 1], [0, 1, 2], [END, 6 if i else -1, 4]) for i in (0, 1)]
        return ops.relu(ops.concat(parts, 2))

    assert apply(merge_patches, build, [2, 6, 4])[1] == {"joins": 1, "slices": 2}


def of_three(parts):
    return lambda x, y: [ops.relu(ops.concat(parts(x, y), 2)), ops.relu(y)]


def read_by_others(x):
    parts = [taken(x, [i], [2], [1]) for i in (0, 1)]
    return [ops.concat(parts, 2), ops.relu(parts[0])]


IMAGE, ROWS = [2, 6, 8, 3], [[2, 6, 4], [2, 6, 4]]
CORNERS = [1, 2], [2, 2], 3
PART = [2, 1], [1, 2], [END, 2]
STAYS = {
    "a corner left out": (joined(*CORNERS, changed=lambda parts: parts[:3]), IMAGE),
    "another order": (joined(*CORNERS, changed=lambda parts: [parts[i] for i in (0, 3, 1, 2)]), IMAGE),
    "one twice": (joined(*CORNERS, changed=lambda parts: [parts[i] for i in (0, 1, 2, 2)]), IMAGE),
    "two unknown dimensions": (joined([1], [2], 3), [-1, 6, -1, 3]),
    "stepped along an unknown one": (joined(*CORNERS), [2, -1, 8, 3]),
    "not to the end": (of_three(lambda x, y: [taken(x, [i], [2], [1], 4) for i in (0, 1)]), *ROWS),
    "not from the start": (of_three(lambda x, y: [taken(x, [i], [2], [1]) for i in (2, 3)]), *ROWS),
    "halves": (of_three(lambda x, y: [taken(x, [0], [1], [1], 3), taken(x, [3], [1], [1])]), *ROWS),
    "backwards": (of_three(lambda x, y: [taken(x, [i], [-2], [1], -END) for i in (5, 4)]), *ROWS),
    "of two tensors": (of_three(lambda x, y: [taken(x, [0], [2], [1]), taken(y, [1], [2], [1])]), *ROWS),
    "a part": (of_three(lambda x, y: [taken(x, [0, 0], *PART), taken(x, [1, 0], *PART)]), *ROWS),
    "the same of two": (of_three(lambda x, y: [taken(x, [0], [2], [1]), taken(y, [0], [2], [1])]), *ROWS),
    "read by others": (read_by_others, [2, 6, 4]),
    "of uneven length": (lambda x: ops.concat([taken(x, [i], [2], [1]) for i in (0, 1)], 1), [2, 5, 4]),
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    assert stays(merge_patches, *STAYS[name])
