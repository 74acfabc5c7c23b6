"""Logical and bitwise operators.

Paddle: `logical_and`, `logical_or`, `logical_xor`, `logical_not`; `bitwise_and`, `bitwise_or`, `bitwise_xor`,
`bitwise_not`, `bitwise_left_shift`, `bitwise_right_shift`.
Semantics: `paddle/phi/kernels/funcs/{logical_functor,bitwise_functors}.h`.
"""

from __future__ import annotations

from collections.abc import Callable

from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import const_like
from paddle2ov.converters.graph.operands import operands
from paddle2ov.converters.graph.selection import exact_select
from paddle2ov.graph.opset import ops
from paddle2ov.translation.node_context import Converter, NamedOutputs, NodeContext

Binary = Callable[[Output, Output], Node]


def as_bool(x: Output) -> Output:
    """Whether x is not 0, as bool; NaN is true."""
    if x.get_element_type() == Type.boolean:
        return x
    return ops.not_equal(x, const_like(0, x)).output(0)


def logical(build: Binary) -> Converter:
    """A converter for out = build(x, y) of x and y as bool."""

    def convert(node: NodeContext) -> NamedOutputs:
        """out = x op y, where everything but 0 is true."""
        x, y = operands(node)
        return {"out": build(as_bool(x), as_bool(y))}

    return convert


logical_and = logical(ops.logical_and)
logical_or = logical(ops.logical_or)
logical_xor = logical(ops.logical_xor)


def logical_not(node: NodeContext) -> NamedOutputs:
    """out = whether x is 0."""
    x = node.get_input("x")
    if x.get_element_type() == Type.boolean:
        return {"out": ops.logical_not(x)}
    return {"out": ops.equal(x, const_like(0, x))}


def bitwise(build: Binary, on_bool: Binary) -> Converter:
    """A converter for out = build(x, y) on the bits of integers; `on_bool` is the same for bool."""

    def convert(node: NodeContext) -> NamedOutputs:
        """out = x op y, bit by bit."""
        x, y = operands(node)
        return {"out": on_bool(x, y) if x.get_element_type() == Type.boolean else build(x, y)}

    return convert


bitwise_and = bitwise(ops.bitwise_and, ops.logical_and)
bitwise_or = bitwise(ops.bitwise_or, ops.logical_or)
bitwise_xor = bitwise(ops.bitwise_xor, ops.logical_xor)


def _bits(x: Output) -> int:
    return int(x.get_element_type().get_size()) * 8


def _shift_within(x: Output, y: Output) -> tuple[Node, Node]:
    """Whether 0 <= y < the number of bits of x, and y where it is, else 0."""
    inside = ops.logical_and(ops.greater_equal(y, const_like(0, y)), ops.less(y, const_like(_bits(x), y)))
    return inside, ops.select(inside, y, const_like(0, y))


def bitwise_left_shift(node: NodeContext) -> NamedOutputs:
    """out = x << y, 0 where y is negative or not less than the number of bits of x."""
    x, y = operands(node)
    inside, shift = _shift_within(x, y)
    return {"out": exact_select(inside, ops.bitwise_left_shift(x, shift), const_like(0, x))}


def bitwise_right_shift(node: NodeContext) -> NamedOutputs:
    """out = x >> y, filled with copies of the sign (arithmetic) or zeros (logical)."""
    x, y = operands(node)
    inside, shift = _shift_within(x, y)
    moved = ops.bitwise_right_shift(x, shift)
    unsigned = x.get_element_type() == Type.u8
    if node.get_bool("is_arithmetic", True):
        # For larger shifts Paddle takes the sign bit alone, and negates it.
        beyond = (
            const_like(0, x)
            if unsigned
            else ops.select(ops.less(x, const_like(0, x)), const_like(-1, x), const_like(0, x))
        )
        return {"out": exact_select(inside, moved, beyond)}
    if not unsigned:
        # The copies of the sign are cleared; a shift by 0 made none.
        free = ops.select(ops.equal(shift, const_like(0, y)), const_like(1, y), shift)
        filled = ops.bitwise_left_shift(const_like(-1, x), ops.subtract(const_like(_bits(x), y), free))
        cleared = ops.bitwise_and(moved, ops.bitwise_not(filled))
        moved = exact_select(ops.equal(shift, const_like(0, y)), x, cleared)
    return {"out": exact_select(inside, moved, const_like(0, x))}


def bitwise_not(node: NodeContext) -> NamedOutputs:
    """out = all bits of x inverted."""
    x = node.get_input("x")
    return {"out": ops.logical_not(x) if x.get_element_type() == Type.boolean else ops.bitwise_not(x)}
