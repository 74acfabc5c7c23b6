"""Elementwise functions: exponentials, roots, rounding, trigonometry, angles and signs.

Paddle: `exp`, `expm1`, `log`, `log2`, `log10`, `log1p`, `sqrt`, `rsqrt`, `square`, `abs`, `sign`, `reciprocal`,
`floor`, `ceil`, `round`, `trunc`, `sin`, `cos`, `tan`, `asin`, `acos`, `atan`, `sinh`, `cosh`, `asinh`, `acosh`,
`atanh`, `erf`, `logit`, `nextafter`, `atan2`, `angle`, `copysign`, `rint` (PIR only), `isnan_v2`, `isinf_v2`,
`isfinite_v2` (and the legacy `isnan`, `isinf`, `isfinite`, which reduce a whole tensor).
Semantics: `paddle/phi/kernels/funcs/{activation_functor,elementwise_functor}.h`,
`paddle/phi/kernels/cpu/{isfinite,trunc}_kernel.cc`, `paddle/phi/kernels/impl/{nextafter,atan2,angle}_kernel_impl.h`.

Integers give floating point where Paddle 3 has a kernel for them. Refused: complex numbers, but for `abs` and `angle`;
nextafter of float64, which OpenVINO's CPU plugin computes as float32, and of integers, for whose result Paddle declares
a wrong type. Denormal numbers, such as the neighbours of 0, may come out as 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.activation import unary
from paddle2ov.converters.graph.common import (
    Tensor,
    as_declared_float,
    as_float,
    cast_to,
    const,
    const_like,
    widen_narrow_integers,
    with_exact_division,
)
from paddle2ov.converters.graph.dims import rank_of, shape_of
from paddle2ov.converters.graph.exact import round_half_away
from paddle2ov.converters.graph.operands import operands, real_input
from paddle2ov.graph import elementary, terms
from paddle2ov.graph.complex_pairs import real_imag
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.terms import Term, is_inf, maximum, minimum, select
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import Converter, NamedOutputs, NodeContext


def unary_in_input_type(build: Callable[[Output], Tensor], name: str = "x") -> Converter:
    """A converter for a function that Paddle computes in the type of its input `name`.

    Where the program declares a floating-point result of an integer, it is computed as floating point.
    """

    def convert(node: NodeContext) -> NamedOutputs:
        """out = f(x)."""
        declared = node.declared_output_dtype()
        x = real_input(node, name) if declared is not None and declared.is_real() else node.get_input(name)
        return {"out": build(x)}

    return convert


def rounding(build: Callable[[Output], Node], name: str = "x") -> Converter:
    """A converter for a rounding function, which leaves integers as they are."""

    def build_on_floats(x: Output) -> Tensor:
        return build(with_exact_division(x)) if x.get_element_type().is_real() else x

    return unary_in_input_type(build_on_floats, name)


def truncate(x: Tensor) -> Node:
    """x rounded towards zero."""
    return ops.multiply(ops.sign(x), ops.floor(ops.abs(x)))


def round_(node: NodeContext) -> NamedOutputs:
    """out = x rounded to `decimals` places; ties to even, in Paddle 2.1 to 3.0 away from zero."""
    x = node.get_input("x")
    decimals = node.get_int("decimals", 0)
    if not x.get_element_type().is_real():  # integers stay as they are, whatever the decimals
        return {"out": x}
    nearest = round_half_away if node.semantics.ties_away else partial(ops.round, mode="half_to_even")
    if decimals == 0:
        return {"out": nearest(with_exact_division(x))}
    power = const_like(10.0 ** abs(decimals), x)
    back = const_like(10.0 ** abs(decimals), x)
    scale, unscale = (ops.multiply, ops.divide) if decimals > 0 else (ops.divide, ops.multiply)
    return {"out": unscale(nearest(scale(x, power)), back)}


def logit(node: NodeContext) -> NamedOutputs:
    """out = ln(x / (1 - x)), x clamped to [eps, 1 - eps]; with eps = 0, NaN outside of [0, 1]."""
    x = real_input(node)
    eps = node.get_float("eps", 1e-6)
    inside = ops.maximum(ops.minimum(x, const_like(1 - eps, x)), const_like(eps, x)) if eps else x
    return {"out": ops.log(ops.divide(inside, ops.subtract(const_like(1, x), inside)))}


def abs_(node: NodeContext) -> NamedOutputs:
    """out = |x|, of complex numbers their distance from 0."""
    if node.is_complex("x"):
        return {"out": elementary.hypot(*real_imag(node.get_input("x")))}
    return _abs_of_real(node)


def _log_to(base: float) -> Callable[[Output], Node]:
    return lambda x: ops.multiply(ops.log(x), const_like(1 / math.log(base), x))


def _expm1(x: Output) -> Node:
    # e^x - 1 cancels near 0; there e^x - 1 = 2 t / (1 - t), t = tanh(x / 2) does not
    t = ops.tanh(ops.multiply(x, const_like(0.5, x)))
    near = ops.divide(ops.multiply(t, const_like(2, x)), ops.subtract(const_like(1, x), t))
    far = ops.subtract(ops.exp(x), const_like(1, x))
    return ops.select(ops.less(ops.abs(x), const_like(0.5, x)), near, far)


@works_around("is_finite_of_denormals")
def is_finite(x: Tensor) -> Node:
    """Whether x is neither NaN nor infinite. OpenVINO's IsFinite, compiled for AVX-512, is false for denormals."""
    return ops.logical_not(ops.logical_or(ops.is_nan(x), ops.is_inf(x)))


def classify(build: Callable[[Output], Node], of_integers: bool) -> Converter:
    """A converter for a test of each element; for integers the result is `of_integers` everywhere."""

    def convert(node: NodeContext) -> NamedOutputs:
        """out = whether x is of that kind."""
        x = node.get_input("x")
        if x.get_element_type().is_real():
            return {"out": build(x)}
        return {"out": ops.broadcast(const(of_integers, Type.boolean), ops.shape_of(x))}

    return convert


def classify_tensor(build: Callable[[Output], Node], reduce: Callable[..., Node], of_integers: bool) -> Converter:
    """A converter for a legacy test of a tensor: `reduce` of the results of `build` for its elements, of shape [1]."""
    each = classify(build, of_integers)

    def convert(node: NodeContext) -> NamedOutputs:
        """out = [whether any, or all, of the elements are of that kind]."""
        axes = ints(list(range(rank_of(node, node.get_input("x")))))
        return {"out": ops.reshape(reduce(each(node)["out"], axes, False), ints([1]), False)}

    return convert


_abs_of_real = unary_in_input_type(ops.abs)
square = unary_in_input_type(lambda x: ops.multiply(x, x))
sign = unary_in_input_type(ops.sign)
floor = rounding(ops.floor)
ceil = rounding(ops.ceiling)
trunc = rounding(truncate, "input")
exp = unary(ops.exp)
expm1 = unary(_expm1)
log = unary(ops.log)
log2 = unary(_log_to(2))
log10 = unary(_log_to(10))
log1p = unary(elementary.log1p)
sqrt = unary(ops.sqrt)
rsqrt = unary(lambda x: ops.divide(const_like(1, x), ops.sqrt(x)))
reciprocal = unary(lambda x: ops.divide(const_like(1, x), x))
isnan = classify(ops.is_nan, False)
isinf = classify(ops.is_inf, False)
isfinite = classify(is_finite, True)
any_nan = classify_tensor(ops.is_nan, ops.reduce_logical_or, False)
any_inf = classify_tensor(ops.is_inf, ops.reduce_logical_or, False)
all_finite = classify_tensor(is_finite, ops.reduce_logical_and, True)
sin = unary(ops.sin)
cos = unary(ops.cos)
tan = unary(ops.tan)
asin = unary(ops.asin)
acos = unary(ops.acos)
atan = unary(ops.atan)
sinh = unary(ops.sinh)
cosh = unary(ops.cosh)
asinh = unary(ops.asinh)
acosh = unary(ops.acosh)
atanh = unary(ops.atanh)
erf = unary(ops.erf)


_HALF_ULP = 2.0**-24 * (1 + 2.0**-23)
"""Times |x|: more than half an ulp in either direction, and less than what rounds to the neighbour after the next."""


def nextafter(node: NodeContext) -> NamedOutputs:
    """out = the float32 next to x in the direction of y; y where they are equal, NaN where either is."""
    x, y = node.get_input("x"), node.get_input("y")
    node.require(x.get_element_type() == Type.f32, f"{x.get_element_type()} is not supported")
    source, target = Term(x), Term(y)
    side = select(source < target, 1, -1, like=source)
    moved = source + side * (terms.abs_(source) * _HALF_ULP)
    from_zero = select(target > source, 1.4e-45, -1.4e-45, like=source)
    moved = select(source.equals(0), from_zero, moved)
    moved = select(is_inf(source), terms.sign(source) * float(np.finfo(np.float32).max), moved)
    out = select(source.equals(target), target, moved)
    return {"out": select(terms.isnan(source) | terms.isnan(target), np.nan, out).value}


def rint(node: NodeContext) -> NamedOutputs:
    """out = the nearest integer, the even one of two."""
    return {"out": ops.round(node.get_input("x"), "half_to_even")}


def atan2(node: NodeContext) -> NamedOutputs:
    """out = the angle of the point (y, x) of the plane: arctan(x / y) in the right quadrant."""
    x, y = as_float(node, node.get_input("x")), as_float(node, node.get_input("y"))
    return {"out": angle_of(x, y)}


def angle_of(x: Tensor, y: Tensor) -> Output:
    """The angle of the point (y, x) of the plane, as C++ has it: signed zeros and infinities count."""
    # arctan of the smaller leg over the larger one, then mirrored: no division by zero but for the origin.
    rise, run = Term(x), Term(y)
    tall, wide = terms.abs_(rise), terms.abs_(run)
    larger = maximum(tall, wide)
    ratio = minimum(tall, wide) / select(larger.equals(0), 1, larger)
    first = terms.atan(select(is_inf(tall) & is_inf(wide), 1, ratio))
    octant = select(tall > wide, math.pi / 2 - first, first)
    half = select(Term(is_negative(y)), math.pi - octant, octant)
    unknown = terms.isnan(rise) | terms.isnan(run)  # maxima and minima drop it
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
