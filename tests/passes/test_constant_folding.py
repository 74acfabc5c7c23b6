"""Graphs over constants and sizes that OpenVINO folds wrongly, or does not compile."""

from openvino import Model, PartialShape, Type, opset16 as ops

from paddle2ov.compilation.running import compile_on_cpu
from tests.support.passes_checks import random


def test_sizes_whose_lower_bound_is_negative():
    """n - 1, where n is at most 8, as the size of what is filled."""
    from paddle2ov.graph.opset import ops as checked

    x = ops.parameter(PartialShape("0..8"), Type.f32)
    less = checked.add(checked.shape_of(x), checked.constant([-1], Type.i64))
    model = Model([checked.broadcast(checked.constant(1.0, Type.f32), less)], [x])
    assert compile_on_cpu(model)([random(4)])[0].shape == (3,)
