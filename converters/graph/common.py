"""Helpers that many converters need: constants, casts, and arithmetic that OpenVINO gets wrong."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TypeAlias, overload

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.graph.evaluation import evaluate
from paddle2ov.graph.opaque_values import hide_sizes
from paddle2ov.graph.opset import const_like as const_like, ints, ops  # const_like: for the families too
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.types import numpy_dtype
from paddle2ov.graph.upstream import upstream
from paddle2ov.graph.values import ConstantValue
from paddle2ov.graph.workarounds import works_around
from paddle2ov.program.budget import MAX_ARRAY_ELEMENTS
from paddle2ov.translation.node_context import NodeContext
from paddle2ov.typing import AnyArray

Tensor: TypeAlias = Output | Node
"""What a node reads: an output, or a node that has one."""


def const(value: float | bool | Sequence[float] | AnyArray, dtype: Type) -> Node:
    """A constant of the given type; a Python number gives a 0-D one."""
    return ops.constant(np.asarray(value, order="C"), dtype)  # OpenVINO reads float16 in another order as int16


def multiply_by(x: Tensor, factor: float) -> Tensor:
    """x · factor; x itself for the usual factor 1."""
    return x if factor == 1 else ops.multiply(x, const_like(factor, x))


NARROW_INTEGERS = (Type.i8, Type.u8, Type.i16)
"""Integer types that OpenVINO's CPU plugin saturates and rounds where C++ wraps around and truncates."""


@works_around("narrow_integers_saturate")
def widen_narrow_integers(x: Output) -> Output:
    """`x`, with narrow integers as int32; a result that is cast back to the narrow type wraps around as in C++."""
    return ops.convert(x, Type.i32).output(0) if x.get_element_type() in NARROW_INTEGERS else x


@overload
def cast_to(x: Node, dtype: Type | None) -> Node: ...


@overload
def cast_to(x: Tensor, dtype: Type | None) -> Tensor: ...


def cast_to(x: Tensor, dtype: Type | None) -> Tensor:
    """`x` in another type; `x` itself where it has that type already, or `dtype` is None."""
    if dtype is None or x.get_element_type() == dtype:
        return x
    return ops.convert(x, dtype)


def reshape(x: Tensor, shape: Sequence[int]) -> Node:
    """`x` in another shape; one dimension may be -1."""
    return ops.reshape(x, ints(list(shape)), False)


def folded(x: Node) -> Node:
    """`x`; a constant where it is computed from constants, and not too large."""
    known = evaluate(x.output(0), MAX_ARRAY_ELEMENTS, MAX_ARRAY_ELEMENTS)
    return x if known is None else ops.constant(known)


def fold_constants(node: NodeContext, function: Callable[..., AnyArray], *names: str) -> ConstantValue | None:
    """`function` of the inputs if all are small constants, so that shape arithmetic is done at conversion."""
    arrays = []
    for name in names:
        array = node.get_known(name)
        if array is None or array.size > 64 or array.dtype.kind not in "biuf":  # mostly at the first one
            return None
        arrays.append(array)
    dtype = node.declared_output_dtype()
    storage = numpy_dtype(dtype) if dtype is not None else None
    if storage is None or node.is_complex("out"):
        return None
    with np.errstate(all="ignore"):
        return ConstantValue(np.asarray(function(*arrays)).astype(storage))


def as_float(node: NodeContext, x: Output) -> Output:
    """`x` as floating point: integers become the type that the program declares for the result, else float32."""
    if x.get_element_type().is_real():
        return x
    declared = node.declared_output_dtype()
    return ops.convert(x, declared if declared is not None and declared.is_real() else Type.f32).output(0)


def as_declared_float(node: NodeContext, x: Output) -> Output:
    """`x`; integers as floating point where the program declares the result as floating point."""
    declared = node.declared_output_dtype()
    if declared is None or not declared.is_real() or x.get_element_type().is_real():
        return x
    return ops.convert(x, declared).output(0)


@works_around("division_by_inverse")
def exact_divide(x: Tensor, y: Tensor) -> Node:
    """x / y, correctly rounded; for where a floor, a ceiling or a comparison follows.

    OpenVINO multiplies by the inverse of y, which is off by one ulp for a third of all numbers. The remainder gives the
    correction: it is computed from products of numbers of 12 bits, which are exact.
    """
    kind = output_of(x).get_element_type()
    if kind in (Type.f16, Type.bf16):
        return ops.convert(ops.divide(ops.convert(x, Type.f32), ops.convert(y, Type.f32)), kind)
    # Sizes that `Model.reshape` fixes are constants, over which OpenVINO would distribute what is multiplied later.
    quotient = hide_sizes(ops.divide(x, y).output(0))
    rest: Tensor = x
    for part in split_mantissa(quotient):
        for factor in split_mantissa(y):
            rest = ops.subtract(rest, ops.multiply(part, factor))
    more = ops.divide(rest, y)
    # The correction is not finite where a number is infinite or too large to be split.
    return ops.add(quotient, ops.select(ops.is_finite(more), more, const_like(0, x)))


def split_mantissa(x: Tensor) -> tuple[Node, Node]:
    """The upper and the lower 12 bits of the mantissa of float32 numbers (Dekker's split), each at most 1e34."""
    wide = ops.multiply(x, const_like(4097, output_of(x)))
    high = ops.subtract(wide, ops.subtract(wide, x))
    return high, ops.subtract(x, high)


def with_exact_division(x: Output, depth: int = 3) -> Output:
    """`x` with `exact_divide` for the divisions in the sums and products that compute it, within `depth` levels.

    For operators that drop the fraction of x, or compare it with a constant.
    """
    node = x.get_node()
    if node.get_type_name() == "Divide":
        return exact_divide(*node.input_values()).output(0)
    build = _EXACT_TERMS.get(node.get_type_name())
    if build is None or depth == 0:
        return x
    terms = node.input_values()
    exact = [with_exact_division(term, depth - 1) for term in terms]
    if all(item is term for item, term in zip(exact, terms, strict=True)):
        return x
    left, right = exact
    return build(left, right).output(0)


def both_with_exact_division(x: Output, y: Output) -> tuple[Output, Output]:
    """`with_exact_division` of two tensors that are compared; unchanged if a quotient of both would be computed twice.

    This would happen if one of them reads the quotient through nodes other than sums and products. For example, each
    maximum of a pooling must equal one of the elements.
    """
    exact = with_exact_division(x), with_exact_division(y)
    if exact[0] is x and exact[1] is y:
        return exact
    (of_x, beside_x), (of_y, beside_y) = _quotients(x), _quotients(y)
    return (x, y) if of_x & beside_y or of_y & beside_x else exact


def _quotients(x: Output) -> tuple[set[str], set[str]]:
    """The names of the divisions that `with_exact_division` finds, and of those among the other nodes upstream."""
    divisions: set[str] = set()
    beside: list[Node] = []
    terms = [(x.get_node(), 3)]
    while terms:
        node, depth = terms.pop()
        if node.get_type_name() == "Divide":
            divisions.add(node.get_name())
        elif node.get_type_name() in _EXACT_TERMS and depth:
            terms += [(value.get_node(), depth - 1) for value in node.input_values()]
        else:
            beside.append(node)
    others = itertools.islice(upstream(beside), _UPSTREAM)
    return divisions, {node.get_name() for node in others if node.get_type_name() == "Divide"}


_EXACT_TERMS = {"Add": ops.add, "Subtract": ops.subtract, "Multiply": ops.multiply}
_UPSTREAM = 200


@works_around("arithmetic_after_reduction_of_integers")
def prevent_fusion(x: Tensor, out: Node, axes: Sequence[int]) -> Node:
    """`out`, a reduction of x over axes, followed by a no-op that prevents a wrong fusion.

    OpenVINO's CPU plugin (2026.4) computes arithmetic that it fuses into a reduction of integers over the last or the
    middle one of three axes twice, from the second index of the first axis on: 2 - 1 = -2.
    """
    value = output_of(x)
    integral = value.get_element_type().is_integral() and value.get_element_type() != Type.boolean
    if not integral or len(value.get_partial_shape()) != 3 or 0 in axes:
        return out
    return ops.squeeze(ops.cum_sum(ops.unsqueeze(out, ints([-1])), ints(-1)), ints([-1]))
