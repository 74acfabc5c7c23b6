"""Minimum cut of a flow network that is explored lazily."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from typing import TypeAlias

Vertex: TypeAlias = Hashable
END: Vertex = "end"
"""The sink."""
Edges: TypeAlias = Callable[[Vertex], Mapping[Vertex, int]]
ENDLESS = 1 << 62


class MinimumCut:
    """Maximum flow from any number of sources, added one by one, to one sink."""

    def __init__(self) -> None:
        self._left: dict[Vertex, dict[Vertex, int]] = {}  # residual capacities
        self.before: set[Vertex] = set()
        """The vertices on the source side of the minimum cut: reachable from the sources in the residual network."""

    def start(self, vertex: Vertex, edges: Edges) -> Collection[Vertex]:
        """Adds a source and augments the flow.

        Args:
            vertex: the source.
            edges: gives the capacities of the edges that leave a vertex. It is called once for each vertex that is
                reached, also if it is reached from several sources.

        Returns:
            The vertices that are new on the source side, in the order in which they are reached.
        """
        while vertex not in self.before:
            predecessors = self._augmenting_path(vertex, edges)
            if END not in predecessors:
                self.before.update(predecessors)
                return predecessors
            path = [END]
            while path[-1] != vertex:
                path.append(predecessors[path[-1]])
            steps = list(zip(path[1:], path, strict=False))
            flow = min(self._left[tail][head] for tail, head in steps)
            for tail, head in steps:
                self._left[tail][head] -= flow
                if head != END:
                    self._left[head][tail] = self._left[head].get(tail, 0) + flow
        return ()

    def end(self, vertex: Vertex) -> None:
        """Connects a vertex that is not on the source side to the sink."""
        if vertex in self._left and vertex not in self.before:
            self._left[vertex][END] = ENDLESS

    def _augmenting_path(self, start: Vertex, edges: Edges) -> dict[Vertex, Vertex]:
        """The predecessors on a shortest augmenting path to `END`, by breadth-first search."""
        predecessors = {start: start}
        waiting = [start]
        for vertex in waiting:
            if vertex not in self._left:
                self._left[vertex] = dict(edges(vertex))
            for other, left in self._left[vertex].items():
                if left and other not in predecessors and other not in self.before:
                    predecessors[other] = vertex
                    if other == END:
                        return predecessors
                    waiting.append(other)
        return predecessors
