"""The size that an image is resized to, computed in the graph as Python computes it: in double precision, to the bit.

Python's `int(w * (limit / h))` rounds twice, and where w·limit/h is an integer the product may end just below it:
the image becomes one pixel smaller, or after the rounding to multiples of 32 a whole step. OpenVINO's CPU plugin has
no doubles, so the rounding is done here in integers. With q = a·n/h whole, m·2^-s the double nearest to n/h and
e = m·h - n·2^s (|e| <= h/2, e = -n·2^s modulo h), the product a·m is q·2^s + a·e/h; it rounds to q·2^s unless a·e/h is
more than half a unit in the last place away, where that unit is 2^(log2 q - log2(n/h)), logarithms rounded down, and
half as large below a power of two.

Every product must fit into the 32 bits that the plugin has for integers: sides and limits are below 2^15, what is
computed from them below 46,340.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from openvino import Node, Type

from paddle2ov.graph.integers import Number, int_divmod
from paddle2ov.graph.opset import ops

MAX_SIDE = 2**15 - 1
"""The largest side, and the largest number in the settings."""


def int_constant(value: int | Sequence[int]) -> Node:
    """A constant."""
    return ops.constant(np.array(value, np.int32))


@dataclass(frozen=True, slots=True)
class ScaledSize:
    """a · (n / h) in double precision: the quotient and remainder of a·n by h, and where the double is if r = 0.

    `below` and `above` are booleans: whether the double is less, or more, than the integer `quotient`.
    """

    quotient: Number
    remainder: Number
    below: Number
    above: Number

    def floor(self) -> Number:
        """int(a * (n / h))."""
        return ops.subtract(self.quotient, _number(self.below))

    def ceil(self) -> Number:
        """math.ceil(a * (n / h))."""
        more = ops.logical_or(ops.greater(self.remainder, int_constant(0)), self.above)
        return ops.add(self.quotient, _number(more))


def scale_exactly(a: Number, n: Number, h: Number) -> ScaledSize:
    """a * (n / h), of integers from 1 on whose products are below 2^31."""
    quotient, remainder = int_divmod(ops.multiply(a, n), h)
    # log2(n/h), rounded down: that of the numbers themselves, or one less.
    power = ops.subtract(_log2(n), _log2(h))
    ahead = _power(ops.maximum(power, int_constant(0)))
    behind = _power(ops.maximum(ops.negative(power), int_constant(0)))
    power = ops.subtract(power, _number(ops.less(ops.multiply(n, behind), ops.multiply(h, ahead))))
    # n·2^s modulo h, for s = 52 - power = 15 + 15 + 7 + (15 - power), factor by factor.
    residue = int_divmod(n, h)[1]
    for factor in (
        int_constant(2**15),
        int_constant(2**15),
        int_constant(2**7),
        _power(ops.subtract(int_constant(15), power)),
    ):
        residue = int_divmod(ops.multiply(residue, int_divmod(factor, h)[1]), h)[1]
    rounds_up = ops.greater(ops.multiply(residue, int_constant(2)), h)
    error = ops.select(rounds_up, ops.subtract(h, residue), residue)  # |e|
    away, _ = int_divmod(ops.multiply(error, a), h)
    # Compared with half a unit in the last place; everything times 4, and times 2^-power where that is whole.
    exponent = ops.subtract(_log2(quotient), power)
    is_power = ops.equal(_power(_log2(quotient)), quotient)
    four = ops.multiply(away, int_constant(4))
    unit = _power(ops.maximum(ops.add(exponent, int_constant(1)), int_constant(0)))  # 4 · half a unit
    smaller = ops.select(is_power, _power(ops.maximum(exponent, int_constant(0))), unit)
    exact = ops.logical_and(ops.equal(remainder, int_constant(0)), ops.greater(away, int_constant(0)))
    below = ops.logical_and(ops.logical_not(rounds_up), ops.greater(four, smaller))
    above = ops.logical_and(rounds_up, ops.greater(four, unit))
    return ScaledSize(quotient, remainder, ops.logical_and(exact, below), ops.logical_and(exact, above))


def round_scaled(a: Number, n: Number, h: Number) -> Number:
    """round(a * (n / h)): to the nearest integer, of two equally near ones to the even one."""
    twice = scale_exactly(ops.multiply(a, int_constant(2)), n, h)
    half, odd = int_divmod(twice.quotient, int_constant(2))
    # The double is exactly a half, or off it to either side; elsewhere halves are not met.
    _, half_odd = int_divmod(half, int_constant(2))
    at_half = ops.logical_and(ops.equal(twice.remainder, int_constant(0)), ops.equal(odd, int_constant(1)))
    even = ops.logical_and(ops.logical_not(twice.below), ops.logical_not(twice.above))
    up_at_half = ops.logical_or(twice.above, ops.logical_and(even, ops.equal(half_odd, int_constant(1))))
    up = ops.logical_or(
        ops.logical_and(at_half, up_at_half), ops.logical_and(ops.logical_not(at_half), ops.equal(odd, int_constant(1)))
    )
    return ops.add(half, _number(up))


def to_multiple(size: Number, step: int) -> Number:
    """max(round(size / step) * step, step)."""
    count, rest = int_divmod(size, int_constant(step))
    _, odd = int_divmod(count, int_constant(2))
    twice = ops.multiply(rest, int_constant(2))
    tie = ops.logical_and(ops.equal(twice, int_constant(step)), ops.equal(odd, int_constant(1)))
    up = ops.logical_or(ops.greater(twice, int_constant(step)), tie)
    return ops.multiply(ops.maximum(ops.add(count, _number(up)), int_constant(1)), int_constant(step))


def up_to_multiple(size: Number, step: int) -> Number:
    """math.ceil(size / step) * step."""
    count, _ = int_divmod(ops.add(size, int_constant(step - 1)), int_constant(step))
    return ops.multiply(count, int_constant(step))


def _log2(x: Number) -> Number:
    """The logarithm of an integer, rounded down (0 for 0)."""
    powers = ops.constant(np.array([2**k for k in range(1, 31)], np.int32))
    reached = ops.greater_equal(ops.unsqueeze(x, ops.constant(np.array([-1]))), powers)
    return ops.reduce_sum(_number(reached), ops.constant(np.array([-1])), False)


def _power(x: Number) -> Number:
    """2^x for x from 0 to 30."""
    return ops.gather(ops.constant(np.array([2**k for k in range(31)], np.int32)), x, int_constant(0))


def _number(x: Number) -> Node:
    return ops.convert(x, Type.i32)
