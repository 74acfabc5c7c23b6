"""What operators do with complex numbers: rules that the operator table applies to converters.

A complex tensor is carried as a real one with a last dimension of 2, so that a converter written for real numbers
would take that dimension for one of the tensor's own. The translator refuses complex numbers where the table has no
rule. A rule extends a converter to complex inputs: most rules run it on the real and on the imaginary parts.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from itertools import product

from openvino import Output, Type

from paddle2ov.converters.complex import elementary
from paddle2ov.converters.graph.common import Tensor, const_like, folded
from paddle2ov.converters.graph.dims import scalar_of, shape_of
from paddle2ov.converters.logic import as_bool
from paddle2ov.graph.complex_pairs import make_complex, real_imag
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.values import ComplexValue, ConstantValue, EmptyTensorArray, LoDTensor
from paddle2ov.translation.complex_aware import ComplexAware
from paddle2ov.translation.node_context import Converter, NamedOutputs, NodeContext, OutputLike


def native(convert: Converter) -> Converter:
    """A converter that handles complex numbers itself."""
    return ComplexAware(convert, convert)


def linear(convert: Converter, *numbers: str) -> Converter:
    """f(a + ib) = f(a) + i · f(b), jointly in all inputs: operators that move or add elements.

    Args:
        convert: the converter for real numbers.
        numbers: attributes, or inputs that replace them, whose values are written into the result; they may be real
            where the other inputs are complex.
    """

    def of_complex(node: NodeContext) -> NamedOutputs:
        """out = f(real parts) + i · f(imaginary parts)."""
        operands = node.complex_inputs()
        zero: dict[tuple[str, int], Output] = {}
        for port, i in node.input_ports():
            if (port, i) not in operands and (x := node.get_input(port, i)).get_element_type().is_real():
                node.require(port in numbers, f"'{port}' is real beside complex numbers: not supported")
                zero[port, i] = folded(ops.broadcast(const_like(0, x), shape_of(x))).output(0)
        real, imag = (node.of_parts(dict.fromkeys(operands, part), dict.fromkeys(numbers, part)) for part in (0, 1))
        first, second = _results(convert(real)), _results(convert(imag.of_parts(zero)))
        return {
            port: [
                make_complex(a, b) if node.is_complex(port) else a for a, b in zip(values, second[port], strict=True)
            ]
            for port, values in first.items()
        }

    return ComplexAware(convert, of_complex)


def multilinear(convert: Converter) -> Converter:
    """f(a + ib, c + id) = f(a, c) - f(b, d) + i · (f(a, d) + f(b, c)): products of any kind."""

    def of_complex(node: NodeContext) -> NamedOutputs:
        """out = the sum over all choices of a real or imaginary part of each operand, times i for the latter."""
        operands = node.complex_inputs()
        node.require(len(operands) <= 4, f"{len(operands)} complex operands are too many")
        sums: tuple[dict[str, list[Tensor]], dict[str, list[Tensor]]] = {}, {}
        for choice in product((0, 1), repeat=len(operands)):
            power = sum(choice)  # the factor is i to this power
            total, add = sums[power % 2], ops.subtract if power % 4 > 1 else ops.add
            parts = dict(zip(operands, choice, strict=True))
            for port, values in _results(convert(node.of_parts(parts))).items():
                total[port] = [*map(add, total[port], values)] if port in total else values
        real, imag = sums
        return {port: [*map(make_complex, values, imag[port])] for port, values in real.items()}

    return ComplexAware(convert, of_complex)


def instead(convert: Converter, of_complex: Converter) -> Converter:
    """Complex inputs go to another converter."""
    return ComplexAware(convert, of_complex)


def shape_only(convert: Converter) -> Converter:
    """A converter whose result depends on the shape alone."""
    return ComplexAware(convert, lambda node: convert(node.of_parts(dict.fromkeys(node.complex_inputs(), 0))))


def fill(convert: Converter) -> Converter:
    """Tensors filled with one value, which is real unless the program computes it."""

    def of_complex(node: NodeContext) -> NamedOutputs:
        """out = f(real part) + i · f(imaginary part)."""
        number = 0.0 if node.has_input("value") else node.get_attribute("value", 0.0)
        operands = node.complex_inputs()
        real, imag = (node.of_parts(dict.fromkeys(operands, part), {"value": part}) for part in (0, 1))
        (first,) = _results(convert(real))["out"]
        if not node.is_complex("out"):
            return {"out": first}
        dtype = real.declared_output_dtype("out") or Type.f32
        if ("value", 0) not in operands and not isinstance(number, builtins.complex):
            return {"out": elementary.from_real(first, dtype)}
        (second,) = _results(convert(imag))["out"]
        return {"out": ops.convert(make_complex(first, second), dtype)}

    return ComplexAware(convert, of_complex)


def scale(convert: Converter) -> Converter:
    """scale · x + bias with real scale and bias: the bias is added to the real part."""

    def of_complex(node: NodeContext) -> NamedOutputs:
        """out = f(real part) + i · scale · imaginary part."""
        x = node.get_input("x")
        (real,) = _results(convert(node.of_parts({("x", 0): 0})))["out"]
        factor = scalar_of(node, "scale", x.get_element_type(), 1.0)
        return {"out": make_complex(real, ops.multiply(real_imag(x)[1], factor))}

    return ComplexAware(convert, of_complex)


def random(convert: Converter) -> Converter:
    """Random numbers: both parts are drawn; for normal ones each has the mean and half of the variance."""

    def of_complex(node: NodeContext) -> NamedOutputs:
        """out = two tensors of random numbers as the real and the imaginary parts."""
        shaped = dict.fromkeys(node.complex_inputs(), 0)
        both = [_results(convert(node.of_parts(shaped, seed)))["out"][0] for seed in ({}, {"seed": 1})]
        if not node.has_attribute("std") and not node.has_input("std"):
            return {"out": make_complex(*both)}
        mean = scalar_of(node, "mean", both[0].get_element_type(), 0.0)
        share = [ops.multiply(ops.subtract(item, mean), const_like(0.5**0.5, item)) for item in both]
        return {"out": make_complex(*(ops.add(item, mean) for item in share))}

    return ComplexAware(convert, of_complex)


def truth_value(convert: Converter) -> Converter:
    """Operators on booleans: a number is true where any of its parts is not 0."""

    def of_complex(node: NodeContext) -> NamedOutputs:
        """out = f(whether x is not 0)."""
        truths = {}
        for port, i in node.input_ports():
            x = node.get_input(port, i)
            nonzero = as_bool(x)
            if node.is_complex(port, i):
                nonzero = ops.reduce_logical_or(nonzero, ints([-1]), False).output(0)
            truths[port, i] = nonzero
        return convert(node.of_parts(truths))

    return ComplexAware(convert, of_complex)


def _results(outputs: NamedOutputs) -> dict[str, list[Tensor]]:
    return {
        port: [_tensor(item) for item in (value if isinstance(value, Sequence) else [value])]
        for port, value in outputs.items()
    }


def _tensor(value: OutputLike) -> Tensor:
    if isinstance(value, EmptyTensorArray):
        raise TypeError("tensor arrays of complex numbers are not supported")
    if isinstance(value, ComplexValue | LoDTensor):
        raise TypeError("sequences of complex numbers are not supported")
    return value.constant() if isinstance(value, ConstantValue) else value
