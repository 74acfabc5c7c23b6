"""Padding.

Paddle: `pad`, `pad3d`, and `pad2d` and `pad_constant_like` of old models.
Semantics: `paddle/phi/kernels/cpu/pad3d_kernel.cc`, `paddle/phi/kernels/funcs/padding.h`; negative paddings crop.
"""

from __future__ import annotations

from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const, const_like
from paddle2ov.converters.graph.dims import dim_of, int_vector, rank_of, shape_of
from paddle2ov.converters.graph.selection import exact_select
from paddle2ov.converters.graph.spatial import channels_last, ranked_dims
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def pad(node: NodeContext) -> NamedOutputs:
    """out = x with paddings[2 * d] before and paddings[2 * d + 1] after along each dimension d, filled by pad_value."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    paddings = node.get_ints("paddings")
    node.require(len(paddings) == 2 * rank, f"{2 * rank} numbers are expected", paddings=paddings)
    return {"out": _pad(node, x, paddings[0::2], paddings[1::2], "constant")}


def pad_constant_like(node: NodeContext) -> NamedOutputs:
    """out = y in the shape of x, pad_value after its end along each dimension."""
    x, y = node.get_input("x"), node.get_input("y")
    value = const_like(node.get_float("pad_value", 0.0, may_be_nan=True), y)
    before = ints([0] * rank_of(node, y))
    return {"out": ops.pad(y, before, ops.subtract(shape_of(x), shape_of(y)), "constant", value)}


def pad3d(node: NodeContext) -> NamedOutputs:
    """out = x with (left, right, top, bottom, front, back) added; `pad2d` has (top, bottom, left, right)."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    count = rank - 2
    first = 1 if channels_last(node) else 2
    mode = node.get_str("mode", "constant")
    node.require(mode in ("constant", "reflect", "replicate", "edge", "circular"), "unknown", mode=mode)
    order = range(count) if node.op_type == "pad2d" else range(count - 1, -1, -1)
    # In "paddings", what is before the spatial axes, and what is after them.
    sides = [[2 * position + side for position in order] for side in (0, 1)]
    others = [0] * first, [0] * (rank - first - count)
    if node.is_known("paddings"):
        paddings = node.get_ints("paddings")
        node.require(len(paddings) == 2 * count, f"{2 * count} numbers are expected", paddings=paddings)
        before, after = ([*others[0], *(paddings[i] for i in side), *others[1]] for side in sides)
        return {"out": _pad(node, x, before, after, mode)}
    flat = int_vector(node, "paddings")
    dims = dims_of(flat)
    node.require(dims in ([2 * count], [None]), f"{2 * count} paddings are expected; they have the shape {dims}")
    begin, end = (
        ops.concat([ints(others[0]), ops.gather(flat, ints(side), ints(0)), ints(others[1])], 0) for side in sides
    )
    return {"out": _dynamic_pad(node, x, begin, end, mode, first)}


def _pad(node: NodeContext, x: Output, before: list[int], after: list[int], mode: str) -> Tensor:
    """Positive paddings are added first, then negative ones cropped: this is equivalent to Paddle's indices."""
    out: Tensor = x
    grown = [max(size, 0) for size in before], [max(size, 0) for size in after]
    if mode == "circular":
        for axis, (low, high) in enumerate(zip(*grown, strict=True)):
            out = _circular_pad(out, axis, low, high)
    elif any(grown[0] + grown[1]):
        out = _pad_non_negative(node, out, ints(grown[0]), ints(grown[1]), mode)
    axes = [axis for axis, sizes in enumerate(zip(before, after, strict=True)) if min(sizes) < 0]
    if axes:
        start = [max(-before[axis], 0) for axis in axes]
        stop = [min(after[axis], 0) or OPEN_END for axis in axes]
        out = ops.slice(out, ints(start), ints(stop), ints([1] * len(axes)), ints(axes))
    return out


@works_around("pad_by_computed_value")
def _pad_non_negative(node: NodeContext, x: Tensor, begin: Node, end: Node, mode: str) -> Node:
    if mode != "constant":
        return ops.pad(x, begin, end, "edge" if mode == "replicate" else mode)
    if node.is_known("pad_value"):
        return ops.pad(x, begin, end, mode, const_like(node.get_float("pad_value", 0.0, may_be_nan=True), x))
    # OpenVINO's CPU plugin (2026.4) pads with 0 where the model computes the value.
    everywhere = ops.broadcast(const(True, Type.boolean), shape_of(x))
    inside = ops.pad(everywhere, begin, end, mode, const(False, Type.boolean))
    value = ops.reshape(cast_to(node.get_input("pad_value"), x.get_element_type()), ints([]), False)
    return exact_select(inside, ops.pad(x, begin, end, mode, const_like(0, x)), value)


def _circular_pad(x: Tensor, axis: int, low: int, high: int) -> Tensor:
    if not low and not high:
        return x
    dim = ranked_dims(x)[axis]
    if dim is None or low > dim or high > dim:
        return _dynamic_circular_pad(x, axis, ints(low), ints(high))
    parts: list[Tensor] = []
    if low:
        parts.append(slice_along(x, ints([dim - low]), ints([dim]), axis))
    parts.append(x)
    if high:
        parts.append(slice_along(x, ints([0]), ints([high]), axis))
    return ops.concat(parts, axis)


def _dynamic_circular_pad(x: Tensor, axis: int, low: Node, high: Node) -> Node:
    dim = dim_of(x, axis)
    indices = ops.range(ops.negative(low), ops.add(dim, high), ints(1), Type.i64)
    return ops.gather(x, ops.floor_mod(indices, dim), ints(axis))


def _dynamic_pad(node: NodeContext, x: Output, begin: Node, end: Node, mode: str, first: int) -> Tensor:
    rank = rank_of(node, x)
    out: Tensor = x
    if mode == "circular":
        for axis in range(first, first + rank - 2):
            low, high = (ops.gather(side, ints(axis), ints(0)) for side in (begin, end))
            out = _dynamic_circular_pad(out, axis, low, high)
        return out
    zero = ints(0)
    # OpenVINO's Pad takes negative numbers in one mode only, and corrupts memory if they crop more than there is.
    out = _pad_non_negative(node, x, ops.maximum(begin, zero), ops.maximum(end, ints(0)), mode)
    start = ops.maximum(ops.negative(begin), ints(0))
    stop = ops.add(shape_of(out), ops.minimum(end, ints(0)))
    return ops.slice(out, start, stop, ints([1] * rank), ints(list(range(rank))))
