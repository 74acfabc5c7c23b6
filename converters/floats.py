"""Neighbouring floating-point numbers and rounding to integers.

Paddle: `nextafter`, `rint` (PIR only).
Semantics: `paddle/phi/kernels/impl/nextafter_kernel_impl.h` (C's `nextafter`), C's `rint`.
Refused: nextafter of float64, which OpenVINO's CPU plugin computes as float32, and of integers, for whose result Paddle
declares a wrong type. Denormal numbers, such as the neighbours of 0, may come out as 0.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Type

from paddle2ov.converters.graph.common import const
from paddle2ov.graph.opset import ops
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

_HALF_ULP = 2.0**-24 * (1 + 2.0**-23)
"""Times |x|: more than half an ulp in either direction, and less than what rounds to the neighbour after the next."""


def nextafter(node: NodeContext) -> NamedOutputs:
    """out = the float32 next to x in the direction of y; y where they are equal, NaN where either is."""
    x, y = node.get_input("x"), node.get_input("y")
    node.require(x.get_element_type() == Type.f32, f"{x.get_element_type()} is not supported")

    def number(value: float) -> Node:
        return const(value, Type.f32)

    side = ops.select(ops.less(x, y), number(1), number(-1))
    moved = ops.add(x, ops.multiply(side, ops.multiply(ops.abs(x), number(_HALF_ULP))))
    from_zero = ops.select(ops.greater(y, x), number(1.4e-45), number(-1.4e-45))
    moved = ops.select(ops.equal(x, number(0)), from_zero, moved)
    largest = number(float(np.finfo(np.float32).max))
    moved = ops.select(ops.is_inf(x), ops.multiply(ops.sign(x), largest), moved)
    out = ops.select(ops.equal(x, y), y, moved)
    return {"out": ops.select(ops.logical_or(ops.is_nan(x), ops.is_nan(y)), number(np.nan), out)}


def rint(node: NodeContext) -> NamedOutputs:
    """out = the nearest integer, the even one of two."""
    return {"out": ops.round(node.get_input("x"), "half_to_even")}
