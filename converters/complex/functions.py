"""Element-wise functions of complex numbers, and complex constants.

Complex forms: `square`, `reciprocal`, `sin`, `cos`, `tan`, `sinh`, `cosh`, `tanh`, `exp`, `log`, `log2`, `log10`,
`log1p`, `expm1`, `sqrt`, `sigmoid`, `silu`, `logsigmoid`, `softplus`, `softsign`, `stanh`, `hard_swish`, `sign`,
`pow`, `elementwise_pow`, `isnan_v2`, `isinf_v2`, `isfinite_v2`, `assign_value`.
Elsewhere: the inverse functions, in `inverse_functions.py`.
Semantics: `paddle/phi/kernels/funcs/activation_functor.h`, `paddle/phi/kernels/funcs/elementwise_functor.h`,
`paddle/phi/kernels/impl/isfinite_kernel_impl.h`.
Not supported: finite results of which an intermediate exponential overflows, such as sigmoid(-100 + i).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from openvino import Node, Type

from paddle2ov.converters.complex.elementary import complex_multiply, complex_reciprocal
from paddle2ov.converters.graph.common import Tensor, const_like, multiply_by
from paddle2ov.converters.graph.dims import scalar_of
from paddle2ov.converters.math import angle_of, is_finite, is_negative
from paddle2ov.graph import elementary, terms
from paddle2ov.graph.complex_pairs import make_complex, real_imag
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.terms import Term, abs_, hypot, maximum, minimum, select
from paddle2ov.translation.node_context import Converter, NamedOutputs, NodeContext

Parts: TypeAlias = tuple[Term, Term]
"""The real and the imaginary part."""

_POWERS_OF_ZERO = ((math.nan, math.nan), (math.inf, math.nan), (0.0, 0.0))


def _sin(a: Term, b: Term) -> Parts:
    return terms.sin(a) * terms.cosh(b), terms.cos(a) * terms.sinh(b)


def _cos(a: Term, b: Term) -> Parts:
    return terms.cos(a) * terms.cosh(b), -(terms.sin(a) * terms.sinh(b))


def _sinh(a: Term, b: Term) -> Parts:
    return terms.sinh(a) * terms.cos(b), terms.cosh(a) * terms.sin(b)


def _cosh(a: Term, b: Term) -> Parts:
    return terms.cosh(a) * terms.cos(b), terms.sinh(a) * terms.sin(b)


def _tanh(a: Term, b: Term) -> Parts:
    # (t + i u) / (1 + i t u) with t = tanh a and u = tan b: sinh and cosh overflow from 89 on.
    t, u, inverse = terms.tanh(a), terms.tan(b), 1 / terms.cosh(a)
    wide, both = u * u, t * u
    square = both * both + 1
    return t * (wide + 1) / square, u * (inverse * inverse) / square


def _tan(a: Term, b: Term) -> Parts:
    imag, real = _tanh(b, a)  # tan x = i · tanh(-i · x)
    return real, imag


def _exp(a: Term, b: Term) -> Parts:
    size = terms.exp(a)
    return size * terms.cos(b), size * terms.sin(b)


def _log(a: Term, b: Term) -> Parts:
    # ln |x| = ln(1 + (|x|² - 1)) / 2, which is accurate near |x| = 1
    size, longer = hypot(a, b), maximum(abs_(a), abs_(b))
    shorter = minimum(abs_(a), abs_(b))
    more = (longer - 1) * (longer + 1)
    near = terms.log1p(more + shorter * shorter) * 0.5
    real = select(abs_(size - 1) < 0.3, near, terms.log(size))
    return real, Term(angle_of(b.value, a.value))


def sqrt_parts(a: Term, b: Term) -> Parts:
    """The square root of a + i · b in the right half plane."""
    # First the part that involves no subtraction, so that nothing cancels; the other part is b / 2 divided by it.
    larger = terms.sqrt((hypot(a, b) + abs_(a)) / 2)
    smaller = abs_(b) / (2 * select(larger.equals(0), 1, larger))
    right = a >= 0
    imag = select(right, smaller, larger)
    return select(right, larger, smaller), select(Term(is_negative(b.value)), -imag, imag)


def _plus(x: Tensor, value: float) -> Node:
    return ops.add(x, ops.constant(np.array([value, 0.0]), x.get_element_type()))


def _from_complex(function: Callable[[Tensor], Tensor], formula: str) -> Converter:
    def convert(node: NodeContext) -> NamedOutputs:
        return {"out": function(node.get_input("x"))}

    convert.__doc__ = f"out = {formula}."
    return convert


def from_parts(function: Callable[[Term, Term], Parts], formula: str) -> Converter:
    """A converter for a function of the real part a and the imaginary part b."""
    convert = _from_complex(of_parts(function), formula)
    convert.__module__ = function.__module__
    return convert


def of_parts(function: Callable[[Term, Term], Parts]) -> Callable[[Tensor], Node]:
    """A function of the real and of the imaginary part, as one of complex numbers."""

    def of_complex(x: Tensor) -> Node:
        real, imag = function(*map(Term, real_imag(x)))
        return make_complex(real.value, imag.value)

    return of_complex


def _softplus(x: Tensor) -> Node:
    return log_of(_plus(exp_of(x), 1))


def _magnitudes(x: Tensor) -> Node:
    """|x|, with a last dimension of 1."""
    return ops.unsqueeze(elementary.hypot(*real_imag(x)), ints([-1]))


def _sigmoid(x: Tensor) -> Node:
    return complex_reciprocal(_plus(exp_of(ops.negative(x)), 1))


exp_of, log_of = of_parts(_exp), of_parts(_log)
reciprocal = _from_complex(complex_reciprocal, "1 / x = conj(x) / |x|²")
square = _from_complex(lambda x: complex_multiply(x, x), "x · x")
sin = from_parts(_sin, "sin a · cosh b + i · cos a · sinh b")
cos = from_parts(_cos, "cos a · cosh b - i · sin a · sinh b")
sinh = from_parts(_sinh, "sinh a · cos b + i · cosh a · sin b")
cosh = from_parts(_cosh, "cosh a · cos b + i · sinh a · sin b")
tan = from_parts(_tan, "sin x / cos x")
tanh = from_parts(_tanh, "sinh x / cosh x")
exp = from_parts(_exp, "e^a · (cos b + i · sin b)")
log = from_parts(_log, "log |x| + i · the angle of x")
sqrt = from_parts(sqrt_parts, "the square root of x in the right half plane")
log2 = _from_complex(lambda x: multiply_by(log_of(x), 1 / math.log(2)), "log x / log 2")
log10 = _from_complex(lambda x: multiply_by(log_of(x), 1 / math.log(10)), "log x / log 10")
log1p = _from_complex(lambda x: log_of(_plus(x, 1)), "log(1 + x)")
expm1 = _from_complex(lambda x: _plus(exp_of(x), -1), "e^x - 1")
sigmoid = _from_complex(_sigmoid, "1 / (1 + e^-x)")
silu = _from_complex(lambda x: complex_multiply(x, _sigmoid(x)), "x / (1 + e^-x)")
logsigmoid = _from_complex(lambda x: ops.negative(_softplus(ops.negative(x))), "-log(1 + e^-x)")
softsign = _from_complex(lambda x: ops.divide(x, ops.add(_magnitudes(x), const_like(1, x))), "x / (1 + |x|)")


def sign(node: NodeContext) -> NamedOutputs:
    """out = x / |x|, and 0 for 0."""
    x = node.get_input("x")
    size = _magnitudes(x)
    return {"out": ops.divide(x, ops.select(ops.equal(size, const_like(0, x)), const_like(1, x), size))}


def softplus(node: NodeContext) -> NamedOutputs:
    """out = log(1 + e^(beta · x)) / beta, and x where the real part of beta · x exceeds the threshold."""
    x = node.get_input("x")
    beta, threshold = node.get_float("beta", 1.0), node.get_float("threshold", 20.0)
    node.require(beta != 0, "division by zero", beta=beta)
    scaled = multiply_by(x, beta)
    above = ops.unsqueeze(ops.greater(real_imag(scaled)[0], const_like(threshold, x)), ints([-1]))
    return {"out": ops.select(above, x, multiply_by(_softplus(scaled), 1 / beta))}


def stanh(node: NodeContext) -> NamedOutputs:
    """out = scale_b · tanh(scale_a · x)."""
    inner = multiply_by(node.get_input("x"), node.get_float("scale_a", 0.67))
    return {"out": multiply_by(of_parts(_tanh)(inner), node.get_float("scale_b", 1.7159))}


def hard_swish(node: NodeContext) -> NamedOutputs:
    """out = x · (x + offset) / scale; the sum is 0 where its real part is below 0, threshold where it is above that."""
    x = node.get_input("x")
    threshold, scale = node.get_float("threshold", 6.0), node.get_float("scale", 6.0)
    shifted = _plus(x, node.get_float("offset", 3.0))
    real = ops.unsqueeze(real_imag(shifted)[0], ints([-1]))
    gate = ops.select(ops.less(real, const_like(0, x)), const_like(0, x), shifted)
    highest = ops.constant(np.array([threshold, 0.0]), x.get_element_type())
    gate = ops.select(ops.greater(real, const_like(threshold, x)), highest, gate)
    return {"out": multiply_by(complex_multiply(gate, x), 1 / scale)}


def pow_(node: NodeContext) -> NamedOutputs:
    """out = x^y, y one real number."""
    x = node.get_input("x")
    exponent = scalar_of(node, "y", x.get_element_type(), 1.0)
    return {"out": _power(x, make_complex(exponent, const_like(0, exponent)))}


def power(node: NodeContext) -> NamedOutputs:
    """out = e^(y · log x); 0 to a power is 0, or undefined where the power's real part is not positive."""
    return {"out": _power(node.get_input("x"), node.get_input("y"))}


def _power(x: Tensor, y: Tensor) -> Node:
    raised = exp_of(complex_multiply(y, log_of(x)))
    real = ops.unsqueeze(real_imag(y)[0], ints([-1]))
    undefined, infinite, zero = (ops.constant(np.array(pair), x.get_element_type()) for pair in _POWERS_OF_ZERO)
    of_zero = ops.select(ops.less(real, const_like(0, x)), infinite, undefined)
    of_zero = ops.select(ops.greater(real, const_like(0, x)), zero, of_zero)
    is_zero = ops.equal(ops.reduce_max(ops.abs(x), ints([-1]), True), const_like(0, x))
    return ops.select(is_zero, of_zero, raised)


def part_test(test: Callable[[Tensor], Node], all_parts: bool = False) -> Converter:
    """A converter: whether a test holds for any part of a number, or for both."""

    def convert(node: NodeContext) -> NamedOutputs:
        per_part = test(node.get_input("x"))
        return {"out": (ops.reduce_logical_and if all_parts else ops.reduce_logical_or)(per_part, ints([-1]), False)}

    convert.__doc__ = f"out = {test.__name__} of {'both parts' if all_parts else 'one part'} of x."
    return convert


isfinite = part_test(is_finite, all_parts=True)
isinf = part_test(ops.is_inf)
isnan = part_test(ops.is_nan)


def assign_value(node: NodeContext) -> NamedOutputs:
    """out = the tensor of `shape` that holds the numbers in `values`."""
    dtype = node.declared_output_dtype("out") or Type.f32
    numbers = np.asarray(node.get_attribute("values"), np.complex128).reshape(node.get_attribute("shape"))
    return {"out": ops.constant(np.stack([numbers.real, numbers.imag], -1), dtype)}
