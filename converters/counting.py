"""Distinct elements and how often they occur.

Paddle: `unique`, `unique_with_counts`, `unique_consecutive`, `bincount`, `histogram`.
Semantics: `paddle/phi/kernels/cpu/{unique,unique_consecutive,bincount,histogram}_kernel.cc`.
"""

from __future__ import annotations

from collections.abc import Sequence

from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const, const_like, exact_divide
from paddle2ov.converters.graph.dims import dim_range, dim_vector, normalize_axis, rank_of, shape_of
from paddle2ov.converters.graph.exact import exact_not_equal
from paddle2ov.converters.graph.selection import or_of_nothing
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.permutation import permute
from paddle2ov.graph.shapes import dims_of, output_of, static_dims
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def _axis(node: NodeContext, x: Output) -> int | None:
    axes = node.get_ints("axis", [])
    return normalize_axis(node, axes[0], rank_of(node, x)) if axes else None


def _empty_result(dtype: Type) -> Node:
    return ops.broadcast(const(0, dtype), ints([0]))


def unique(node: NodeContext) -> NamedOutputs:
    """out = the distinct elements (slices along axis), sorted; indices of the first ones, inverse indices, counts."""
    x = node.get_input("x")
    dtype = node.get_dtype("dtype", Type.i64)
    is_sorted = node.get_bool("is_sorted", False)
    axis = _axis(node, x) if is_sorted else None
    if axis is None and 0 in (static_dims(x) or ()):
        none = _empty_result(dtype)
        return {"out": ops.reshape(x, ints([0]), False), "indices": none, "inverse": none, "counts": none}
    if axis is None:
        out, *others = _unique(ops.reshape(x, ints([-1]), False).output(0), None, is_sorted)
    else:
        # OpenVINO's CPU plugin merges equal slices along the first axis only.
        order = [axis, *(i for i in range(rank_of(node, x)) if i != axis)]
        out, *others = _unique(permute(x, order), ints(0), is_sorted)
        out = permute(output_of(out), [order.index(i) for i in range(len(order))])
    indices, inverse, counts = (cast_to(other, dtype) for other in others)
    return {"out": out, "indices": indices, "inverse": inverse, "counts": counts}


def unique_with_counts(node: NodeContext) -> NamedOutputs:
    """out = the distinct elements in the order of their first ones; index = where each element is in it; counts."""
    outputs = unique(node)
    return {"out": outputs["out"], "index": outputs["inverse"], "count": outputs["counts"]}


def in_order_of_appearance(x: Output) -> tuple[Tensor, Tensor]:
    """The distinct elements of a vector in the order of their first ones, and where each element is among them."""
    out, _, inverse, _ = _unique(x, None, False)
    return out, inverse


@works_around("unique_of_nothing")
def _unique(x: Output, axis: Node | None, is_sorted: bool) -> Sequence[Tensor]:
    """The results of Unique. If x may have no elements along its first axis, one is added, and left out of the results.

    OpenVINO's CPU plugin (2026.4) does not run a Unique of nothing: its results are those of the run before.
    """
    dims = dims_of(x) or []
    if dims[0] is not None:
        return ops.unique(x, axis, is_sorted).outputs()
    some = ops.minimum(dim_vector(x, [0]), ints([1]))
    shape = ops.concat([ops.subtract(ints([1]), some), dim_range(x, 1)], 0)
    longer = ops.concat([x, ops.broadcast(const_like(0, x), shape)], 0)
    end = ops.multiply(some, ints([OPEN_END]))
    return [slice_along(result, ints([0]), end, 0) for result in ops.unique(longer, axis, is_sorted).outputs()]


def unique_consecutive(node: NodeContext) -> NamedOutputs:
    """out = one element of each run of equal ones (or equal slices along axis); the run of each one; run lengths."""
    x = node.get_input("x")
    dtype = node.get_dtype("dtype", Type.i64)
    axis = _axis(node, x)
    if axis is None:
        x, axis = ops.reshape(x, ints([-1]), False).output(0), 0
    rank = rank_of(node, x)
    if x.get_partial_shape()[axis] == 0:  # OpenVINO's CPU plugin crashes when it compiles a Gather of no indices
        return {"out": x, "index": _empty_result(dtype), "counts": _empty_result(dtype)}
    length = dim_vector(x, [axis])
    one = ints([1])
    following = ops.slice(x, one, length, one, ints([axis]))
    preceding = ops.slice(x, ints([0]), ints([-1]), one, ints([axis]))
    differs = exact_not_equal(following, preceding)
    if rank > 1:
        differs = ops.reduce_logical_or(differs, ints([i for i in range(rank) if i != axis]), False)
    first = ops.broadcast(ints(1), ops.minimum(length, one))  # where there is one
    begins = ops.concat([first, cast_to(differs, Type.i64)], 0)
    starts = ops.reshape(ops.non_zero(begins, "i64"), ints([-1]), False)
    run = ops.subtract(ops.cum_sum(begins, ints(0)), ints(1))
    ends = ops.concat([ops.slice(starts, one, ints([OPEN_END]), one), length], 0)
    return {
        "out": ops.gather(x, starts, ints(axis)),
        "index": cast_to(run, dtype),
        "counts": cast_to(ops.subtract(ends, starts), dtype),
    }


def bincount(node: NodeContext) -> NamedOutputs:
    """out[i] = how often i occurs in x (or the sum of its weights), i up to the largest x and at least minlength."""
    x = cast_to(node.get_input("x"), Type.i64)
    least = ops.reshape(node.get_tensor("minlength", Type.i64, 0), ints([1]), False)
    largest = ops.reduce_max(ops.concat([x, ints([-1])], 0), ints([0]), True)
    size = ops.maximum(ops.add(largest, ints(1)), least)
    if node.has_input("weights"):
        weights: Tensor = node.get_input("weights")
        kind = weights.get_element_type()
        weights = cast_to(weights, Type.f32 if kind == Type.f32 else Type.f64)
    else:
        weights = ops.broadcast(ints(1), shape_of(x))
    return {"out": _scatter_sum(weights, x, size)}


def _scatter_sum(weights: Tensor, indices: Tensor, size: Tensor) -> Node:
    """out[i] = the sum of the weights with index i, for i < size."""
    zeros = ops.broadcast(const_like(0, weights), size)
    return ops.scatter_elements_update(zeros, indices, weights, ints(0), "sum")


def histogram(node: NodeContext) -> NamedOutputs:
    """out[i] = how many elements of input (or the sum of their weights) lie in bin i of equal bins from min to max."""
    x = ops.reshape(node.get_input("input"), ints([-1]), False)
    bins = node.get_int("bins", 100)
    low, high = node.get_float("min", 0.0), node.get_float("max", 0.0)
    density = node.get_bool("density", False)
    kind = x.get_element_type()
    if kind.is_integral():
        low, high = int(low), int(high)
    bottom: Node = const_like(low, x)
    top: Node = const_like(high, x)
    if low == high:
        bottom, top = ops.reduce_min(x, ints([0]), False), ops.reduce_max(x, ints([0]), False)
    flat = ops.equal(bottom, top)
    bottom = ops.select(flat, ops.subtract(bottom, const_like(1, x)), bottom)
    top = ops.select(flat, ops.add(top, const_like(1, x)), top)
    inside = ops.logical_and(ops.greater_equal(x, bottom), ops.less_equal(x, top))
    distance = ops.multiply(ops.subtract(x, bottom), const_like(bins, x))
    span = ops.subtract(top, bottom)
    if kind.is_integral():
        # 0.5 more keeps a rounded quotient from falling below its bin.
        above = ops.add(cast_to(distance, Type.f32), const(0.5, Type.f32))
        position = ops.divide(above, cast_to(span, Type.f32))
    else:
        position = exact_divide(distance, span)
    index = ops.minimum(cast_to(ops.floor(position), Type.i64), ints(bins - 1))
    index = ops.select(inside, index, ints(0))
    floats = density or node.has_input("weight")
    weight: Tensor = const(1, Type.f32 if floats else Type.i64)
    if node.has_input("weight"):
        weight = cast_to(ops.reshape(node.get_input("weight"), ints([-1]), False), Type.f32)
    weight = ops.select(inside, weight, const_like(0, weight))
    out = _scatter_sum(weight, index, ints([bins]))
    if density:
        width = ops.divide(cast_to(span, Type.f32), const(bins, Type.f32))
        out = ops.divide(ops.divide(out, width), ops.reduce_sum(out, ints([0]), False))
    return {"out": or_of_nothing(out, x, 0, 0)}
