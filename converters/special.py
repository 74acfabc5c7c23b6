"""Special functions, by approximations that are exact to float32.

Paddle: `erfinv`, `digamma`, `polygamma`, `lgamma`, `gammaln`, `i0`, `i0e`, `i1`, `i1e`.
Semantics: `paddle/phi/kernels/cpu/{erfinv,digamma,lgamma,gammaln,i0,i0e,i1,i1e}_kernel.cc`,
`paddle/phi/kernels/impl/polygamma_kernel_impl.h`.
Approximations: erfinv as in M. Giles, "Approximating the erfinv function" (2012); the Bessel functions as in
M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions", 9.8.1-9.8.4; the gamma functions by recurrence and
Stirling's series.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from openvino import Node, Output

from paddle2ov.converters.activation import unary
from paddle2ov.converters.graph.common import Tensor, const_like
from paddle2ov.converters.graph.operands import real_input
from paddle2ov.graph.elementary import polynomial
from paddle2ov.graph.opset import ops
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

_ERFINV_CENTRE = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
    -0.00125372503, -0.00417768164, 0.246640727, 1.50140941,
)  # fmt: skip
_ERFINV_TAIL = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
    -0.0076224613, 0.00943887047, 1.00167406, 2.83297682,
)  # fmt: skip


def erf_inverse(x: Tensor) -> Node:
    """The number whose erf is x; ±∞ from ±1 on."""
    one = const_like(1, x)
    w = ops.negative(ops.log(ops.multiply(ops.subtract(one, x), ops.add(const_like(1, x), x))))
    centre = polynomial(ops.subtract(w, const_like(2.5, x)), _ERFINV_CENTRE)
    tail = polynomial(ops.subtract(ops.sqrt(w), const_like(3, x)), _ERFINV_TAIL)
    inside = ops.multiply(ops.select(ops.less(w, const_like(5, x)), centre, tail), x)
    beyond = ops.multiply(x, const_like(math.inf, x))
    return ops.select(ops.less(ops.abs(x), const_like(1, x)), inside, beyond)


def _reflect(x: Output) -> tuple[Node, Node, Node]:
    """(x < 1/2; 1 - x where it is, else x, which is positive; x minus the nearest integer)."""
    mirror = ops.less(x, const_like(0.5, x))
    positive = ops.select(mirror, ops.subtract(const_like(1, x), x), x)
    return mirror, positive, ops.subtract(x, ops.round(x, "half_to_even"))


def _shift_small(x: Tensor, steps: int) -> tuple[Node, Node]:
    """Whether x is too small for Stirling's series, and x + steps where it is, else x."""
    small = ops.less(x, const_like(steps, x))
    return small, ops.select(small, ops.add(x, const_like(steps, x)), x)


_LGAMMA_OF_2 = (
    2.79893537e-06, -2.27461055e-05, 8.70716701e-05, -0.000227855313, 0.000519252044, -0.00119528414,
    0.00288882185, -0.00738479531, 0.0205809046, -0.0673523547, 0.322467032, 0.422784336,
)  # fmt: skip
"""ln Γ(2 + z) / z for z in [-1/2, 3/2], by interpolation; the relative error is 3e-9."""


def log_gamma(x: Output) -> Node:
    """ln |Γ(x)|."""
    far_below = ops.less(x, const_like(-2.5, x))
    positive = ops.select(far_below, ops.subtract(const_like(1, x), x), x)
    value = ops.select(ops.less(positive, const_like(3.5, x)), _log_gamma_near_2(positive), _stirling(positive))
    rest = ops.subtract(x, ops.round(x, "half_to_even"))
    sine = ops.abs(ops.sin(ops.multiply(rest, const_like(math.pi, x))))
    reflected = ops.subtract(ops.subtract(const_like(math.log(math.pi), x), ops.log(sine)), value)
    pole = ops.logical_and(ops.equal(rest, const_like(0, x)), ops.less_equal(x, const_like(0, x)))
    pole = ops.logical_or(pole, ops.is_inf(x))
    return ops.select(pole, const_like(math.inf, x), ops.select(far_below, reflected, value))


def _log_gamma_near_2(x: Node) -> Node:
    """ln |Γ(x)| for x from -5/2 to 7/2, exact also where it is 0: at 1 and 2."""
    # Γ(x) = Γ(x + n) / (x (x + 1) ... (x + n - 1)) with x + n at least 3/2; x - (2 - n) is exact, x + n is not.
    target, product = const_like(2, x), const_like(1, x)
    for k in range(4):
        term = ops.add(x, const_like(k, x))
        below = ops.less(term, const_like(1.5, x))
        product = ops.multiply(product, ops.select(below, term, const_like(1, x)))
        target = ops.subtract(target, ops.convert(below, x.get_element_type()))
    z = ops.subtract(x, target)
    return ops.subtract(ops.multiply(z, polynomial(z, _LGAMMA_OF_2)), ops.log(ops.abs(product)))


def _stirling(x: Node) -> Node:
    """ln Γ(x) for x from 7/2 on."""
    inverse = ops.divide(const_like(1, x), x)
    series = ops.multiply(
        polynomial(ops.multiply(inverse, inverse), (1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)),
        inverse,
    )
    # (x - 1/2) · (ln x - 1) keeps the two large terms together
    main = ops.multiply(ops.subtract(x, const_like(0.5, x)), ops.subtract(ops.log(x), const_like(1, x)))
    return ops.add(ops.add(main, const_like(0.5 * math.log(2 * math.pi) - 0.5, x)), series)


def di_gamma(x: Output) -> Node:
    """The derivative of ln Γ(x); -∞ at 0, ∞ at -0 and NaN at the other poles."""
    mirror, positive, rest = _reflect(x)
    steps = 6
    small, y = _shift_small(positive, steps)
    below: Tensor = ops.divide(const_like(1, x), positive)
    for k in range(1, steps):
        below = ops.add(below, ops.divide(const_like(1, x), ops.add(positive, const_like(k, x))))
    below = ops.select(small, below, const_like(0, x))
    inverse = ops.divide(const_like(1, x), y)
    square = ops.multiply(inverse, inverse)
    series = ops.multiply(polynomial(square, (1 / 240, -1 / 252, 1 / 120, -1 / 12)), square)
    main = ops.subtract(ops.log(y), ops.multiply(inverse, const_like(0.5, x)))
    value = ops.subtract(ops.add(main, series), below)
    angle = ops.multiply(rest, const_like(math.pi, x))
    reflected = ops.subtract(value, ops.divide(const_like(math.pi, x), ops.tan(angle)))
    pole = ops.logical_and(ops.equal(rest, const_like(0, x)), ops.less_equal(x, const_like(0, x)))
    # -∞ at 0, ∞ at -0
    at_pole = ops.select(ops.equal(x, const_like(0, x)), ops.divide(const_like(-1, x), x), const_like(math.nan, x))
    return ops.select(pole, at_pole, ops.select(mirror, reflected, value))


_MAX_DERIVATIVES = 170
"""The largest factorial that float64 holds."""


def polygamma(node: NodeContext) -> NamedOutputs:
    """out = the n-th derivative of digamma: (-1)^(n+1) n! times the sum of 1 / (x + k)^(n+1) over all k >= 0."""
    x, n = real_input(node), node.get_int("n")
    node.require(n >= 1, "only derivatives are supported; digamma is an operator of its own", n=n)
    node.require(n <= _MAX_DERIVATIVES, f"derivatives up to {_MAX_DERIVATIVES} are supported", n=n)
    mirror = ops.less(x, const_like(0, x))
    positive = ops.select(mirror, ops.subtract(const_like(1, x), x), x)
    factor = math.factorial(n) * (1 if n % 2 else -1)
    value = ops.multiply(_zeta(n + 1, positive), const_like(factor, x))
    rest = ops.subtract(x, ops.round(x, "half_to_even"))
    angle = ops.multiply(rest, const_like(math.pi, x))
    # The n-th derivative of cot(pi x) is a polynomial in the cotangent.
    slope = np.polynomial.Polynomial([0, math.pi])
    for _ in range(n):
        slope = -math.pi * np.polynomial.Polynomial([1, 0, 1]) * slope.deriv()
    cotangent = ops.divide(ops.cos(angle), ops.sin(angle))
    reflected = ops.subtract(
        ops.multiply(value, const_like((-1) ** n, x)), polynomial(cotangent, [float(item) for item in slope.coef[::-1]])
    )
    pole = ops.logical_and(ops.equal(rest, const_like(0, x)), ops.less_equal(x, const_like(0, x)))
    pole = ops.logical_or(pole, ops.equal(x, const_like(-math.inf, x)))
    pole_value = const_like(math.copysign(math.inf, factor), x)
    out = ops.select(pole, pole_value, ops.select(mirror, reflected, value))
    return {"out": ops.select(ops.equal(x, const_like(math.inf, x)), const_like(math.nan, x), out)}  # as in Paddle


def _zeta(s: int, x: Node) -> Node:
    """The sum of (x + k)^-s over all k >= 0, for x > 0: some terms, and the rest by the Euler-Maclaurin formula."""
    steps = 8

    def power(base: Tensor, exponent: int) -> Node:
        return ops.power(base, const_like(-exponent, x))

    total: Tensor = power(x, s)
    for k in range(1, steps):
        total = ops.add(total, power(ops.add(x, const_like(k, x)), s))
    edge = ops.add(x, const_like(steps, x))
    inverse = ops.divide(const_like(1, x), edge)
    coefficients, rising = [], 1.0
    for j, bernoulli in enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30), 1):
        rising *= s if j == 1 else (s + 2 * j - 3) * (s + 2 * j - 2)
        coefficients.append(bernoulli / math.factorial(2 * j) * rising)
    series = ops.multiply(polynomial(ops.multiply(inverse, inverse), coefficients[::-1]), inverse)
    tail = ops.add(ops.multiply(ops.add(const_like(0.5, x), series), inverse), const_like(1 / (s - 1), x))
    # The power s alone would underflow in float32 long before the product does.
    return ops.add(total, ops.multiply(tail, power(edge, s - 1)))


_I0_NEAR = (0.0045813, 0.0360768, 0.2659732, 1.2067492, 3.0899424, 3.5156229, 1.0)
_I0_FAR = (
    0.00392377, -0.01647633, 0.02635537, -0.02057706, 0.00916281,
    -0.00157565, 0.00225319, 0.01328592, 0.39894228,
)  # fmt: skip
_I1_NEAR = (0.00032411, 0.00301532, 0.02658733, 0.15084934, 0.51498869, 0.87890594, 0.5)
_I1_FAR = (
    -0.00420059, 0.01787654, -0.02895312, 0.02282967, -0.01031555,
    0.00163801, -0.00362018, -0.03988024, 0.39894228,
)  # fmt: skip


def _bessel(near: Sequence[float], far: Sequence[float], odd: bool, scaled: bool) -> Callable[[Output], Node]:
    def build(x: Output) -> Node:
        size = ops.abs(x)
        t = ops.divide(size, const_like(3.75, x))
        within: Tensor = polynomial(ops.multiply(t, t), near)
        if odd:
            within = ops.multiply(within, size)
        # clamped, so that the branch which is not taken stays finite
        beyond = ops.maximum(size, const_like(3.75, x))
        outside: Tensor = polynomial(ops.divide(const_like(3.75, x), beyond), far)
        outside = ops.divide(outside, ops.sqrt(beyond))
        if scaled:
            within = ops.multiply(within, ops.exp(ops.negative(size)))
        else:
            outside = ops.multiply(outside, ops.exp(beyond))
        value = ops.select(ops.less(size, const_like(3.75, x)), within, outside)
        return ops.multiply(value, ops.sign(x)) if odd else ops.select(ops.is_nan(x), x, value)

    return build


erfinv = unary(erf_inverse)
lgamma = unary(log_gamma)
digamma = unary(di_gamma)
i0 = unary(_bessel(_I0_NEAR, _I0_FAR, odd=False, scaled=False))
i0e = unary(_bessel(_I0_NEAR, _I0_FAR, odd=False, scaled=True))
i1 = unary(_bessel(_I1_NEAR, _I1_FAR, odd=True, scaled=False))
i1e = unary(_bessel(_I1_NEAR, _I1_FAR, odd=True, scaled=True))
