"""Turns transposes that move no data into reshapes, or eliminates them."""

from __future__ import annotations

from paddle2ov.graph.permutation import perm_kind, simplify_perm, transpose_unit_axes
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace


def transposes_to_reshapes(graph: Graph) -> Counts:
    """Classifies every transpose of the program, and replaces those that move no data.

    Given:
        x → Transpose, whose permutation is simplified: axes of size 1 are dropped, and axes that stay adjacent are
        merged. Dynamic dimensions are kept.
    Result:
        Nothing, if the permutation is the identity ("removed"); a Reshape, if the simplified one is ("reshape"). Other
        transposes are counted by their simplified rank ("2-D": a matrix or a batch of matrices; "3-D" and so on) and
        stay: OpenVINO's kernel merges axes itself, and its attention fusion looks for rank 4.
    """
    counts = {"total": 0, "removed": 0, "reshape": 0, "2-D": 0}
    index = graph.index
    for place in index.of_kind("Transpose"):
        counts["total"] += 1
        node, dims, perm = index.nodes[place], index.read_dims(place), index.perm(place)
        if dims is None or perm is None:
            counts["computed"] = counts.get("computed", 0) + 1
            graph.match_failed(
                "transposes_to_reshapes", node, "the order of the axes is computed, or the rank not known"
            )
            continue
        kind = "removed" if perm == sorted(perm) else perm_kind(simplify_perm(dims, perm))
        counts[kind] = counts.get(kind, 0) + 1
        if kind == "removed":
            replace(node.output(0), node.input_value(0))
        elif kind == "reshape":
            replace(node.output(0), transpose_unit_axes(node.input_value(0), dims, perm))
        else:
            graph.match_failed("transposes_to_reshapes", node, "data moves")
    return counts
