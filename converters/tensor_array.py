"""Tensor arrays: lists of tensors that loops write and read.

Paddle: `create_array`, `create_array_like`, `write_to_array` (PIR `array_write_`), `read_from_array` (`array_read`),
`lod_array_length` (`array_length`), `tensor_array_to_tensor` (`array_to_tensor`), `slice_array`, `slice_array_dense`,
`array_pop`.
Semantics: `paddle/phi/kernels/array_kernel.cc`, `paddle/fluid/pir/dialect/operator/ir/manual_op.cc`.

An array is carried as one tensor, its elements stacked along a new first dimension: all elements have one shape. A
program that writes elements of different shapes is refused where that is known, and fails when it runs otherwise. Only
where only the concatenation of the elements is used (`paddle2ov/program/concatenated_arrays.py`), that is what is
carried, the axis of the concatenation first, and the dimensions of the elements along it may differ.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, reshape
from paddle2ov.converters.graph.dims import dim_range, dim_vector, normalize_axis, rank_of, scalar_of, shape_of
from paddle2ov.graph import arrays
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.graph.values import ConstantValue, EmptyTensorArray
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def create_array(node: NodeContext) -> NamedOutputs:
    """out = an array without elements."""
    return {"out": EmptyTensorArray()}


def create_array_like(node: NodeContext) -> NamedOutputs:
    """out = an array of as many elements, of the same shapes, all `val`."""
    if node.is_empty_array("input"):
        return {"out": EmptyTensorArray()}
    array = node.get_input("input")
    number = np.asarray(node.get_attribute("val"))
    parts = np.stack([number, np.zeros_like(number)]) if node.is_complex("input") else number
    value = ops.constant(parts, array.get_element_type())
    return {"out": ops.broadcast(value, shape_of(array))}


def write_to_array(node: NodeContext) -> NamedOutputs:
    """out = array with element i replaced by x, or x appended where i is its length."""
    x = node.get_input("x")
    if node.semantics.concatenated_along is not None:
        return {"out": _concatenate(node, x, node.semantics.concatenated_along)}
    element = ops.unsqueeze(x, ints([0]))
    if not node.has_input("array") or node.is_empty_array("array"):
        return {"out": element}
    held = node.get_input("array")
    _require_one_shape(node, held, x)
    array = _reshape_elements(held, shape_of(x))
    index = ops.reshape(node.get_tensor("i", Type.i64), ints([1]), False)
    head = slice_along(array, ints([0]), index, 0)
    tail = slice_along(array, ops.add(index, ints([1])), ints([OPEN_END]), 0)
    return {"out": ops.concat([head, element, tail], 0)}


def _require_one_shape(node: NodeContext, array: Output, x: Output) -> None:
    """Refuses an element whose shape cannot be that of the elements before it, if there is at least one."""
    held, new = array.get_partial_shape(), x.get_partial_shape()
    if held.rank.is_dynamic or new.rank.is_dynamic or held[0].get_min_length() == 0:
        return
    same = len(held) == len(new) + 1 and all(a.compatible(b) for a, b in zip(list(held)[1:], list(new), strict=True))
    if not same:
        node.refuse(f"an array whose elements differ in shape is not supported: {new} after {held}")


def _concatenate(node: NodeContext, x: Output, axis: int) -> Tensor:
    """The array, in which an axis is the first one, with x concatenated to it."""
    axis = normalize_axis(node, axis, rank_of(node, x))
    if axis:
        order = [axis, *(i for i in range(rank_of(node, x)) if i != axis)]
        x = ops.transpose(x, ints(order)).output(0)
    if not node.has_input("array") or node.is_empty_array("array"):
        return x
    rank = rank_of(node, x)
    array = _reshape_elements(node.get_input("array"), dim_vector(x, range(1, rank)))
    return ops.concat([array, x], 0)


def _reshape_elements(array: Output, sizes: Tensor) -> Node:
    """The array reshaped to elements of the given dimensions.

    The shape of the elements of an empty array may not be known yet; the reshape makes it that of x and moves nothing.
    """
    # Without the maximum OpenVINO gives the array the first size and all others -1, which fits no empty
    # array of other elements, and drops the reshape.
    count = ops.maximum(dim_vector(array, [0]), ints([0]))
    return ops.reshape(array, ops.concat([count, sizes], 0), False)


def read_from_array(node: NodeContext) -> NamedOutputs:
    """out = element i."""
    return {"out": ops.gather(node.get_input("array"), scalar_of(node, "i", Type.i64), ints(0))}


def lod_array_length(node: NodeContext) -> NamedOutputs:
    """out = the number of elements, as an int64 tensor of shape [1]."""
    if node.is_empty_array("x"):
        return {"out": ConstantValue(arrays.zeros(1, np.int64))}
    return {"out": dim_vector(node.get_input("x"), [0])}


def tensor_array_to_tensor(node: NodeContext) -> NamedOutputs:
    """out = the elements stacked (use_stack) or concatenated along axis; out_index = the size of each along axis."""
    array = node.get_input("x")
    if node.semantics.concatenated_along is not None:
        rank = rank_of(node, array)
        axis = normalize_axis(node, node.semantics.concatenated_along, rank)
        order = [*range(1, axis + 1), 0, *range(axis + 1, rank)]
        return {"out": ops.transpose(array, ints(order)) if axis else array}
    rank = rank_of(node, array) - 1
    stack = node.get_bool("use_stack", False)
    axis = normalize_axis(node, node.get_int("axis", 0), rank + 1 if stack else rank)
    count = dim_vector(array, [0])
    # [n, d0, ..., d_axis, ...] -> [d0, ..., n, d_axis, ...]
    order = [*range(1, axis + 1), 0, *range(axis + 1, rank + 1)]
    moved = ops.transpose(array, ints(order)) if axis else array
    size_axis = min(axis, rank - 1) + 1 if rank else None
    size = dim_vector(array, [size_axis]) if size_axis is not None else ints([1])
    sizes = ops.broadcast(ops.convert(size, Type.i32), count)
    if stack:
        return {"out": moved, "out_index": sizes}
    shape = ops.concat([dim_range(array, 1, axis + 1), ops.multiply(count, size), dim_range(array, axis + 2)], 0)
    return {"out": ops.reshape(moved, shape, False), "out_index": sizes}


def slice_array(node: NodeContext) -> NamedOutputs:
    """out = the array of the elements starts : ends."""
    array = node.get_input("input")
    starts, ends = (reshape(node.get_tensor(name, Type.i64), [1]) for name in ("starts", "ends"))
    return {"out": slice_along(array, starts, ends, 0)}


def slice_array_dense(node: NodeContext) -> NamedOutputs:
    """out = the element at starts."""
    return {"out": ops.gather(node.get_input("input"), scalar_of(node, "starts", Type.i64), ints(0))}


def array_pop(node: NodeContext) -> NamedOutputs:
    """out = the element at index, array_out = the array without it."""
    array = node.get_input("input")
    index = node.get_int("index")
    out = ops.gather(array, ints(index), ints(0))
    head = slice_along(array, ints([0]), ints([index]), 0)
    rest = head if index == -1 else ops.concat([head, slice_along(array, ints([index + 1]), ints([OPEN_END]), 0)], 0)
    return {"out": out, "array_out": rest}
