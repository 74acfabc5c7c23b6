"""Antialiased resizing, with a filter as wide as the ratio.

Paddle: `interp_antialias` (PIR only).
Semantics: `paddle/phi/kernels/cpu/interpolate_kernel.cc` (InterpolateAA2DCPUFwd). Each result is a weighted mean of the
elements under a triangle (bilinear) or a cubic (bicubic, a = -1/2) around its centre, stretched by the ratio where that
is above 1. The rows and columns are multiplied by matrices of weights.
Refused: integers, which Paddle interpolates in fixed-point arithmetic.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, exact_divide
from paddle2ov.converters.graph.dims import dim_vector, int_vector, rank_of
from paddle2ov.converters.graph.spatial import channels_last, ranked_dims, to_channels_first, to_channels_last
from paddle2ov.converters.resize.computed import number
from paddle2ov.converters.resize.scaled_sizes import attribute_scale, dynamic_scaled_sizes, scaled_sizes, tensor_scales
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.terms import Term, abs_, maximum, select
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def interp_antialias(node: NodeContext) -> NamedOutputs:
    """output = x resized along its two spatial dimensions."""
    x = node.get_input("x")
    rank, method = rank_of(node, x), node.get_str("interp_method", "bilinear")
    node.require(rank == 4, "only two spatial dimensions are supported", rank=rank)
    node.require(method in ("bilinear", "bicubic"), "unknown filter", interp_method=method)
    node.require(x.get_element_type().is_real(), f"{x.get_element_type()} is not supported")
    last = channels_last(node)
    if last:
        x = to_channels_first(x, rank).output(0)
    before = dim_vector(x, [2, 3])
    after, scales = _sizes(node, x)
    ratios = _ratios(before, after, scales, node.get_bool("align_corners", True))
    out: Tensor = x
    for i in (1, 0):
        old, new, ratio = (ops.gather(each, ints(i), ints(0)) for each in (before, after, ratios))
        weights = cast_to(_weights(old, new, ratio, method), x.get_element_type())
        out = ops.matmul(out, weights, False, True) if i else ops.matmul(weights, out, False, False)
    return {"output": to_channels_last(output_of(out), rank) if last else out}


def _sizes(node: NodeContext, x: Output) -> tuple[Tensor, list[float] | None]:
    """The new sizes, and the scales that fix the ratios."""
    if node.has_input("size_tensor"):
        return node.get_tensor("size_tensor", Type.i64), None
    scales: list[float] | None = None
    if node.has_input("scale_tensor"):
        scales = tensor_scales(node)
    elif len(factors := list(node.get_attribute("scale", []) or [])) > 1:  # Paddle ignores a single number
        scales = [attribute_scale(item) for item in factors]
    if scales is not None:
        scales = scales * 2 if len(scales) == 1 else scales
        node.require(all(scale > 0 for scale in scales), "a scale must be positive", scale=scales)
    if node.has_input("out_size"):
        return int_vector(node, "out_size"), scales
    if scales is not None:
        dims = ranked_dims(x)[2:]
        if None in dims:
            return dynamic_scaled_sizes(x, scales), scales
        return ints([int(scaled_sizes(dim or 0, scale)) for dim, scale in zip(dims, scales, strict=True)]), scales
    sizes = [node.get_int("out_h", 0), node.get_int("out_w", 0)]
    node.require(all(size > 0 for size in sizes), "no size is given", sizes=sizes)
    return ints(sizes), None


def _ratios(before: Node, after: Tensor, scales: list[float] | None, align: bool) -> Node:
    """Source elements per result. An image that keeps both sizes is copied, whatever the scale."""
    old, new = Term(ops.convert(before, Type.f32)), Term(ops.convert(after, Type.f32))
    if align:
        steps = exact_divide((old - 1).value, maximum(new - 1, 1).value)
        ratio = ops.select(ops.greater(after, ints(1)), steps, number(0))
    elif scales is not None:
        ratio = ops.constant(np.float32(1.0 / np.asarray(scales)))
    else:
        ratio = exact_divide(old.value, new.value)
    same = ops.reduce_logical_and(ops.equal(before, after), ints([0]), True)
    return ops.select(same, number(1), ratio)


def _weights(old: Node, new: Node, ratio: Node, method: str) -> Node:
    """[new, old]: the weight of each source element in each result."""
    zero = ints(0)
    results = Term(ops.unsqueeze(ops.convert(ops.range(zero, new, ints(1), "i64"), Type.f32), ints(1)))
    sources = Term(ops.convert(ops.range(zero, old, ints(1), "i64"), Type.f32))
    away = sources + 0.5 - (results + 0.5) * Term(ratio)
    t = abs_(away / maximum(Term(ratio), 1))
    weights = ops.relu((1 - t).value) if method == "bilinear" else _cubic(t).value
    return ops.divide(weights, ops.reduce_sum(weights, ints([1]), True))


def _cubic(t: Term) -> Term:
    near = (t * 1.5 - 2.5) * t * t + 1
    far = ((t * -0.5 + 2.5) * t - 4) * t + 2
    return select(t < 1, near, select(t < 2, far, 0))
