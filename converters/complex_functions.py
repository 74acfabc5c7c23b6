"""Functions of complex numbers, element by element, and tensors filled with them.

Paddle: the complex forms of `sin`, `cos`, `tan`, `sinh`, `cosh`, `tanh`, `exp`, `log`, `log2`, `log10`, `log1p`,
`expm1`, `sqrt`, `sigmoid`, `silu`, `elementwise_pow`, `isnan_v2`, `isinf_v2`, `isfinite_v2`, `assign_value`.
Semantics: `paddle/phi/kernels/funcs/activation_functor.h`, `paddle/phi/kernels/funcs/elementwise_functor.h`,
`paddle/phi/kernels/impl/isfinite_kernel_impl.h`.
Not supported: overflow on the way to a result that is finite, as of sinh(100 + i) / cosh(100 + i).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.angles import angle_of
from paddle2ov.converters.common import const_like, ints
from paddle2ov.converters.complex import inverse_of, product, quotient
from paddle2ov.node_context import NamedOutputs, NodeContext
from paddle2ov.opset import ops
from paddle2ov.pairs import joined, parts
from paddle2ov.registry import Converter

Tensor: TypeAlias = Output | Node

_POWERS_OF_ZERO = ((math.nan, math.nan), (math.inf, math.nan), (0.0, 0.0))


def _sin(a: Tensor, b: Tensor) -> Node:
    return joined(ops.multiply(ops.sin(a), ops.cosh(b)), ops.multiply(ops.cos(a), ops.sinh(b)))


def _cos(a: Tensor, b: Tensor) -> Node:
    return joined(ops.multiply(ops.cos(a), ops.cosh(b)), ops.negative(ops.multiply(ops.sin(a), ops.sinh(b))))


def _sinh(a: Tensor, b: Tensor) -> Node:
    return joined(ops.multiply(ops.sinh(a), ops.cos(b)), ops.multiply(ops.cosh(a), ops.sin(b)))


def _cosh(a: Tensor, b: Tensor) -> Node:
    return joined(ops.multiply(ops.cosh(a), ops.cos(b)), ops.multiply(ops.sinh(a), ops.sin(b)))


def _exp(a: Tensor, b: Tensor) -> Node:
    size = ops.exp(a)
    return joined(ops.multiply(size, ops.cos(b)), ops.multiply(size, ops.sin(b)))


def _log(a: Tensor, b: Tensor) -> Node:
    return joined(ops.log(_size(a, b)), angle_of(b, a))


def _sqrt(a: Tensor, b: Tensor) -> Node:
    size, two = _size(a, b), const_like(2, a)
    # The part that is no difference first: no digits are lost there, and the other one is b / 2 over it.
    larger = ops.sqrt(ops.divide(ops.add(size, ops.abs(a)), two))
    safe = ops.select(ops.equal(larger, const_like(0, a)), const_like(1, a), larger)
    smaller = ops.divide(ops.abs(b), ops.multiply(const_like(2, a), safe))
    right = ops.greater_equal(a, const_like(0, a))
    imag = ops.select(right, smaller, larger)
    down = ops.less(b, const_like(0, a))
    return joined(ops.select(right, larger, smaller), ops.select(down, ops.negative(imag), imag))


def _size(a: Tensor, b: Tensor) -> Node:
    return ops.sqrt(ops.add(ops.multiply(a, a), ops.multiply(b, b)))


def _plus(x: Tensor, value: float) -> Node:
    return ops.add(x, ops.constant(np.array([value, 0.0]), x.get_element_type()))


def _of_parts(function: Callable[[Tensor, Tensor], Node], formula: str) -> Converter:
    """A converter of a function that is given the real and the imaginary part, a and b."""

    def convert(node: NodeContext) -> NamedOutputs:
        return {"out": function(*parts(node.get_input("x")))}

    convert.__doc__ = f"out = {formula}."
    return convert


def _of_whole(function: Callable[[Tensor], Node], formula: str) -> Converter:
    def convert(node: NodeContext) -> NamedOutputs:
        return {"out": function(node.get_input("x"))}

    convert.__doc__ = f"out = {formula}."
    return convert


def _log_to(base: float) -> Callable[[Tensor], Node]:
    def function(x: Tensor) -> Node:
        return ops.multiply(_log(*parts(x)), const_like(1 / math.log(base), x))

    return function


def _sigmoid(x: Tensor) -> Node:
    return inverse_of(_plus(_exp(*parts(ops.negative(x))), 1))


sin = _of_parts(_sin, "sin a · cosh b + i · cos a · sinh b")
cos = _of_parts(_cos, "cos a · cosh b - i · sin a · sinh b")
sinh = _of_parts(_sinh, "sinh a · cos b + i · cosh a · sin b")
cosh = _of_parts(_cosh, "cosh a · cos b + i · sinh a · sin b")
tan = _of_parts(lambda a, b: quotient(_sin(a, b), _cos(a, b)), "sin x / cos x")
tanh = _of_parts(lambda a, b: quotient(_sinh(a, b), _cosh(a, b)), "sinh x / cosh x")
exp = _of_parts(_exp, "e^a · (cos b + i · sin b)")
log = _of_parts(_log, "log |x| + i · the angle of x")
sqrt = _of_parts(_sqrt, "the root of x in the right half of the plane")
log2 = _of_whole(_log_to(2), "log x / log 2")
log10 = _of_whole(_log_to(10), "log x / log 10")
log1p = _of_whole(lambda x: _log(*parts(_plus(x, 1))), "log(1 + x)")
expm1 = _of_whole(lambda x: _plus(_exp(*parts(x)), -1), "e^x - 1")
sigmoid = _of_whole(_sigmoid, "1 / (1 + e^-x)")
silu = _of_whole(lambda x: product(x, _sigmoid(x)), "x / (1 + e^-x)")


def power(node: NodeContext) -> NamedOutputs:
    """out = e^(y · log x); 0 to a power is 0, or undefined where the power's real part is not positive."""
    x, y = node.get_input("x"), node.get_input("y")
    raised = _exp(*parts(product(y, _log(*parts(x)))))
    real = ops.unsqueeze(parts(y)[0], ints([-1]))
    undefined, infinite, zero = (ops.constant(np.array(pair), x.get_element_type()) for pair in _POWERS_OF_ZERO)
    of_zero = ops.select(ops.less(real, const_like(0, x)), infinite, undefined)
    of_zero = ops.select(ops.greater(real, const_like(0, x)), zero, of_zero)
    is_zero = ops.equal(ops.reduce_max(ops.abs(x), ints([-1]), True), const_like(0, x))
    return {"out": ops.select(is_zero, of_zero, raised)}


def of_any_part(test: Callable[[Tensor], Node], all_parts: bool = False) -> Converter:
    """A converter: whether a test holds for one part of a number, or for both."""

    def convert(node: NodeContext) -> NamedOutputs:
        found = test(node.get_input("x"))
        return {"out": (ops.reduce_logical_and if all_parts else ops.reduce_logical_or)(found, ints([-1]), False)}

    convert.__doc__ = f"out = {test.__name__} of {'both parts' if all_parts else 'one part'} of x."
    return convert


def assign_value(node: NodeContext) -> NamedOutputs:
    """out = the tensor of `shape` that holds the numbers in `values`."""
    dtype = node.of_parts({}).output_dtype("out") or Type.f32
    numbers = np.asarray(node.get_attribute("values"), np.complex128).reshape(node.get_attribute("shape"))
    return {"out": ops.constant(np.stack([numbers.real, numbers.imag], -1), dtype)}
