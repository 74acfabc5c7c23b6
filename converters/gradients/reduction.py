"""Gradients of reductions, and of cumulative sums.

Semantics: `paddle/phi/kernels/funcs/reduce_functor.h`, `paddle/phi/kernels/cpu/{p_norm,cum}_grad_kernel.cc`,
`paddle/phi/kernels/impl/{logsumexp,squared_l2_norm,frobenius_norm}_grad_kernel_impl.h`.

Elements that are the maximum or minimum get equal parts of the gradient (in Paddle 2, of `reduce_max` and `reduce_min`
the whole).
The gradient of a product divides by the elements, and is not a number where one is 0, as in Paddle.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from paddle2ov.converters.gradients.terms import results
from paddle2ov.converters.graph.common import cast_to
from paddle2ov.converters.graph.dims import dim_vector, rank_of, shape_of
from paddle2ov.converters.reduction import axes_of
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.terms import Term, abs_, exp, sign
from paddle2ov.translation.node_context import Converter, NamedOutputs, NodeContext


def _all_axes(node: NodeContext) -> list[int]:
    return list(range(rank_of(node, node.get_input("x"))))


def _axis_of_norm(node: NodeContext) -> list[int]:
    axes = _all_axes(node)
    return axes if node.get_bool("asvector", False) or not axes else [node.get_int("axis", -1) % len(axes)]


def _restored(node: NodeContext, name: str, axes: list[int]) -> Term:
    """A result, or its gradient, with the reduced axes as dimensions of 1."""
    x, reduced = node.get_input("x"), node.get_input(name)
    rank = rank_of(node, x)
    if len(axes) == rank:
        return Term(ops.reshape(reduced, ints([1] * rank), False))
    kept = rank_of(node, reduced) == rank
    return Term(reduced if kept or not axes else ops.unsqueeze(reduced, ints(axes)))


def _reduction(
    formula: Callable[..., Any],
    axes_of_node: Callable[[NodeContext], list[int]] = lambda node: axes_of(node, node.get_input("x")),
) -> Converter:
    """A converter of a formula of x, out and out_grad, of those that it has as parameters, in the shape of x."""
    names = formula.__code__.co_varnames[: formula.__code__.co_argcount]

    def convert(node: NodeContext) -> NamedOutputs:
        """x_grad, of the gradient of each element's reduction."""

        def value() -> Term:
            x, axes = node.get_input("x"), axes_of_node(node)
            arguments: dict[str, Any] = {"node": node, "axes": axes, "x": Term(x)}
            arguments |= {name: _restored(node, name, axes) for name in names if name.startswith("out")}
            gradient = cast_to(formula(*(arguments[name] for name in names)).value, x.get_element_type())
            same = dims_of(gradient) == dims_of(x) and "x" in names
            return Term(gradient if same else ops.broadcast(gradient, shape_of(x)))

        return results(node, {"x_grad": value})

    return convert


def _mean(node: NodeContext, axes: list[int], out_grad: Term) -> Term:
    x = node.get_input("x")
    count = ops.reduce_prod(dim_vector(x, axes), ints([0]), False)
    return out_grad / Term(ops.convert(count, out_grad.value.get_element_type()))


def _extreme(axes: list[int], x: Term, out: Term, out_grad: Term) -> Term:
    mask = Term(ops.convert(x.equals(out).value, x.value.get_element_type()))
    return out_grad * mask / (Term(ops.reduce_sum(mask.value, ints(axes), True)) if axes else 1.0)


def _p_norm(node: NodeContext, x: Term, out: Term, out_grad: Term) -> Term:
    p, epsilon = node.get_float("porder"), node.get_float("epsilon")
    if p == 0:
        return x * 0
    if math.isinf(p):
        return sign(x) * out_grad * abs_(x).equals(out)
    return sign(x) * abs_(x) ** (p - 1) / (out ** (p - 1) + epsilon) * out_grad


extreme = _reduction(_extreme)
frobenius_norm = _reduction(lambda x, out, out_grad: x / (out + 1e-12) * out_grad)
l1_norm = _reduction(lambda x, out_grad: sign(x) * out_grad, _all_axes)
logsumexp = _reduction(lambda x, out, out_grad: out_grad * exp(x - out))
mean = _reduction(_mean)
mean_of_all = _reduction(_mean, _all_axes)
p_norm = _reduction(_p_norm, _axis_of_norm)
product = _reduction(lambda x, out, out_grad: out_grad * out / x)
squared_l2_norm = _reduction(lambda x, out_grad: x * 2 * out_grad, _all_axes)
total = _reduction(lambda out_grad: out_grad)


def reduce_as(node: NodeContext) -> NamedOutputs:
    """x_grad = out_grad, broadcast to the shape of x."""
    return {"x_grad": ops.broadcast(node.get_input("out_grad"), shape_of(node.get_input("x")))}


def cumsum(node: NodeContext) -> NamedOutputs:
    """x_grad = the cumulative sum of out_grad from the other end."""
    x, out_grad = node.get_input("x"), node.get_input("out_grad")
    exclusive, reverse = node.get_bool("exclusive", False), node.get_bool("reverse", False)
    if rank_of(node, x) == 0:
        return {"x_grad": out_grad}
    axis = ints(0 if node.get_bool("flatten", False) else node.get_int("axis", -1))
    total = ops.cum_sum(out_grad, axis, exclusive, not reverse)
    return {"x_grad": ops.reshape(total, shape_of(x), False)}
