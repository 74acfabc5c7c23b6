"""Comparisons that are exact for integers of 32 bits."""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type
from openvino.op import Constant

from paddle2ov.converters.graph.common import Tensor, const_like
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.types import value_of
from paddle2ov.graph.workarounds import works_around

_EXACT_IN_FLOAT32 = 2**24
_MAX_MOVES = 16
_MOVES = frozenset(
    ("Broadcast", "Convert", "Gather", "Reshape", "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze")
)
"""Node types that move elements of their first input, or convert them."""
_WIDE = (Type.i32, Type.i64)


def exact_equal(x: Tensor, y: Tensor) -> Node:
    """Whether x = y."""
    return ops.equal(_difference(x, y), const_like(0, x)) if _may_be_rounded(x, y) else ops.equal(x, y)


def exact_not_equal(x: Tensor, y: Tensor) -> Node:
    """Whether x ≠ y."""
    return ops.not_equal(_difference(x, y), const_like(0, x)) if _may_be_rounded(x, y) else ops.not_equal(x, y)


def exact_less(x: Tensor, y: Tensor) -> Node:
    """Whether x < y."""
    return _is_below(x, y) if _may_be_rounded(x, y) else ops.less(x, y)


def exact_greater(x: Tensor, y: Tensor) -> Node:
    """Whether x > y."""
    return _is_below(y, x) if _may_be_rounded(x, y) else ops.greater(x, y)


def exact_less_equal(x: Tensor, y: Tensor) -> Node:
    """Whether x ≤ y."""
    return ops.logical_not(_is_below(y, x)) if _may_be_rounded(x, y) else ops.less_equal(x, y)


def exact_greater_equal(x: Tensor, y: Tensor) -> Node:
    """Whether x ≥ y."""
    return ops.logical_not(_is_below(x, y)) if _may_be_rounded(x, y) else ops.greater_equal(x, y)


def _is_below(x: Tensor, y: Tensor) -> Node:
    """Whether x < y, integers: those that are equal once they are rounded are told apart by their difference.

    The difference alone would not do: that of a large and a negative number does not fit into 32 bits.
    """
    below = ops.less(_difference(x, y), const_like(0, x))
    return ops.logical_or(ops.less(x, y), ops.logical_and(ops.equal(x, y), below))


@works_around("integers_compared_in_float32")
def _difference(x: Tensor, y: Tensor) -> Node:
    """x - y, integers, which is 0 where they are equal.

    OpenVINO's CPU plugin (2026.4) compares integers as float32, in which those beyond 24 bits are rounded. Differences
    it computes as integers, and apart from what is no such arithmetic.
    """
    return ops.subtract(x, y)


def _may_be_rounded(x: Tensor, y: Tensor) -> bool:
    """Whether both are integers that may have more than 24 bits: one that has not tells rounded ones from itself."""
    return may_have_many_bits(output_of(x)) and may_have_many_bits(output_of(y))


def may_have_many_bits(value: Output) -> bool:
    """Whether a tensor is of integers that may be beyond what float32 holds exactly."""
    return value.get_element_type() in _WIDE and not _is_small(value)


def _is_small(value: Output) -> bool:
    """Whether an integer tensor is known to have no element beyond 24 bits: a size, a position, or a constant."""
    for _ in range(_MAX_MOVES):
        node = value.get_node()
        kind = node.get_type_name()
        if isinstance(node, Constant):
            return _is_small_constant(node)
        if kind in ("NonZero", "ShapeOf") or (kind == "TopK" and value.get_index() == 1):
            return True
        if kind == "Range":
            return all(_is_small(bound) for bound in node.input_values())
        if kind not in _MOVES:
            return False
        value = node.input_value(0)
        if value.get_element_type() not in _WIDE:
            return value.get_element_type().is_integral()  # boolean, or of 8 or 16 bits
    return False


def _is_small_constant(node: Constant) -> bool:
    """Whether all elements of a constant are below 2^24, and above -2^24."""
    array = value_of(node)
    return not array.size or bool(np.max(array) < _EXACT_IN_FLOAT32 and np.min(array) > -_EXACT_IN_FLOAT32)
