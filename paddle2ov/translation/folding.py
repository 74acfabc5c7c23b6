"""Constant folding during conversion: arithmetic on shapes and other small constants."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from openvino import Node, Output, Shape, Tensor, Type
from openvino.op import Constant

from paddle2ov.graph.shapes import static_dims
from paddle2ov.graph.types import numpy_dtype
from paddle2ov.graph.values import ConstantValue, EmptyTensorArray, PlainValue, Value, unmarked
from paddle2ov.program.model import AnyArray

MOST_ELEMENTS = 64
"""Larger constants are left to OpenVINO, which folds them on compilation: lists of axes and shapes are shorter."""

_MOST_DOUBLES = 1 << 16
"""The same for float64, which OpenVINO's CPU plugin computes as float32: inverting the matrix of a thin-plate spline,
for example, would lose half of its digits.
"""

_NEVER_FOLDED = frozenset(("RandomUniform", "Multinomial", "If", "Loop", "TensorIterator"))


def are_foldable(inputs: Mapping[str, Sequence[Value | None]]) -> bool:
    """Whether an operator has inputs, and all are constants small enough to fold during conversion."""
    constants: list[ConstantValue] = []
    for values in inputs.values():
        for value in values:
            if value is None:
                continue
            if isinstance(value, Output):
                return False
            known = unmarked(value)
            if not isinstance(known, ConstantValue) or known.dtype not in _EXACT:
                return False
            constants.append(known)
    most = _MOST_DOUBLES if any(one.array.dtype == np.float64 for one in constants) else MOST_ELEMENTS
    return bool(inputs) and all(one.array.size <= most for one in constants)


def fold(value: Node | PlainValue) -> Node | PlainValue:
    """The constant that a subgraph of constants computes, if it is small and can be evaluated; else the value."""
    if isinstance(value, ConstantValue | EmptyTensorArray):
        return value
    output = value.output(0) if isinstance(value, Node) else value
    tensor = _evaluate(output, {})
    if tensor is None:
        return value
    return ConstantValue(tensor.data.copy())


_DOUBLES: Mapping[str, Callable[..., Any]] = {
    "Abs": np.abs,
    "Add": np.add,
    "Cos": np.cos,
    "Divide": np.divide,
    "Exp": np.exp,
    "Log": np.log,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "Multiply": np.multiply,
    "Negative": np.negative,
    "Power": np.power,
    "Sin": np.sin,
    "Sqrt": np.sqrt,
    "Subtract": np.subtract,
    "Tanh": np.tanh,
}
"""Operations that OpenVINO does not evaluate in float64."""


def _reduced(node: Node, x: AnyArray, axes: AnyArray) -> AnyArray | None:
    keepdims = bool(node.get_attributes()["keep_dims"])
    axis = tuple(int(one) for one in axes.reshape(-1))
    if node.get_type_name() == "ReduceSum":
        return np.asarray(x.sum(axis, keepdims=keepdims))
    if node.get_type_name() == "ReduceL2":
        return np.asarray(np.sqrt((x * x).sum(axis, keepdims=keepdims)))
    return None


def _in_doubles(node: Node, inputs: Sequence[AnyArray]) -> AnyArray | None:
    """The result of a node in float64, or None if it is not supported."""
    with np.errstate(all="ignore"):
        if node.get_type_name() in _DOUBLES:
            return np.asarray(_DOUBLES[node.get_type_name()](*inputs))
        return _reduced(node, *inputs) if node.get_type_name() in ("ReduceSum", "ReduceL2") else None


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
        and math.prod(dims) <= (_MOST_DOUBLES if one.get_element_type() == Type.f64 else MOST_ELEMENTS)
        for one in outputs
    )
    if not small or node.get_type_name() in _NEVER_FOLDED:
        return unknown
    if isinstance(node, Constant):
        return {(node.get_name(), 0): Tensor(node.get_data())}
    inputs = [_evaluate(source.get_source_output(), done) for source in node.inputs()]
    if not inputs or any(one is None for one in inputs):
        return unknown
    if outputs[0].get_element_type() == Type.f64:
        found = _in_doubles(node, [one.data for one in inputs if one is not None])
        if found is not None:
            return {(node.get_name(), 0): Tensor(found)}
    results = [Tensor(one.get_element_type(), Shape(one.get_shape())) for one in outputs]
    if not node.evaluate(results, inputs):
        return unknown
    return {(node.get_name(), i): result for i, result in enumerate(results)}


__all__ = ["MOST_ELEMENTS", "are_foldable", "fold"]
