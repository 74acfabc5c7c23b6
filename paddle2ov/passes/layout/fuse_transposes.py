"""Transposes one after the other are one, or none."""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.opset import ops
from paddle2ov.passes.graph import Counts, Graph, consumers, dims_of, ints, perm_of, replace
from paddle2ov.passes.layout.permutation import compose, kind_of, moved_ones, reduced


def fuse_transposes(graph: Graph) -> Counts:
    """A chain of transposes collapses; a pair that undoes itself is gone.

    Given:
        x → Transpose → Transpose, where nothing but transposes reads the first one; or where something else does, but
        the second one undoes the first.
    Result:
        x → Transpose (or Reshape, or nothing) for each that was second.
    """
    counts = {"fused": 0, "cancelled": 0}
    alone: dict[str, bool] = {}  # whether nothing but transposes reads one, asked once for all of them
    for second in graph.nodes("Transpose"):
        first = second.input_value(0).get_node()
        if first.get_type_name() != "Transpose":
            continue
        orders = perm_of(first), perm_of(second)
        if orders[0] is None or orders[1] is None:
            continue
        name = first.get_name()
        perm = compose(orders[0], orders[1])
        x = first.input_value(0)
        if perm == sorted(perm):
            replace(second.output(0), x)
            counts["cancelled"] += 1
            continue
        if name not in alone:
            alone[name] = _transposes_only(first)
        if alone[name]:
            dims = dims_of(x)
            still = dims is not None and kind_of(reduced(dims, perm)) == "reshape"
            moved = moved_ones(x, dims, perm) if still and dims else ops.transpose(x, ints(perm)).output(0)
            replace(second.output(0), moved)
            counts["fused"] += 1
    if any(counts.values()):
        graph.changed()
    return counts


def _transposes_only(node: Node) -> bool:
    return all(reader.get_node().get_type_name() == "Transpose" for reader in consumers(node.output(0)))
