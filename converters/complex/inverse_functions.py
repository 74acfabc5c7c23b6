"""Inverse trigonometric and hyperbolic functions of complex numbers.

Complex forms: `acos`, `asin`, `atan`, `acosh`, `asinh`, `atanh`.
Semantics: C++'s functions of `std::complex`, by the formulas of W. Kahan ("Branch cuts for complex elementary
functions"), which are accurate near the branch points. On a cut, where C++ distinguishes +0 and -0, an imaginary
part of -0 counts as 0.
"""

from __future__ import annotations

from paddle2ov.converters.complex.functions import Parts, from_parts, sqrt_parts
from paddle2ov.converters.math import angle_of, is_negative
from paddle2ov.graph.terms import Term, abs_, asinh as asinh_of_real, function, hypot, log, log1p, select


def _acos(a: Term, b: Term) -> Parts:
    (re_less, im_less), (re_more, im_more), down = _roots(a, b)
    imag = asinh_of_real(re_more * im_less - im_more * re_less)
    return 2 * _angle(re_less, re_more), _negate_where(imag, down)


def _asin(a: Term, b: Term) -> Parts:
    (re_less, im_less), (re_more, im_more), down = _roots(a, b)
    imag = asinh_of_real(re_less * im_more - im_less * re_more)
    return _angle(a, re_less * re_more - im_less * im_more), _negate_where(imag, down)


def _acosh(a: Term, b: Term) -> Parts:
    (re_less, im_less), (re_more, im_more) = sqrt_parts(a - 1, abs_(b)), sqrt_parts(a + 1, abs_(b))
    imag = 2 * _angle(im_less, re_more)
    return asinh_of_real(re_less * re_more + im_less * im_more), _negate_where(imag, _is_negative(b))


def _asinh(a: Term, b: Term) -> Parts:
    real, imag = _asin(-b, a)  # asinh x = -i · asin(i · x)
    return imag, -real


def _atanh(a: Term, b: Term) -> Parts:
    # The real part is ln(|1 + x|² / |1 - x|²) / 4 = ln(1 + 4 a / |1 - x|²) / 4, of the half of the plane where a > 0.
    size = abs_(a)
    less, more = 1 - size, 1 + size
    distance = hypot(less, b)
    near = log1p(size / distance / distance * 4) * 0.25
    # Close to 1, whose distance has no square in float32, the logarithms are apart.
    real = select(distance < 1e-4, log(hypot(more, b) / distance) * 0.5, near)
    angle = _angle(b, (less * more - b * b) * 0.5)  # of b itself: the sign of 2 b = -0 gets lost
    return _negate_where(real, _is_negative(a)), 0.5 * angle


def _atan(a: Term, b: Term) -> Parts:
    real, imag = _atanh(-b, a)  # atan x = -i · atanh(i · x)
    return imag, -real


def _roots(a: Term, b: Term) -> tuple[Parts, Parts, Term]:
    """The roots of 1 - x and 1 + x, with x conjugated if its imaginary part is negative; and whether it is."""
    size = abs_(b)
    real, imag = sqrt_parts(1 - a, size)
    return (real, -imag), sqrt_parts(1 + a, size), _is_negative(b)


def _negate_where(x: Term, where: Term) -> Term:
    return select(where, -x, x)


_angle, _is_negative = function(angle_of), function(is_negative)

acos = from_parts(_acos, "the angle whose cosine is x")
asin = from_parts(_asin, "the angle whose sine is x")
atan = from_parts(_atan, "the angle whose tangent is x")
acosh = from_parts(_acosh, "the number whose hyperbolic cosine is x")
asinh = from_parts(_asinh, "the number whose hyperbolic sine is x")
atanh = from_parts(_atanh, "the number whose hyperbolic tangent is x")
