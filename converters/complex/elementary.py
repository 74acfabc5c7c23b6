"""Complex numbers, which are carried as real ones with a last dimension of 2: the real and the imaginary part.

Paddle: `complex`, `real`, `imag`, `conj`, `as_complex`, `as_real`.
Complex forms: `elementwise_mod`, `equal`, `not_equal`, `less_than`, `less_equal`, `greater_than`, `greater_equal`,
`isclose`.
Elsewhere: `elementwise.py` uses the products and quotients below; other functions are in `functions.py`; matrices, in
`linalg/`; what other operators do with complex numbers, in `rules.py`.
Semantics: `paddle/phi/kernels/funcs/{complex,compare,elementwise}_functor*.h`,
`paddle/phi/kernels/impl/{complex,isclose}_kernel_impl.h`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from openvino import Node, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const_like
from paddle2ov.converters.graph.dims import scalar_of, shape_of
from paddle2ov.converters.graph.equality import equal_within, tolerance_of
from paddle2ov.converters.graph.exact import round_half_away
from paddle2ov.graph.complex_pairs import make_complex, real_imag
from paddle2ov.graph.elementary import hypot
from paddle2ov.graph.opset import ints, ops
from paddle2ov.translation.node_context import Converter, NamedOutputs, NodeContext

Pair: TypeAlias = tuple[Tensor, Tensor]
"""The real and the imaginary part."""


def multiply_pairs(x: Pair, y: Pair) -> tuple[Node, Node]:
    """x · y of numbers given as (real, imaginary)."""
    (a, b), (c, d) = x, y
    real = ops.subtract(ops.multiply(a, c), ops.multiply(b, d))
    return real, ops.add(ops.multiply(a, d), ops.multiply(b, c))


def complex_multiply(x: Tensor, y: Tensor) -> Node:
    """x · y of complex numbers."""
    return make_complex(*multiply_pairs(real_imag(x), real_imag(y)))


def conjugate(x: Tensor) -> Node:
    """x with its imaginary part negated."""
    return ops.multiply(x, ops.constant(np.array([1, -1]), x.get_element_type()))


def complex_divide(x: Tensor, y: Tensor) -> Node:
    """x / y of complex numbers: x · conj(y) / |y|², y scaled to where its square is finite and not 0."""
    y, size = _normalized(y)
    squares = ops.reduce_sum(ops.multiply(y, y), ints([-1]), True)
    return ops.divide(ops.divide(complex_multiply(x, conjugate(y)), squares), size)


def complex_reciprocal(x: Tensor) -> Node:
    """1 / x of complex numbers: conj(x) / |x|², x scaled to where its square is finite and not 0."""
    x, size = _normalized(x)
    return ops.divide(ops.divide(conjugate(x), ops.reduce_sum(ops.multiply(x, x), ints([-1]), True)), size)


def _normalized(x: Tensor) -> tuple[Node, Node]:
    """x divided by the larger magnitude of its parts, and that magnitude (1 for x = 0)."""
    size = ops.reduce_max(ops.abs(x), ints([-1]), True)
    size = ops.select(ops.equal(size, const_like(0, x)), const_like(1, x), size)
    return ops.divide(x, size), size


def complex_(node: NodeContext) -> NamedOutputs:
    """out = real + i · imag, broadcast."""
    real, imag = node.get_input("real"), node.get_input("imag")
    re = ops.broadcast(real, shape_of(imag), broadcast_spec="BIDIRECTIONAL")
    return {"out": make_complex(re, ops.broadcast(imag, shape_of(real), broadcast_spec="BIDIRECTIONAL"))}


def real(node: NodeContext) -> NamedOutputs:
    """out = the real part of x."""
    x = node.get_input("x")
    return {"out": real_imag(x)[0] if node.is_complex("x") else x}


def imag(node: NodeContext) -> NamedOutputs:
    """out = the imaginary part of x."""
    node.require(node.is_complex("x"), "of a real tensor")
    return {"out": real_imag(node.get_input("x"))[1]}


def conj(node: NodeContext) -> NamedOutputs:
    """out = x with its imaginary part negated."""
    x = node.get_input("x")
    return {"out": conjugate(x) if node.is_complex("x") else x}


def reinterpret(node: NodeContext) -> NamedOutputs:
    """out = x, which holds pairs of real numbers either way."""
    return {"out": node.get_input("x")}


def from_real(x: Tensor, dtype: Type | None = None) -> Node:
    """Real numbers as complex ones, whose parts have the given type."""
    re = cast_to(x, dtype)
    return make_complex(re, ops.broadcast(const_like(0, re), shape_of(re)))  # a product with 0 makes NaN of infinity


def equal(node: NodeContext) -> NamedOutputs:
    """out = whether both parts are equal: within a tolerance, but in Paddle 2."""
    return {"out": _equal(node)}


def not_equal(node: NodeContext) -> NamedOutputs:
    """out = whether one part differs: by no less than a tolerance, but in Paddle 2."""
    return {"out": ops.logical_not(_equal(node))}


def _equal(node: NodeContext) -> Node:
    x, y = node.get_input("x"), node.get_input("y")
    same = ops.equal(x, y) if node.semantics.coarse_equality else equal_within(x, y, tolerance_of(node))
    return ops.reduce_logical_and(same, ints([-1]), False)


def comparison(compare: Callable[..., Node], or_equal: bool) -> Converter:
    """A converter: whether x comes before y by its real part or, where those are equal, by its imaginary part."""

    def convert(node: NodeContext) -> NamedOutputs:
        """out = whether x is less (or greater) than y."""
        (a, b), (c, d) = real_imag(node.get_input("x")), real_imag(node.get_input("y"))
        decided = compare(a, c)
        tie = ops.logical_and(ops.equal(a, c), compare(b, d))
        if or_equal:
            tie = ops.logical_or(tie, ops.logical_and(ops.equal(a, c), ops.equal(b, d)))
        # False if any part is NaN, also where the other parts would decide.
        no_nan = ops.logical_and(ops.equal(b, b), ops.equal(d, d))
        return {"out": ops.logical_and(ops.logical_or(decided, tie), no_nan)}

    return convert


greater_equal = comparison(ops.greater, or_equal=True)
greater_than = comparison(ops.greater, or_equal=False)
less_equal = comparison(ops.less, or_equal=True)
less_than = comparison(ops.less, or_equal=False)


def isclose(node: NodeContext) -> NamedOutputs:
    """out = whether |x - y| <= atol + rtol · |y|; true, as in Paddle, where x or y is NaN."""
    x, y = node.get_input("x"), node.get_input("y")
    dtype = x.get_element_type()
    rtol, atol = (scalar_of(node, name, dtype, default) for name, default in (("rtol", 1e-5), ("atol", 1e-8)))
    apart, size = (hypot(*real_imag(value)) for value in (ops.subtract(x, y), y))
    close = ops.less_equal(apart, ops.add(atol, ops.multiply(rtol, size)))
    unknown = ops.reduce_logical_or(ops.is_nan(ops.add(x, y)), ints([-1]), False)
    return {"out": ops.logical_or(close, unknown)}


def remainder(node: NodeContext) -> NamedOutputs:
    """out = x - y · (x / y with both parts rounded, halves away from zero)."""
    x, y = node.get_input("x"), node.get_input("y")
    rounded = round_half_away(complex_divide(x, y))
    return {"out": ops.subtract(x, complex_multiply(y, rounded))}
