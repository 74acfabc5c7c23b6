"""What becomes of complex numbers in operators: the translator refuses them wherever no rule is listed here.

A complex tensor is carried as a real one with a last dimension of 2, so that a converter written for real numbers
would take that dimension for one of Paddle's. A rule makes a converter for complex numbers of the one for real
numbers: it runs that one on the real and the imaginary parts.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters import complex, complex_functions
from paddle2ov.converters.common import ints
from paddle2ov.converters.math import is_finite
from paddle2ov.node_context import NamedOutputs, NodeContext, OutputLike
from paddle2ov.opset import ops
from paddle2ov.pairs import joined, parts
from paddle2ov.registry import Converter
from paddle2ov.types import EmptyArray, Known

Rule: TypeAlias = Callable[[Converter], Converter]


def native(convert: Converter) -> Converter:
    """The converter knows about complex numbers."""
    return convert


def linear(convert: Converter, besides: Sequence[str] = ()) -> Converter:
    """f(a + ib) = f(a) + i · f(b), all inputs taken together: operators that move or add up numbers.

    Args:
        convert: the converter for real numbers.
        besides: inputs that may be real beside complex ones.
    """

    def of_complex(node: NodeContext) -> NamedOutputs:
        """out = f(real parts) + i · f(imaginary parts)."""
        operands = node.complex_inputs()
        for port, i in node.input_ports():
            real = (port, i) not in operands and node.get_input(port, i).get_element_type().is_real()
            node.require(not real or port in besides, f"'{port}' is real beside complex numbers: not supported")
        first, second = (_results(convert(node.of_parts(dict.fromkeys(operands, part)))) for part in (0, 1))
        return {
            port: [joined(a, b) if node.is_complex(port) else a for a, b in zip(values, second[port], strict=True)]
            for port, values in first.items()
        }

    return of_complex


def multilinear(convert: Converter) -> Converter:
    """f(a + ib, c + id) = f(a, c) - f(b, d) + i · (f(a, d) + f(b, c)): products of every kind."""

    def of_complex(node: NodeContext) -> NamedOutputs:
        """out = the sum over all choices of a real or imaginary part of each operand, times i for the latter."""
        operands = node.complex_inputs()
        node.require(len(operands) <= 4, f"{len(operands)} complex operands are too many")
        sums: dict[str, list[list[Node | Output | None]]] = {}
        for choice in product((0, 1), repeat=len(operands)):
            turns = sum(choice)  # the factor is i to this power
            results = _results(convert(node.of_parts(dict(zip(operands, choice, strict=True)))))
            for port, values in results.items():
                total = sums.setdefault(port, [[None, None] for _ in values])
                for part, value in zip(total, values, strict=True):
                    part[turns % 2] = _accumulated(part[turns % 2], value, negative=turns % 4 > 1)
        return {port: [joined(*_both(pair)) for pair in total] for port, total in sums.items()}

    return of_complex


def instead(of_complex: Converter) -> Rule:
    """Complex numbers have a converter of their own."""
    return lambda convert: of_complex


def of_shape(convert: Converter) -> Converter:
    """The result depends on the shape alone."""
    return lambda node: convert(node.of_parts(dict.fromkeys(node.complex_inputs(), 0)))


def filled(convert: Converter) -> Converter:
    """Tensors filled with one number, which is real but for one that the program computes."""

    def of_complex(node: NodeContext) -> NamedOutputs:
        """out = f(real part) + i · f(imaginary part)."""
        number = 0.0 if node.has_input("value") else node.get_attribute("value", 0.0)
        node.require(not isinstance(number, builtins.complex), "only a real number is supported", value=number)
        operands = node.complex_inputs()
        real, imag = (node.of_parts(dict.fromkeys(operands, part)) for part in (0, 1))
        (first,) = _results(convert(real))["out"]
        if not node.is_complex("out"):
            return {"out": first}
        dtype = real.output_dtype("out") or Type.f32
        if ("value", 0) not in operands:
            return {"out": complex.from_real(first, dtype)}
        (second,) = _results(convert(imag))["out"]
        return {"out": ops.convert(joined(first, second), dtype)}

    return of_complex


def scaled(convert: Converter) -> Converter:
    """A product with a real number, and a sum with one, which is added to the real part."""

    def of_complex(node: NodeContext) -> NamedOutputs:
        """out = f(real part) + i · scale · imaginary part."""
        x = node.get_input("x")
        (real,) = _results(convert(node.of_parts({("x", 0): 0})))["out"]
        factor = ops.reshape(node.get_tensor("scale", x.get_element_type(), 1.0), ints([]), False)
        return {"out": joined(real, ops.multiply(parts(x)[1], factor))}

    return of_complex


def where_zero(name: str) -> Rule:
    """Linear as long as an attribute, a number that the result holds, is 0."""

    def rule(convert: Converter) -> Converter:
        def of_complex(node: NodeContext) -> NamedOutputs:
            """out = f(real parts) + i · f(imaginary parts)."""
            value = node.get_float(name, 0.0)
            node.require(value == 0, "only 0 is supported for complex numbers", **{name: value})
            return linear(convert, (name,))(node)

        return of_complex

    return rule


def stored(convert: Converter) -> Converter:
    """Linear, where what is written is a tensor or 0."""

    def of_complex(node: NodeContext) -> NamedOutputs:
        """out = f(real parts) + i · f(imaginary parts)."""
        values = 0.0 if node.has_input("values") else node.get_attribute("values")
        node.require(not np.any(values), "only 0 is written into complex numbers", values=values)
        return linear(convert)(node)

    return of_complex


def _results(outputs: NamedOutputs) -> dict[str, list[Node | Output]]:
    return {
        port: [_tensor(one) for one in (value if isinstance(value, Sequence) else [value])]
        for port, value in outputs.items()
    }


def _tensor(value: OutputLike) -> Node | Output:
    if isinstance(value, EmptyArray):
        raise TypeError("tensor arrays of complex numbers are not supported")
    return value.constant() if isinstance(value, Known) else value


def _accumulated(total: Node | Output | None, value: Node | Output, negative: bool) -> Node | Output:
    if total is None:
        return ops.negative(value) if negative else value
    return ops.subtract(total, value) if negative else ops.add(total, value)


def _both(pair: list[Node | Output | None]) -> tuple[Node | Output, Node | Output]:
    real, imag = pair
    assert real is not None
    assert imag is not None
    return real, imag


_NATIVE = """
    abs angle as_complex as_real assign assign_out cast complex conj depend elementwise_add elementwise_div
    elementwise_mul elementwise_sub fft_c2c fft_c2r fft_r2c imag memcpy memcpy_d2h memcpy_h2d npu_identity print real
    share_data stft
"""
_OF_SHAPE = "is_empty shape shape64 size"
_LINEAR = """
    broadcast_tensors concat crop_tensor cumsum diag_embed diagonal expand expand_as expand_as_v2 expand_v2
    flatten flatten2 flatten_contiguous_range flip frame gather gather_nd index_sample index_select
    masked_select mean reduce_mean reduce_sum repeat_interleave reshape reshape2 reverse roll
    scatter scatter_nd_add set_value_with_tensor slice split split_with_num squeeze squeeze2 stack strided_slice sum
    take_along_axis tile trace transpose transpose2 tril tril_triu triu unbind unsqueeze unsqueeze2 unstack
    view_shape where
"""
_MULTILINEAR = "bmm dot einsum kron matmul matmul_v2 mul multi_dot mv"

_FUNCTIONS = """
    assign_value cos cosh exp expm1 log log10 log1p log2 sigmoid silu sin sinh sqrt tan tanh
"""
_FILLED = "fill_any_like fill_constant full_with_tensor ones_like zeros_like"

COMPLEX_RULES: dict[str, Rule] = {
    **dict.fromkeys(_NATIVE.split(), native),
    **dict.fromkeys(_OF_SHAPE.split(), of_shape),
    **dict.fromkeys(_LINEAR.split(), linear),
    **dict.fromkeys(_MULTILINEAR.split(), multilinear),
    **dict.fromkeys(_FILLED.split(), filled),
    **{name: instead(getattr(complex_functions, name)) for name in _FUNCTIONS.split()},
    "elementwise_pow": instead(complex_functions.power),
    "equal": instead(complex.equal),
    "isfinite_v2": instead(complex_functions.of_any_part(is_finite, all_parts=True)),
    "isinf_v2": instead(complex_functions.of_any_part(ops.is_inf)),
    "isnan_v2": instead(complex_functions.of_any_part(ops.is_nan)),
    "not_equal": instead(complex.not_equal),
    "pad": where_zero("pad_value"),
    "pad3d": where_zero("pad_value"),
    "reciprocal": instead(complex.reciprocal),
    "scale": scaled,
    "set_value": stored,
    "square": instead(complex.square),
}
"""Key of the operator -> the rule for complex inputs or results."""
