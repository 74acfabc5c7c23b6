"""Nodes that OpenVINO would move across others, and change what these compute."""

import itertools

import numpy as np
import pytest
from openvino import Node, Type, opset16 as ops

from paddle2ov.workarounds.table import row
from tests.support.passes_checks import compare, random, stays, stays_test

PIXEL, PIXELS = random(4, 4), random(4, 4, 2, 2)


def by_pixel(x, step, pad):
    """A convolution of four channels by filters of one pixel, with strides and one-sided padding, in any rank."""
    rank = len((x.output(0) if isinstance(x, Node) else x).get_partial_shape()) - 2
    strides, none, ones = [step] * rank, [0] * rank, [1] * rank
    return ops.convolution(x, PIXEL.reshape(4, 4, *ones), strides, none, [pad, *none[1:]], ones)


def split_sum(x):
    part = ops.split(ops.concat([x, ops.exp(x)], 1), np.array(1), 2).output(1)
    return ops.add(ops.tanh(part), ops.relu(part))


SECOND_PIXELS = {
    "padded, behind an activation": (lambda x: by_pixel(ops.relu(x), 2, 1), 1),
    "padded, behind a convolution": (lambda x: by_pixel(by_pixel(x, 1, 0), 3, 2), 1),
    "both padded": (lambda x: by_pixel(by_pixel(ops.tanh(x), 2, 1), 2, 1), 2),
    "padded before": (lambda x: by_pixel(ops.tanh(by_pixel(ops.relu(x), 1, 1)), 2, 0), 1),
    "of a part": (lambda x: by_pixel(split_sum(x), 2, 0), 1),
    "of a part, twice": (lambda x: ops.concat([by_pixel(part, 2, 0) for part in [split_sum(x)] * 2], 1), 2),
    "of a part, before": (lambda x: by_pixel(by_pixel(split_sum(x), 2, 0), 2, 0), 2),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dims", [(1,), (3,), (7,), (5, 6), (1, 1), (3, 4, 5)])
@pytest.mark.parametrize(("image", "count"), SECOND_PIXELS.values(), ids=SECOND_PIXELS)
def test_stride_propagation(image, count, dims):
    """OpenVINO moves strides over padding, and to nodes of several results."""
    compare(row("moved.stride_over_padding"), image, (2, 4, *dims), sites=count)


BETWEEN = {
    "nothing": lambda y: y,
    "a reshape": lambda y: ops.reshape(y, np.array([-1]), False),
    "an activation": ops.relu,
}


@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("dims", [(6,), (-1,), (1,)])
def test_abs_of_joined(dims, between):
    """What else reads the vector keeps its signs."""

    def build(x):
        joined = ops.concat([x, ops.sin(x)], 0)
        length = ops.reduce_sum(ops.abs(BETWEEN[between](joined)), np.array([0]), True)
        return ops.divide(joined, ops.add(length, np.float32(1)))

    compare(row("moved.abs_of_joined"), build, dims, runs=[[random(abs(dims[0])) - 1]])


@pytest.mark.one_in(7)
@pytest.mark.parametrize("mode", ["NUMPY", "BIDIRECTIONAL"], ids=str)
@pytest.mark.parametrize("kind", ["add", "divide", "power"], ids=str)
@pytest.mark.parametrize("first", [True, False], ids=str)
@pytest.mark.parametrize("other", [(), (1,), (2,), (-1,), (1, 2), (-1, -1)], ids=str)
@pytest.mark.parametrize("data", [(), (1,), (-1, 1)], ids=str)
def test_broadcasts_to_nothing(mode, kind, first, other, data):
    def build(shape, x, y):
        sides = [ops.broadcast(x, shape, None, mode), y]
        return getattr(ops, kind)(*sides[:: 1 if first else -1])

    def arrays(rows):
        x = np.full([1] * len(data), 3, np.float32)
        sizes = [other]
        if -1 in other:
            sizes = [(1,), (2,)] if len(other) == 1 else [(1, 1), (rows, 2)]
        return [[np.array([rows, 2]), x, np.abs(random(*size))] for size in sizes]

    runs = list(itertools.chain(*map(arrays, (3, 0, 1))))
    compare(row("moved.broadcast_to_nothing"), build, (2,), data, other, types=[Type.i64], runs=runs)


@pytest.mark.parametrize(
    ("target", "other", "data"),
    [
        (np.array([3, 2]), (1,), ()),  # there are elements
        (None, (4, 2), ()),  # the target can only be (1 or 4, 1 or 2)
        (None, (1,), (4, 2)),
    ],
)
def test_broadcasts_that_stay(target, other, data):
    def build(shape, x, y):
        return ops.add(ops.broadcast(x, shape if target is None else target), y)

    assert stays(row("moved.broadcast_to_nothing"), build, (2,), data, other, types=[Type.i64])


IMAGE = (2, 4, 5, 6)
STAYS = {
    "moved.stride_over_padding": {
        "nothing padded": (lambda x: by_pixel(ops.relu(x), 2, 0), IMAGE),
        "no stride": (lambda x: by_pixel(ops.relu(x), 1, 1), IMAGE),
        "of a part alone": (lambda x: by_pixel(ops.split(x, np.array(0), 2).output(1), 2, 0), IMAGE),
        "of larger filters": (lambda x: ops.convolution(ops.relu(x), PIXELS, [2, 2], [1, 1], [1, 1], [1, 1]), IMAGE),
        "a larger filter between": (
            lambda x: by_pixel(
                ops.convolution(by_pixel(ops.relu(x), 1, 1), PIXELS, [1, 1], [0, 0], [0, 0], [1, 1]), 2, 0
            ),
            IMAGE,
        ),
    },
    "moved.abs_of_joined": {
        "nothing joined": (ops.abs, (4,)),
        "along another axis": (lambda y: ops.abs(ops.concat([y, y], 0)), (2, 4)),
    },
}

test_stays = stays_test(STAYS)
