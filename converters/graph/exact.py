"""Exact arithmetic: comparisons, powers and reductions of integers of 32 bits, and rounding to integers.

Semantics of powers: `compute_pow` in `paddle/phi/kernels/funcs/elementwise_functor.h`, C++'s `pow` in double precision,
truncated.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TypeAlias

import numpy as np
from openvino import Node, Output, Type
from openvino.op import Constant

from paddle2ov.converters.graph.common import Tensor, const_like
from paddle2ov.converters.graph.dims import dim_range
from paddle2ov.graph.constants import MAX_BYTES_OF_READERS, ints_of
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of, output_of
from paddle2ov.graph.types import value_of
from paddle2ov.graph.workarounds import works_around

_EXACT_IN_FLOAT32 = 2**24
_MAX_MOVES = 16
_MOVES = frozenset(
    ("Broadcast", "Convert", "Gather", "Reshape", "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze")
)
"""Node types that move elements of their first input, or convert them."""
_WIDE = (Type.i32, Type.i64)

Comparison: TypeAlias = Callable[[Tensor, Tensor], Node]


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


def _exact(compare: Comparison, of_many_bits: Comparison) -> Comparison:
    """A comparison, in another way where both are integers that may have more than 24 bits.

    One that has not tells rounded ones from itself.
    """

    def exact(x: Tensor, y: Tensor) -> Node:
        have_many = may_have_many_bits(output_of(x)) and may_have_many_bits(output_of(y))
        return (of_many_bits if have_many else compare)(x, y)

    return exact


exact_equal = _exact(ops.equal, lambda x, y: ops.equal(_difference(x, y), const_like(0, x)))
exact_not_equal = _exact(ops.not_equal, lambda x, y: ops.not_equal(_difference(x, y), const_like(0, x)))
exact_less = _exact(ops.less, _is_below)
exact_greater = _exact(ops.greater, lambda x, y: _is_below(y, x))
exact_less_equal = _exact(ops.less_equal, lambda x, y: ops.logical_not(_is_below(y, x)))
exact_greater_equal = _exact(ops.greater_equal, lambda x, y: ops.logical_not(_is_below(x, y)))


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
    if node.get_byte_size() > MAX_BYTES_OF_READERS:
        return False
    array = value_of(node)
    return not array.size or bool(np.max(array) < _EXACT_IN_FLOAT32 and np.min(array) > -_EXACT_IN_FLOAT32)


BEYOND_LOWER = 1 << 16
"""More than any lower half; -1 is less."""


def split_halves(x: Tensor) -> tuple[Node, Node]:
    """The upper 16 bits, with the sign, and the lower ones, of 0 to 65535."""
    return ops.bitwise_right_shift(x, const_like(16, x)), ops.bitwise_and(x, const_like(BEYOND_LOWER - 1, x))


def join_halves(upper: Tensor, lower: Tensor) -> Node:
    """The integers of these halves."""
    return ops.add(ops.multiply(upper, const_like(BEYOND_LOWER, upper)), lower)


@works_around("integers_reduced_in_float32")
def exact_reduce_sum(x: Tensor, axes: Node, keepdims: bool) -> Node:
    """The sum over axes: the last one of the cumulative sums, which OpenVINO computes in integers."""
    reduced = ints_of(axes.output(0))
    if not may_have_many_bits(output_of(x)) or not reduced:
        return ops.reduce_sum(x, axes, keepdims)
    for axis in reduced:
        dims = dims_of(x)
        if dims is None or not dims[axis]:  # a zero is the sum of no elements
            size = ops.concat([dim_range(x, 0, axis), ints([1]), dim_range(x, axis + 1)], 0)
            x = ops.concat([ops.broadcast(const_like(0, x), size), x], axis)
        x = ops.gather(ops.cum_sum(x, ints(axis)), ints([-1]), ints(axis))
    return output_of(x).get_node() if keepdims else ops.squeeze(x, axes)


def exact_reduce_max(x: Tensor, axes: Node, keepdims: bool) -> Node:
    """The maximum over axes."""
    return _reduce_halves(ops.reduce_max, x, axes, keepdims, -1)


def exact_reduce_min(x: Tensor, axes: Node, keepdims: bool) -> Node:
    """The minimum over axes."""
    return _reduce_halves(ops.reduce_min, x, axes, keepdims, BEYOND_LOWER)


@works_around("integers_reduced_in_float32")
def _reduce_halves(reduce: Callable[..., Node], x: Tensor, axes: Node, keepdims: bool, unlike: int) -> Node:
    """The extreme of the upper halves, and of the lower ones of those that have it; the others count as `unlike`.

    OpenVINO's CPU plugin (2026.4) reduces integers as float32: those beyond 24 bits are rounded, and the greatest one,
    which stands for nothing found, becomes the least one.
    """
    if not may_have_many_bits(output_of(x)):
        return reduce(x, axes, keepdims)
    upper, lower = split_halves(x)
    extreme = reduce(upper, axes, True)
    left = ops.select(ops.equal(upper, extreme), lower, const_like(unlike, x))
    out = join_halves(extreme, reduce(left, axes, True))
    return out if keepdims else ops.squeeze(out, axes)


_BITS = 5
"""Bits of the exponent: with a larger one, any base but 0, 1 and -1 overflows the 32 bits of integers in OpenVINO."""


@works_around("integer_power_in_float32")
def power(x: Tensor, y: Tensor) -> Node:
    """x^y; of 32- and 64-bit integers by squaring."""
    if x.get_element_type() not in (Type.i32, Type.i64):
        return ops.power(x, y)
    flat = ops.less_equal(ops.abs(x), const_like(1, x))
    odd = ops.bitwise_and(y, const_like(1, y))
    # 0, 1 and -1 have at most two different powers: an exponent of 0, 1 or 2 replaces any other, even negative ones.
    few = ops.select(ops.equal(y, const_like(0, y)), const_like(0, y), ops.subtract(const_like(2, y), odd))
    exponent = ops.select(flat, few, y)
    out: Tensor = const_like(1, x)
    square = x
    for bit in range(_BITS):
        taken = _as_number(ops.not_equal(ops.bitwise_and(exponent, const_like(1 << bit, y)), const_like(0, y)), x)
        # Arithmetic instead of a Select, which passes numbers through float32.
        rest = ops.subtract(square, const_like(1, x))
        out = ops.multiply(out, ops.add(ops.multiply(taken, rest), const_like(1, x)))
        if bit + 1 < _BITS:
            square = ops.multiply(square, square)
    kept = ops.logical_or(ops.greater_equal(y, const_like(0, y)), flat)
    return ops.multiply(out, _as_number(kept, x))


def _as_number(condition: Node, like: Tensor) -> Node:
    return ops.convert(condition, like.get_element_type())


def constant_power(x: Tensor, exponent: int, multiply: Callable[[Tensor, Tensor], Node] = ops.multiply) -> Tensor:
    """x^exponent for an exponent of at least 1, by squaring."""
    factors: list[Tensor] = []
    square = x
    while exponent:
        if exponent % 2:
            factors.append(square)
        exponent //= 2
        if exponent:
            square = multiply(square, square)
    return reduce(multiply, factors)


@works_around("round_half_away_from_zero")
def round_half_away(x: Tensor) -> Node:
    """x rounded, ties away from zero, as C does."""
    # Not Round with half_away_from_zero: on CPU it adds 0.5 first, which is inexact below 0.5 and above 2^23.
    size = ops.abs(x)
    floored = ops.floor(size)
    up = ops.greater_equal(ops.subtract(size, floored), const_like(0.5, size))
    return ops.multiply(ops.sign(x), ops.add(floored, ops.convert(up, size.get_element_type())))
