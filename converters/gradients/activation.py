"""Gradients of functions of one tensor, element by element, up to the third order where Paddle has it.

Semantics: `paddle/phi/kernels/funcs/activation_functor.h`, `paddle/phi/kernels/impl/activation_grad_impl.h`,
`paddle/phi/kernels/impl/{abs,clip,erf,selu}_grad_kernel_impl.h`, `paddle/phi/kernels/cpu/gelu_grad_kernel.cc`.

A derivative is a formula of the operand x or of the result out, as in Paddle's kernel: at a kink it is 0 for `relu` and
1 for `leaky_relu`. The gradients of all orders are products with it and with its own derivatives.
"""

from __future__ import annotations

import inspect
import math
from typing import Any

from paddle2ov.converters.gradients.terms import Formula, evaluated, gradient, operand, results
from paddle2ov.graph.opset import ops
from paddle2ov.graph.terms import (
    ZERO,
    Term,
    cos,
    cosh,
    erf,
    exp,
    function,
    log1p,
    select,
    sigmoid,
    sign,
    sin,
    sinh,
    sqrt,
    tanh,
)
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


class Derivatives:
    """The gradients of a function, by formulas of its derivatives: of x or of out, as the first parameter says.

    The gradient of the first order is out_grad · f'. Those of the second order are of its result by grad_out and, if
    f'' is not 0, by x or out; those of the third order of both of these. `third` names the operands of that operator:
    grad_out, grad_x_grad, and the gradients of what is computed of x or out, and of grad_out.
    """

    def __init__(self, *formulas: Formula, third: str = "") -> None:
        self._formulas = formulas
        self._third = third.split()

    def _by(self, node: NodeContext, order: int) -> Any:
        return evaluated(node, self._formulas[order - 1])

    def _at(self) -> str:
        return next(iter(inspect.signature(self._formulas[-1]).parameters))

    def first(self, node: NodeContext) -> NamedOutputs:
        """x_grad = out_grad · f'."""
        return results(node, {"x_grad": lambda: operand(node, "out_grad") * self._by(node, 1)})

    def second(self, node: NodeContext) -> NamedOutputs:
        """grad_out_grad = grad_x_grad · f', x_grad (or out_grad) = grad_x_grad · grad_out · f''."""
        grad_x_grad = operand(node, "grad_x_grad")
        gradients = {"grad_out_grad": lambda: grad_x_grad * self._by(node, 1)}
        if len(self._formulas) > 1:
            gradients[f"{self._at()}_grad"] = lambda: grad_x_grad * operand(node, "grad_out") * self._by(node, 2)
        return results(node, gradients)

    def third(self, node: NodeContext) -> NamedOutputs:
        """The gradients of both results of the second order."""
        out, x, by_at, by_out = (operand(node, name) for name in self._third)
        gradients = {
            self._at(): lambda: by_at * out * x * self._by(node, 3) + by_out * x * self._by(node, 2),
            self._third[0]: lambda: by_at * x * self._by(node, 2),
            self._third[1]: lambda: by_at * out * self._by(node, 2) + by_out * self._by(node, 1),
        }
        return results(node, {f"{name}_grad": value for name, value in gradients.items()})


class _OldAttributes(Derivatives):
    """Those of functions whose attributes only kernels of Paddle before 2.6 read."""

    def _by(self, node: NodeContext, order: int) -> Any:
        if node.semantics.read_attributes:
            return super()._by(node, order)
        return self._formulas[order - 1](operand(node, self._at()))


def _inside(x: Term, low: float, high: float, slope: Any = 1.0) -> Term:
    """The slope between both bounds, 0 from them on."""
    return select((x > low) & (x < high), slope, 0.0, x)


def _gelu(x: Term, approximate: bool = False) -> Term:
    if not approximate:
        return (erf(x * math.sqrt(0.5)) + 1) * 0.5 + x * exp(x * x * -0.5) * math.sqrt(0.5 / math.pi)
    scale, cubic = math.sqrt(2 / math.pi), 0.044715
    curve = tanh((x * x * x * cubic + x) * scale)
    return (curve + 1) * 0.5 + x * 0.5 * (1 - curve * curve) * (x * x * (3 * cubic) + 1) * scale


def _swish(x: Term, beta: float = 1.0) -> Term:
    gate = sigmoid(x * beta)
    return gate * (x * beta * (1 - gate) + 1)


def _mish(x: Term, threshold: float = 20.0) -> Term:
    curve = select(x > threshold, x, log1p(exp(x)), x)
    gate = tanh(curve)
    return gate + x * (1 - gate * gate) * (1 - exp(-curve))


def _elu(x: Term, out: Term, alpha: float = 1.0) -> Term:
    if alpha < 0:
        return _elu_of_x(x, alpha)
    return select(out > 0, 1.0, out + alpha, out)


def _elu_of_x(x: Term, alpha: float = 1.0) -> Term:
    return select(x > 0, 1.0, exp(x) * alpha, x)


def _softplus_twice(x: Term, beta: float = 1.0, threshold: float = 20.0) -> Term:
    gate = sigmoid(x * beta)
    return select(x * beta > threshold, 0.0, gate * (1 - gate) * beta, x)


def _hard_swish(x: Term, threshold: float = 6.0, scale: float = 6.0, offset: float = 3.0) -> Term:
    sloped = select(x + offset > 0, (x * 2 + offset) / scale, 0.0, x)
    return select(x + offset < threshold, sloped, 1.0, x)


def _stanh(x: Term, scale_a: float = 0.67, scale_b: float = 1.7159) -> Term:
    curve = tanh(x * scale_a)
    return (1 - curve * curve) * (scale_a * scale_b)


def _logit(x: Term, eps: float = 1e-6) -> Term:
    outside = 0.0 if eps else math.nan
    return select((x < eps) | (x > 1 - eps), outside, 1 / (x * (1 - x)), x)


def _power(order: int) -> Formula:
    """The derivative of x^y of an order."""

    def formula(x: Term, y: float = 1.0) -> Any:
        factor: Any = 1.0
        for i in range(order):
            factor = (y - i) * factor
        return ZERO if factor == 0 else x ** (y - order) * factor

    return formula


_ABS = function(ops.abs)
_FORWARD = "grad_out_forward grad_x_grad_forward"

abs_ = Derivatives(lambda x: sign(x))
acos = Derivatives(lambda x: -1 / sqrt(1 - x * x))
acosh = Derivatives(lambda x: 1 / sqrt(x * x - 1))
asin = Derivatives(lambda x: 1 / sqrt(1 - x * x))
asinh = Derivatives(lambda x: 1 / sqrt(x * x + 1))

atan = Derivatives(lambda x: 1 / (x * x + 1))
atanh = Derivatives(lambda x: 1 / (1 - x * x))
brelu = Derivatives(lambda x, t_min=0.0, t_max=24.0: _inside(x, t_min, t_max))
celu = Derivatives(
    lambda x, alpha=1.0: select(x > 0, 1.0, exp(x / alpha), x),
    lambda x, alpha=1.0: select(x > 0, 0.0, exp(x / alpha) / alpha, x),
)
clip = Derivatives(lambda x, min=0.0, max=0.0: select((x >= min) & (x <= max), 1.0, 0.0, x))
cos_ = Derivatives(
    lambda x: -sin(x), lambda x: -cos(x), lambda x: sin(x), third=f"{_FORWARD} grad_x_grad grad_out_grad_grad"
)
cosh_ = Derivatives(lambda x: sinh(x))
elu = Derivatives(_elu)
elu_of_x = Derivatives(_elu_of_x, lambda x, alpha=1.0: select(x > 0, 0.0, exp(x) * alpha, x))
erf_ = Derivatives(lambda x: exp(-(x * x)) * (2 / math.sqrt(math.pi)))
erfinv = Derivatives(lambda out: exp(out * out) * (math.sqrt(math.pi) / 2))
exp_ = Derivatives(lambda out: out)
expm1 = Derivatives(lambda out: out + 1)
gelu = Derivatives(_gelu)
hard_shrink = Derivatives(lambda x, threshold=0.5: _ABS(x) > threshold)
# OpenVINO's HSigmoid may end one ulp below 1.
hard_sigmoid = Derivatives(lambda out, slope=0.2, offset=0.5: _inside(out, 0, 1 - 1e-6, slope))
hard_swish = _OldAttributes(_hard_swish)
leaky_relu = Derivatives(lambda x, negative_slope=0.02: select(x < 0, negative_slope, 1.0, x))
log = Derivatives(lambda x: 1 / x, lambda x: -1 / (x * x))
log10 = Derivatives(lambda x: 1 / (x * math.log(10)))
log1p_ = Derivatives(lambda x: 1 / (x + 1))
log2 = Derivatives(lambda x: 1 / (x * math.log(2)))
logit = Derivatives(_logit)
logsigmoid = Derivatives(lambda x: sigmoid(-x))
mish = Derivatives(_mish)
pow_ = Derivatives(_power(1), _power(2), _power(3), third="grad_out grad_grad_x grad_x_grad grad_grad_out_grad")
reciprocal = Derivatives(lambda out: -(out * out))
relu = Derivatives(lambda out: out > 0)
relu6 = _OldAttributes(lambda out, threshold=6.0: _inside(out, 0, threshold))
rsqrt = Derivatives(lambda out: out * out * out * -0.5)
selu = Derivatives(
    lambda out, scale=1.0507009873554805, alpha=1.6732632423543772: select(out > 0, scale, out + alpha * scale, out)
)
sigmoid_ = Derivatives(
    lambda out: out * (1 - out),
    lambda out: 1 - out * 2,
    lambda out: -2,
    third="fwd_grad_out grad_grad_x grad_out_grad grad_grad_out_grad",
)
silu = Derivatives(lambda x: _swish(x))
sin_ = Derivatives(
    lambda x: cos(x), lambda x: -sin(x), lambda x: -cos(x), third=f"{_FORWARD} grad_x_grad grad_out_grad_grad"
)
sinh_ = Derivatives(lambda x: cosh(x))
softplus = Derivatives(
    lambda x, beta=1.0, threshold=20.0: select(x * beta > threshold, 1.0, sigmoid(x * beta), x), _softplus_twice
)
softshrink = Derivatives(lambda x, threshold=0.5: _ABS(x) > threshold)
softsign = Derivatives(lambda x: 1 / ((_ABS(x) + 1) * (_ABS(x) + 1)))
sqrt_ = Derivatives(lambda out: 0.5 / out)
square = Derivatives(lambda x: x * 2, lambda x: 2)
stanh = Derivatives(_stanh)
swish = _OldAttributes(_swish)
tan = Derivatives(lambda x: 1 / (cos(x) * cos(x)))
tanh_ = Derivatives(
    lambda out: 1 - out * out,
    lambda out: out * -2,
    lambda out: -2,
    third=f"{_FORWARD} grad_out_new_grad grad_out_grad_grad",
)
tanh_shrink = Derivatives(lambda x: tanh(x) * tanh(x))
thresholded_relu = Derivatives(lambda x, threshold=1.0: x > threshold)

rsqrt_double = gradient(
    grad_out_grad=lambda out, grad_x_grad: grad_x_grad * out * out * out * -0.5,
    out_grad=lambda out, grad_x, grad_x_grad: 3 / out * grad_x * grad_x_grad,
)
sqrt_double = gradient(
    grad_out_grad=lambda out, grad_x_grad: grad_x_grad * 0.5 / out,
    out_grad=lambda out, grad_x, grad_x_grad: -(grad_x * grad_x_grad) / out,
)
zero = gradient(x_grad=lambda: ZERO)
zero_of_input = gradient(input_grad=lambda: ZERO)
