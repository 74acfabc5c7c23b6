"""Elementary functions, accurate to a few units in the last place of float32, for small values as well."""

from __future__ import annotations

import math
from collections.abc import Sequence

from openvino import Node, Output

from paddle2ov.graph.opset import const_like, ops


def polynomial(x: Output | Node, coefficients: Sequence[float]) -> Node:
    """The polynomial in x by Horner's rule; the highest power comes first."""
    total = const_like(coefficients[0], x)
    for coefficient in coefficients[1:]:
        total = ops.add(ops.multiply(total, x), const_like(coefficient, x))
    return total


_LOG_OF_QUOTIENT = tuple(2 / k for k in range(15, 0, -2))
_ERF = tuple(2 / math.sqrt(math.pi) * (-1) ** k / (math.factorial(k) * (2 * k + 1)) for k in range(6, -1, -1))


def log1p(x: Output | Node) -> Node:
    """ln(1 + x)."""
    # Not Kahan's correction by the rounding error of 1 + x: some nodes of it may be computed in bfloat16, others not.
    near = ops.less(ops.abs(ops.subtract(x, const_like(0.25, x))), const_like(0.75, x))
    # Not log(1 + x): where x = e^y, OpenVINO would fuse it to one SoftPlus, which loses small values.
    far = ops.log(ops.select(near, const_like(1, x), ops.add(x, const_like(1, x))))
    return ops.select(near, _log1p_near(x), far)


def _log1p_near(x: Output | Node) -> Node:
    """ln(1 + x) for x from -1/2 to 1."""
    # With s = x / (2 + x), 1 + x is (1 + s) / (1 - s); s is 1/3 at most, and nothing small is added to 1.
    s = ops.divide(x, ops.add(x, const_like(2, x)))
    return ops.multiply(s, polynomial(ops.multiply(s, s), _LOG_OF_QUOTIENT))


def log1p_exp(x: Output | Node) -> Node:
    """ln(1 + e^x) for x <= 0."""
    return _log1p_near(ops.exp(x))


def softplus(x: Output | Node) -> Node:
    """ln(1 + e^x)."""
    # Not -|x|: OpenVINO drops an Abs of what it can bound.
    return ops.add(ops.relu(x), log1p_exp(ops.minimum(x, ops.negative(x))))


def erf(x: Output | Node) -> Node:
    """2 / √π times the integral of e^(-t²) from 0 to x."""
    square = ops.multiply(x, x)
    near = ops.multiply(x, polynomial(square, _ERF))
    return ops.select(ops.less(square, const_like(0.25, x)), near, ops.erf(x))


def hypot(a: Output | Node, b: Output | Node) -> Node:
    """√(a² + b²), also where the squares overflow or underflow in float32."""
    scale = _power_of_two_scale(ops.maximum(ops.abs(a), ops.abs(b)))
    first, second = ops.multiply(a, scale), ops.multiply(b, scale)
    return ops.divide(ops.sqrt(ops.add(ops.multiply(first, first), ops.multiply(second, second))), scale)


def _power_of_two_scale(size: Node) -> Node:
    """A power of two that scales very large and very small values so that squares neither overflow nor underflow."""
    large = ops.select(ops.greater(size, const_like(1e18, size)), const_like(2.0**-96, size), const_like(1, size))
    return ops.select(ops.less(size, const_like(1e-16, size)), const_like(2.0**96, size), large)
