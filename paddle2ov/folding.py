"""Results that are known as soon as the inputs are: arithmetic on shapes and other small constants."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from openvino import Node, Output, Shape, Tensor

from paddle2ov.node_context import Value
from paddle2ov.shapes import static_dims
from paddle2ov.types import Known, numpy_dtype

MOST_ELEMENTS = 64
"""What is larger is left to OpenVINO, which folds constants on compilation: no axis or shape is as long as this."""

_RANDOM = frozenset(("RandomUniform", "Multinomial", "If", "Loop", "TensorIterator"))


def are_small(inputs: Mapping[str, Sequence[Value | None]]) -> bool:
    """Whether an operator's inputs, one at least, are known and small enough to compute with while converting."""
    for values in inputs.values():
        for value in values:
            if value is not None and not (
                isinstance(value, Known) and value.array.size <= MOST_ELEMENTS and value.dtype in _EXACT
            ):
                return False
    return bool(inputs)


def fold(value: Node | Output | Known) -> Node | Output | Known:
    """The value that a graph over constants computes, where OpenVINO can tell and it is small; else itself."""
    if isinstance(value, Known):
        return value
    output = value.output(0) if isinstance(value, Node) else value
    tensor = _evaluate(output, {})
    if tensor is None:
        return value
    return Known(tensor.data.copy())


_EXACT = frozenset((None, "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"))

_Results = dict[tuple[str, int], Tensor | None]


def _evaluate(output: Output, done: _Results) -> Tensor | None:
    node = output.get_node()
    key = (node.get_name(), output.get_index())
    if key not in done:
        done |= _outputs(node, done)
    return done.get(key)


def _outputs(node: Node, done: _Results) -> Mapping[tuple[str, int], Tensor | None]:
    outputs = node.outputs()
    unknown: _Results = {(node.get_name(), i): None for i in range(len(outputs))}
    small = all(
        numpy_dtype(one.get_element_type()) is not None
        and (dims := static_dims(one)) is not None
        and math.prod(dims) <= MOST_ELEMENTS
        for one in outputs
    )
    if not small or node.get_type_name() in _RANDOM:
        return unknown
    if node.get_type_name() == "Constant":
        return {(node.get_name(), 0): Tensor(node.get_data())}
    inputs = [_evaluate(source.get_source_output(), done) for source in node.inputs()]
    if not inputs or any(one is None for one in inputs):
        return unknown
    results = [Tensor(one.get_element_type(), Shape(one.get_shape())) for one in outputs]
    if not node.evaluate(results, inputs):
        return unknown
    return {(node.get_name(), i): result for i, result in enumerate(results)}


__all__ = ["MOST_ELEMENTS", "are_small", "fold"]
