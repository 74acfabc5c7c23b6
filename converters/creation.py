"""Tensors of given values, shapes and types, or like another tensor.

Paddle: `fill_constant` (PIR `full`), `full_with_tensor`, `full_int_array`, `fill_any_like` (PIR `full_like`),
`fill_zeros_like`, `fill_zeros_like2`, `zeros_like`, `ones_like`, `fill_constant_batch_size_like` (PIR
`full_batch_size_like`), `assign_value`, `empty`, `empty_like`, `one_hot_v2`, `one_hot`, `eye`, `tril_indices`,
`triu_indices`, `sequence_mask`, `fill_any` (PIR `fill`).
Semantics: `paddle/phi/kernels/cpu/{full,fill,one_hot,eye,tril_indices,triu_indices}_kernel.cc`,
`paddle/phi/kernels/impl/sequence_mask_kernel_impl.h`. `empty` has no defined content; here it is zeros.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from openvino import Node, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const
from paddle2ov.converters.graph.dims import dim_vector, index_range, rank_of, scalar_of, shape_of, shape_vector
from paddle2ov.graph import arrays
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import static_dims
from paddle2ov.graph.types import numpy_dtype
from paddle2ov.graph.values import ConstantValue, SequenceLengths
from paddle2ov.program.budget import MAX_DIM, charge_array
from paddle2ov.translation.node_context import Converter, NamedOutputs, NodeContext, OutputLike

_LARGE = 4096
"""Constants of more elements are left to a Broadcast: they would make the model large."""


def fill_constant(node: NodeContext) -> NamedOutputs:
    """out = a tensor of `shape` that holds `value` everywhere, or zeros; the shape and the value may be tensors."""
    dims = node.get_ints("shape", []) if node.is_known("shape") else None
    if dims and not (min(dims) >= 0 and max(dims) <= MAX_DIM):
        node.refuse("an impossible dimension", shape=dims)
    dtype = node.get_dtype("dtype", Type.f32)
    return {"out": _filled(node, _value(node), dtype, dims, lambda: shape_vector(node, "shape"))}


def _value(node: NodeContext, default: float = 0.0) -> Any:
    """The value that a tensor is filled with; None where the program computes it.

    Legacy programs write it as text as well, which keeps integers beyond the precision of a float exact.
    """
    is_text = node.has_attribute("str_value") and not node.has_input("value")
    text = node.get_str("str_value", "") if is_text else ""
    if text:
        return int(text) if text.removeprefix("-").isdecimal() else float(text)
    return node.get_constant("value", default).reshape(-1)[0] if node.is_known("value") else None


def _filled(
    node: NodeContext, value: Any, dtype: Type, dims: list[int] | None, shape: Callable[[], Tensor]
) -> OutputLike:
    """`value` in a shape, whose dimensions may be known; a constant where it is small."""
    storage = numpy_dtype(dtype)
    if value is None:
        scalar = scalar_of(node, "value", dtype)
    elif storage is None:
        scalar = const(value, dtype)
    else:  # through NumPy: 1.7 to int64 truncates, -1 to uint8 wraps around, as a C++ cast does
        value = np.asarray(value).astype(storage)
        if dims is not None and math.prod(dims) <= _LARGE:
            return ConstantValue(arrays.full(dims, value, storage))
        scalar = const(value, dtype)
    return scalar if dims == [] else ops.broadcast(scalar, shape())


def full_int_array(node: NodeContext) -> NamedOutputs:
    """out = the 1-D tensor that holds the attribute `value`."""
    dtype = node.get_dtype("dtype", Type.i64)
    storage = numpy_dtype(dtype)
    return {"out": ConstantValue(np.asarray(node.get_attribute("value"), storage or np.int64).reshape(-1))}


def filled_like(value: float, dtype: Type | None = None) -> Converter:
    """A converter for tensors of `value`, unless the program says otherwise; `dtype` is the default, None that of x."""

    def convert(node: NodeContext) -> NamedOutputs:
        """out = value everywhere, in the shape of x."""
        x = node.get_input("x")
        kind = node.get_dtype("dtype", dtype) or x.get_element_type()
        return {"out": _filled(node, _value(node, value), kind, static_dims(x), lambda: shape_of(x))}

    return convert


fill_any_like, ones_like, fill_zeros_like2 = filled_like(0.0), filled_like(1.0), filled_like(0.0, Type.f32)


def fill_constant_batch_size_like(node: NodeContext) -> NamedOutputs:
    """out = value everywhere, in `shape` with dimension output_dim_idx taken from dimension input_dim_idx of input.

    If dimension 0 holds sequences (LoD), it counts as their number.
    """
    x, shape = node.get_input("input"), node.get_ints("shape")
    source, target = node.get_int("input_dim_idx", 0), node.get_int("output_dim_idx", 0)
    parts: list[Node] = [ints([dim]) for dim in shape]
    if source == 0 and node.has_sequences("input"):
        layout = node.sequence_layout("input")
        if isinstance(layout, SequenceLengths):
            parts[target] = shape_of(layout.output)
        else:
            parts[target] = ints([layout]) if isinstance(layout, int) else ops.reshape(layout, ints([1]), False)
    else:
        parts[target] = dim_vector(x, [source])
    return {"out": _filled(node, _value(node), node.get_dtype("dtype", Type.f32), None, lambda: ops.concat(parts, 0))}


def assign_value(node: NodeContext) -> NamedOutputs:
    """out = the tensor of `shape` that holds the numbers in `values`."""
    dtype = node.get_dtype("dtype", node.declared_output_dtype("out"))
    if dtype is None:
        node.refuse("its type is not known")
    values, shape = node.get_constant("values"), node.get_ints("shape")
    storage = numpy_dtype(dtype)
    if storage is None:
        return {"out": const(values.astype(np.float32).reshape(shape), dtype)}
    return {"out": ConstantValue(values.astype(storage).reshape(shape))}


def one_hot(node: NodeContext) -> NamedOutputs:
    """out[..., j] = 1 where x = j, else 0; an x outside of 0 ... num_classes - 1 gives zeros."""
    x = node.get_input("x")
    if node.op_type == "one_hot":  # the old operator takes [..., 1]
        x = ops.squeeze(x, ints([rank_of(node, x) - 1])).output(0)
    dtype = node.get_dtype("dtype", Type.f32)
    depth = scalar_of(node, "num_classes", Type.i64)
    return {"out": ops.one_hot(x, depth, const(1, dtype), const(0, dtype), -1)}


def eye(node: NodeContext) -> NamedOutputs:
    """out = 1 on the diagonal, else 0."""
    dtype = node.get_dtype("dtype", Type.f32)
    rows, columns = scalar_of(node, "num_rows", Type.i64), scalar_of(node, "num_columns", Type.i64, -1)
    storage = numpy_dtype(dtype)
    if node.is_known("num_rows") and node.is_known("num_columns") and storage is not None:
        height = node.get_int("num_rows")
        width = node.get_int("num_columns", -1)
        width = height if width == -1 else width
        node.require(height >= 0 and width >= 0, "a negative size", num_rows=height, num_columns=width)
        if height * width <= _LARGE:
            return {"out": ConstantValue(arrays.eye(height, width, dtype=storage))}
        columns = ints(width)
    row, column = ops.unsqueeze(index_range(rows), ints(1)), ops.unsqueeze(index_range(columns), ints(0))
    return {"out": cast_to(ops.equal(row, column), dtype)}


def triangle_indices(node: NodeContext) -> NamedOutputs:
    """out = [rows, columns] of the elements of a triangle of a rows × cols matrix."""
    dtype = node.get_dtype("dtype", Type.i64)
    storage = numpy_dtype(dtype) or np.dtype(np.int64)
    is_lower = node.op_type == "tril_indices"
    rows, columns = (node.get_int(name) for name in (("rows", "cols") if is_lower else ("row", "col")))
    node.require(rows >= 0 and columns >= 0, "a negative size", rows=rows, columns=columns)
    charge_array(rows * columns, 16)
    indices = (np.tril_indices if is_lower else np.triu_indices)(rows, node.get_int("offset"), columns)
    return {"out": ConstantValue(np.stack(indices).astype(storage))}


def sequence_mask(node: NodeContext) -> NamedOutputs:
    """y[..., j] = 1 where j < x, for j up to max_len, or to the largest x."""
    x = node.get_input("x")
    dtype = node.get_dtype("out_dtype", Type.i64)
    length = scalar_of(node, "max_len", Type.i64, -1)
    if node.is_known("max_len") and node.get_int("max_len", -1) < 0:
        lengths = ops.concat([ops.reshape(cast_to(x, Type.i64), ints([-1]), False), ints([0])], 0)  # which may be none
        length = ops.reduce_max(lengths, ints([0]), False)
    columns = cast_to(index_range(length), x.get_element_type())  # a length of 0.5 counts position 0
    return {"y": cast_to(ops.less(columns, ops.unsqueeze(x, ints(-1))), dtype)}
