"""Fuses a chain of transposes into one; inverse pairs cancel.

Given:
    x → Transpose → Transpose, where only transposes read the first one, or the second one is its inverse.
Result:
    x → Transpose (or Reshape, or nothing) in place of each second one.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.consumers import readers
from paddle2ov.graph.permutation import compose, permute
from paddle2ov.passes.constant_operands import perm_of
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace
from paddle2ov.passes.rule import MatchFailureError, at, require, rule


@rule("fused", "cancelled")
@at("Transpose", reads=("Transpose",))
def fuse_transposes(graph: Graph, second: Node) -> Counts:
    """Makes one Transpose of two, or none where they cancel."""
    first = second.input_value(0).get_node()
    orders = perm_of(first), perm_of(second)
    if orders[0] is None or orders[1] is None:
        raise MatchFailureError("the order of the axes is computed")
    x, perm = first.input_value(0), compose(orders[0], orders[1])
    if perm == sorted(perm):
        replace(second.output(0), x)
        return {"cancelled": 1}
    is_shared = any(reader.get_type_name() != "Transpose" for reader in readers(first))
    require(not is_shared, "something else reads the first transpose, and the second does not undo it")
    replace(second.output(0), permute(x, perm), first)
    return {"fused": 1}
