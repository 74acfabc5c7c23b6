"""Integers of 32 bits as two halves, which float32 holds exactly."""

from __future__ import annotations

from openvino import Node

from paddle2ov.converters.graph.common import Tensor, const_like
from paddle2ov.graph.opset import ops

BEYOND_LOWER = 1 << 16
"""More than any lower half; -1 is less."""


def split_halves(x: Tensor) -> tuple[Node, Node]:
    """The upper 16 bits, with the sign, and the lower ones, of 0 to 65535."""
    return ops.bitwise_right_shift(x, const_like(16, x)), ops.bitwise_and(x, const_like(BEYOND_LOWER - 1, x))


def join_halves(upper: Tensor, lower: Tensor) -> Node:
    """The integers of these halves."""
    return ops.add(ops.multiply(upper, const_like(BEYOND_LOWER, upper)), lower)
