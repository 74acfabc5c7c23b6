"""Inverse trigonometric and hyperbolic functions of complex numbers.

Complex forms: `acos`, `asin`, `atan`, `acosh`, `asinh`, `atanh`.
Semantics: C++'s functions of `std::complex`, by the formulas of W. Kahan ("Branch cuts for complex elementary
functions"), which are accurate near the branch points. On a cut, where C++ distinguishes +0 and -0, an imaginary
part of -0 counts as 0.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.converters.angles import angle_of, is_negative
from paddle2ov.converters.complex.elementary import Pair
from paddle2ov.converters.complex.functions import from_parts, sqrt_parts
from paddle2ov.converters.graph.common import Tensor, const_like
from paddle2ov.graph.elementary import hypot, log1p
from paddle2ov.graph.opset import ops


def _acos(a: Tensor, b: Tensor) -> Pair:
    (re_less, im_less), (re_more, im_more), down = _roots(a, b)
    real = ops.multiply(const_like(2, a), angle_of(re_less, re_more))
    imag = ops.asinh(ops.subtract(ops.multiply(re_more, im_less), ops.multiply(im_more, re_less)))
    return real, _negate_where(imag, down)


def _asin(a: Tensor, b: Tensor) -> Pair:
    (re_less, im_less), (re_more, im_more), down = _roots(a, b)
    across = ops.subtract(ops.multiply(re_less, re_more), ops.multiply(im_less, im_more))
    imag = ops.asinh(ops.subtract(ops.multiply(re_less, im_more), ops.multiply(im_less, re_more)))
    return angle_of(a, across), _negate_where(imag, down)


def _acosh(a: Tensor, b: Tensor) -> Pair:
    size, one = ops.abs(b), const_like(1, a)
    (re_less, im_less) = sqrt_parts(ops.subtract(a, one), size)
    (re_more, im_more) = sqrt_parts(ops.add(a, const_like(1, a)), size)
    real = ops.asinh(ops.add(ops.multiply(re_less, re_more), ops.multiply(im_less, im_more)))
    imag = ops.multiply(const_like(2, a), angle_of(im_less, re_more))
    return real, _negate_where(imag, is_negative(b))


def _asinh(a: Tensor, b: Tensor) -> Pair:
    real, imag = _asin(ops.negative(b), a)  # asinh x = -i · asin(i · x)
    return imag, ops.negative(real)


def _atanh(a: Tensor, b: Tensor) -> Pair:
    # The real part is ln(|1 + x|² / |1 - x|²) / 4 = ln(1 + 4 a / |1 - x|²) / 4, of the half of the plane where a > 0.
    size = ops.abs(a)
    less, more = ops.subtract(const_like(1, a), size), ops.add(const_like(1, a), size)
    distance = hypot(less, b)
    near = ops.divide(ops.divide(size, distance), distance)
    near = ops.multiply(log1p(ops.multiply(near, const_like(4, a))), const_like(0.25, a))
    # Close to 1, whose distance has no square in float32, the logarithms are apart.
    close = ops.multiply(ops.log(ops.divide(hypot(more, b), distance)), const_like(0.5, a))
    real = ops.select(ops.less(distance, const_like(1e-4, a)), close, near)
    across = ops.subtract(ops.multiply(less, more), ops.multiply(b, b))
    angle = angle_of(b, ops.multiply(across, const_like(0.5, a)))  # of b itself: the sign of 2 b = -0 gets lost
    return _negate_where(real, is_negative(a)), ops.multiply(const_like(0.5, a), angle)


def _atan(a: Tensor, b: Tensor) -> Pair:
    real, imag = _atanh(ops.negative(b), a)  # atan x = -i · atanh(i · x)
    return imag, ops.negative(real)


def _roots(a: Tensor, b: Tensor) -> tuple[Pair, Pair, Node]:
    """The roots of 1 - x and 1 + x, with x conjugated if its imaginary part is negative; and whether it is."""
    size = ops.abs(b)
    real, imag = sqrt_parts(ops.subtract(const_like(1, a), a), size)
    return (real, ops.negative(imag)), sqrt_parts(ops.add(const_like(1, a), a), size), is_negative(b)


def _negate_where(x: Tensor, where: Tensor) -> Node:
    return ops.select(where, ops.negative(x), x)


acos = from_parts(_acos, "the angle whose cosine is x")
asin = from_parts(_asin, "the angle whose sine is x")
atan = from_parts(_atan, "the angle whose tangent is x")
acosh = from_parts(_acosh, "the number whose hyperbolic cosine is x")
asinh = from_parts(_asinh, "the number whose hyperbolic sine is x")
atanh = from_parts(_atanh, "the number whose hyperbolic tangent is x")
