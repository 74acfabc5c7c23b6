"""Reductions over axes: sums, maxima, minima, means, products, logical reductions, norms and variances.

Paddle: `reduce_sum`, `reduce_mean`, `reduce_max`, `reduce_min`, `reduce_amax`, `reduce_amin`, `reduce_prod`,
`reduce_all`, `reduce_any` (PIR `sum`, `mean`, ...), `mean` (PIR `mean_all`), `logsumexp`, `frobenius_norm`, `p_norm`,
`norm`, `nansum`, `squared_l2_norm`, `l1_norm`, `renorm`, `reduce_as`, `clip_by_norm`,
`var`, `std`, `variance` (PIR only).
Semantics: `paddle/phi/kernels/cpu/reduce_*_kernel.cc`, `p_norm_kernel.cc`, `norm_kernel.cc`,
`impl/{logsumexp_kernel,renorm,clip_by_norm_kernel}_impl.h`,
`paddle/phi/infermeta/unary.cc` (ReduceInferMetaBase, SumRawInferMeta,
PNormInferMeta), and `paddle.var` in `python/paddle/tensor/stat.py`.
Not supported: axes that the program computes, where it is not known how many; complex numbers beyond sums, means and
products.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import (
    Tensor,
    cast_to,
    const_like,
    prevent_fusion,
    reshape,
    widen_narrow_integers,
)
from paddle2ov.converters.graph.computed_axis import reduce_over_computed_axes
from paddle2ov.converters.graph.dims import dim_vector, input_along_axis, normalize_axis, rank_of
from paddle2ov.converters.graph.exact import exact_reduce_max, exact_reduce_min, exact_reduce_sum
from paddle2ov.converters.graph.reshaping import scalar_as_declared
from paddle2ov.converters.graph.unbroadcast import unbroadcast
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of, static_dims
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

Reduction: TypeAlias = Callable[..., Node]


def reduce_sum(node: NodeContext) -> NamedOutputs:
    """out = sum of x over axis; bool and int32 are summed as int64 unless `dtype` or, in old programs, out is int32."""
    x = node.get_input("x")
    kind = x.get_element_type()
    wide = kind == Type.boolean or (kind == Type.i32 and node.declared_output_dtype() != Type.i32)
    x = output_of(cast_to(x, node.get_dtype("dtype", Type.i64 if wide else None)))
    total = _reduce(node, exact_reduce_sum, widen_narrow_integers(x))
    return {"out": cast_to(total, x.get_element_type())}


def nansum(node: NodeContext) -> NamedOutputs:
    """out = sum of x over axis, where NaN counts as 0."""
    x: Tensor = cast_to(node.get_input("x"), node.get_dtype("dtype"))
    if x.get_element_type().is_real():
        x = ops.select(ops.is_nan(x), const_like(0, x), x)
    return {"out": _reduce(node, ops.reduce_sum, x, default=())}


def reduction(reduce: Reduction, logical: bool = False) -> Callable[[NodeContext], NamedOutputs]:
    """A converter: out = `reduce` of x over axis; a logical one reads x as x != 0."""

    def convert(node: NodeContext) -> NamedOutputs:
        x: Tensor = node.get_input("x")
        if logical and x.get_element_type() != Type.boolean:
            x = ops.not_equal(x, const_like(0, x))
        return {"out": _reduce(node, reduce, x)}

    convert.__doc__ = f"out = {reduce.__name__.removeprefix('exact_')} of x over axis."
    return convert


def mean_all(node: NodeContext) -> NamedOutputs:
    """out = the mean of all elements, 0-D."""
    x = node.get_input("x")
    axes = list(range(rank_of(node, x)))
    return {"out": scalar_as_declared(node, ops.reduce_mean(x, ints(axes), False) if axes else x)}


def logsumexp(node: NodeContext) -> NamedOutputs:
    """out = log(sum(exp(x))) over axis, computed around the maximum."""
    x = node.get_input("x")
    axes, keepdim = axes_of(node, x), node.get_bool("keepdim", False)
    if not axes:
        return {"out": x}
    top = ops.reduce_max(x, ints(axes), True)
    total = ops.reduce_sum(ops.exp(ops.subtract(x, top)), ints(axes), keepdim)
    offset = top if keepdim else ops.squeeze(top, ints(axes))
    return {"out": scalar_as_declared(node, ops.add(ops.log(total), offset))}


def frobenius_norm(node: NodeContext) -> NamedOutputs:
    """out = sqrt(sum of x^2) over axis."""
    x = node.get_input("x")
    keepdim = node.get_bool("keep_dim", False)
    return {"out": _reduce(node, ops.reduce_l2, x, keepdim) if rank_of(node, x) else ops.abs(x)}


def p_norm(node: NodeContext) -> NamedOutputs:
    """out = (sum |x|^p over axis)^(1/p); p = 0 counts non-zeros, ±inf takes the largest or smallest magnitude."""
    x, rank, axis = input_along_axis(node, -1)
    # `epsilon` is that of the gradient: the forward kernels do not read it.
    p, keepdim = node.get_float("porder", 2.0), node.get_bool("keepdim", False)
    axes = list(range(rank)) if node.get_bool("asvector", False) or not rank else [axis]
    if 0 in (static_dims(x) or ()):  # an empty tensor has the norm 0, whatever p is
        p = 1.0
    return {"out": scalar_as_declared(node, lp_norm(x, p, axes, keepdim))}


def lp_norm(x: Output, p: float, axes: list[int], keepdim: bool) -> Tensor:
    """(sum |x|^p over axes)^(1/p)."""
    if p == 0:
        counted = ops.convert(ops.not_equal(x, const_like(0, x)), x.get_element_type())
        return ops.reduce_sum(counted, ints(axes), keepdim) if axes else counted
    if not axes:
        return ops.abs(x)
    if p == 2:
        return ops.reduce_l2(x, ints(axes), keepdim)
    if p == 1:
        return ops.reduce_l1(x, ints(axes), keepdim)
    size = ops.abs(x)
    if math.isinf(p):
        return (ops.reduce_max if p > 0 else ops.reduce_min)(size, ints(axes), keepdim)
    total = ops.reduce_sum(ops.power(size, const_like(p, x)), ints(axes), keepdim)
    return ops.power(total, const_like(1.0 / p, x))


def norm(node: NodeContext) -> NamedOutputs:
    """norm = sqrt(sum of x^2 over axis + epsilon), keeping the axis; out = x / norm."""
    x, _, axis = input_along_axis(node)
    epsilon = node.get_float("epsilon", 1e-10)
    out = ops.normalize_l2(x, ints([axis]), epsilon, "add")
    squares = ops.reduce_sum(ops.multiply(x, x), ints([axis]), True)
    return {"out": out, "norm": ops.sqrt(ops.add(squares, const_like(epsilon, x)))}


def squared_l2_norm(node: NodeContext) -> NamedOutputs:
    """out = the sum of all x^2, of shape [1]."""
    x = reshape(node.get_input("x"), [-1])
    return {"out": ops.reduce_sum(ops.multiply(x, x), ints([0]), True)}


def l1_norm(node: NodeContext) -> NamedOutputs:
    """out = the sum of all |x|, 0-D."""
    x = reshape(node.get_input("x"), [-1])
    return {"out": scalar_as_declared(node, ops.reduce_l1(x, ints([0]), False))}


def renorm(node: NodeContext) -> NamedOutputs:
    """out = x, with each slice along `axis` whose p-norm exceeds `max_norm` scaled down to it."""
    x, rank, axis = input_along_axis(node)
    p, limit = node.get_float("p"), node.get_float("max_norm")
    others = [other for other in range(rank) if other != axis]
    if math.isinf(p):  # the root of infinite degree is 1, whatever the sum
        return {"out": x if limit >= 1 else ops.multiply(x, const_like(limit, x))}
    if p == 0:  # every element counts 1, and the root of degree 0 is infinite, but that of 1
        count = ops.reduce_prod(dim_vector(x, others), ints([0]), False)
        lone = const_like(min(limit, 1.0), x)
        return {"out": ops.multiply(x, ops.select(ops.equal(count, ints(1)), lone, const_like(0.0, x)))}
    size = lp_norm(x, p, others, True)
    shrink = ops.divide(const_like(limit, x), size)
    factor = ops.select(ops.greater(size, const_like(limit, x)), shrink, const_like(1.0, x))
    return {"out": ops.multiply(x, factor)}


def reduce_as(node: NodeContext) -> NamedOutputs:
    """out = x summed to the shape of target: over the leading axes that it lacks, and those where it has size 1.

    As by `reduce_sum`, bool and int32 are summed as int64; where nothing is left to sum, Paddle keeps the type.
    """
    x, target = node.get_input("x"), node.get_input("target")
    sizes = static_dims(target)
    if sizes is not None and sizes == static_dims(x):
        return {"out": x}
    out = cast_to(x, Type.i64 if x.get_element_type() in (Type.boolean, Type.i32) else None)
    return {"out": unbroadcast(out, target)}


def _reduce(
    node: NodeContext, reduce: Reduction, x: Tensor, keepdim: bool | None = None, default: Sequence[int] = (0,)
) -> Tensor:
    keepdim = node.get_bool("keepdim", False) if keepdim is None else keepdim
    if output_of(x).get_element_type() == Type.boolean and reduce in (exact_reduce_sum, ops.reduce_mean):
        reduce = ops.reduce_logical_or  # Paddle's sum of bool as bool, and the mean
    if not node.is_known("axis") and not node.get_bool("reduce_all", False):
        rank = rank_of(node, output_of(x))
        return scalar_as_declared(node, reduce_over_computed_axes(node, reduce, x, rank, keepdim) if rank else x)
    axes = axes_of(node, x, default)
    return scalar_as_declared(node, prevent_fusion(x, reduce(x, ints(axes), keepdim), axes) if axes else x)


def axes_of(node: NodeContext, x: Tensor, default: Sequence[int] = (0,)) -> list[int]:
    """The reduced axes, counted from the front; all of them if none is given."""
    rank = rank_of(node, output_of(x)) - node.is_complex("x")
    axes = node.get_ints("axis", default)
    if not axes or node.get_bool("reduce_all", False):
        return list(range(rank))
    return sorted({normalize_axis(node, axis, rank) for axis in axes} if rank else set())


reduce_all = reduction(ops.reduce_logical_and, logical=True)
reduce_any = reduction(ops.reduce_logical_or, logical=True)
reduce_max = reduction(exact_reduce_max)
reduce_mean = reduction(ops.reduce_mean)
reduce_min = reduction(exact_reduce_min)
reduce_prod = reduction(ops.reduce_prod)


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
    axes, keepdim = axes_of(node, x, ()), node.get_bool("keepdim", False)
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
