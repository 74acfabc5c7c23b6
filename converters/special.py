"""Special functions, by approximations that are exact to float32.

Paddle: `erfinv`, `digamma`, `polygamma`, `lgamma`, `gammaln`, `i0`, `i0e`, `i1`, `i1e`, `gammaincc` (PIR only).
Semantics: `paddle/phi/kernels/cpu/{erfinv,digamma,lgamma,gammaln,i0,i0e,i1,i1e}_kernel.cc`,
`paddle/phi/kernels/impl/{polygamma,gammaincc}_kernel_impl.h`.
Approximations: erfinv as in M. Giles, "Approximating the erfinv function" (2012); the Bessel functions as in
M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions", 9.8.1-9.8.4; the gamma functions by recurrence and
Stirling's series; the incomplete one as in S. Moshier's Cephes, by a power series below max(1, x) and a continued
fraction above. Both stop in Paddle when a term is negligible; here when it is for all elements, and after 2,000 terms
at the latest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from openvino import Node

from paddle2ov.converters.activation import unary
from paddle2ov.converters.graph.common import Tensor, const_like, reshape
from paddle2ov.converters.graph.dims import shape_of
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.converters.graph.operands import real_input
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.terms import (
    Term,
    abs_,
    cos,
    exp,
    is_inf,
    isnan,
    log,
    maximum,
    minimum,
    of_terms,
    polynomial,
    rounded,
    select,
    sign,
    sin,
    sqrt,
    tan,
)
from paddle2ov.graph.workarounds import works_around
from paddle2ov.program.budget import charge_repeats
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

_ERFINV_CENTRE = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
    -0.00125372503, -0.00417768164, 0.246640727, 1.50140941,
)  # fmt: skip
_ERFINV_TAIL = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
    -0.0076224613, 0.00943887047, 1.00167406, 2.83297682,
)  # fmt: skip


def _erf_inverse(x: Term) -> Term:
    """The number whose erf is x; ±∞ from ±1 on."""
    w = -log((1 - x) * (1 + x))
    inside = select(w < 5, polynomial(w - 2.5, _ERFINV_CENTRE), polynomial(sqrt(w) - 3, _ERFINV_TAIL)) * x
    return select(abs_(x) < 1, inside, x * math.inf)


_LGAMMA_OF_2 = (
    2.79893537e-06, -2.27461055e-05, 8.70716701e-05, -0.000227855313, 0.000519252044, -0.00119528414,
    0.00288882185, -0.00738479531, 0.0205809046, -0.0673523547, 0.322467032, 0.422784336,
)  # fmt: skip
"""ln Γ(2 + z) / z for z in [-1/2, 3/2], by interpolation; the relative error is 3e-9."""


def _log_gamma(x: Term) -> Term:
    """ln |Γ(x)|."""
    far_below = x < -2.5
    positive = select(far_below, 1 - x, x)
    value = select(positive < 3.5, _log_gamma_near_2(positive), _stirling(positive))
    rest = x - rounded(x)
    reflected = math.log(math.pi) - log(abs_(sin(rest * math.pi))) - value
    pole = _is_pole(x, rest) | is_inf(x)
    return select(pole, math.inf, select(far_below, reflected, value))


def _is_pole(x: Term, rest: Term) -> Term:
    """Whether x is 0 or a negative integer; `rest` is x less the nearest integer."""
    return rest.equals(0) & (x <= 0)


def _log_gamma_near_2(x: Term) -> Term:
    """ln |Γ(x)| for x from -5/2 to 7/2, exact also where it is 0: at 1 and 2."""
    # Γ(x) = Γ(x + n) / (x (x + 1) ... (x + n - 1)) with x + n at least 3/2; x - (2 - n) is exact, x + n is not.
    target, product = (Term(const_like(value, x.value)) for value in (2, 1))
    for k in range(4):
        term = x + k
        below = term < 1.5
        product = product * select(below, term, 1)
        target = target - Term(ops.convert(below.value, x.value.get_element_type()))
    z = x - target
    return z * polynomial(z, _LGAMMA_OF_2) - log(abs_(product))


def _stirling(x: Term) -> Term:
    """ln Γ(x) for x from 7/2 on."""
    inverse = 1 / x
    series = polynomial(inverse * inverse, (1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)) * inverse
    # (x - 1/2) · (ln x - 1) keeps the two large terms together
    return (x - 0.5) * (log(x) - 1) + (0.5 * math.log(2 * math.pi) - 0.5) + series


def _di_gamma(x: Term) -> Term:
    """The derivative of ln Γ(x); -∞ at 0, ∞ at -0 and NaN at the other poles."""
    mirror, steps = x < 0.5, 6
    positive, rest = select(mirror, 1 - x, x), x - rounded(x)
    small = positive < steps  # too small for Stirling's series
    y = select(small, positive + steps, positive)
    below = 1 / positive
    for k in range(1, steps):
        below = below + 1 / (positive + k)
    inverse = 1 / y
    square = inverse * inverse
    series = polynomial(square, (1 / 240, -1 / 252, 1 / 120, -1 / 12)) * square
    value = log(y) - inverse * 0.5 + series - select(small, below, 0)
    reflected = value - math.pi / tan(rest * math.pi)
    at_pole = select(x.equals(0), -1 / x, math.nan)  # -∞ at 0, ∞ at -0
    return select(_is_pole(x, rest), at_pole, select(mirror, reflected, value))


_MAX_DERIVATIVES = 170
"""The largest factorial that float64 holds."""


def polygamma(node: NodeContext) -> NamedOutputs:
    """out = the n-th derivative of digamma: (-1)^(n+1) n! times the sum of 1 / (x + k)^(n+1) over all k >= 0."""
    x, n = Term(real_input(node)), node.get_int("n")
    node.require(n >= 1, "only derivatives are supported; digamma is an operator of its own", n=n)
    node.require(n <= _MAX_DERIVATIVES, f"derivatives up to {_MAX_DERIVATIVES} are supported", n=n)
    mirror = x < 0
    factor = math.factorial(n) * (1 if n % 2 else -1)
    value = _zeta(n + 1, select(mirror, 1 - x, x)) * factor
    rest = x - rounded(x)
    angle = rest * math.pi
    # The n-th derivative of cot(pi x) is a polynomial in the cotangent.
    slope = np.polynomial.Polynomial([0, math.pi])
    for _ in range(charge_repeats(n)):
        slope = -math.pi * np.polynomial.Polynomial([1, 0, 1]) * slope.deriv()
    reflected = value * (-1) ** n - polynomial(cos(angle) / sin(angle), [float(item) for item in slope.coef[::-1]])
    pole = _is_pole(x, rest) | x.equals(-math.inf)
    out = select(pole, math.copysign(math.inf, factor), select(mirror, reflected, value))
    return {"out": select(x.equals(math.inf), math.nan, out).value}  # as in Paddle


def _zeta(s: int, x: Term) -> Term:
    """The sum of (x + k)^-s over all k >= 0, for x > 0: some terms, and the rest by the Euler-Maclaurin formula."""
    steps = 8
    total = x**-s
    for k in range(1, steps):
        total = total + (x + k) ** -s
    edge = x + steps
    inverse = 1 / edge
    coefficients, rising = [], 1.0
    for j, bernoulli in enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30), 1):
        rising *= s if j == 1 else (s + 2 * j - 3) * (s + 2 * j - 2)
        coefficients.append(bernoulli / math.factorial(2 * j) * rising)
    series = polynomial(inverse * inverse, coefficients[::-1]) * inverse
    tail = (0.5 + series) * inverse + 1 / (s - 1)
    # The power s alone would underflow in float32 long before the product does.
    return total + tail * edge ** -(s - 1)


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


def _bessel(near: Sequence[float], far: Sequence[float], odd: bool, scaled: bool) -> Callable[[Term], Term]:
    def formula(x: Term) -> Term:
        size = abs_(x)
        t = size / 3.75
        within = polynomial(t * t, near)
        if odd:
            within = within * size
        # clamped, so that the branch which is not taken stays finite
        beyond = maximum(size, 3.75)
        outside = polynomial(3.75 / beyond, far) / sqrt(beyond)
        if scaled:
            within = within * exp(-size)
        else:
            outside = outside * exp(beyond)
        value = select(size < 3.75, within, outside)
        return value * sign(x) if odd else select(isnan(x), x, value)

    return formula


erf_inverse, log_gamma = of_terms(_erf_inverse), of_terms(_log_gamma)
erfinv = unary(erf_inverse)
lgamma = unary(log_gamma)
digamma = unary(of_terms(_di_gamma))
i0 = unary(of_terms(_bessel(_I0_NEAR, _I0_FAR, odd=False, scaled=False)))
i0e = unary(of_terms(_bessel(_I0_NEAR, _I0_FAR, odd=False, scaled=True)))
i1 = unary(of_terms(_bessel(_I1_NEAR, _I1_FAR, odd=True, scaled=False)))
i1e = unary(of_terms(_bessel(_I1_NEAR, _I1_FAR, odd=True, scaled=True)))


_MAX_TERMS = 2000
_NEGLIGIBLE = 1e-9
_BIG = 1e15
_MAX_ARGUMENT = 1e9


@works_around("exp_of_nan")
def gammaincc(node: NodeContext) -> NamedOutputs:
    """out = the integral of t^(x - 1) e^-t from y to infinity, divided by Γ(x); 1 where x or y is not positive."""
    a, z = (Term(real_input(node, name)) for name in ("x", "y"))
    # The branch that is not taken computes with numbers for which it converges at once.
    valid = (a > 0) & (z > 0)
    below = (z < 1) | (z < a)
    near, far = valid & below, valid & ~below
    series = _series(select(near, a, 1), select(near, z, 0))
    # Beyond _MAX_ARGUMENT its terms overflow before they are scaled; the factor is 0 there.
    bounded = minimum(z, _MAX_ARGUMENT)
    fraction = _fraction(select(far, a, 1), select(far, bounded, 1))
    exponent = a * log(z) - z - Term(log_gamma(a.value))
    factor = exp(exponent)
    out = select(below, 1 - series * factor / a, fraction * factor)
    # NaN, and an infinite y: infinity less infinity. OpenVINO's exponential gives infinity for them.
    out = select(isnan(exponent), np.nan, out)
    return {"out": select((a <= 0) | (z <= 0), 1, out).value}


def _series(a: Term, z: Term) -> Term:
    """1 + z / (a + 1) + z^2 / ((a + 1) (a + 2)) + ..."""

    def step(_: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], Tensor]:
        (r, term, total), (z,) = map(Term, state), map(Term, invariants)
        r = r + 1
        term = term * (z / r)
        total = total + term
        return [r.value, term.value, total.value], _any(term > total * _NEGLIGIBLE)

    ones = ops.broadcast(const_like(1, a.value), shape_of(a.value))
    return Term(loop(ints(_MAX_TERMS), [a.value, ones, ones], [z.value], step)[2])


def _fraction(a: Term, z: Term) -> Term:
    """The continued fraction 1 / (z + (1 - a) / (1 + 1 / (z + (2 - a) / (1 + 2 / (z + ...))))), by its convergents."""

    def step(_: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], Tensor]:
        (count, before_p, before_q, p, q, total, settled), (a, z) = map(Term, state), map(Term, invariants)
        count = count + 1
        y = (1 - a + count) * count
        b = z + (2 - a) + count * 2
        next_p, next_q = p * b - before_p * y, q * b - before_q * y
        zero = next_q.equals(0)
        fraction = select(zero, total, next_p / select(zero, 1, next_q))
        moves = abs_(total - fraction) > abs_(fraction) * _NEGLIGIBLE
        # A converged element stays: rounding would change it until the slowest one has converged.
        fraction = select(settled, total, fraction)
        now = settled | ~(moves | zero)
        shrink = select(abs_(next_p) > _BIG, 1 / _BIG, 1, p)
        state_after = [count, *(part * shrink for part in (p, q, next_p, next_q)), fraction, now]
        return [item.value for item in state_after], _any(~now)

    ones = Term(ops.broadcast(const_like(1, a.value), shape_of(z.value)))
    p = z + 1
    q = (p - a + 1) * z
    start = [ones * 0, ones, z, p, q, p / q, ones < 0]
    values = [item.value for item in start]
    return Term(loop(ints(_MAX_TERMS), values, [a.value, z.value], step)[5])


def _any(condition: Term) -> Node:
    return ops.reduce_logical_or(reshape(condition.value, [-1]), ints([0]), False)
