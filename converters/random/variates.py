"""Random numbers with parameters given element by element: gamma, Dirichlet, Poisson, binomial.

Paddle: `standard_gamma`, `dirichlet`, `poisson`, `binomial`.
Distributions: those of `paddle/phi/kernels/cpu/{standard_gamma,dirichlet,poisson,binomial}_kernel.cc`; the values
differ, see `distributions.py`. Gamma as in G. Marsaglia and W. W. Tsang, "A simple method for generating gamma
variables" (2000); the others by counting: the time grows with the largest number that is drawn, which is 2^24 at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const
from paddle2ov.converters.graph.dims import rank_of, shape_of
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.converters.random.distributions import positive_uniform, standard_normal, unit_uniform
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.graph.terms import Term, log, select, sqrt
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

_ATTEMPTS = 8
"""Attempts per element. One fails with a probability of 1/20 at most, all of them with less than 10^-10."""
_MAX_EVENTS = 2**24
"""float32 counts no further; and with an infinite rate the loop would not end."""


def standard_gamma(node: NodeContext) -> NamedOutputs:
    """out is gamma distributed with shape x and rate 1."""
    x = node.get_input("x")
    return {"out": cast_to(_gamma(cast_to(x, Type.f32)), x.get_element_type())}


def dirichlet(node: NodeContext) -> NamedOutputs:
    """out = Dirichlet distributed with concentration alpha: sums to 1 along the last axis."""
    alpha = node.get_input("alpha")
    parts = _gamma(cast_to(alpha, Type.f32))
    total = ops.reduce_sum(parts, ints([rank_of(node, alpha) - 1]), True)
    return {"out": cast_to(ops.divide(parts, total), alpha.get_element_type())}


def _gamma(shape: Tensor) -> Output:
    a = Term(shape)
    small = a < 1
    # Below 1: that of shape + 1, times u^(1 / shape)
    d = a + small - 1 / 3
    many = ops.concat([ints([_ATTEMPTS]), shape_of(shape)], 0)
    z, u = Term(standard_normal(many, 0)), Term(positive_uniform(many, 0))
    v = 1 / sqrt(d * 9) * z + 1
    v = v * v * v
    positive = v > 0
    v = select(positive, v, 1)
    taken = positive & (log(u) < z * z * 0.5 + d * (1 - v + log(v)))
    attempts = (ops.split(each.value, ints(0), _ATTEMPTS).outputs() for each in (v, taken))
    chosen: Tensor = const(1, Type.f32)
    for value, accepted in reversed(list(zip(*attempts, strict=True))):
        chosen = ops.select(ops.squeeze(accepted, ints([0])), ops.squeeze(value, ints([0])), chosen)
    drawn = d * Term(chosen)
    lower = Term(positive_uniform(shape_of(shape), 0)) ** (1 / a)
    return select(small, drawn * lower, drawn).value


def poisson(node: NodeContext) -> NamedOutputs:
    """out = the number of events, with exponential waiting times of mean 1, in a time x."""
    x = node.get_input("x")

    def event(clock: Node, rate: Node) -> tuple[Node, Node, Node]:
        now = ops.subtract(clock, ops.log(positive_uniform(shape_of(clock), 0)))
        inside = ops.less(now, rate)  # a waiting time may be 0, and so may the rate
        return now, inside, inside

    return {"out": cast_to(_count_hits([cast_to(x, Type.f32)], event), x.get_element_type())}


def binomial(node: NodeContext) -> NamedOutputs:
    """out = how many of count (rounded down) trials succeed, each with probability prob."""
    count, chance = (cast_to(node.get_input(name), Type.f32) for name in ("count", "prob"))

    def trial(number: Node, trials: Node, chance: Node) -> tuple[Node, Node, Node]:
        left = ops.less(number, trials)
        success = ops.less(unit_uniform(shape_of(trials), 0), chance)
        return ops.add(number, const(1, Type.f32)), ops.logical_and(left, success), left

    return {"out": ops.convert(_count_hits([ops.floor(count), chance], trial), Type.i64)}


def _count_hits(given: Sequence[Tensor], step: Callable[..., tuple[Node, Node, Node]]) -> Output:
    """The number of hits of step (state, *given) -> (state, hit, continues), from 0 until no element continues."""
    rank = len(output_of(given[0]).get_partial_shape())
    nothing = ops.broadcast(const(0, Type.f32), shape_of(given[0]))

    def count(_: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Node], Node]:
        new, hit, open_ = step(state[0], *invariants)
        return [new, ops.add(state[1], ops.convert(hit, Type.f32))], ops.reduce_logical_or(
            open_, ints(list(range(rank))), False
        )

    _, hits = loop(ints(_MAX_EVENTS), [nothing, nothing], given, count)
    return hits
