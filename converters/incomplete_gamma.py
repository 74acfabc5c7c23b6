"""The incomplete gamma function.

Paddle: `gammaincc` (PIR only).
Semantics: `paddle/phi/kernels/impl/gammaincc_kernel_impl.h`, after S. Moshier's Cephes: a power series below
max(1, x), a continued fraction above. Both stop in Paddle when a term is negligible; here when it is for all elements,
and after 2,000 terms at the latest.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, const_like, shape_of
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.converters.graph.operands import real_input
from paddle2ov.converters.special import log_gamma
from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

_MAX_TERMS = 2000
_NEGLIGIBLE = 1e-9
_BIG = 1e15
_MAX_ARGUMENT = 1e9


@works_around("exp_of_nan")
def gammaincc(node: NodeContext) -> NamedOutputs:
    """out = the integral of t^(x - 1) e^-t from y to infinity, divided by Γ(x); 1 where x or y is not positive."""
    a, z = real_input(node, "x"), real_input(node, "y")
    # The branch that is not taken computes with numbers for which it converges at once.
    valid = ops.logical_and(ops.greater(a, const_like(0, a)), ops.greater(z, const_like(0, z)))
    below = ops.logical_or(ops.less(z, const_like(1, z)), ops.less(z, a))
    near = ops.logical_and(valid, below)
    far = ops.logical_and(valid, ops.logical_not(below))
    series = _series(ops.select(near, a, const_like(1, a)), ops.select(near, z, const_like(0, z)))
    # Beyond _MAX_ARGUMENT its terms overflow before they are scaled; the factor is 0 there.
    bounded = ops.minimum(z, const_like(_MAX_ARGUMENT, z))
    fraction = _fraction(ops.select(far, a, const_like(1, a)), ops.select(far, bounded, const_like(1, z)))
    exponent = ops.subtract(ops.subtract(ops.multiply(a, ops.log(z)), z), log_gamma(a))
    factor = ops.exp(exponent)
    lower = ops.subtract(const_like(1, a), ops.divide(ops.multiply(series, factor), a))
    out = ops.select(below, lower, ops.multiply(fraction, factor))
    # NaN, and an infinite y: infinity less infinity. OpenVINO's exponential gives infinity for them.
    out = ops.select(ops.is_nan(exponent), const_like(np.nan, a), out)
    outside = ops.logical_or(ops.less_equal(a, const_like(0, a)), ops.less_equal(z, const_like(0, z)))
    return {"out": ops.select(outside, const_like(1, a), out)}


def _series(a: Node, z: Node) -> Output:
    """1 + z / (a + 1) + z^2 / ((a + 1) (a + 2)) + ..."""

    def step(_: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], Tensor]:
        (r, term, total), (z,) = state, invariants
        r = ops.add(r, const_like(1, r)).output(0)
        term = ops.multiply(term, ops.divide(z, r)).output(0)
        total = ops.add(total, term).output(0)
        return [r, term, total], _any(ops.greater(term, ops.multiply(total, const_like(_NEGLIGIBLE, total))))

    ones = ops.broadcast(const_like(1, a), shape_of(a))
    return loop(ops.constant(_MAX_TERMS, Type.i64), [a, ones, ones], [z], step)[2]


def _fraction(a: Node, z: Node) -> Output:
    """The continued fraction 1 / (z + (1 - a) / (1 + 1 / (z + (2 - a) / (1 + 2 / (z + ...))))), by its convergents."""

    def step(_: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], Tensor]:
        (count, before_p, before_q, p, q, total, settled), (a, z) = state, invariants
        count = ops.add(count, const_like(1, count)).output(0)
        y = ops.multiply(ops.add(ops.subtract(const_like(1, a), a), count), count)
        b = ops.add(ops.add(z, ops.subtract(const_like(2, a), a)), ops.multiply(count, const_like(2, a)))
        next_p = ops.subtract(ops.multiply(p, b), ops.multiply(before_p, y))
        next_q = ops.subtract(ops.multiply(q, b), ops.multiply(before_q, y))
        zero = ops.equal(next_q, const_like(0, q))
        fraction = ops.select(zero, total, ops.divide(next_p, ops.select(zero, const_like(1, q), next_q)))
        moves = ops.greater(
            ops.abs(ops.subtract(total, fraction)), ops.multiply(ops.abs(fraction), const_like(_NEGLIGIBLE, fraction))
        )
        # A converged element stays: rounding would change it until the slowest one has converged.
        fraction = ops.select(settled, total, fraction)
        now = ops.logical_or(settled, ops.logical_not(ops.logical_or(moves, zero)))
        large = ops.greater(ops.abs(next_p), const_like(_BIG, p))
        shrink = ops.select(large, const_like(1 / _BIG, p), const_like(1, p))
        parts = [ops.multiply(part, shrink) for part in (p, q, next_p, next_q)]
        return [count, *parts, fraction, now], _any(ops.logical_not(now))

    ones = ops.broadcast(const_like(1, a), shape_of(z))
    p = ops.add(z, const_like(1, z))
    q = ops.multiply(ops.add(ops.subtract(p, a), const_like(1, z)), z)
    count = ops.multiply(ones, const_like(0, z))
    start = [count, ones, z, p, q, ops.divide(p, q), ops.less(ones, const_like(0, z))]
    return loop(ops.constant(_MAX_TERMS, Type.i64), start, [a, z], step)[5]


def _any(condition: Tensor) -> Node:
    flat = ops.reshape(condition, ops.constant([-1], Type.i64), False)
    return ops.reduce_logical_or(flat, ops.constant([0], Type.i64), False)
