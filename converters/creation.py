"""Tensors out of nothing: constants.

Paddle: `fill_constant` (PIR `full`), `full_int_array`.
Semantics: `paddle/phi/kernels/cpu/full_kernel.cc`, `paddle/phi/kernels/full_kernel.h`.
"""

from __future__ import annotations

import numpy as np
from openvino import Type

from paddle2ov.converters.common import cast_to
from paddle2ov.node_context import NamedOutputs, NodeContext
from paddle2ov.opset import ops
from paddle2ov.types import Known, numpy_dtype


def fill_constant(node: NodeContext) -> NamedOutputs:
    """out = a tensor of `shape` that holds `value` everywhere; the shape and the value may be tensors."""
    dtype = node.get_dtype("dtype", Type.f32)
    assert dtype is not None
    value_name = "value"
    text = node.get_attribute("str_value", "") if not node.has_input("value") else ""
    if node.is_known("shape") and node.is_known(value_name) and (storage := numpy_dtype(dtype)) is not None:
        value = _parse(text) if text else node.get_constant(value_name, 0.0).reshape(-1)[0]
        return {"out": Known(np.full(node.get_ints("shape"), value, storage))}
    value = ops.constant(np.asarray(_parse(text)), dtype) if text else node.get_tensor(value_name, dtype, 0.0)
    scalar = ops.reshape(cast_to(value, dtype), np.array([], np.int64), False)
    return {"out": ops.broadcast(scalar, node.get_tensor("shape", Type.i64))}


def full_int_array(node: NodeContext) -> NamedOutputs:
    """out = the 1-D tensor that holds the attribute `value`."""
    dtype = node.get_dtype("dtype", Type.i64)
    storage = numpy_dtype(dtype) if dtype is not None else None
    return {"out": Known(np.asarray(node.get_attribute("value"), storage or np.int64).reshape(-1))}


def _parse(text: str) -> float | int:
    # Legacy programs write the value as text as well, which keeps integers beyond the precision of a float exact.
    try:
        return int(text)
    except ValueError:
        return float(text)
