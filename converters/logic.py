"""Comparisons, logical and bitwise operators.

Paddle: `equal`, `not_equal`, `less_than`, `less_equal`, `greater_than`, `greater_equal`, `equal_all`, `allclose`,
`isclose`; `logical_and`, `logical_or`, `logical_xor`, `logical_not`; `bitwise_and`, `bitwise_or`, `bitwise_xor`,
`bitwise_not`, `bitwise_left_shift`, `bitwise_right_shift`.
Semantics: `paddle/phi/kernels/funcs/{compare_functors,logical_functor,bitwise_functors}.h`,
`paddle/phi/kernels/cpu/{allclose,isclose}_kernel.cc`.

Floats that differ by less than 1e-15 are equal, in Paddle 2 by less than 1e-8; those of 16 bits if they are the same.
Refused: comparisons of complex numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import both_with_exact_division, cast_to, const, const_like
from paddle2ov.converters.graph.dims import scalar_of
from paddle2ov.converters.graph.equality import equal_within, tolerance_of
from paddle2ov.converters.graph.exact import exact_greater, exact_greater_equal, exact_less, exact_less_equal
from paddle2ov.converters.graph.operands import operands
from paddle2ov.converters.graph.reshaping import scalar_as_declared
from paddle2ov.converters.graph.selection import exact_select
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.translation.node_context import Converter, NamedOutputs, NodeContext


def compare(build: Callable[[Output, Output], Node]) -> Converter:
    """A converter for out = build(x, y), a bool tensor."""

    def convert(node: NodeContext) -> NamedOutputs:
        """out = whether x op y, broadcast."""
        x, y = operands(node)
        if x.get_element_type() == Type.boolean:
            x, y = (ops.convert(value, Type.u8).output(0) for value in (x, y))
        if x.get_element_type().is_real():
            x, y = both_with_exact_division(x, y)
        return {"out": build(x, y)}

    return convert


less_than = compare(exact_less)
less_equal = compare(exact_less_equal)
greater_than = compare(exact_greater)
greater_equal = compare(exact_greater_equal)


def equal(node: NodeContext) -> NamedOutputs:
    """out = whether x and y, broadcast, are equal: floats within a tolerance."""
    return compare(partial(equal_within, tolerance=tolerance_of(node)))(node)


def not_equal(node: NodeContext) -> NamedOutputs:
    """out = whether x and y, broadcast, are not equal: floats by no less than a tolerance."""
    tolerance = tolerance_of(node)
    return compare(lambda x, y: ops.logical_not(equal_within(x, y, tolerance)))(node)


def equal_all(node: NodeContext) -> NamedOutputs:
    """out = whether x and y have the same shape and are equal everywhere."""
    x, y = operands(node)
    shapes = x.get_partial_shape(), y.get_partial_shape()
    if shapes[0].rank != shapes[1].rank or not shapes[0].compatible(shapes[1]):
        return {"out": const(False, Type.boolean)}
    if x.get_element_type() == Type.boolean:
        x, y = (ops.convert(value, Type.u8).output(0) for value in (x, y))
    # Where the shapes differ, y is padded or cut to the size of x to keep the comparison well-formed.
    same_shape = ops.reduce_logical_and(ops.equal(ops.shape_of(x), ops.shape_of(y)), ints([0]), False)
    flat_x, flat_y = (ops.reshape(value, ints([-1]), False) for value in (x, y))
    size = ops.shape_of(flat_x)
    fitting = ops.slice(ops.concat([flat_y, flat_x], 0), ints([0]), size, ints([1]))
    same = ops.reduce_logical_and(
        equal_within(flat_x.output(0), fitting.output(0), tolerance_of(node)), ints([0]), False
    )
    return {"out": ops.logical_and(same_shape, same)}


def _close(node: NodeContext) -> Node:
    x, y = operands(node)
    dtype = x.get_element_type() if x.get_element_type().is_real() else Type.f32
    x, y = (output_of(cast_to(value, dtype)) for value in (x, y))
    rtol = scalar_of(node, "rtol", dtype, 1e-5)
    atol = scalar_of(node, "atol", dtype, 1e-8)
    bound = ops.add(atol, ops.multiply(rtol, ops.abs(y)))
    # As in Paddle, everything but NaN is close to an infinite y: the bound is infinite as well.
    result = ops.logical_or(ops.equal(x, y), ops.less_equal(ops.abs(ops.subtract(x, y)), bound))
    if node.get_bool("equal_nan", False):
        result = ops.logical_or(result, ops.logical_and(ops.is_nan(x), ops.is_nan(y)))
    return result


def isclose(node: NodeContext) -> NamedOutputs:
    """out = whether |x - y| <= atol + rtol · |y|, or both are NaN and equal_nan says so."""
    return {"out": _close(node)}


def allclose(node: NodeContext) -> NamedOutputs:
    """out = whether isclose holds everywhere."""
    close = _close(node)
    axes = list(range(len(close.get_output_partial_shape(0))))
    return {"out": scalar_as_declared(node, ops.reduce_logical_and(close, ints(axes), False))}


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
