"""Tensors of every element type as arrays, and back."""

from __future__ import annotations

import numpy as np
from openvino import PartialShape, Shape, Tensor, Type

from paddle2ov.graph.types import bfloat16_bits, bits_to_values, numpy_dtype
from paddle2ov.typing import AnyArray

FLOATS = frozenset(("f16", "bf16", "f32", "f64"))


def is_float(kind: Type) -> bool:
    """Whether numbers of this element type are rounded."""
    return kind.get_type_name() in FLOATS


def to_array(tensor: Tensor) -> AnyArray:
    """The values; bfloat16 as float32."""
    return bits_to_values(tensor.data, tensor.get_element_type())


def to_tensor(array: AnyArray, kind: Type) -> Tensor:
    """A tensor of these values, rounded to the element type."""
    shape = Shape(array.shape)
    if kind == Type.bf16:
        if array.size == 0:
            return Tensor(kind, shape)
        return copied(Tensor(np.ascontiguousarray(bfloat16_bits(array)), shape, kind))
    with np.errstate(over="ignore"):
        return Tensor(np.ascontiguousarray(array, numpy_dtype(kind)).reshape(array.shape))


def blank(kind: Type, shape: PartialShape) -> Tensor:
    """A tensor of a shape whose unknown dimensions are 0."""
    sizes = [dim.get_length() if dim.is_static else 0 for dim in shape] if shape.rank.is_static else [0]
    return Tensor(kind, Shape(sizes))


def copied(tensor: Tensor) -> Tensor:
    """A tensor with memory of its own."""
    copy = Tensor(tensor.get_element_type(), tensor.get_shape())
    if tensor.get_size():  # copying an empty result of OpenVINO 2026.4 ends the process
        tensor.copy_to(copy)
    return copy


def is_same(a: Tensor, b: Tensor) -> bool:
    """Whether type, shape and every bit agree."""
    if a is b:
        return True
    if a.get_element_type() != b.get_element_type() or a.get_shape() != b.get_shape():
        return False
    return bool(a.data.tobytes() == b.data.tobytes())
