"""Arithmetic on small known values is done while converting; anything else is left as it is."""

import numpy as np
from openvino import Type

from paddle2ov.folding import are_small, fold
from paddle2ov.opset import ops
from paddle2ov.types import Known


def test_shape_arithmetic_is_folded():
    shape = ops.constant(np.array([2, 3, 4], np.int64))
    last = ops.gather(shape, ops.constant(np.int64(-1)), ops.constant(np.int64(0)))
    half = ops.convert(ops.divide(ops.convert(last, Type.f32), ops.constant(np.float32(2))), Type.i64)
    folded = fold(ops.unsqueeze(half, ops.constant(np.int64(0))))
    assert isinstance(folded, Known)
    assert folded.array.dtype == np.int64
    assert folded.array.tolist() == [2]


def test_one_of_several_outputs():
    parts = ops.split(ops.constant(np.arange(6)), ops.constant(np.int64(0)), 3)
    folded = fold(parts.output(1))
    assert isinstance(folded, Known)
    assert folded.array.tolist() == [2, 3]


def test_inputs_large_and_random_values_stay():
    parameter = ops.parameter([2], np.float32)
    for node in (
        ops.add(parameter, ops.constant(np.float32(1))),
        ops.add(ops.constant(np.zeros(65, np.float32)), ops.constant(np.float32(1))),
        ops.random_uniform(
            ops.constant(np.array([2])), ops.constant(np.float32(0)), ops.constant(np.float32(1)), "f32"
        ),
    ):
        assert fold(node) is node


def test_what_counts_as_small():
    assert are_small({"x": [None]})
    assert are_small({"x": [Known(np.zeros(64))]})
    assert not are_small({"x": [Known(np.zeros(65))]})
    assert not are_small({"x": [Known(np.zeros(2, np.uint16), "bfloat16")]})
    assert not are_small({"x": [ops.parameter([2], np.float32).output(0)]})
