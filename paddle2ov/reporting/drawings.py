"""The drawings of the HTML page: the Paddle program, and the primitives that the CPU plugin made of it.

The page lays them out, one group at a time as it is unfolded (`assets/layout.js`).
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Any

from paddle2ov.reporting.contents import CompiledReport, Report, ReportedOperator
from paddle2ov.reporting.folding import Group, GroupKey, Path, group_nodes, runs


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A node on the page.

    Attributes:
        key: its id on the page: "o12" for operator 12, "p7" for primitive 7, "i0" and "r0" for inputs and results.
        kind: "operator", "primitive", "input" or "output".
        label: its text.
        ref: the index of the operator, primitive, input or result that it stands for.
    """

    key: str
    kind: str
    label: str
    ref: int


@dataclass(slots=True)
class Drawing:
    """Nodes, edges between their positions, and the tree of groups that they stand in."""

    title: str
    nodes: list[DrawnNode] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    root: Group = field(default_factory=Group)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, in lists without field names: a page may hold thousands of nodes.

        A group is [kind, label, ref, group that it stands in], a node [key, kind, label, ref, group]; the whole is -1.
        """
        groups: list[list[Any]] = []
        group_of = [-1] * len(self.nodes)
        waiting = deque([(self.root, -1)])
        while waiting:
            group, place = waiting.popleft()
            for member in group.members:
                if isinstance(member, int):
                    group_of[member] = place
                else:
                    waiting.append((member, len(groups)))
                    groups.append([member.kind, member.label, member.ref, place])
        nodes = [[node.key, node.kind, node.label, node.ref, group_of[i]] for i, node in enumerate(self.nodes)]
        return {"title": self.title, "nodes": nodes, "edges": self.edges, "groups": groups}


def draw_program(report: Report) -> Drawing:
    """The operators that depend on the model's inputs; each block of a branch or loop is a group of its own."""
    operators = [operator for operator in report.operators if not operator.constant or operator.owner is not None]
    # Preprocessing, which is in no block of the program, stands between an input and what reads it.
    operators.sort(key=lambda operator: operator.block >= 0)
    nodes = [DrawnNode(f"i{i}", "input", port.name, i) for i, port in enumerate(report.inputs)]
    nodes += [DrawnNode(f"o{operator.id}", "operator", operator.type, operator.id) for operator in operators]
    writers = {port.variable: i for i, port in enumerate(report.inputs)}
    edges = dict.fromkeys(_edges(operators, writers, len(report.inputs)))
    for i, port in enumerate(report.outputs):
        if port.variable in writers:
            edges[writers[port.variable], len(nodes)] = None
            nodes.append(DrawnNode(f"r{i}", "output", port.name, i))
    known = operator_paths(report.operators)
    paths = [known[node.ref] if node.kind == "operator" else () for node in nodes]
    loose = {i for i, node in enumerate(nodes) if node.kind != "operator"}
    return Drawing("Paddle program", nodes, list(edges), group_nodes(paths, list(edges), loose))


def draw_compiled(compiled: CompiledReport, operators: Sequence[ReportedOperator]) -> Drawing:
    """The primitives, and which of them read which; each in the groups of its main operator."""
    edges = [(source, primitive.id) for primitive in compiled.primitives for source in primitive.inputs]
    # Whoever is read comes first, and the order of execution does not promise that.
    order = _topological({primitive.id: primitive.inputs for primitive in compiled.primitives})
    place = {id: i for i, id in enumerate(order)}
    known = operator_paths(operators)
    nodes: list[DrawnNode] = []
    paths: dict[int, Path] = dict.fromkeys(order, ())
    for id in order:
        item = compiled.primitives[id]
        kind = {"Input": "input", "Output": "output"}.get(item.layer, "primitive")
        nodes.append(DrawnNode(f"p{id}", kind, item.name if kind != "primitive" else item.layer, id))
        if kind == "primitive":
            of_source = next((paths[source] for source in item.inputs), ())
            paths[id] = known[item.operator] if item.operator is not None else of_source
    numbered = [(place[source], place[target]) for source, target in edges]
    loose = {i for i, node in enumerate(nodes) if node.kind != "primitive"}
    return Drawing("Compiled for the CPU", nodes, numbered, group_nodes([paths[id] for id in order], numbered, loose))


def operator_paths(operators: Sequence[ReportedOperator]) -> dict[int, Path]:
    """The groups of each operator: its modules, within the blocks of branches and loops that it runs in."""
    blocks: dict[tuple[int | None, int], list[ReportedOperator]] = {}
    for operator in operators:
        blocks.setdefault((operator.owner, max(operator.block, 0)), []).append(operator)
    paths: dict[int, Path] = {}
    for (owner, block), inside in blocks.items():  # owners come before what they own
        outer: Path = ()
        modules = [operator.module for operator in inside]
        if owner is not None:
            around = operators[owner].module
            outer = (*paths[owner], GroupKey("block", f"{operators[owner].type}, block {block}", (owner, block), owner))
            modules = [path[len(around) :] if path[: len(around)] == around else path for path in modules]
        shown = [i for i, operator in enumerate(inside) if not operator.constant or owner is not None]
        for i, path in zip(shown, runs([modules[i] for i in shown], outer), strict=True):
            paths[inside[i].id] = path
    return paths | {operator.id: () for operator in operators if operator.id not in paths}


def _edges(operators: Sequence[ReportedOperator], writers: dict[str, int], first: int) -> Iterator[tuple[int, int]]:
    """Which operator reads which, by position from `first` on; in each block for itself.

    `writers`, the inputs by their names, becomes the last writer of each variable of the main block.
    """
    blocks: dict[tuple[int | None, int], dict[str, int]] = {(None, 0): writers}
    for i, operator in enumerate(operators, first):
        known = blocks.setdefault((operator.owner, max(operator.block, 0)), {})
        yield from ((known[name], i) for name in operator.inputs if name in known)
        known.update(dict.fromkeys(operator.outputs, i))


def _topological(sources: Mapping[int, Sequence[int]]) -> list[int]:
    """The nodes in their order, but for those that are read by earlier ones, which come first."""
    sorter = TopologicalSorter(sources)
    sorter.prepare()
    ready: list[int] = []
    order = []
    while sorter.is_active():
        for node in sorter.get_ready():
            heapq.heappush(ready, node)
        order.append(heapq.heappop(ready))
        sorter.done(order[-1])
    return order
