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
from openvino import Output, Type

from paddle2ov.converters.complex import elementary, factorizations, functions, inverse_functions, matrices, products
from paddle2ov.converters.graph.common import Tensor, const, const_like, ints, shape_of
from paddle2ov.converters.logical import truth
from paddle2ov.converters.math import is_finite
from paddle2ov.graph.complex_pairs import joined, parts
from paddle2ov.graph.opset import ops
from paddle2ov.graph.types import EmptyArray, Known, Packed
from paddle2ov.translation.node_context import NamedOutputs, NodeContext, OutputLike
from paddle2ov.translation.registry import Converter

Rule: TypeAlias = Callable[[Converter], Converter]


def native(convert: Converter) -> Converter:
    """The converter knows about complex numbers."""
    return convert


def linear(convert: Converter, numbers: Sequence[str] = ()) -> Converter:
    """f(a + ib) = f(a) + i · f(b), all inputs taken together: operators that move or add up numbers.

    Args:
        convert: the converter for real numbers.
        numbers: attributes, or inputs in their place, that are numbers as well; they may be real beside complex ones.
    """

    def of_complex(node: NodeContext) -> NamedOutputs:
        """out = f(real parts) + i · f(imaginary parts)."""
        operands = node.complex_inputs()
        zero: dict[tuple[str, int], Output] = {}
        for port, i in node.input_ports():
            if (port, i) not in operands and (x := node.get_input(port, i)).get_element_type().is_real():
                node.require(port in numbers, f"'{port}' is real beside complex numbers: not supported")
                zero[port, i] = _zeros(x, node.get_known(port, i) is not None)
        real, imag = (node.of_parts(dict.fromkeys(operands, part), dict.fromkeys(numbers, part)) for part in (0, 1))
        first, second = _results(convert(real)), _results(convert(imag.of_parts(zero)))
        return {
            port: [joined(a, b) if node.is_complex(port) else a for a, b in zip(values, second[port], strict=True)]
            for port, values in first.items()
        }

    return of_complex


def _zeros(x: Output, known: bool) -> Output:
    if known:
        return const(np.zeros(x.get_shape()), x.get_element_type()).output(0)
    return ops.broadcast(const_like(0, x), shape_of(x)).output(0)


def holding(*numbers: str) -> Rule:
    """Linear, where numbers in attributes are written into the result as well."""
    return lambda convert: linear(convert, numbers)


def multilinear(convert: Converter) -> Converter:
    """f(a + ib, c + id) = f(a, c) - f(b, d) + i · (f(a, d) + f(b, c)): products of every kind."""

    def of_complex(node: NodeContext) -> NamedOutputs:
        """out = the sum over all choices of a real or imaginary part of each operand, times i for the latter."""
        operands = node.complex_inputs()
        node.require(len(operands) <= 4, f"{len(operands)} complex operands are too many")
        sums: dict[str, list[list[Tensor | None]]] = {}
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
        operands = node.complex_inputs()
        real, imag = (node.of_parts(dict.fromkeys(operands, part), {"value": part}) for part in (0, 1))
        (first,) = _results(convert(real))["out"]
        if not node.is_complex("out"):
            return {"out": first}
        dtype = real.output_dtype("out") or Type.f32
        if ("value", 0) not in operands and not isinstance(number, builtins.complex):
            return {"out": elementary.from_real(first, dtype)}
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


def drawn(convert: Converter) -> Converter:
    """Random numbers: both parts are drawn; of normal ones each has half of the variance, and the mean."""

    def of_complex(node: NodeContext) -> NamedOutputs:
        """out = two tensors of random numbers as the real and the imaginary parts."""
        shaped = dict.fromkeys(node.complex_inputs(), 0)
        both = [_results(convert(node.of_parts(shaped, seed)))["out"][0] for seed in ({}, {"seed": 1})]
        if not node.has_attribute("std") and not node.has_input("std"):
            return {"out": joined(*both)}
        mean = ops.reshape(node.get_tensor("mean", both[0].get_element_type(), 0.0), ints([]), False)
        share = [ops.multiply(ops.subtract(one, mean), const_like(0.5**0.5, one)) for one in both]
        return {"out": joined(*(ops.add(one, mean) for one in share))}

    return of_complex


def of_truth(convert: Converter) -> Converter:
    """Numbers count as true where they, or one of their parts, are not 0."""

    def of_complex(node: NodeContext) -> NamedOutputs:
        """out = f(whether x is not 0)."""
        truths = {}
        for port, i in node.input_ports():
            x = node.get_input(port, i)
            nonzero = truth(x)
            if node.is_complex(port, i):
                nonzero = ops.reduce_logical_or(nonzero, ints([-1]), False).output(0)
            truths[port, i] = nonzero
        return convert(node.of_parts(truths))

    return of_complex


def _results(outputs: NamedOutputs) -> dict[str, list[Tensor]]:
    return {
        port: [_tensor(one) for one in (value if isinstance(value, Sequence) else [value])]
        for port, value in outputs.items()
    }


def _tensor(value: OutputLike) -> Tensor:
    if isinstance(value, EmptyArray):
        raise TypeError("tensor arrays of complex numbers are not supported")
    if isinstance(value, Packed):
        raise TypeError("sequences of complex numbers are not supported")
    return value.constant() if isinstance(value, Known) else value


def _accumulated(total: Tensor | None, value: Tensor, negative: bool) -> Tensor:
    if total is None:
        return ops.negative(value) if negative else value
    return ops.subtract(total, value) if negative else ops.add(total, value)


def _both(pair: list[Tensor | None]) -> tuple[Tensor, Tensor]:
    real, imag = pair
    assert real is not None
    assert imag is not None
    return real, imag


_NATIVE = """
    abs angle array_pop as_complex as_real assign assign_array assign_out cast complex conj create_array
    create_array_like depend eigh eigvalsh elementwise_add elementwise_div elementwise_mul elementwise_sub fft_c2c
    fft_c2r fft_r2c imag lod_array_length matrix_rank matrix_rank_atol_rtol matrix_rank_tol memcpy memcpy_d2h memcpy_h2d
    npu_identity print read_from_array real shadow_feed share_data slice_array stft svd svdvals write_to_array
"""
_OF_SHAPE = "is_empty shape shape64 size"
_LINEAR = """
    broadcast_tensors concat crop_tensor cumsum diag_embed diagonal expand expand_as expand_as_v2 expand_v2
    fill_diagonal_tensor flatten flatten2 flatten_contiguous_range flip fold frame gather gather_nd index_put
    index_sample index_select lookup_table_v2 masked_select mean meshgrid multiplex partial_concat reduce_as
    reduce_mean reduce_sum repeat_interleave reshape reshape2 reverse roll round scatter scatter_nd_add
    set_value_with_tensor slice slice_array_dense split split_with_num squeeze squeeze2 stack strided_slice sum
    take_along_axis tensor_array_to_tensor tensor_unfold tile trace transpose transpose2 tril tril_triu triu unbind
    unsqueeze unsqueeze2 unstack view_shape view_slice where
"""
_OF_TRUTH = "logical_and logical_not logical_or logical_xor reduce_all reduce_any where_index"
_DRAWN = "gaussian_inplace gaussian_random uniform_random"
_MULTILINEAR = "bmm cross dot einsum kron matmul matmul_v2 mul multi_dot mv"

_FUNCTIONS = """
    assign_value cos cosh exp expm1 hard_swish log log10 log1p log2 logsigmoid sigmoid sign silu sin sinh softplus
    softsign sqrt stanh tan tanh
"""
_INVERSES = "acos acosh asin asinh atan atanh"
_FACTORS = "determinant lu lu_solve lu_unpack qr slogdet_v2 slogdeterminant"
_FILLED = "empty empty_like eye fill_any fill_any_like fill_constant full_with_tensor ones_like zeros_like"

COMPLEX_RULES: dict[str, Rule] = {
    **dict.fromkeys(_NATIVE.split(), native),
    **dict.fromkeys(_OF_SHAPE.split(), of_shape),
    **dict.fromkeys(_LINEAR.split(), linear),
    **dict.fromkeys(_DRAWN.split(), drawn),
    **dict.fromkeys(_MULTILINEAR.split(), multilinear),
    **dict.fromkeys(_FILLED.split(), filled),
    **dict.fromkeys(_OF_TRUTH.split(), of_truth),
    **{name: instead(getattr(functions, name)) for name in _FUNCTIONS.split()},
    **{name: instead(getattr(inverse_functions, name)) for name in _INVERSES.split()},
    **{name: instead(getattr(factorizations, name)) for name in _FACTORS.split()},
    "cumprod": instead(products.cumprod),
    "diag_v2": holding("padding_value"),
    "elementwise_mod": instead(elementary.remainder),
    "elementwise_pow": instead(functions.power),
    "equal": instead(elementary.equal),
    "frobenius_norm": instead(products.frobenius_norm),
    "greater_equal": instead(elementary.comparison(ops.greater, or_equal=True)),
    "greater_than": instead(elementary.comparison(ops.greater, or_equal=False)),
    "inverse": matrices.of_real_matrix,
    "isclose": instead(elementary.isclose),
    "isfinite_v2": instead(functions.of_any_part(is_finite, all_parts=True)),
    "isinf_v2": instead(functions.of_any_part(ops.is_inf)),
    "isnan_v2": instead(functions.of_any_part(ops.is_nan)),
    "less_equal": instead(elementary.comparison(ops.less, or_equal=True)),
    "less_than": instead(elementary.comparison(ops.less, or_equal=False)),
    "masked_fill": holding("value"),
    "matrix_power": matrices.of_real_matrix,
    "not_equal": instead(elementary.not_equal),
    "pad": holding("pad_value"),
    "pad3d": holding("pad_value"),
    "pow": instead(functions.pow_),
    "reciprocal": instead(elementary.reciprocal),
    "reduce_prod": instead(products.reduce_prod),
    "scale": scaled,
    "set_value": holding("values"),
    "square": instead(elementary.square),
    "triangular_solve": instead(matrices.triangular_solve),
}
"""Key of the operator -> the rule for complex inputs or results."""
