"""Gradients of arithmetic of two tensors, element by element, summed to the shapes of both.

Semantics: `paddle/phi/kernels/impl/elementwise_grad_kernel_impl.h`,
`paddle/phi/kernels/funcs/elementwise_functor.h`, `paddle/phi/kernels/cpu/{lerp,where,copysign}_grad_kernel.cc`.

Where both operands of a maximum or minimum are equal, each gets half of the gradient, as in Paddle 3 (in Paddle 2, y
got all); of `fmax` and `fmin` x gets all. Where Paddle 3 multiplies 0 by infinity in the gradients of 0^0, it is 0.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from openvino import Output

from paddle2ov.converters.gradients.terms import Formula, evaluated, results
from paddle2ov.converters.graph.dims import rank_of, shape_of
from paddle2ov.converters.graph.operands import align
from paddle2ov.converters.graph.unbroadcast import unbroadcast
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of, static_dims
from paddle2ov.graph.terms import ZERO, Term, floor, isnan, log, select
from paddle2ov.translation.node_context import Converter, NamedOutputs, NodeContext

_OPERANDS = ("input", "x", "y", "weight")


def broadcast_gradient(**formulas: Formula) -> Converter:
    """A converter of formulas by result, whose values are summed to the shapes of the operands."""

    def convert(node: NodeContext) -> NamedOutputs:
        """The gradients: what is given, times the derivatives, summed over the axes that were broadcast."""
        return results(node, {result: partial(_fitted, node, result, formula) for result, formula in formulas.items()})

    return convert


def _fitted(node: NodeContext, result: str, formula: Formula) -> Any:
    return fit(node, evaluated(node, formula, aligned), result.removesuffix("_grad"))


def aligned(node: NodeContext, name: str) -> Output:
    """An operand with the dimensions that the legacy attribute `axis` adds behind it."""
    axis, value = node.get_int("axis", -1), node.get_input(name)
    if axis == -1:
        return value
    rank = max(rank_of(node, node.get_input(port, i)) for port, i in node.input_ports())
    return align(node, name, rank, axis) if rank_of(node, value) < rank else value


def fit(node: NodeContext, value: Any, name: str) -> Any:
    """A gradient in the shape of the operand of that name."""
    if value is ZERO:
        return ZERO
    name = name if node.has_input(name) else "out"  # what legacy programs do not pass has the shape of the result
    target, whole = aligned(node, name), value.value
    if len(dims_of(whole) or ()) < len(dims_of(target) or ()) or static_dims(whole) == []:
        whole = ops.broadcast(whole, shape_of(target)).output(0)
    elif name not in _OPERANDS and static_dims(whole) != static_dims(target):  # that of the result
        whole = ops.broadcast(whole, shape_of(target), broadcast_spec="BIDIRECTIONAL").output(0)
    elif whole.get_partial_shape() != target.get_partial_shape() or whole.get_partial_shape().is_dynamic:
        partners = [operand for operand in _OPERANDS if operand != name and node.has_input(operand)]
        whole = unbroadcast(whole, target, dims_of(aligned(node, partners[0])) if len(partners) == 1 else None)
    unaligned = node.get_input(name)
    if rank_of(node, unaligned) != rank_of(node, target):
        whole = ops.reshape(whole, shape_of(unaligned), False)
    return Term(whole)


def _half(one: Term, other: Term, larger: bool) -> Term:
    wins = one > other if larger else one < other
    return select(wins, 1.0, select(one.equals(other), 0.5, 0.0, one), one)


def _larger(x: Term, y: Term) -> Term:
    return (x >= y) | isnan(y)


def _smaller(x: Term, y: Term) -> Term:
    return (x <= y) | isnan(y)


def _signed(x: Term, y: Term, out_grad: Term) -> Term:
    same = (x < 0).equals(y < 0)
    return select(x.equals(0), 0.0, select(same, out_grad, -out_grad, x), x)


def _quotient(y: Any, grad_out: Any, grad_x: Any) -> Any:
    return grad_x if grad_out is ZERO else grad_out / y  # grad_x was summed where x was broadcast


add = broadcast_gradient(x_grad=lambda out_grad: out_grad, y_grad=lambda out_grad: out_grad)
add_twice = broadcast_gradient(grad_out_grad=lambda grad_x_grad, grad_y_grad: grad_x_grad + grad_y_grad)
add_thrice = broadcast_gradient(
    grad_grad_x_grad=lambda grad_grad_out_grad: grad_grad_out_grad,
    grad_grad_y_grad=lambda grad_grad_out_grad: grad_grad_out_grad,
)
divide = broadcast_gradient(
    x_grad=lambda y, out_grad: out_grad / y,
    y_grad=lambda y, out, out_grad: -(out_grad * out) / y,
)
divide_twice = broadcast_gradient(
    y_grad=lambda y, out, grad_out, grad_x, grad_x_grad, grad_y_grad: (
        _quotient(y, grad_out, grad_x) * (out * grad_y_grad - grad_x_grad) / y
    ),
    out_grad=lambda y, grad_out, grad_x, grad_y_grad: -(_quotient(y, grad_out, grad_x) * grad_y_grad),
    grad_out_grad=lambda y, out, grad_x_grad, grad_y_grad: (grad_x_grad - out * grad_y_grad) / y,
)
fmax = broadcast_gradient(
    x_grad=lambda x, y, out_grad: out_grad * _larger(x, y), y_grad=lambda x, y, out_grad: out_grad * ~_larger(x, y)
)
fmin = broadcast_gradient(
    x_grad=lambda x, y, out_grad: out_grad * _smaller(x, y), y_grad=lambda x, y, out_grad: out_grad * ~_smaller(x, y)
)
lerp = broadcast_gradient(
    x_grad=lambda weight, out_grad: out_grad * (1 - weight), y_grad=lambda weight, out_grad: out_grad * weight
)
maximum = broadcast_gradient(
    x_grad=lambda x, y, out_grad: out_grad * _half(x, y, True),
    y_grad=lambda x, y, out_grad: out_grad * _half(y, x, True),
)
minimum = broadcast_gradient(
    x_grad=lambda x, y, out_grad: out_grad * _half(x, y, False),
    y_grad=lambda x, y, out_grad: out_grad * _half(y, x, False),
)
heaviside = broadcast_gradient(x_grad=lambda: ZERO, y_grad=lambda x, out_grad: out_grad * x.equals(0))
power = broadcast_gradient(
    x_grad=lambda x, y, out_grad: select(y.equals(0), 0.0, out_grad * y * x ** (y - 1), out_grad),
    y_grad=lambda x, y, out_grad: select(x.equals(0) & (y >= 0), 0.0, out_grad * log(x) * x**y, out_grad),
)
remainder = broadcast_gradient(
    x_grad=lambda out_grad: out_grad, y_grad=lambda x, y, out_grad: -(out_grad * floor(x / y))
)
copysign = broadcast_gradient(x_grad=_signed, y_grad=lambda: ZERO)
subtract = broadcast_gradient(x_grad=lambda out_grad: out_grad, y_grad=lambda out_grad: -out_grad)
subtract_twice = broadcast_gradient(grad_out_grad=lambda grad_x_grad, grad_y_grad: grad_x_grad - grad_y_grad)
where = broadcast_gradient(
    x_grad=lambda condition, out_grad: select(condition, out_grad, 0.0, out_grad),
    y_grad=lambda condition, out_grad: select(condition, 0.0, out_grad, out_grad),
)
