"""The graphs of the HTML page: the Paddle program, and the primitives that the CPU plugin made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from paddle2ov.reporting.layout import HEIGHT, WIDTH, layered
from paddle2ov.reporting.model import CompiledReport, Port, Report, ReportedOperator

_BLOCK_GAP = 120.0
"""Distance between the main block and those of branches and loops."""


@dataclass(slots=True)
class GraphNode:
    """A node on the page.

    Attributes:
        key: its id on the page: "o12" for operator 12, "p7" for primitive 7, "i0" and "r0" for inputs and results.
        kind: "operator", "primitive", "input", "output" or "block".
        label: its text.
        ref: the index of the operator, primitive, input or result that it stands for.
        box: the block that it stands in; "" for the main one.
        x: the horizontal position of its centre.
        y: the vertical position of its centre.
    """

    key: str
    kind: str
    label: str
    ref: int
    box: str = ""
    x: float = 0.0
    y: float = 0.0


@dataclass(slots=True)
class PageGraph:
    """Nodes, and edges between their keys with the bend points of each (None: not laid out)."""

    title: str
    nodes: list[GraphNode] = field(default_factory=list)
    edges: list[tuple[str, str, list[tuple[float, float]] | None]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, in lists without field names: a page may hold thousands of nodes."""
        return {
            "title": self.title,
            "width": WIDTH,
            "height": HEIGHT,
            "nodes": [[one.key, one.kind, one.label, one.ref, one.box, one.x, one.y] for one in self.nodes],
            "edges": self.edges,
        }


def program_graph(report: Report) -> PageGraph:
    """The operators that depend on the model's inputs; each block of a branch or loop is a box of its own."""
    graph = PageGraph("Paddle program")
    blocks: dict[tuple[int | None, int], list[ReportedOperator]] = {}
    for one in report.operators:
        if not one.constant or one.owner is not None:
            blocks.setdefault((one.owner, one.block), []).append(one)
    main = [operators for (owner, _), operators in blocks.items() if owner is None]
    width = _add_block(graph, [one for operators in main for one in operators], report.inputs, report.outputs)
    where = {node.key: node for node in graph.nodes}
    top = 0.0
    for (owner, block), operators in blocks.items():
        if owner is None:
            continue
        box = f"b{owner}-{block}"
        first = len(graph.nodes)
        _add_block(graph, operators, (), (), box)
        added = graph.nodes[first:]
        beside = where.get(f"o{owner}")
        top = max(top, beside.y - HEIGHT if beside is not None else 0.0)
        for node in added:
            node.x, node.y = node.x + width + _BLOCK_GAP, node.y + top
        for i, (source, target, bends) in enumerate(graph.edges):
            if bends and source in {node.key for node in added}:
                graph.edges[i] = (source, target, [(x + width + _BLOCK_GAP, y + top) for x, y in bends])
        top = max(node.y for node in added) + 2 * HEIGHT + _BLOCK_GAP / 2
        where.update({node.key: node for node in added})
        kind = report.operators[owner].type
        outer = report.operators[owner]
        parent = f"b{outer.owner}-{outer.block}" if outer.owner is not None else ""
        graph.nodes.append(GraphNode(box, "block", f"{kind} {owner}, block {block}", owner, parent))
        if beside is not None:
            graph.edges.append((beside.key, box, None))
    return graph


def compiled_graph(compiled: CompiledReport) -> PageGraph:
    """The primitives, and which of them read which."""
    graph = PageGraph("Compiled for the CPU")
    edges = [(source, one.id) for one in compiled.primitives for source in one.inputs]
    # Every edge must lead to a higher number, and the order of execution does not promise that.
    order = _topological(len(compiled.primitives), edges)
    place = {one: i for i, one in enumerate(order)}
    numbered = [(place[source], place[target]) for source, target in edges]
    layout = layered(len(order), numbered)
    for one in compiled.primitives:
        x, y = layout.positions[place[one.id]]
        kind = {"Input": "input", "Output": "output"}.get(one.layer, "primitive")
        label = one.name if kind != "primitive" else one.layer
        graph.nodes.append(GraphNode(f"p{one.id}", kind, label, one.id, "", x, y))
    graph.edges = [(f"p{a}", f"p{b}", bends) for (a, b), bends in zip(edges, layout.bends, strict=True)]
    return graph


def _add_block(
    graph: PageGraph,
    operators: Sequence[ReportedOperator],
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    box: str = "",
) -> float:
    """Adds the operators of one block, laid out; returns its width."""
    # Preprocessing, which is in no block of the program, stands between an input and what reads it.
    operators = sorted(operators, key=lambda one: one.block >= 0)
    nodes = [GraphNode(f"i{i}", "input", port.name, i, box) for i, port in enumerate(inputs)]
    nodes += [GraphNode(f"o{one.id}", "operator", one.type, one.id, box) for one in operators]
    writers = {port.variable: i for i, port in enumerate(inputs)}
    edges: dict[tuple[int, int], None] = {}
    for i, one in enumerate(operators, len(inputs)):
        for name in one.inputs:
            if name in writers and writers[name] != i:
                edges[writers[name], i] = None
        for name in one.outputs:
            if one.block < 0:
                writers[name] = i
            writers.setdefault(name, i)
    for i, port in enumerate(outputs):
        if port.variable in writers:
            edges[writers[port.variable], len(nodes)] = None
            nodes.append(GraphNode(f"r{i}", "output", port.name, i, box))
    layout = layered(len(nodes), list(edges))
    for node, (x, y) in zip(nodes, layout.positions, strict=True):
        node.x, node.y = x, y
    graph.nodes += nodes
    graph.edges += [
        (nodes[source].key, nodes[target].key, bends)
        for (source, target), bends in zip(edges, layout.bends, strict=True)
    ]
    return layout.width


def _topological(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    waiting = [0] * count
    readers: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        waiting[target] += 1
        readers[source].append(target)
    ready = [node for node in range(count) if not waiting[node]]
    order = []
    while ready:
        node = ready.pop()
        order.append(node)
        for reader in readers[node]:
            waiting[reader] -= 1
            if not waiting[reader]:
                ready.append(reader)
    return order


__all__ = ["GraphNode", "PageGraph", "compiled_graph", "program_graph"]
