"""Constant folding during conversion: arithmetic on shapes and other small constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.graph.evaluation import evaluate
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.values import ConstantValue, EmptyTensorArray, PlainValue, Value, unmarked

MAX_FOLDED_ELEMENTS = 64
"""Larger constants are left to OpenVINO, which folds them on compilation. Lists of axes and shapes are shorter."""

MAX_DOUBLES = 1 << 16
"""The same for float64, which OpenVINO's CPU plugin computes as float32: inverting the matrix of a thin-plate spline,
for example, would lose half of its digits.
"""

_EXACT = frozenset((None, "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"))
"""Types that NumPy has; None for a constant whose array has the type itself."""


def are_foldable(inputs: Mapping[str, Sequence[Value | None]]) -> bool:
    """Whether all inputs of an operator, if it has any, are constants small enough to fold during conversion."""
    constants: list[ConstantValue] = []
    for values in inputs.values():
        for value in values:
            if value is None:
                continue
            known = unmarked(value)
            if not isinstance(known, ConstantValue) or known.dtype not in _EXACT:
                return False
            constants.append(known)
    most = MAX_DOUBLES if any(constant.array.dtype == np.float64 for constant in constants) else MAX_FOLDED_ELEMENTS
    return all(constant.array.size <= most for constant in constants)


def fold(value: Node | PlainValue) -> Node | PlainValue:
    """The constant that a subgraph of constants computes, if it is small and safe to evaluate; else the value.

    Quantized weights are not folded: OpenVINO computes in int8 where it sees their ranges or scales.
    """
    if isinstance(value, ConstantValue | EmptyTensorArray):
        return value
    output = output_of(value)
    if _is_quantized(output):
        return value
    array = evaluate(output, MAX_FOLDED_ELEMENTS, MAX_DOUBLES)
    return value if array is None else ConstantValue(array)


def _is_quantized(output: Output) -> bool:
    node, rank = output.get_node(), output.get_partial_shape().rank
    if rank.is_static and rank.get_length() < 2:
        return False
    if node.get_type_name() == "Multiply":
        source = node.input_value(0).get_node()
        return bool(source.get_type_name() == "Convert" and source.get_input_element_type(0) == Type.i8)
    return bool(node.get_type_name() == "FakeQuantize")
