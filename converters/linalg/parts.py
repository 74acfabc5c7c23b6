"""Matrices as lists of parts, [real] or [real, imaginary], so that a factorization is written once for both."""

from __future__ import annotations

from collections.abc import Sequence

from openvino import Output

from paddle2ov.converters.complex.elementary import divide_pairs, multiply_pairs
from paddle2ov.converters.graph.common import Tensor
from paddle2ov.graph.complex_pairs import make_complex, real_imag
from paddle2ov.graph.opset import ops
from paddle2ov.translation.node_context import NodeContext


def parts_of(node: NodeContext, name: str) -> list[Output]:
    """The parts of an input."""
    x = node.get_input(name)
    return [*real_imag(x)] if node.is_complex(name) else [x]


def joined(parts: Sequence[Tensor]) -> Tensor:
    """The tensor of these parts."""
    return make_complex(*parts) if len(parts) == 2 else parts[0]


def multiply(x: Sequence[Tensor], y: Sequence[Tensor]) -> list[Tensor]:
    """x · y, of each element."""
    if len(x) == 1:
        return [ops.multiply(x[0], y[0])]
    return [*multiply_pairs((x[0], x[1]), (y[0], y[1]))]


def divide(x: Sequence[Tensor], y: Sequence[Tensor], squares: Tensor) -> list[Tensor]:
    """x / y, of each element; squares: |y|², which a complex quotient needs."""
    if len(x) == 1:
        return [ops.divide(x[0], y[0])]
    return [*divide_pairs((x[0], x[1]), (y[0], y[1]), squares)]


def subtract(x: Sequence[Tensor], y: Sequence[Tensor]) -> list[Tensor]:
    """x - y."""
    return [ops.subtract(a, b) for a, b in zip(x, y, strict=True)]


def adjoint_product(x: Sequence[Tensor], y: Sequence[Tensor]) -> list[Tensor]:
    """The conjugate transpose of x, times y."""
    if len(x) == 1:
        return [ops.matmul(x[0], y[0], True, False)]
    (a, b), (c, d) = x, y
    real = ops.add(ops.matmul(a, c, True, False), ops.matmul(b, d, True, False))
    return [real, ops.subtract(ops.matmul(a, d, True, False), ops.matmul(b, c, True, False))]
