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
from openvino import Type

from paddle2ov.graph import integers
from paddle2ov.graph.opset import ops
from paddle2ov.graph.terms import Term, maximum, select

MAX_SIDE = 2**15 - 1
"""The largest side, and the largest number in the settings."""


def whole(value: int | Sequence[int]) -> Term:
    """A constant."""
    return Term(ops.constant(np.array(value, np.int32)))


def int_divmod(x: Term, y: Term | int) -> tuple[Term, Term]:
    """Quotient and remainder, as `integers.int_divmod` computes them."""
    quotient, remainder = integers.int_divmod(x.value, (y if isinstance(y, Term) else whole(y)).value)
    return Term(quotient), Term(remainder)


@dataclass(frozen=True, slots=True)
class ScaledSize:
    """a · (n / h) in double precision: the quotient and remainder of a·n by h, and where the double is if r = 0.

    `below` and `above` are booleans: whether the double is less, or more, than the integer `quotient`.
    """

    quotient: Term
    remainder: Term
    below: Term
    above: Term

    def floor(self) -> Term:
        """int(a * (n / h))."""
        return self.quotient - as_int(self.below)

    def ceil(self) -> Term:
        """math.ceil(a * (n / h))."""
        return self.quotient + as_int((self.remainder > 0) | self.above)


def scale_exactly(a: Term, n: Term, h: Term) -> ScaledSize:
    """a * (n / h), of integers from 1 on whose products are below 2^31."""
    quotient, remainder = int_divmod(a * n, h)
    # log2(n/h), rounded down: that of the numbers themselves, or one less.
    power = _log2(n) - _log2(h)
    power = power - as_int(n * _power(maximum(-power, 0)) < h * _power(maximum(power, 0)))
    # n·2^s modulo h, for s = 52 - power = 15 + 15 + 7 + (15 - power), factor by factor.
    residue = int_divmod(n, h)[1]
    for factor in (whole(2**15), whole(2**15), whole(2**7), _power(15 - power)):
        residue = int_divmod(residue * int_divmod(factor, h)[1], h)[1]
    rounds_up = residue * 2 > h
    away, _ = int_divmod(select(rounds_up, h - residue, residue) * a, h)  # |e| · a / h
    # Compared with half a unit in the last place; everything times 4, and times 2^-power where that is whole.
    exponent = _log2(quotient) - power
    unit = _power(maximum(exponent + 1, 0))  # 4 · half a unit
    smaller = select(_power(_log2(quotient)).equals(quotient), _power(maximum(exponent, 0)), unit)
    is_off = remainder.equals(0) & (away > 0)
    below, above = ~rounds_up & (away * 4 > smaller), rounds_up & (away * 4 > unit)
    return ScaledSize(quotient, remainder, is_off & below, is_off & above)


def round_scaled(a: Term, n: Term, h: Term) -> Term:
    """round(a * (n / h)): to the nearest integer, of two equally near ones to the even one."""
    twice = scale_exactly(a * 2, n, h)
    half, odd = int_divmod(twice.quotient, 2)
    # The double is exactly a half, or off it to either side; elsewhere halves are not met.
    at_half = twice.remainder.equals(0) & odd.equals(1)
    up_at_half = twice.above | (~twice.below & ~twice.above & int_divmod(half, 2)[1].equals(1))
    return half + as_int((at_half & up_at_half) | (~at_half & odd.equals(1)))


def to_multiple(size: Term, step: int) -> Term:
    """max(round(size / step) * step, step)."""
    count, rest = int_divmod(size, step)
    tie = (rest * 2).equals(step) & int_divmod(count, 2)[1].equals(1)
    return maximum(count + as_int((rest * 2 > step) | tie), 1) * step


def up_to_multiple(size: Term, step: int) -> Term:
    """math.ceil(size / step) * step."""
    return int_divmod(size + (step - 1), step)[0] * step


def as_int(condition: Term) -> Term:
    """1 where a condition holds, 0 elsewhere."""
    return Term(ops.convert(condition.value, Type.i32))


def _log2(x: Term) -> Term:
    """The logarithm of an integer, rounded down (0 for 0)."""
    reached = Term(ops.unsqueeze(x.value, np.array([-1]))) >= whole([2**k for k in range(1, 31)])
    return Term(ops.reduce_sum(as_int(reached).value, np.array([-1]), False))


def _power(x: Term) -> Term:
    """2^x for x from 0 to 30."""
    return Term(ops.gather(whole([2**k for k in range(31)]).value, x.value, whole(0).value))
