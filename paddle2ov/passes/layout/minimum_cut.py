"""A minimum cut of a network that is looked at no further than paths lead."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TypeAlias

Vertex: TypeAlias = Hashable
END: Vertex = "end"
"""Where all paths lead to."""
ENDLESS = 1 << 62


class MinimumCut:
    """What flows through a network, from as many starts as are asked for, to one end.

    `edges(vertex)` gives what the edges that leave a vertex can hold; it is asked once for each.
    """

    def __init__(self, edges: Callable[[Vertex], Mapping[Vertex, int]]) -> None:
        self._edges = edges
        self._left: dict[Vertex, dict[Vertex, int]] = {}  # what more an edge can hold
        self.before: set[Vertex] = set()
        """What can still be reached from the starts so far: the edges that leave it are full, and the minimum cut."""

    def start(self, vertex: Vertex) -> set[Vertex]:
        """Lets all flow that can from a vertex; returns what is new before the cut."""
        while vertex not in self.before:
            way = self._way(vertex)
            if END not in way:
                self.before.update(way)
                return set(way)
            path = [END]
            while path[-1] != vertex:
                path.append(way[path[-1]])
            steps = list(zip(path[1:], path, strict=False))
            flow = min(self._left[one][other] for one, other in steps)
            for one, other in steps:
                self._left[one][other] -= flow
                if other != END:
                    self._left[other][one] = self._left[other].get(one, 0) + flow
        return set()

    def end(self, vertex: Vertex) -> None:
        """Lets all flow end at a vertex that is not before the cut."""
        if vertex in self._left and vertex not in self.before:
            self._left[vertex][END] = ENDLESS

    def _way(self, start: Vertex) -> dict[Vertex, Vertex]:
        """How each vertex is reached on the shortest path that can hold more, up to `END`."""
        way = {start: start}
        waiting = [start]
        for vertex in waiting:
            if vertex not in self._left:
                self._left[vertex] = dict(self._edges(vertex))
            for other, left in self._left[vertex].items():
                if left and other not in way and other not in self.before:
                    way[other] = vertex
                    if other == END:
                        return way
                    waiting.append(other)
        return way
