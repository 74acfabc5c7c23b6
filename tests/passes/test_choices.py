"""Choices that read what they choose from, without sums of zeros."""

import numpy as np
import pytest
from openvino import Type, opset16 as ops

from paddle2ov.passes.broadcast_select import broadcast_select
from tests.support.passes_checks import apply, kinds, random, stays

MASK = np.array([[[[True, False, True]]], [[[False, True, True]]]])


def _zeros(x, kind=None):
    return ops.broadcast(np.zeros([], kind or np.float32), ops.shape_of(x))


def _widened(c, x, y, zeros):
    number = ops.convert(c, Type.f32)
    condition = ops.not_equal(ops.add(number, zeros), np.float32(0))
    return ops.select(condition, ops.add(x, zeros), ops.add(zeros, y))


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("number", [False, True])
def test_choice(dynamic, number):
    def build(c, x):
        y = np.float32(-np.inf) if number else ops.multiply(x, np.float32(2))
        zeros = ops.add(ops.add(_zeros(x), ops.convert(_zeros(c, bool), Type.f32)), np.zeros([1], np.float32))
        return _widened(c, x, y, zeros)

    dims = ([-1, 1, 1, -1], [-1, -1, -1, -1]) if dynamic else (MASK.shape, [2, 4, 3, 3])
    model, counts = apply(broadcast_select, build, *dims, types=[Type.boolean], inputs=[MASK, random(2, 4, 3, 3)])
    assert counts == {"choices": 1}
    assert not {"Add", "Broadcast", "NotEqual"} & set(kinds(model))


@pytest.mark.parametrize("other", ["shape", "ones", "number"])
def test_choice_fails_to_match(other):
    def build(c, x, wide):
        zeros = {
            "shape": _zeros(wide),  # of a tensor that is not chosen from, and may be larger
            "ones": np.ones([1, 1, 1, 1], np.float32),
            "number": np.zeros([5, 2, 4, 3, 3], np.float32),  # of more dimensions
        }[other]
        return [_widened(c, x, ops.relu(x), zeros), ops.relu(wide)]

    assert stays(broadcast_select, build, [-1, 1, 1, -1], [-1, -1, 3, -1], [-1, -1, -1, -1], types=[Type.boolean])
