"""Angles and signs.

Paddle: `atan2`, `angle`, `copysign`.
Semantics: `paddle/phi/kernels/impl/{atan2,angle}_kernel_impl.h`, `paddle/phi/kernels/funcs/elementwise_functor.h`.
"""

from __future__ import annotations

import math

from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import (
    Tensor,
    as_declared_float,
    as_float,
    cast_to,
    const,
    const_like,
    widen_narrow_integers,
)
from paddle2ov.converters.graph.dims import shape_of
from paddle2ov.converters.graph.operands import operands
from paddle2ov.converters.graph.terms import Term, abs_, atan, is_inf, isnan, maximum, minimum, select
from paddle2ov.graph.complex_pairs import real_imag
from paddle2ov.graph.opset import ops
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def atan2(node: NodeContext) -> NamedOutputs:
    """out = the angle of the point (y, x) of the plane: arctan(x / y) in the right quadrant."""
    x, y = as_float(node, node.get_input("x")), as_float(node, node.get_input("y"))
    return {"out": angle_of(x, y)}


def angle_of(x: Tensor, y: Tensor) -> Output:
    """The angle of the point (y, x) of the plane, as C++ has it: signed zeros and infinities count."""
    # arctan of the smaller leg over the larger one, then mirrored: no division by zero but for the origin.
    rise, run = Term(x), Term(y)
    tall, wide = abs_(rise), abs_(run)
    larger = maximum(tall, wide)
    ratio = minimum(tall, wide) / select(larger.equals(0), 1, larger)
    first = atan(select(is_inf(tall) & is_inf(wide), 1, ratio))
    octant = select(tall > wide, math.pi / 2 - first, first)
    half = select(Term(is_negative(y)), math.pi - octant, octant)
    unknown = isnan(rise) | isnan(run)  # maxima and minima drop it
    return select(unknown, math.nan, select(Term(is_negative(x)), -half, half)).value


def angle(node: NodeContext) -> NamedOutputs:
    """out = the angle of x in the complex plane; of real numbers 0 or, where negative, π."""
    x = node.get_input("x")
    if node.is_complex("x"):
        real_part, imaginary = real_imag(x)
        return {"out": angle_of(imaginary, real_part)}
    x = as_float(node, x)
    phase = ops.select(ops.less(x, const_like(0, x)), const_like(math.pi, x), const_like(0, x))
    return {"out": ops.select(ops.is_nan(x), x, phase)}


def copysign(node: NodeContext) -> NamedOutputs:
    """out = |x| with the sign of y; -0 is negative."""
    x, y = (as_declared_float(node, operand) for operand in operands(node))
    kind = x.get_element_type()
    if kind == Type.boolean:
        return {"out": ops.broadcast(x, shape_of(y), broadcast_spec="BIDIRECTIONAL")}
    if not kind.is_real():  # a Select passes integers through float32
        size = ops.abs(widen_narrow_integers(x))
        turn = ops.convert(ops.less(widen_narrow_integers(y), const_like(0, size)), size.get_element_type())
        sign = ops.subtract(const_like(1, size), ops.multiply(turn, const_like(2, size)))
        return {"out": cast_to(ops.multiply(size, sign), kind)}
    size = ops.abs(x)
    minus = ops.negative(size)
    return {"out": ops.select(is_negative(y), minus, size)}


def is_negative(x: Tensor) -> Node:
    """Whether the sign bit is set, also that of -0."""
    dtype = x.get_element_type()
    # 1 / -0 = -inf
    inverse = ops.divide(const(1, dtype), x)
    return ops.logical_or(ops.less(x, const(0, dtype)), ops.less(inverse, const(0, dtype)))
