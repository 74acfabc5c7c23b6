"""Medians.

Paddle: `median`, `nanmedian`.
Semantics: `paddle/phi/kernels/cpu/nanmedian_kernel.cc`, `paddle/phi/kernels/funcs/nanmedian_utils.h`.
Not supported: the indices in mode "avg", which no function of Paddle returns.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.elementwise import divide
from paddle2ov.converters.graph.common import Tensor, const_like, prevent_fusion, reshape
from paddle2ov.converters.graph.dims import dim_of, dim_range, normalize_axis, rank_of
from paddle2ov.converters.graph.reshaping import merge_axes
from paddle2ov.converters.graph.selection import or_of_nothing
from paddle2ov.converters.graph.sorting import sort
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

_NO_INTEGER = -(2**31)
"""What Paddle makes of NaN as int32; as int64 it has no 32 bits."""


def median(node: NodeContext) -> NamedOutputs:
    """out = the middle element over axis, or the mean of the two middle ones (the lower one in mode "min")."""
    x, ignore_nan = node.get_input("x"), node.op_type == "nanmedian"
    rank = rank_of(node, x)
    axes = sorted({normalize_axis(node, axis, rank) for axis in node.get_ints("axis", [])} if rank else set())
    axes = axes or list(range(rank))
    average = node.get_str("mode", "avg") == "avg"
    node.require(not (average and node.is_output_used("medians")), "the indices of averages are not supported")
    rows, is_real = _reduced_axes_last(x, rank, axes), x.get_element_type().is_real()
    empty = ops.is_nan(rows) if is_real else None
    filled = rows if empty is None else ops.select(empty, const_like(np.inf, rows), rows)
    length = dim_of(rows, -1)
    values, indices = sort(filled, -1, descending=False)
    counted = ints([0])
    if empty is not None:
        ones = ops.convert(empty, "i64")
        counted = prevent_fusion(ones, ops.reduce_sum(ones, ints([-1]), True), [-1])
    # Of n valid elements, the middle ones are at (n - 1) / 2 and n / 2.
    valid = ops.subtract(length, counted) if ignore_nan else length
    low, high = (ops.divide(ops.maximum(part, ints(0)), ints(2)) for part in (ops.subtract(valid, ints(1)), valid))
    out: Tensor = _gather_at(values, low)
    if average:
        both = ops.add(out, _gather_at(values, high))
        out = ops.multiply(both, const_like(0.5, out)) if is_real else divide(both, const_like(2, out))
    index: Tensor = _gather_at(indices, low)
    if empty is not None:
        lost = ops.equal(valid, ints(0)) if ignore_nan else ops.greater(counted, ints(0))
        out = ops.select(lost, const_like(np.nan, out), out)
        first = ops.topk(
            ops.convert(empty, "i32"), ints(1), -1, "max", "value", index_element_type=Type.i64, stable=True
        )
        index = ops.select(lost, ints(-1) if ignore_nan else first.output(1), index)
    out = or_of_nothing(out, rows, -1, np.nan if is_real else _NO_INTEGER)
    index = or_of_nothing(index, rows, -1, 0)
    kept = node.get_bool("keepdim", True)
    return {"out": _restore_axes(out, x, rank, axes, kept), "medians": _restore_axes(index, x, rank, axes, kept)}


def _reduced_axes_last(x: Output, rank: int, axes: list[int]) -> Tensor:
    """x with the axes that are not reduced in front, and the reduced ones flattened into a last axis."""
    stay = [axis for axis in range(rank) if axis not in axes]
    if not stay:
        return reshape(x, [1, -1])
    moved = x if axes == list(range(rank - len(axes), rank)) else ops.transpose(x, ints(stay + axes))
    return merge_axes(output_of(moved), [*([i] for i in range(len(stay))), range(len(stay), rank)])


def _gather_at(rows: Output, position: Tensor) -> Node:
    """The element at `position` of each row; the last axis stays, with size 1."""
    rank = rows.get_partial_shape().rank.get_length()
    size = ops.concat([dim_range(rows, 0, rank - 1), ints([1])], 0)
    return ops.gather_elements(rows, ops.broadcast(position, size), rank - 1)


def _restore_axes(out: Tensor, x: Output, rank: int, axes: list[int], keepdim: bool) -> Tensor:
    stay = [axis for axis in range(rank) if axis not in axes]
    if not keepdim:
        return ops.squeeze(out, ints([-1])) if stay else reshape(out, [])
    if not stay:
        return reshape(out, [1] * rank)
    return ops.unsqueeze(ops.squeeze(out, ints([-1])), ints(axes))
