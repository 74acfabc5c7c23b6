"""Variance, standard deviation, and clipping by norm.

Paddle: `var`, `std`, `variance` (PIR only), `clip_by_norm`, `fill_any` (PIR `fill`).
Semantics: `paddle/phi/kernels/impl/clip_by_norm_kernel_impl.h`, `paddle/phi/kernels/cpu/fill_kernel.cc`;
`paddle.var` in `python/paddle/tensor/stat.py`, of which the first three are the form as one operator.
"""

from __future__ import annotations

from openvino import Node, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const_like, dim_vector, normalize_axis, rank_of, shape_of
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def var(node: NodeContext) -> NamedOutputs:
    """out = the sum of (x - mean)^2 over axis, divided by the number of elements less the correction."""
    return {"out": _variance(node, node.get_float("correction", 1.0))}


def std(node: NodeContext) -> NamedOutputs:
    """out = the square root of the variance."""
    return {"out": ops.sqrt(_variance(node, node.get_float("correction", 1.0)))}


def variance(node: NodeContext) -> NamedOutputs:
    """out = the mean of (x - mean)^2 over axis."""
    return {"out": _variance(node, 0.0)}


def _variance(node: NodeContext, correction: float) -> Node:
    x = node.get_input("x")
    rank = rank_of(node, x)
    keepdim = node.get_bool("keepdim", False)
    axes = sorted({normalize_axis(node, axis, rank) for axis in node.get_ints("axis", [])}) or list(range(rank))
    rest = ops.subtract(x, ops.reduce_mean(x, ints(axes), True))
    squares = ops.multiply(rest, rest)
    if correction == 0:
        return ops.reduce_mean(squares, ints(axes), keepdim)
    count = ops.reduce_prod(dim_vector(x, axes), ints([0]), False)
    left = ops.subtract(ops.convert(count, Type.f32), ops.constant(correction, Type.f32))
    # As in Paddle, the divisor is at least 0.
    left = ops.maximum(left, ops.constant(0.0, Type.f32))
    return ops.divide(ops.reduce_sum(squares, ints(axes), keepdim), cast_to(left, x.get_element_type()))


def clip_by_norm(node: NodeContext) -> NamedOutputs:
    """out = x, scaled down to the 2-norm max_norm (over all elements) where its norm is greater."""
    x = node.get_input("x")
    limit = node.get_float("max_norm")
    flat: Tensor = ops.reshape(x, ints([-1]), False)
    norm = ops.sqrt(ops.reduce_sum(ops.multiply(flat, flat), ints([0]), False))
    within = ops.less_equal(norm, const_like(limit, x))
    scaling = ops.select(within, const_like(1.0, x), ops.divide(const_like(limit, x), norm))
    return {"out": ops.multiply(x, scaling)}


def fill_any(node: NodeContext) -> NamedOutputs:
    """out = value, in the shape of x."""
    x = node.get_input("x")
    value = ops.reshape(node.get_tensor("value", x.get_element_type(), 0.0), ints([]), False)
    return {"out": ops.broadcast(value, shape_of(x))}
