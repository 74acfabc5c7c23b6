"""Integer arithmetic in the graph that is exact, in whatever precision OpenVINO computes floats."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around

Number: TypeAlias = Output | Node


@works_around("integer_division_in_float32")
def int_divmod(x: Number, y: Number) -> tuple[Number, Number]:
    """Quotient and remainder of x / y, for i32 that are not negative and a quotient below 2^20.

    The CPU plugin divides integers in single precision, so that the quotient may be off by one. The correction stays in
    integers: floats would be rounded to bfloat16 in a model that is compiled for it.
    """
    quotient = ops.divide(x, y)
    remainder = ops.subtract(x, ops.multiply(quotient, y))
    too_small, too_large = ops.greater_equal(remainder, y), ops.less(remainder, ops.constant(np.int32(0)))
    off = ops.subtract(ops.convert(too_small, Type.i32), ops.convert(too_large, Type.i32))
    return ops.add(quotient, off), ops.subtract(remainder, ops.multiply(off, y))
