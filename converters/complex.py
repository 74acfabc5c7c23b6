"""Complex numbers, which are carried as real ones with a last dimension of 2: the real and the imaginary part.

Paddle: `complex`, `real`, `imag`, `conj`, `as_complex`, `as_real`; and the complex forms of `abs`, `cast`, of
`elementwise_add`, `_sub`, `_mul`, `_div`, and of `square`, `reciprocal`, `equal`, `not_equal`. Other functions are in
`complex_functions.py`, and what other operators do with complex numbers is in `complex_rules.py`.
Semantics: `paddle/phi/kernels/funcs/complex_functors.h`, `paddle/phi/kernels/impl/complex_kernel_impl.h`.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.common import const_like, ints, shape_of
from paddle2ov.node_context import NamedOutputs, NodeContext
from paddle2ov.opset import ops
from paddle2ov.pairs import joined, parts


def product(x: Output | Node, y: Output | Node) -> Node:
    """x · y of complex numbers."""
    (a, b), (c, d) = parts(x), parts(y)
    real = ops.subtract(ops.multiply(a, c), ops.multiply(b, d))
    return joined(real, ops.add(ops.multiply(a, d), ops.multiply(b, c)))


def conjugate(x: Output | Node) -> Node:
    """x with its imaginary part negated."""
    return ops.multiply(x, ops.constant(np.array([1, -1]), x.get_element_type()))


def quotient(x: Output | Node, y: Output | Node) -> Node:
    """x / y of complex numbers: x · conj(y) / |y|²."""
    size = ops.reduce_sum(ops.multiply(y, y), ints([-1]), True)
    return ops.divide(product(x, conjugate(y)), size)


def inverse_of(x: Output | Node) -> Node:
    """1 / x of complex numbers: conj(x) / |x|²."""
    return ops.divide(conjugate(x), ops.reduce_sum(ops.multiply(x, x), ints([-1]), True))


def complex_(node: NodeContext) -> NamedOutputs:
    """out = real + i · imag, broadcast."""
    real, imag = node.get_input("real"), node.get_input("imag")
    whole = ops.broadcast(real, shape_of(imag), broadcast_spec="BIDIRECTIONAL")
    return {"out": joined(whole, ops.broadcast(imag, shape_of(real), broadcast_spec="BIDIRECTIONAL"))}


def real(node: NodeContext) -> NamedOutputs:
    """out = the real part of x."""
    x = node.get_input("x")
    return {"out": parts(x)[0] if node.is_complex("x") else x}


def imag(node: NodeContext) -> NamedOutputs:
    """out = the imaginary part of x."""
    node.require(node.is_complex("x"), "of a real tensor")
    return {"out": parts(node.get_input("x"))[1]}


def conj(node: NodeContext) -> NamedOutputs:
    """out = x with its imaginary part negated."""
    x = node.get_input("x")
    return {"out": conjugate(x) if node.is_complex("x") else x}


def reinterpret(node: NodeContext) -> NamedOutputs:
    """out = x: pairs of numbers as complex ones, or the reverse."""
    return {"out": node.get_input("x")}


def from_real(x: Output | Node, dtype: Type) -> Node:
    """Real numbers as complex ones."""
    whole = ops.convert(x, dtype)
    return joined(whole, ops.multiply(whole, const_like(0, whole)))


def square(node: NodeContext) -> NamedOutputs:
    """out = x · x."""
    x = node.get_input("x")
    return {"out": product(x, x)}


def reciprocal(node: NodeContext) -> NamedOutputs:
    """out = 1 / x = conj(x) / |x|²."""
    return {"out": inverse_of(node.get_input("x"))}


def equal(node: NodeContext) -> NamedOutputs:
    """out = whether both parts are equal."""
    same = ops.equal(node.get_input("x"), node.get_input("y"))
    return {"out": ops.reduce_logical_and(same, ints([-1]), False)}


def not_equal(node: NodeContext) -> NamedOutputs:
    """out = whether one part differs."""
    differs = ops.not_equal(node.get_input("x"), node.get_input("y"))
    return {"out": ops.reduce_logical_or(differs, ints([-1]), False)}
