"""Rounding to integers."""

from __future__ import annotations

from openvino import Node

from paddle2ov.converters.graph.common import Tensor, const
from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around


def round_half_to_even(x: Tensor) -> Node:
    """x rounded, ties to the even integer, as Python and NumPy do."""
    return ops.round(x, "half_to_even")


@works_around("round_half_away_from_zero")
def round_half_away(x: Tensor) -> Node:
    """x rounded, ties away from zero, as C does."""
    # Not Round with half_away_from_zero: on CPU it adds 0.5 first, which is inexact below 0.5 and above 2^23.
    size = ops.abs(x)
    floored = ops.floor(size)
    dtype = size.get_element_type()
    up = ops.greater_equal(ops.subtract(size, floored), const(0.5, dtype))
    return ops.multiply(ops.sign(x), ops.add(floored, ops.convert(up, dtype)))
