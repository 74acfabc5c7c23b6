"""Constants that are computed from others, reshaped, or made of arrays that are large."""

from __future__ import annotations

import math
from collections.abc import Sequence

from openvino import Node, Output, Shape, Tensor, Type
from openvino.op import Constant

from paddle2ov.graph import arrays
from paddle2ov.graph.constants import constant_of
from paddle2ov.graph.evaluation import evaluate_node
from paddle2ov.graph.shapes import static_dims
from paddle2ov.graph.types import numpy_dtype
from paddle2ov.typing import AnyArray

_COMPUTED = frozenset(("Broadcast", "Concat", "Convert", "Multiply", "Reshape", "Squeeze", "Transpose", "Unsqueeze"))
_MAX_COMPUTED, _MAX_DEPTH = 1 << 14, 4  # elements, and nodes one above the other


def computed_constant_of(output: Output) -> AnyArray | None:
    """The value of a Constant, or of a few nodes over constants if it is as small as a bias; else None."""
    tensor = _computed(output, _MAX_DEPTH) if output.get_node().get_type_name() != "Constant" else None
    return constant_of(output) if tensor is None else tensor.data.copy()


def _computed(output: Output, depth: int) -> Tensor | None:
    node = output.get_node()
    if isinstance(node, Constant):
        return node.get_tensor_view()
    dims = static_dims(output) if depth and node.get_type_name() in _COMPUTED else None
    if dims is None or math.prod(dims) > _MAX_COMPUTED:
        return None
    inputs = [_computed(value, depth - 1) for value in node.input_values()]
    known = [input_ for input_ in inputs if input_ is not None]
    results = evaluate_node(node, known) if len(known) == len(inputs) else None
    return None if results is None else results[output.get_index()]


def reshaped_constant(constant: Output, shape: Sequence[int]) -> Output:
    """A Constant with the same elements in another shape; of any type, those that NumPy lacks included."""
    node = constant.get_node()
    assert isinstance(node, Constant)
    tensor = Tensor(arrays.copied(node.get_data()), Shape(list(shape)), constant.get_element_type())
    return Constant(tensor, shared_memory=False).output(0)


def large_constant(array: AnyArray, element_type: Type) -> Node:
    """A Constant that shares the memory of an array, if that is writeable (OpenVINO insists); else it copies.

    Elements of a type that NumPy lacks are copied: the node would not keep their memory alive.
    """
    if numpy_dtype(element_type) is None:
        return Constant(Tensor(array, Shape(array.shape), element_type), shared_memory=False)
    return Constant(array if array.flags.writeable else array.copy(), shared_memory=True)
