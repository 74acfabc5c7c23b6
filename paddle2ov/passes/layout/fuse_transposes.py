"""Fuses consecutive transposes, and eliminates pairs that cancel."""

from __future__ import annotations

from msgspec import Struct
from openvino import Node

from paddle2ov.graph.consumers import readers
from paddle2ov.graph.permutation import compose, permute
from paddle2ov.passes.constant_operands import perm_of
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, Rule


class _Pair(Struct, frozen=True):
    first: Node
    second: Node


class _Fused(_Pair, frozen=True):
    perm: list[int]
    cancels: bool


class FuseTransposes(Rule[_Pair, _Fused]):
    """Fuses a chain of transposes into one; inverse pairs cancel.

    Given:
        x → Transpose → Transpose, where only transposes read the first one, or the second one is its inverse.
    Result:
        x → Transpose (or Reshape, or nothing) in place of each second one.
    """

    roots = ("Transpose",)
    reads = ("Transpose",)
    counts = ("fused", "cancelled")

    def pattern(self, graph: Graph, node: Node) -> _Pair | None:
        first = node.input_value(0).get_node()
        return _Pair(first, node) if first.get_type_name() == "Transpose" else None

    def check(self, graph: Graph, match: _Pair) -> _Fused:
        orders = perm_of(match.first), perm_of(match.second)
        if orders[0] is None or orders[1] is None:
            raise MatchFailureError("the order of the axes is computed")
        perm = compose(orders[0], orders[1])
        cancels = perm == sorted(perm)
        if not cancels and any(reader.get_type_name() != "Transpose" for reader in readers(match.first)):
            raise MatchFailureError("something else reads the first transpose, and the second does not undo it")
        return _Fused(match.first, match.second, perm, cancels)

    def rewrite(self, graph: Graph, plan: _Fused) -> Counts:
        x = plan.first.input_value(0)
        if plan.cancels:
            replace(plan.second.output(0), x)
            return {"cancelled": 1}
        replace(plan.second.output(0), permute(x, plan.perm), plan.first)
        return {"fused": 1}


fuse_transposes = FuseTransposes()
