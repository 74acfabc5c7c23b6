"""Gathers rows before they are computed rather than after: a detector decodes only the boxes that can survive.

`row_rules.py` tells which rows of its inputs a node computes rows of its output from, `row_counts.py` how many rows
tensors have, `map_rows.py` which rows are a strided view of a feature map; `pushdown.py` builds the new
nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

from openvino import Node, Output, Type

from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.consumers import consumers
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.upstream import sources_of
from paddle2ov.passes.detection.pushdown import KINDS, NOT_INSIDE, Context, Pushdown
from paddle2ov.passes.detection.row_rules import RowLayout, is_pointwise, rank_dims
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import replace

_MAX_DEPTH = 100
"""The longest chain of nodes that a Gather passes: the recursion takes several Python frames per node."""


def gather_pushdown(graph: Graph) -> Counts:
    """Pushes a Gather of rows up through nodes that compute row by row, so that they compute only these rows.

    Given:
        mask [M] → NonZero → Squeeze or Reshape: an ascending index [K]; and Gathers of x by that index, where x is
        computed by nodes that treat each of the M rows independently (see `row_rules`) and that nothing else reads.
        Among them may be constants with M rows, a Concat of levels along the rows and Reshapes that keep the elements
        of each row together, where M and the lengths of the levels are known.
    Result:
        The same nodes after the Gather. Each input of a Concat has an index of its own, which Concats of equally many
        rows share; rows that a Transpose and a Reshape make of a feature map are gathered from the map directly.
    """
    counts = {"gathers": 0, "nodes": 0}
    for non_zero in graph.nodes("NonZero"):
        if len(dims_of(non_zero.input_value(0)) or ()) != 1:
            continue
        for reader in consumers(non_zero.output(0)):
            node = reader.get_node()
            if node.get_type_name() in ("Reshape", "Squeeze") and len(dims_of(node.output(0)) or ()) == 1:
                gathers, made = _push(graph, node.output(0))
                counts["gathers"] += gathers
                # Where the Gather was stopped later, new nodes have no reader. Popping drops the last ones first.
                while made:
                    counts["nodes"] += any(output.get_target_inputs() for output in made.pop().outputs())
    return counts


def _gathers_by(graph: Graph, index: Output) -> list[Node]:
    """The Gathers of rows by an index; those that cannot be pushed are reported."""
    gathers = []
    for reader in consumers(index):
        node = reader.get_node()
        if node.get_type_name() != "Gather" or reader.get_index() != 1:
            continue
        if node.get_attributes()["batch_dims"] or not ints_of(node.input_value(2)):
            graph.match_failed("gather_pushdown", node, "it has batch dimensions, or its axis is computed")
        elif dims_of(node.input_value(0)) is None:
            graph.match_failed("gather_pushdown", node, "its rank is not known")
        else:
            gathers.append(node)
    return gathers


def _push(graph: Graph, index: Output) -> tuple[int, list[Node]]:
    """Pushes up the Gathers by an index; returns how many, and the nodes that compute only its rows."""
    gathers = _gathers_by(graph, index)
    tensors = [gather.input_value(0) for gather in gathers]
    inside = _exclusive_producers(tensors)
    if not inside:
        for x in tensors:
            if x.get_node().get_type_name() in KINDS:
                graph.match_failed("gather_pushdown", x.get_node(), NOT_INSIDE)
        return 0, []
    if index.get_element_type() != Type.i64:
        index = ops.convert(index, Type.i64).output(0)
    made: list[Node] = []
    context = Context(graph, inside, gathers[0], made)
    by_length: dict[int | None, Pushdown] = {}
    pushed = []
    for gather, x in zip(gathers, tensors, strict=True):
        (axis,) = ints_of(gather.input_value(2)) or [0]
        dims = rank_dims(x)
        layout = RowLayout(axis % len(dims))
        length = dims[layout.axis]
        if length not in by_length:
            by_length[length] = Pushdown(index, length, context)
        context.gather = gather
        pushed.append((gather, by_length[length](x, layout)))
    if not made and not context.reads_maps:
        return 0, made
    for gather, few in pushed:
        replace(gather.output(0), few)
    return len(pushed), made


def _exclusive_producers(tensors: Sequence[Output]) -> set[str]:
    """The names of the nodes upstream whose readers are all in that region, or are the Gathers of these tensors."""
    inside: set[str] = set()
    unvisited_readers: dict[str, int] = {}
    depths: dict[str, int] = {}
    waiting = [(x.get_node(), 1) for x in tensors]
    while waiting:
        node, depth = waiting.pop()
        name, kind = node.get_name(), node.get_type_name()
        if kind not in KINDS:
            continue
        if name not in unvisited_readers:
            unvisited_readers[name] = sum(len(output.get_target_inputs()) for output in node.outputs())
        unvisited_readers[name] -= 1
        depths[name] = max(depth, depths.get(name, 0))
        if not unvisited_readers[name] and depths[name] <= _MAX_DEPTH:
            inside.add(name)
            if kind != "Convolution" or is_pointwise(node):  # no Gather passes any other Convolution
                waiting += [(source, depths[name] + 1) for source in sources_of(node)]
    return inside
