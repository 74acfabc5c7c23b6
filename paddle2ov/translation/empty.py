"""Tensors that are known to have no elements.

OpenVINO's CPU plugin (2026.4) often fails to compile operators on them, and sometimes crashes; a dimension that is 0
only at run time does no harm. Results without elements become constants, and the operators that compute them are not
part of the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
from openvino import Node, Output

from paddle2ov.graph.shapes import output_of, static_dims
from paddle2ov.graph.types import OV_TYPES, WITHOUT_NUMPY, numpy_dtype
from paddle2ov.graph.values import ConstantValue, EmptyTensorArray, Value, unmarked
from paddle2ov.program.dtypes import STORAGE
from paddle2ov.program.model import Operator, Variable
from paddle2ov.typing import known


def declared_empty(variables: Mapping[str, Variable]) -> frozenset[str]:
    """The variables that the program declares without elements, in a static shape."""
    return frozenset(
        name
        for name, variable in variables.items()
        if variable.shape
        and 0 in variable.shape
        and min(variable.shape) == 0
        and not variable.is_array
        and variable.dtype in OV_TYPES
    )


def is_empty(value: Value | None) -> bool:
    """Whether a value is known to have no elements."""
    return value is not None and 0 in (_dims(value) or ())


def results_without_elements(
    operator: Operator,
    inputs: Mapping[str, Sequence[Value | None]],
    variables: Mapping[str, Variable],
    used: Set[str],
    empty: frozenset[str],
) -> dict[str, list[ConstantValue]]:
    """The results of an operator if the program declares them without elements, and the inputs are as declared."""
    if not all(name in empty for name in operator.output_names() if name in used):
        return {}
    for port, values in inputs.items():
        for name, value in zip(operator.inputs[port], values, strict=True):
            declared = variables.get(name)
            if value is not None and _dims(value) != (declared and declared.real_shape):
                return {}
    return {
        port: [_empty_constant(variables[name]) for name in names]
        for port, names in operator.outputs.items()
        if names and all(name in empty for name in names)
    }


def constant_if_empty(value: Any, instead: ConstantValue | None = None) -> Any:
    """A converter's result, as a constant if it is a tensor that has no elements.

    Args:
        value: the result, which may be any object.
        instead: the constant that the program declares; its type is not used, as Paddle sometimes declares it wrongly.
    """
    if not isinstance(value, Node | Output):
        return value
    output = output_of(value)
    ov_type, dims = output.get_element_type(), _dims(output)
    if dims is None or 0 not in dims:
        if instead is None:
            return value
        dims = known(_dims(instead))
    storage = numpy_dtype(ov_type)
    if storage is not None:
        return ConstantValue(np.empty(dims, storage))
    dtype = next((name for name in WITHOUT_NUMPY if OV_TYPES[name] == ov_type), None)
    return value if dtype is None else ConstantValue(np.empty(dims, STORAGE[dtype]), dtype)


def _empty_constant(variable: Variable) -> ConstantValue:
    dtype = known(variable.dtype)
    array = np.empty(variable.shape or (), STORAGE[dtype])
    return ConstantValue(array, dtype if dtype in WITHOUT_NUMPY else None)


def _dims(value: Value) -> tuple[int, ...] | None:
    """The dimensions, with the last one of 2 for complex numbers."""
    value = unmarked(value)
    if isinstance(value, EmptyTensorArray):
        return None
    if isinstance(value, ConstantValue):
        return (*value.array.shape, 2) if value.array.dtype.kind == "c" else value.array.shape
    dims = static_dims(value)
    return None if dims is None else tuple(dims)
