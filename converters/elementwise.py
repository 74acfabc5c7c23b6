"""Arithmetic of two tensors, element by element.

Paddle: `elementwise_add` (PIR `add`), `elementwise_sub` (`subtract`), `elementwise_mul` (`multiply`), `elementwise_div`
(`divide`), `elementwise_min` (`minimum`), `elementwise_max` (`maximum`), `elementwise_pow`, `elementwise_mod`
(`remainder`), `elementwise_floordiv` (`floor_divide`), `elementwise_fmin` (`fmin`), `elementwise_fmax` (`fmax`),
`elementwise_heaviside` (`heaviside`), `trunc_divide`, `minus`, `lerp`.
Semantics: `paddle/phi/kernels/funcs/elementwise_functor.h`, `paddle/phi/kernels/funcs/elementwise_base.h` (`axis`),
`paddle/phi/kernels/impl/lerp_kernel_impl.h`.

Refused: complex numbers, but for the basic four. `maximum` of NaN and a number is what OpenVINO makes of it: the second
operand, as Paddle 2 has it (Paddle 3 gives NaN).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from openvino import Node, Output, Type
from openvino.op import Constant

from paddle2ov.converters.complex import elementary
from paddle2ov.converters.graph.common import (
    Tensor,
    cast_to,
    const_like,
    exact_divide,
    fold_constants,
    split_mantissa,
    widen_narrow_integers,
)
from paddle2ov.converters.graph.dims import shape_of
from paddle2ov.converters.graph.exact import power
from paddle2ov.converters.graph.operands import operands
from paddle2ov.converters.graph.selection import exact_select
from paddle2ov.graph.opaque_values import hide_sizes
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import are_few, output_of
from paddle2ov.graph.terms import Term, abs_, floor, minimum, rounded, select
from paddle2ov.graph.types import value_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import Converter, NamedOutputs, NodeContext
from paddle2ov.typing import AnyArray

Build = Callable[[Tensor, Tensor], Node]


def binary(
    build: Build,
    fold: Callable[[AnyArray, AnyArray], AnyArray] | None = None,
    on_bool: Build | None = None,
    on_complex: Build | None = None,
) -> Converter:
    """A converter for out = build(x, y); the others are for bool and complex tensors, and for constants of many.

    `fold` computes at once what the translator would fold a node later.
    """

    def convert(node: NodeContext) -> NamedOutputs:
        """out = x op y, broadcast."""
        # The axis first: with another one, NumPy would not broadcast the constants as Paddle does.
        if fold is not None and node.get_int("axis", -1) == -1:
            known = fold_constants(node, fold, "x", "y")
            if known is not None:
                return {"out": known}
        if on_complex is not None and (node.is_complex("x") or node.is_complex("y")):
            return {"out": on_complex(*_complex_operands(node))}
        x, y = operands(node)
        kind = x.get_element_type()
        if not kind.is_real() and (declared := node.declared_output_dtype()) is not None and declared.is_real():
            x, y, kind = ops.convert(x, declared).output(0), ops.convert(y, declared).output(0), declared
        if kind.is_real():
            return {"out": cast_to(build(x, y), kind)}
        if kind == Type.boolean:
            if on_bool is None:
                node.refuse("not defined on bool")
            return {"out": on_bool(x, y)}
        return {"out": cast_to(build(widen_narrow_integers(x), widen_narrow_integers(y)), kind)}

    return convert


def _complex_operands(node: NodeContext) -> tuple[Tensor, Tensor]:
    node.require(node.get_int("axis", -1) == -1, "not supported for complex numbers", axis=node.get_int("axis", -1))
    x, y = node.get_input("x"), node.get_input("y")
    if not node.is_complex("x"):
        return elementary.from_real(x, y.get_element_type()), y
    return x, y if node.is_complex("y") else elementary.from_real(y, x.get_element_type())


def _is_float(x: Tensor) -> bool:
    return bool(x.get_element_type().is_real())


@works_around("integer_division_in_float32", "integer_division_rounds_to_zero", "remainder_of_sizes")
def _integer_divmod(x: Tensor, y: Tensor) -> tuple[Node, Node]:
    """⌊x / y⌋ and the remainder, of integers.

    OpenVINO's CPU plugin divides integers in float32, and rounds towards zero where constant folding rounds down. So
    its quotient is an estimate, and the remainder is divided once more: exact where |y| < 2^24.
    Of sizes it takes a FloorMod for a constant where that is the same for the least and the largest size.
    """
    estimate = ops.divide(x, y)
    rest = hide_sizes(output_of(ops.subtract(x, ops.multiply(estimate, y))))
    remainder = ops.floor_mod(rest, y)
    return ops.add(estimate, ops.divide(ops.subtract(rest, remainder), y)), remainder


_MAX_SPLIT = 2.0**128 * (1 - 2.0**-12)
"""The largest number whose upper half is finite in float32."""


@works_around("repeated_values_of_a_snippet")
def _repeated(y: Output, x: Output) -> Output:
    """y with the dimensions of x, unless it has them: what is computed of it is as wide as what is computed of x.

    OpenVINO's CPU plugin (2026.4) holds each value that it repeats along the last axis in two registers, of which a
    processor with AVX2 has too few for all that a division of floats computes of y. It repeats no constant number.
    """
    if y.get_partial_shape() == x.get_partial_shape():
        return y
    if isinstance(y.get_node(), Constant) and math.prod(y.get_shape()) == 1:
        return y
    return ops.broadcast(y, shape_of(x), broadcast_spec="BIDIRECTIONAL").output(0)


def _magnitude(y: Output) -> Tensor:
    """|y|; that of a constant is one, which no rewrite hides."""
    node = y.get_node()
    return ops.constant(np.abs(value_of(node)), y.get_element_type()) if isinstance(node, Constant) else ops.abs(y)


@works_around("division_by_inverse")
def _float_divmod(x: Tensor, y: Tensor) -> tuple[Node, Node]:
    """⌊x / y⌋ and the remainder, of floats; as exact as fmod where |x / y| < 2^24.

    1 / 0.1 is 10 in float32, but 0.1 goes into 1 only nine times: the remainder decides, whose products are exact as
    quotient and y are split into halves of 12 bits.
    """
    kind = x.get_element_type()
    if kind in (Type.f16, Type.bf16):
        both = _float_divmod(ops.convert(x, Type.f32), ops.convert(y, Type.f32))
        return ops.convert(both[0], kind), ops.convert(both[1], kind)
    y = _repeated(output_of(y), output_of(x))
    dividend, divisor, step = Term(x), Term(y), Term(_magnitude(y))
    bounded = minimum(step, _MAX_SPLIT)  # infinity cannot be split, and its quotient is 0
    scale = select(bounded > 1e30, 2**-24, 1, like=dividend)
    high, low = (Term(half) / scale for half in split_mantissa((bounded * scale).value))
    signed = dividend / divisor
    quotient = floor(abs_(signed))
    most = rounded(quotient * 2**-12) * 2**12
    rest = abs_(dividend)
    for part in (most, quotient - most):
        rest = rest - part * high - part * low
    # The quotient may be off by one: it was rounded, and OpenVINO multiplies by the inverse of y.
    over, under = rest < 0, rest >= step
    quotient = quotient - over + under
    rest = select(over, rest + step, select(under, rest - step, rest))
    # Now the signs: a remainder with the sign of x is exact, one with the other sign may be rounded to y.
    down = Term(ops.not_equal((dividend < 0).value, (divisor < 0).value)) & (rest > 0)
    quotient = select(signed < 0, -quotient, quotient) - down
    rest = select(dividend < 0, -rest, rest)
    # NaN for an infinite x.
    quotient, rest = quotient + (dividend - dividend), select(down, rest + divisor, rest)
    return quotient.value.get_node(), rest.value.get_node()


def _are_counts(x: Tensor, y: Tensor) -> bool:
    """Whether a few floats were made of integers, such as numbers of elements, or one side was, and one is constant.

    Quotients of these that are integers have to be: the variance of one element is 0 / (4 / 4 - 1), not a number.
    """
    kinds = []
    for node in (output_of(x).get_node(), output_of(y).get_node()):
        kinds.append(node.get_type_name())
        is_count = kinds[-1] == "Convert" and node.get_input_element_type(0).is_integral()
        if not (is_count or kinds[-1] == "Constant") or not are_few(node.output(0)):
            return False
    return "Convert" in kinds


def divide(x: Tensor, y: Tensor) -> Node:
    """x / y; of integers truncated, as in C++."""
    if _is_float(x):
        return exact_divide(x, y) if _are_counts(x, y) else ops.divide(x, y)
    quotient, remainder = _integer_divmod(x, y)
    signs = ops.not_equal(ops.less(x, const_like(0, x)), ops.less(y, const_like(0, y)))
    up = ops.logical_and(signs, ops.not_equal(remainder, const_like(0, x)))
    return ops.add(quotient, ops.convert(up, x.get_element_type()))


def floored_divmod(x: Tensor, y: Tensor) -> tuple[Node, Node]:
    """⌊x / y⌋, and x - ⌊x / y⌋ · y, which has the sign of y."""
    return (_float_divmod if _is_float(x) else _integer_divmod)(x, y)


def truncated_divide(x: Tensor, y: Tensor) -> Node:
    """x / y, truncated."""
    if not _is_float(x):
        return divide(x, y)
    kind = x.get_element_type()
    if kind in (Type.f16, Type.bf16):  # a quotient in half precision may be rounded to the next integer
        return ops.convert(truncated_divide(ops.convert(x, Type.f32), ops.convert(y, Type.f32)), kind)
    quotient = exact_divide(x, y)
    return ops.multiply(ops.sign(quotient), ops.floor(ops.abs(quotient)))


def truncated_remainder(x: Tensor, y: Tensor) -> Node:
    """The remainder of integers with the sign of x; that of floats has the sign of y."""
    if _is_float(x):
        return floored_divmod(x, y)[1]
    return ops.subtract(x, ops.multiply(divide(x, y), y))


def _but_nan(extreme: Build) -> Build:
    """The larger or smaller one; the other one where one is NaN."""

    def build(x: Tensor, y: Tensor) -> Node:
        out = extreme(x, y)
        return ops.select(ops.is_nan(x), y, ops.select(ops.is_nan(y), x, out)) if _is_float(x) else out

    return build


def heaviside(x: Tensor, y: Tensor) -> Node:
    """0 where x < 0, 1 where x > 0, y where x = 0."""
    step = ops.convert(ops.greater(x, const_like(0, x)), x.get_element_type())
    return exact_select(ops.equal(x, const_like(0, x)), y, step)


elementwise_add = binary(ops.add, np.add, on_bool=ops.logical_or, on_complex=ops.add)
elementwise_sub = binary(ops.subtract, np.subtract, on_complex=ops.subtract)
elementwise_mul = binary(ops.multiply, np.multiply, on_bool=ops.logical_and, on_complex=elementary.complex_multiply)
elementwise_div = binary(divide, on_bool=ops.logical_and, on_complex=elementary.complex_divide)
elementwise_min = binary(ops.minimum, on_bool=ops.logical_and)
elementwise_max = binary(ops.maximum, on_bool=ops.logical_or)
trunc_divide = binary(truncated_divide)
_floored_quotient = binary(lambda x, y: floored_divmod(x, y)[0])
_floored_remainder = binary(lambda x, y: floored_divmod(x, y)[1])
_truncated_remainder = binary(truncated_remainder)


def elementwise_mod(node: NodeContext) -> NamedOutputs:
    """out = x - ⌊x / y⌋ · y; of integers in programs of Paddle 1, C++'s remainder, with the sign of x."""
    return (_truncated_remainder if node.semantics.truncated_quotient else _floored_remainder)(node)


def elementwise_floordiv(node: NodeContext) -> NamedOutputs:
    """out = ⌊x / y⌋; in programs of Paddle before 2.4, towards zero."""
    return (trunc_divide if node.semantics.truncated_quotient else _floored_quotient)(node)


elementwise_pow = binary(power, lambda x, y: np.power(x if x.dtype.kind == "f" else x.astype(np.float64), y))
elementwise_fmin = binary(_but_nan(ops.minimum))
elementwise_fmax = binary(_but_nan(ops.maximum))
elementwise_heaviside = binary(heaviside)


def lerp(node: NodeContext) -> NamedOutputs:
    """out = x + weight · (y - x), broadcast."""
    x, y = operands(node)
    weight = cast_to(node.get_input("weight"), x.get_element_type())
    return {"out": ops.add(x, ops.multiply(weight, ops.subtract(y, x)))}
