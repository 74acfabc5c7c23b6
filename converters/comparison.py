"""Comparisons.

Paddle: `equal`, `not_equal`, `less_than`, `less_equal`, `greater_than`, `greater_equal`, `equal_all`, `allclose`,
`isclose`.
Semantics: `paddle/phi/kernels/funcs/compare_functors.h`, `paddle/phi/kernels/cpu/{allclose,isclose}_kernel.cc`.

Floats that differ by less than 1e-15 are equal, in Paddle 2 by less than 1e-8; those of 16 bits if they are the same.
Refused: complex numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, both_with_exact_division, cast_to, const
from paddle2ov.converters.graph.dims import scalar_of
from paddle2ov.converters.graph.equality import equal_within, tolerance_of
from paddle2ov.converters.graph.exact import exact_greater, exact_greater_equal, exact_less, exact_less_equal
from paddle2ov.converters.graph.operands import operands
from paddle2ov.converters.graph.reshaping import scalar_as_declared
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


def _everywhere(x: Tensor) -> Node:
    rank = len(output_of(x).get_partial_shape())
    return ops.reduce_logical_and(x, ints(list(range(rank))), False)


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
    return {"out": scalar_as_declared(node, _everywhere(_close(node)))}
