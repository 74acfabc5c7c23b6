"""Arithmetic of whole numbers in the graph that stays exact, in whatever precision OpenVINO computes floats."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.graph.opset import ops

Number: TypeAlias = Output | Node


def int_divmod(x: Number, h: Number) -> tuple[Number, Number]:
    """Quotient and remainder of whole numbers (i32) that are not negative; the quotient is below 2^20.

    The plugin divides integers in single precision, where the quotient may be off by one. Floats in between would be
    rounded to bfloat16 where that is what a model is compiled for.
    """
    guess = ops.divide(x, h)
    rest = ops.subtract(x, ops.multiply(guess, h))
    off = ops.subtract(_number(ops.greater_equal(rest, h)), _number(ops.less(rest, ops.constant(np.int32(0)))))
    return ops.add(guess, off), ops.subtract(rest, ops.multiply(off, h))


def _number(x: Number) -> Node:
    return ops.convert(x, Type.i32)


__all__ = ["Number", "int_divmod"]
