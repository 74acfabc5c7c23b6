"""Determinants of complex matrices.

Complex forms: `determinant`, `slogdeterminant`, `slogdet_v2`.
Semantics: as in `linalg/matrix.py`.
"""

from __future__ import annotations

from openvino import Node, Type

from paddle2ov.converters.complex.elementary import Pair, multiply_pairs
from paddle2ov.converters.graph.common import Tensor, cast_to, const_like, dim_of, index_range, shape_of
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.converters.linalg.decomposition import eliminate
from paddle2ov.graph.complex_pairs import make_complex, real_imag
from paddle2ov.graph.constants import ints
from paddle2ov.graph.opset import ops
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def determinant(node: NodeContext) -> NamedOutputs:
    """out = det(x), of each matrix."""
    return {"out": make_complex(*_determinant(node))}


def slogdeterminant(node: NodeContext) -> NamedOutputs:
    """out = [det(x) / |det(x)|, log|det(x)|]."""
    found = slogdet_v2(node)
    logdet = found["logdet"]
    if not node.is_complex("logdet"):
        logdet = make_complex(logdet, ops.multiply(logdet, const_like(0, logdet)))
    return {"out": ops.concat([ops.unsqueeze(one, ints([0])) for one in (found["sign"], logdet)], 0)}


def slogdet_v2(node: NodeContext) -> dict[str, Node]:
    """sign, logdet = det(x) / |det(x)|, and log|det(x)|."""
    found = make_complex(*_determinant(node))
    size = ops.reduce_l2(found, ints([-1]), True)
    logdet = ops.squeeze(ops.log(size), ints([-1]))
    if node.is_complex("logdet"):
        logdet = make_complex(logdet, ops.broadcast(const_like(0, logdet), shape_of(logdet)))
    return {"sign": ops.divide(found, size), "logdet": logdet}


def _determinant(node: NodeContext) -> Pair:
    """The product of the pivots, negated for each swap of rows."""
    x = real_imag(node.get_input("x"))
    table, pivots, _ = eliminate(x, len(x[0].get_partial_shape()))
    real, imag = (_diagonal(part) for part in table)
    order = ops.range(ints(1), ops.add(dim_of(table[0], -1), ints(1)), ints(1), "i32")
    swaps = ops.reduce_sum(ops.convert(ops.not_equal(pivots, order), Type.i32), ints([-1]), False)
    odd = cast_to(ops.mod(swaps, ops.constant(2, Type.i32)), real.get_element_type())
    sign = ops.subtract(const_like(1, real), ops.multiply(const_like(2, real), odd))

    def step(k: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], None]:
        at = ops.unsqueeze(k, ints([0]))
        a, b = state
        c, d = (ops.squeeze(ops.gather(part, at, ints(-1)), ints([-1])) for part in invariants)
        return [*multiply_pairs((a, b), (c, d))], None

    a, b = loop(dim_of(real, -1), [sign, ops.multiply(sign, const_like(0, sign))], [real, imag], step)
    return a, b


def _diagonal(x: Tensor) -> Node:
    size = dim_of(x, -1)
    indices = index_range(size)
    chosen = ops.equal(ops.unsqueeze(indices, ints([1])), indices)
    return ops.reduce_sum(ops.select(chosen, x, const_like(0, x)), ints([-1]), False)
