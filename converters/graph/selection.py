"""Selection of elements by a mask or by indices, where OpenVINO gets it wrong."""

from __future__ import annotations

from openvino import Node, Output, Type
from openvino.op import Constant

from paddle2ov.converters.graph.common import Tensor, const_like
from paddle2ov.converters.graph.dims import dim_of, dim_range, shape_of
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of, static_dims
from paddle2ov.graph.workarounds import works_around


@works_around("integer_select_in_float32")
def exact_select(condition: Tensor, x: Tensor, y: Tensor) -> Node:
    """x where the condition holds, else y; of integers by exact arithmetic.

    OpenVINO's CPU plugin (2026.4) fuses a Select into what computes its condition, and all that in float32: integers
    beyond 24 bits are rounded, and the greatest one, which stands for an open bound, becomes the least one.
    """
    if x.get_element_type() not in (Type.i32, Type.i64):
        return ops.select(condition, x, y)
    return ops.add(y, ops.multiply(ops.convert(condition, x.get_element_type()), ops.subtract(x, y)))


@works_around("gather_in_one_batch")
def one_of_each(x: Tensor, index: Tensor) -> Node:
    """x[i, index[i]] of each row, [rows, 1, ...], for an index [rows, 1]; of an index out of range the nearest step.

    Not Gather with batch_dims: where there is a single row, OpenVINO (2026.4) reads memory elsewhere, or crashes.
    """
    last = ops.subtract(dim_of(x, 1), ints(1))
    step = ops.maximum(ops.minimum(index, last), ints(0))
    return ops.unsqueeze(ops.gather_nd(x, step, 1), ints([1]))


@works_around("search_in_nothing")
def or_of_nothing(out: Tensor, x: Tensor, axis: int, value: float) -> Tensor:
    """`out`, which has elements of `x` along an axis or what was found there; `value` where `x` has none at run time.

    OpenVINO's CPU plugin (2026.4) does not run a node that reads a tensor without elements: its result is that of the
    run before.
    """
    dims = dims_of(x)
    if dims is not None and dims[axis] is not None:
        return out
    return exact_select(ops.equal(dim_of(x, axis), ints(0)), const_like(value, out), out)


@works_around("gather_by_empty_constant")
def gather_or_empty(x: Output, index: Output, axis: int) -> Node:
    """The slices of x at index along axis; the index may have no elements."""
    if 0 not in (static_dims(index) or ()):
        return ops.gather(x, index, ints(_axis_unlike_unsqueeze(x, axis)))
    # OpenVINO's CPU plugin divides by zero where it sees while compiling that there is no index.
    shape = ops.concat([dim_range(x, 0, axis), shape_of(index), dim_range(x, axis + 1)], 0)
    return ops.broadcast(const_like(0, x), shape)


def _axis_unlike_unsqueeze(x: Output, axis: int) -> int:
    """The axis, as a negative number where x comes from an Unsqueeze of it.

    OpenVINO mistakes a Gather with any constant indices for the inverse of an Unsqueeze along the same axis.
    """
    producer = x.get_node()
    if producer.get_type_name() != "Unsqueeze":
        return axis
    axes = producer.input_value(1).get_node()
    same = not isinstance(axes, Constant) or axis in axes.get_data().reshape(-1).tolist()
    return axis - len(x.get_partial_shape()) if same else axis
