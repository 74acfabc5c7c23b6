"""Rows that are gathered after they were computed are gathered first: a detector decodes only what can survive."""

from __future__ import annotations

from collections.abc import Sequence

from openvino import Node, Output, Type

from paddle2ov.graph.opset import ops
from paddle2ov.passes.detection.pushdown import KINDS, Context, Pushdown, Rows
from paddle2ov.passes.detection.row_rules import RowLayout
from paddle2ov.passes.graph import Counts, Graph, consumers, dims_of, ints, ints_of, readers, replace

_DEEPEST = 100
"""More nodes, one behind the other, no Gather passes: Python holds some calls for each."""


def gather_pushdown(graph: Graph) -> Counts:
    """What is computed row by row is computed for those rows only that are gathered.

    Given:
        mask [M] → NonZero → Squeeze: an index [K], ascending; and Gathers of x by that index, where x is computed by
        nodes that treat the M rows one by one (see `row_rules`) and that nothing else reads. Among them may be
        constants with a row for each, levels that a Concat joins along the rows, Reshapes that keep the elements of
        each row together, and numbers of rows that only the run shows.
    Result:
        The same nodes behind the Gather. Each level of a Concat has an index of its own; rows that a Transpose and a
        Reshape make of a feature map are read where they lie in the map.
    """
    counts = {"gathers": 0, "nodes": 0}
    for non_zero in graph.nodes("NonZero"):
        mask = non_zero.input_value(0)
        if len(dims_of(mask) or ()) != 1:
            continue
        for reader in consumers(non_zero.output(0)):
            node = reader.get_node()
            if node.get_type_name() in ("Reshape", "Squeeze") and len(dims_of(node.output(0)) or ()) == 1:
                gathers, made = _push(graph, node.output(0), mask)
                counts["gathers"] += gathers
                # Some were made in vain, before something stopped the Gather; the last ones are dropped first.
                while made:
                    counts["nodes"] += bool(readers(made.pop()))
    if counts["gathers"]:
        graph.changed()
    return counts


def _push(graph: Graph, index: Output, mask: Output) -> tuple[int, list[Node]]:
    """Pushes the Gathers by an index; how many, and the nodes that compute for its rows only."""
    gathers = []
    for reader in consumers(index):
        node = reader.get_node()
        is_gather = node.get_type_name() == "Gather" and reader.get_index() == 1
        if is_gather and not node.get_attributes()["batch_dims"] and ints_of(node.input_value(2)):
            gathers.append(node)
    inside = _read_by_nothing_else(gathers)
    if not inside:
        return 0, []
    if index.get_element_type() != Type.i64:
        index = ops.convert(index, Type.i64).output(0)
    made: list[Node] = []
    by_length: dict[int | None, Pushdown] = {}
    found = []
    for gather in gathers:
        x, (axis,) = gather.input_value(0), ints_of(gather.input_value(2)) or [0]
        dims = dims_of(x)
        if dims is None:
            continue
        place = RowLayout(axis % len(dims))
        length = dims[place.axis]
        if length not in by_length:
            rows = Rows(index, length, None if length is None else ints(length).output(0), mask)
            by_length[length] = Pushdown(rows, Context(graph, inside, gather, made))
        found.append((gather, by_length[length](x, place)))
    if not made:
        return 0, made
    for gather, few in found:
        replace(gather.output(0), few)
    return len(found), made


def _read_by_nothing_else(gathers: Sequence[Node]) -> set[str]:
    """The nodes before some Gathers that only those and one another read."""
    inside: set[str] = set()
    unseen: dict[str, int] = {}
    depths: dict[str, int] = {}
    waiting = [(gather.input_value(0).get_node(), 1) for gather in gathers]
    while waiting:
        node, depth = waiting.pop()
        if node.get_type_name() not in KINDS:
            continue
        name = node.get_name()
        if name not in unseen:
            unseen[name] = sum(len(output.get_target_inputs()) for output in node.outputs())
        unseen[name] -= 1
        depths[name] = max(depth, depths.get(name, 0))
        if not unseen[name] and depths[name] <= _DEEPEST:
            inside.add(name)
            waiting += [(source.get_node(), depths[name] + 1) for source in node.input_values()]
    return inside
