"""The incomplete gamma function.

Paddle: `gammaincc` (PIR only).
Semantics: `paddle/phi/kernels/impl/gammaincc_kernel_impl.h`, after S. Moshier's Cephes: a power series below
max(1, x), a continued fraction above. Both stop in Paddle when a term is negligible; here when it is for all elements,
and after 2,000 terms at the latest.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Type

from paddle2ov.converters.graph.common import Tensor, const_like
from paddle2ov.converters.graph.dims import shape_of
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.converters.graph.operands import real_input
from paddle2ov.converters.graph.terms import Term, abs_, exp, isnan, log, minimum, select
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
    a, z = (Term(real_input(node, name)) for name in ("x", "y"))
    # The branch that is not taken computes with numbers for which it converges at once.
    valid = (a > 0) & (z > 0)
    below = (z < 1) | (z < a)
    near, far = valid & below, valid & ~below
    series = _series(select(near, a, 1), select(near, z, 0))
    # Beyond _MAX_ARGUMENT its terms overflow before they are scaled; the factor is 0 there.
    bounded = minimum(z, _MAX_ARGUMENT)
    fraction = _fraction(select(far, a, 1), select(far, bounded, 1))
    exponent = a * log(z) - z - Term(log_gamma(a.value))
    factor = exp(exponent)
    out = select(below, 1 - series * factor / a, fraction * factor)
    # NaN, and an infinite y: infinity less infinity. OpenVINO's exponential gives infinity for them.
    out = select(isnan(exponent), np.nan, out)
    return {"out": select((a <= 0) | (z <= 0), 1, out).value}


def _series(a: Term, z: Term) -> Term:
    """1 + z / (a + 1) + z^2 / ((a + 1) (a + 2)) + ..."""

    def step(_: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], Tensor]:
        (r, term, total), (z,) = map(Term, state), map(Term, invariants)
        r = r + 1
        term = term * (z / r)
        total = total + term
        return [r.value, term.value, total.value], _any(term > total * _NEGLIGIBLE)

    ones = ops.broadcast(const_like(1, a.value), shape_of(a.value))
    return Term(loop(ops.constant(_MAX_TERMS, Type.i64), [a.value, ones, ones], [z.value], step)[2])


def _fraction(a: Term, z: Term) -> Term:
    """The continued fraction 1 / (z + (1 - a) / (1 + 1 / (z + (2 - a) / (1 + 2 / (z + ...))))), by its convergents."""

    def step(_: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], Tensor]:
        (count, before_p, before_q, p, q, total, settled), (a, z) = map(Term, state), map(Term, invariants)
        count = count + 1
        y = (1 - a + count) * count
        b = z + (2 - a) + count * 2
        next_p, next_q = p * b - before_p * y, q * b - before_q * y
        zero = next_q.equals(0)
        fraction = select(zero, total, next_p / select(zero, 1, next_q))
        moves = abs_(total - fraction) > abs_(fraction) * _NEGLIGIBLE
        # A converged element stays: rounding would change it until the slowest one has converged.
        fraction = select(settled, total, fraction)
        now = settled | ~(moves | zero)
        shrink = select(abs_(next_p) > _BIG, 1 / _BIG, 1, p)
        state_after = [count, *(part * shrink for part in (p, q, next_p, next_q)), fraction, now]
        return [item.value for item in state_after], _any(~now)

    ones = Term(ops.broadcast(const_like(1, a.value), shape_of(z.value)))
    p = z + 1
    q = (p - a + 1) * z
    start = [ones * 0, ones, z, p, q, p / q, ones < 0]
    values = [item.value for item in start]
    return Term(loop(ops.constant(_MAX_TERMS, Type.i64), values, [a.value, z.value], step)[5])


def _any(condition: Term) -> Node:
    flat = ops.reshape(condition.value, ops.constant([-1], Type.i64), False)
    return ops.reduce_logical_or(flat, ops.constant([0], Type.i64), False)
