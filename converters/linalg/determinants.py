"""Determinants of real and complex matrices.

Paddle: `determinant` (PIR `det`), `slogdeterminant` (PIR `slogdet`), `slogdet_v2`.
Semantics: `paddle/phi/kernels/impl/determinant_kernel_impl.h`.
"""

from __future__ import annotations

from openvino import Node, Type

from paddle2ov.converters.complex.elementary import from_real
from paddle2ov.converters.graph.common import Tensor, cast_to, const_like
from paddle2ov.converters.graph.dims import dim_of, index_range, rank_of
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.converters.linalg.decomposition import eliminate
from paddle2ov.converters.linalg.jacobi import gather_per_row
from paddle2ov.converters.linalg.parts import joined, multiply, parts_of
from paddle2ov.graph.complex_pairs import make_complex
from paddle2ov.graph.opset import ints, ops
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def determinant(node: NodeContext) -> NamedOutputs:
    """out = det(x), of each matrix."""
    return {"out": joined(_determinant(node))}


def slogdeterminant(node: NodeContext) -> NamedOutputs:
    """out = [det(x) / |det(x)|, log|det(x)|]."""
    outputs = slogdet_v2(node)
    logdet = outputs["logdet"]
    if node.is_complex("x"):
        logdet = from_real(logdet)
    return {"out": ops.concat([ops.unsqueeze(value, ints([0])) for value in (outputs["sign"], logdet)], 0)}


def slogdet_v2(node: NodeContext) -> dict[str, Node]:
    """sign, logdet = det(x) / |det(x)|, and log|det(x)|."""
    parts = _determinant(node)
    if len(parts) == 1:
        return {"sign": ops.sign(parts[0]), "logdet": ops.log(ops.abs(parts[0]))}
    det = make_complex(*parts)
    size = ops.reduce_l2(det, ints([-1]), True)
    logdet = ops.squeeze(ops.log(size), ints([-1]))
    if node.is_complex("logdet"):
        logdet = from_real(logdet)
    return {"sign": ops.divide(det, size), "logdet": logdet}


def _determinant(node: NodeContext) -> list[Tensor]:
    """The product of the pivots, negated for each swap of rows, by its parts."""
    x = parts_of(node, "x")
    rank = rank_of(node, x[0])
    table, pivots, _ = eliminate(x, rank)
    indices = index_range(dim_of(table[0], -1))
    diagonal = [gather_per_row(part, indices, rank) for part in table]
    order = ops.range(ints(1), ops.add(dim_of(table[0], -1), ints(1)), ints(1), "i32")
    swaps = ops.reduce_sum(ops.convert(ops.not_equal(pivots, order), Type.i32), ints([-1]), False)
    odd = cast_to(ops.mod(swaps, ops.constant(2, Type.i32)), x[0].get_element_type())
    sign = ops.subtract(const_like(1, x[0]), ops.multiply(const_like(2, x[0]), odd))
    if len(diagonal) == 1:
        return [ops.multiply(sign, ops.reduce_prod(diagonal[0], ints([-1]), False))]

    def step(k: Tensor, product: Outputs, diagonal: Outputs) -> tuple[list[Tensor], None]:
        at = ops.unsqueeze(k, ints([0]))
        return multiply(product, [ops.squeeze(ops.gather(part, at, ints(-1)), ints([-1])) for part in diagonal]), None

    return [*loop(dim_of(table[0], -1), [sign, ops.multiply(sign, const_like(0, sign))], diagonal, step)]
