"""Constants of a graph: their elements as NumPy arrays and Python numbers."""

from __future__ import annotations

import math

import numpy as np
from openvino import Output
from openvino.op import Constant

from paddle2ov.graph.shapes import static_dims
from paddle2ov.graph.types import numpy_dtype, value_of
from paddle2ov.typing import AnyArray

_MAX_BYTES = 1 << 24
"""The largest constant that is searched for values other than 0."""
MAX_BYTES_OF_READERS = 1 << 20
"""The largest constant whose elements each of its readers, of which there may be many, looks at."""


def constant_of(output: Output) -> AnyArray | None:
    """The elements of a Constant; None for any other node.

    OpenVINO returns the bits of bfloat16 as float16: use `number_of` or `value_of` for numbers.
    """
    node = output.get_node()
    return node.get_data() if isinstance(node, Constant) else None


def view_of(output: Output) -> AnyArray | None:
    """The elements of a Constant, or of a part of one that is contiguous, without a copy; None for any other output.

    The array keeps the Constant, whose memory it is, and passes for writeable, as what a Constant shares has to.
    """
    node, dims = output.get_node(), static_dims(output)
    if dims is None or 0 in dims or numpy_dtype(output.get_element_type()) is None:
        return None
    if isinstance(node, Constant):
        return np.asarray(_Elements(node))
    kind = node.get_type_name()
    is_split = kind == "VariadicSplit" and number_of(node.input_value(1)) == 0
    whole = view_of(node.input_value(0)) if is_split or kind == "Reshape" else None
    if whole is None or not is_split:
        return None if whole is None else whole.reshape(dims)
    begin = sum(part.get_shape()[0] for part in node.outputs()[: output.get_index()])
    return whole[begin : begin + dims[0]]


class _Elements:
    """The memory of a Constant, for NumPy."""

    def __init__(self, node: Constant) -> None:
        self._node = node
        interface = node.get_data().__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def number_of(output: Output) -> float | None:
    """The value of a Constant of one element, whatever its type and rank; None for any other node."""
    node = output.get_node()
    if not isinstance(node, Constant) or math.prod(node.get_output_shape(0)) != 1:
        return None
    return float(value_of(node).reshape(-1)[0])


def ints_of(output: Output) -> list[int] | None:
    """The values of an integer Constant; None for any other node."""
    value = constant_of(output)
    return None if value is None else integers(value)


def integers(array: AnyArray) -> list[int] | None:
    """The elements of an array of integers; None for any other."""
    return array.ravel().tolist() if array.dtype.kind in "iu" else None


def is_zero(value: Output) -> bool:
    """Whether a tensor is a Constant of zeros, of 16 MB at most."""
    shape = value.get_partial_shape()
    if shape.is_dynamic or value.get_node().get_type_name() != "Constant" or value.get_tensor().size > _MAX_BYTES:
        return False
    array = constant_of(value)
    return array is not None and not array.any()
