"""Lays out the graphs of the pictures of rewrites: layers from top to bottom, wrapped into columns.

Sugiyama's method: layers by longest path, order within a layer by barycentres, coordinates by least squares under that
order (isotonic regression). The dummy nodes where a long edge crosses a layer are called lanes. The time grows linearly
with the graph; libraries for it are quadratic in the number of long edges, which networks are full of, or unmaintained,
or under a licence that this package cannot take on.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

WIDTH, HEIGHT = 150.0, 34.0
"""Of a node."""

_GAP, _LAYER = 26.0, 62.0
_COLUMN_GAP = 160.0
_LANE_WIDTH = 22.0
"""Width of a lane."""
_MAX_SPAN = 16
"""Edges that span more layers get no lanes: they are drawn, but do not influence the layout."""
_SWEEPS = 8
_STEPS = 60_000
"""Budget of position updates: a small graph gets more sweeps."""
_ASPECT = 1.7
"""Wanted aspect ratio of the drawing, width / height."""


@dataclass(slots=True)
class Layout:
    """Centres of the nodes, the points between which each edge bends, and the size of the whole.

    Attributes:
        positions: (x, y) of each node.
        bends: of each edge, in the order given: points between its ends; None where it is too long to be laid out.
        width: of the whole.
        height: of the whole.
    """

    positions: list[tuple[float, float]] = field(default_factory=list)
    bends: list[list[tuple[float, float]] | None] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0


def layered(count: int, edges: Sequence[tuple[int, int]]) -> Layout:
    """Lays out an acyclic graph.

    Args:
        count: the number of nodes; they are numbered so that every edge leads to a higher number.
        edges: (from, to).
    """
    if not count:
        return Layout()
    ranks = _ranks(count, edges)
    grid = _Grid(count, edges, ranks)
    grid.sort()
    xs = grid.place()
    columns = _columns(grid, xs)
    layout = Layout(bends=[None] * len(edges))
    for node in range(count):
        layout.positions.append(_position(columns, xs[node], ranks[node]))
    for i, lanes in grid.lanes.items():
        low, high = ranks[edges[i][0]], ranks[edges[i][1]]
        if _column_of(columns, low) is not _column_of(columns, high):
            continue
        ends = [lanes[0], lanes[-1]] if len(lanes) > 1 else lanes
        layout.bends[i] = [_position(columns, xs[one], grid.rank_of[one]) for one in ends]
    for i, (source, target) in enumerate(edges):
        if ranks[target] - ranks[source] == 1 and _column_of(columns, ranks[source]) is _column_of(
            columns, ranks[target]
        ):
            layout.bends[i] = []
    layout.width = max(column.right for column in columns)
    layout.height = max((column.last - column.first + 1) * _LAYER for column in columns)
    return layout


def _ranks(count: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """The layer of each node by its longest path from a source; sources stand right above their first reader."""
    ranks, read = [0] * count, [False] * count
    readers: list[list[int]] = [[] for _ in range(count)]
    for source, target in sorted(edges, key=lambda edge: edge[1]):
        ranks[target] = max(ranks[target], ranks[source] + 1)
        read[target] = True
        readers[source].append(target)
    for node in range(count):
        if not read[node] and readers[node]:
            ranks[node] = min(ranks[reader] for reader in readers[node]) - 1
    least = min(ranks)
    return [rank - least for rank in ranks]


class _Grid:
    """The layers, each an ordered list of nodes and lanes."""

    def __init__(self, count: int, edges: Sequence[tuple[int, int]], ranks: Sequence[int]) -> None:
        self.count = count
        self.rank_of = list(ranks)
        self.lanes: dict[int, list[int]] = {}
        self.layers: list[list[int]] = [[] for _ in range(max(ranks) + 1)]
        self.above: list[list[int]] = [[] for _ in range(count)]
        self.below: list[list[int]] = [[] for _ in range(count)]
        for node in range(count):
            self.layers[ranks[node]].append(node)
        for i, (source, target) in enumerate(edges):
            if ranks[target] - ranks[source] > _MAX_SPAN:
                continue
            last = source
            for rank in range(ranks[source] + 1, ranks[target]):
                lane = len(self.rank_of)
                self.rank_of.append(rank)
                self.layers[rank].append(lane)
                self.above.append([])
                self.below.append([])
                self.lanes.setdefault(i, []).append(lane)
                self._join(last, lane)
                last = lane
            self._join(last, target)

    def _join(self, upper: int, lower: int) -> None:
        self.below[upper].append(lower)
        self.above[lower].append(upper)

    def sort(self) -> None:
        """Orders each layer by the mean position of its neighbours, down and up in turn."""
        position = [0.0] * len(self.rank_of)
        for sweep in range(_SWEEPS):
            down = sweep % 2 == 0
            neighbours = self.above if down else self.below
            for layer in self.layers if down else reversed(self.layers):
                for i, node in enumerate(layer):
                    near = neighbours[node]
                    position[node] = sum(position[one] for one in near) / len(near) if near else position[node] or i
                layer.sort(key=lambda node: position[node])
                for i, node in enumerate(layer):
                    position[node] = i

    def place(self) -> list[float]:
        """The x of every node and lane: near its neighbours, in the layer's order, without overlap."""
        xs = [0.0] * len(self.rank_of)
        for layer in self.layers:
            for node, x in zip(layer, self._spread(layer, [0.0] * len(layer), [1.0] * len(layer)), strict=True):
                xs[node] = x
        # Both sides at once: with one side per sweep, a row of shortcuts drifts sideways, layer by layer.
        for sweep in range(min(60, max(2 * _SWEEPS, _STEPS // len(xs)))):
            for layer in reversed(self.layers) if sweep % 2 else self.layers:
                wanted, weights = [], []
                for node in layer:
                    near = self.above[node] + self.below[node]
                    wanted.append(sum(xs[one] for one in near) / len(near) if near else xs[node])
                    weights.append(4.0 if node >= self.count else 1.0)  # lanes stay straight
                for node, x in zip(layer, self._spread(layer, wanted, weights), strict=True):
                    xs[node] = x
        self._straighten(xs)
        left = min(xs[node] - self._half(node) for node in range(len(xs)))
        return [x - left for x in xs]

    def _straighten(self, xs: list[float]) -> None:
        """Makes the edges of chains and lanes vertical where their neighbours leave room."""
        beside: dict[tuple[int, int], int] = {}
        for layer in self.layers:
            for one, other in itertools.pairwise(layer):
                beside[one, 1], beside[other, -1] = other, one
        waiting = sorted(self._chains(), key=len)
        while waiting:
            chain = waiting.pop()
            least, most = -math.inf, math.inf
            for node in chain:
                left, right = beside.get((node, -1)), beside.get((node, 1))
                if left is not None:
                    least = max(least, xs[left] + self._apart(left, node))
                if right is not None:
                    most = min(most, xs[right] - self._apart(node, right))
            if least <= most:
                wanted = sorted(xs[node] for node in chain)[len(chain) // 2]
                for node in chain:
                    xs[node] = min(max(wanted, least), most)
            elif len(chain) > 2:  # no room for all of it: each half for itself
                waiting += [chain[: len(chain) // 2], chain[len(chain) // 2 :]]

    def _chains(self) -> Iterator[list[int]]:
        """Paths of nodes, each the only input of the next (lanes aside), and the lanes of each edge."""
        above = [[one for one in near if one < self.count] for near in self.above[: self.count]]
        below = [[one for one in near if one < self.count] for near in self.below[: self.count]]
        for node in range(self.count):
            if len(above[node]) == 1 and len(below[above[node][0]]) == 1:
                continue  # inside a chain
            chain = [node]
            while len(below[chain[-1]]) == 1 and len(above[below[chain[-1]][0]]) == 1:
                chain.append(below[chain[-1]][0])
            if len(chain) > 1:
                yield chain
        yield from (lanes for lanes in self.lanes.values() if len(lanes) > 1)

    def _apart(self, left: int, right: int) -> float:
        return self._half(left) + self._half(right) + (_GAP if right < self.count else _GAP / 3)

    def _half(self, node: int) -> float:
        return (WIDTH if node < self.count else _LANE_WIDTH) / 2

    def _spread(self, layer: Sequence[int], wanted: Sequence[float], weights: Sequence[float]) -> list[float]:
        """The positions nearest to the wanted ones that keep order and distance (isotonic regression)."""
        offsets, x = [], 0.0
        for i, node in enumerate(layer):
            if i:
                x += self._apart(layer[i - 1], node)
            offsets.append(x)
        blocks: list[list[float]] = []  # [mean, weight, length]
        for want, offset, weight in zip(wanted, offsets, weights, strict=True):
            block = [want - offset, weight, 1]
            while blocks and blocks[-1][0] > block[0]:
                mean, mass, length = blocks.pop()
                total = mass + block[1]
                block = [(mean * mass + block[0] * block[1]) / total, total, length + block[2]]
            blocks.append(block)
        means = [mean for mean, _, length in blocks for _ in range(int(length))]
        return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


@dataclass(slots=True)
class _Column:
    first: int
    last: int
    shift: float = 0.0
    right: float = 0.0


def _columns(grid: _Grid, xs: Sequence[float]) -> list[_Column]:
    """Cuts a tall graph into columns side by side, where the fewest edges are cut."""
    spans = [(min(xs[n] - grid._half(n) for n in one), max(xs[n] + grid._half(n) for n in one)) for one in grid.layers]
    crossing = [len(layer) for layer in grid.layers]
    width = sorted(right - left for left, right in spans)[int(0.9 * (len(spans) - 1))] + _COLUMN_GAP
    rows = max(40, int((len(spans) * width / _LAYER / _ASPECT) ** 0.5))
    columns, first = [], 0
    while first < len(spans):
        last = len(spans) - 1
        if last - first + 1 > 1.4 * rows:
            window = range(first + int(0.75 * rows), first + rows)
            last = min(window, key=lambda rank: (crossing[rank] + crossing[rank + 1], -rank))
        columns.append(_Column(first, last))
        first = last + 1
    x = 0.0
    for column in columns:
        left = min(spans[rank][0] for rank in range(column.first, column.last + 1))
        right = max(spans[rank][1] for rank in range(column.first, column.last + 1))
        column.shift = x - left
        column.right = x + right - left
        x = column.right + _COLUMN_GAP
    return columns


def _column_of(columns: Sequence[_Column], rank: int) -> _Column:
    low, high = 0, len(columns) - 1
    while low < high:
        middle = (low + high) // 2
        if rank > columns[middle].last:
            low = middle + 1
        else:
            high = middle
    return columns[low]


def _position(columns: Sequence[_Column], x: float, rank: int) -> tuple[float, float]:
    column = _column_of(columns, rank)
    return round(x + column.shift, 1), round((rank - column.first + 0.5) * _LAYER, 1)


__all__ = ["HEIGHT", "WIDTH", "Layout", "layered"]
