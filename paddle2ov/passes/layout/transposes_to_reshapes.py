"""Transposes that move no data are none."""

from __future__ import annotations

from paddle2ov.passes.graph import Counts, Graph, dims_of, perm_of, replace
from paddle2ov.passes.layout.permutation import perm_kind, simplify_perm, transpose_unit_axes


def transposes_to_reshapes(graph: Graph) -> Counts:
    """Says what every transpose of the program is, and leaves those alone that move data.

    Given:
        x → Transpose, whose axes of size 1 drop out and whose axes that stay neighbours merge. An axis whose size is
        not known stays.
    Result:
        Nothing, where the axes are in order as they are ("removed"); a Reshape, where those that are left are
        ("reshape"). A transpose of the lowest rank is counted ("2-D": a matrix or a batch of matrices; "3-D" and so
        on) and stays as it is: OpenVINO's kernel merges axes itself, and its attention fusion looks for rank 4.
    """
    counts = {"total": 0, "removed": 0, "reshape": 0, "2-D": 0}
    for node in graph.nodes("Transpose"):
        counts["total"] += 1
        dims, perm = dims_of(node.input_value(0)), perm_of(node)
        if dims is None or perm is None:
            counts["computed"] = counts.get("computed", 0) + 1
            graph.refused("transposes_to_reshapes", node, "the order of the axes is computed, or the rank not known")
            continue
        kind = "removed" if perm == sorted(perm) else perm_kind(simplify_perm(dims, perm))
        counts[kind] = counts.get(kind, 0) + 1
        x = node.input_value(0)
        if kind == "removed":
            replace(node.output(0), x)
        elif kind == "reshape":
            replace(node.output(0), transpose_unit_axes(x, dims, perm))
        else:
            graph.refused("transposes_to_reshapes", node, "data moves")
    if counts["removed"] or counts["reshape"]:
        graph.changed()
    return counts
