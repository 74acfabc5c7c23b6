"""Assignment to elements and slices of a tensor.

Paddle: `set_value`, `set_value_with_tensor`.
Semantics: `paddle/phi/kernels/impl/set_value_kernel_impl.h`.
Refused: axes that the program computes.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const
from paddle2ov.converters.graph.dims import dim_of, dim_vector, index_range, normalize_axis, rank_of, shape_of
from paddle2ov.converters.graph.slice_bounds import SliceBounds
from paddle2ov.graph.expected_dims import of_length
from paddle2ov.graph.indexed_writes import write_at
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of, output_of
from paddle2ov.graph.types import numpy_dtype
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def set_value(node: NodeContext) -> NamedOutputs:
    """out = x, with values written to x[starts:ends:steps] along axes."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    axes = [normalize_axis(node, axis, rank, "axes") for axis in node.get_ints("axes")]
    dropped = [normalize_axis(node, axis, rank, "decrease_axes") for axis in node.get_ints("decrease_axes", [])]
    added = node.get_ints("none_axes", [])
    values = _values(node, x.get_element_type())
    if not axes and node.has_input("values") and node.declared_input_shape("values") == node.declared_input_shape("x"):
        return {"out": values}  # as after index_put, when x[index] = ... is written in Python
    if not axes:
        return {"out": ops.broadcast(_align_values(node, values, rank, dropped, added), shape_of(x))}
    fitted = _align_values(node, values, rank, dropped, added)
    bounds = SliceBounds(node, x, axes, dropped, "steps")
    every, sizes = list(range(len(axes))), dims_of(x)
    is_at_index = axes == dropped and len(axes) == 1 and bounds.starts.known is None and bounds.steps.known == [1]
    if is_at_index and sizes and sizes[axes[0]]:
        return {"out": _set_at(x, fitted, axes[0], bounds.starts.select([0]))}
    start, end, step = bounds.select(every)
    selected = ops.slice(x, start, end, step, ints(axes))
    updates = ops.broadcast(fitted, shape_of(selected))
    if bounds.is_known() and not bounds.may_start_early(every):
        return {"out": ops.slice_scatter(x, updates, start, end, step, ints(axes))}
    return {"out": _scattered(x, updates, axes, (start, end, step))}


@works_around("slice_scatter_between_computed_bounds")
def _scattered(x: Output, updates: Tensor, axes: list[int], bounds: tuple[Tensor, Tensor, Tensor]) -> Node:
    """x with updates written between bounds that are not known.

    OpenVINO's CPU plugin crashes when it compiles a SliceScatter for them: the slice of the indices says where.
    """
    if len(axes) == 1:
        size = dim_of(x, axes[0])
        written = ops.slice(index_range(size), *bounds, ints([0]))
        return ops.scatter_update(x, written, updates, ints(axes[0]))
    size = ops.reduce_prod(shape_of(x), ints([0]), False)
    flat_indices = ops.reshape(index_range(size), shape_of(x), False)
    written = ops.reshape(ops.slice(flat_indices, *bounds, ints(axes)), ints([-1]), False)
    flat = ops.scatter_update(
        ops.reshape(x, ints([-1]), False), written, ops.reshape(updates, ints([-1]), False), ints(0)
    )
    return ops.reshape(flat, shape_of(x), False)


def _set_at(x: Output, values: Output, axis: int, index: Tensor) -> Node:
    """x, with values broadcast and written at one index [1] of an axis of known size."""
    dims = x.get_partial_shape()
    size, others = dims[axis].get_length(), [i for i in range(len(dims)) if i != axis]
    own = values.get_partial_shape()
    if len(own) != len(dims) or any(dims[other].is_dynamic or dims[other] != own[other] for other in others):
        parts: list[Tensor] = [dim_vector(x, [i]) if i != axis else ints([1]) for i in range(len(dims))]
        values = ops.broadcast(values, ops.concat(parts, 0)).output(0)
    return write_at(x, values, axis, index, size)


def _values(node: NodeContext, dtype: Type) -> Output:
    if node.has_input("values"):
        return output_of(cast_to(node.get_input("values"), dtype))
    storage = numpy_dtype(dtype) or np.dtype(np.float32)
    array = node.get_constant("values").astype(storage)
    return const(array.reshape(node.get_ints("shape", [])), dtype).output(0)


def _drop_leading_unit_dims(values: Output, count: int) -> Output:
    """values without the first `count` of its dimensions of 1: the leading ones, where these are 1.

    Others are dropped where a squeeze without axes kept a dimension that is 1 at run time, which Paddle drops there.
    """
    shape = values.get_partial_shape()
    if all(shape[axis] == 1 for axis in range(count)):
        return ops.squeeze(values, ints(list(range(count)))).output(0)
    dims = shape_of(values)
    is_unit = ops.equal(dims, ints(1))
    seen = ops.cumsum(ops.convert(is_unit, "i64"), ints(0))
    kept = ops.logical_not(ops.logical_and(is_unit, ops.less_equal(seen, ints(count))))
    kept_axes = of_length(ops.non_zero(kept, "i64"), shape.rank.get_length() - count)
    return ops.reshape(values, ops.gather(dims, kept_axes, ints(0)), False).output(0)


def _align_values(node: NodeContext, values: Output, rank: int, dropped: list[int], added: list[int]) -> Output:
    """`values`, which have the axes of an indexing expression, with those of x: no new axes, dropped ones as 1."""
    own = rank_of(node, values)
    # The axes of the expression in order: those of x (by number) without the dropped ones, and new ones (None).
    entries = sorted([*((axis, 0) for axis in added), *((axis, 1) for axis in range(rank) if axis not in dropped)])
    expression = [axis if is_of_x else None for axis, is_of_x in entries]
    if own > len(expression):  # Paddle ignores leading dimensions of 1
        values = _drop_leading_unit_dims(values, own - len(expression))
        own = len(expression)
    aligned = expression[len(expression) - own :]
    new = [i for i, axis in enumerate(aligned) if axis is None]
    if new:
        values = ops.squeeze(values, ints(new)).output(0)
    axes = [axis for axis in aligned if axis is not None]
    if axes:
        inserted = [axis for axis in range(axes[0], rank) if axis not in axes]
        if inserted:
            values = ops.unsqueeze(values, ints([axis - axes[0] for axis in inserted])).output(0)
    return values
