"""Lays out the small graphs of the pictures of rewrites in layers from top to bottom (Sugiyama's method).

Layers are by longest path, the order within a layer is by barycentres. A lane is where a long edge crosses a layer.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

WIDTH, HEIGHT = 150.0, 34.0
"""Of a node."""
_GAP, _LAYER, _LANE_WIDTH = 26.0, 62.0, 22.0
_SWEEPS = 60


@dataclass(slots=True)
class Layout:
    """Centres of the nodes, for each edge in the order given the points where it bends, and the size of the whole."""

    positions: list[tuple[float, float]]
    bends: list[list[tuple[float, float]]]
    width: float
    height: float


@dataclass(slots=True)
class _Layers:
    """The layers, each an ordered list of nodes and, with the numbers after these, of lanes."""

    count: int
    layers: list[list[int]]
    above: dict[int, list[int]] = field(default_factory=dict)
    below: dict[int, list[int]] = field(default_factory=dict)

    def join(self, upper: int, lower: int) -> None:
        self.below.setdefault(upper, []).append(lower)
        self.above.setdefault(lower, []).append(upper)

    def sort(self) -> None:
        """Orders each layer by the mean position of its neighbours, down and up in turn."""
        place = {node: float(i) for layer in self.layers for i, node in enumerate(layer)}
        for sweep in range(_SWEEPS):
            near = self.below if sweep % 2 else self.above
            for layer in reversed(self.layers) if sweep % 2 else self.layers:
                layer.sort(key=lambda node: fmean([place[item] for item in near.get(node, [node])]))
                place |= {node: float(i) for i, node in enumerate(layer)}

    def xs(self) -> dict[int, float]:
        """The x of every node and lane: near its neighbours, in the layer's order, without overlap."""
        xs = {node: 0.0 for layer in self.layers for node in layer}
        for _ in range(_SWEEPS):
            for layer in self.layers:
                wanted = [
                    fmean([xs[value] for value in (*self.above.get(node, ()), *self.below.get(node, ()))] or [xs[node]])
                    for node in layer
                ]
                xs |= self._spread(layer, wanted)
        left = min(x - self._half(node) for node, x in xs.items())
        return {node: x - left for node, x in xs.items()}

    def _spread(self, layer: Sequence[int], wanted: Sequence[float]) -> dict[int, float]:
        """The positions nearest to the wanted ones that keep order and distance (isotonic regression)."""
        apart = (self._half(left) + self._half(right) + _GAP for left, right in itertools.pairwise(layer))
        offsets = list(itertools.accumulate(apart, initial=0.0))
        groups: list[list[float]] = []
        for want, offset in zip(wanted, offsets, strict=True):
            groups.append([want - offset])
            while len(groups) > 1 and fmean(groups[-2]) > fmean(groups[-1]):
                groups[-2:] = [groups[-2] + groups[-1]]
        means = [fmean(group) for group in groups for _ in group]
        return {node: mean + offset for node, mean, offset in zip(layer, means, offsets, strict=True)}

    def _half(self, node: int) -> float:
        return (WIDTH if node < self.count else _LANE_WIDTH) / 2


def layered(count: int, edges: Sequence[tuple[int, int]]) -> Layout:
    """Lays out an acyclic graph.

    Args:
        count: the number of nodes, 1 at least; they are numbered so that every edge leads to a higher number.
        edges: (from, to).
    """
    ranks = _ranks(count, edges)
    grid = _Layers(count, [[node for node in range(count) if ranks[node] == rank] for rank in range(max(ranks) + 1)])
    lanes: list[list[int]] = []
    for source, target in edges:
        first = len(ranks)
        between = range(ranks[source] + 1, ranks[target])
        lanes.append(list(range(first, first + len(between))))
        for lane, rank in zip(lanes[-1], between, strict=True):
            ranks.append(rank)
            grid.layers[rank].append(lane)
        for upper, lower in itertools.pairwise([source, *lanes[-1], target]):
            grid.join(upper, lower)
    grid.sort()
    xs = grid.xs()
    positions = [(round(xs[node], 1), (rank + 0.5) * _LAYER) for node, rank in enumerate(ranks)]
    width = max(x for x, _ in positions) + WIDTH / 2
    return Layout(
        positions[:count], [[positions[lane] for lane in item] for item in lanes], width, _LAYER * len(grid.layers)
    )


def _ranks(count: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """The layer of each node by its longest path from a source; sources stand right above their first reader."""
    ranks, readers = [0] * count, [[] for _ in range(count)]  # type: tuple[list[int], list[list[int]]]
    for source, target in sorted(edges, key=lambda edge: edge[1]):
        ranks[target] = max(ranks[target], ranks[source] + 1)
        readers[source].append(target)
    for node in set(range(count)) - {target for _, target in edges}:
        if readers[node]:
            ranks[node] = min(ranks[reader] for reader in readers[node]) - 1
    return [rank - min(ranks) for rank in ranks]
