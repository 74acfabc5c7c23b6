"""Powers of integers, which OpenVINO's CPU plugin computes in float32: exact to 24 bits only.

Semantics: `compute_pow` in `paddle/phi/kernels/funcs/elementwise_functor.h`, C++'s `pow` in double
precision, truncated.
"""

from __future__ import annotations

from openvino import Node, Type

from paddle2ov.converters.graph.common import Tensor, const_like
from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around

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


def constant_power(x: Tensor, exponent: int) -> Tensor:
    """x^exponent for an exponent of at least 1, by squaring."""
    out: Tensor | None = None
    square = x
    while exponent:
        if exponent % 2:
            out = square if out is None else ops.multiply(out, square)
        exponent //= 2
        if exponent:
            square = ops.multiply(square, square)
    assert out is not None
    return out
