"""Moves transposes to where they transpose the fewest elements; the nodes in between compute in the other layout."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from openvino import Node, Output

from paddle2ov.graph.constants import constant_of, ints_of
from paddle2ov.graph.consumers import consumers, key_of
from paddle2ov.graph.node_kinds import BINARY, REDUCTIONS, UNARY
from paddle2ov.graph.permutation import inverse, moves_elements
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.constant_operands import perm_of
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.layout.minimum_cut import END, ENDLESS, MinimumCut, Vertex
from paddle2ov.passes.layout.permutable import PERMUTABLE, data_of
from paddle2ov.passes.layout.permuted_nodes import (
    LAYOUT_AGNOSTIC,
    Change,
    NodeTensors,
    perm_after_reduction,
    readers_of,
)

_FLEXIBLE = LAYOUT_AGNOSTIC | PERMUTABLE.keys()
_FUSING = UNARY | BINARY | {"Convolution", "GroupConvolution", "ConvolutionBackpropData", "MatMul"}
_SPLITTING = ("Split", "VariadicSplit")
_MAX_ROUNDS = 8
"""How often transposes that were moved may be moved again."""
_NAME = "move_transposes"
_COMPUTED = "the order of the axes is computed"
_FIXED = "a neighbouring node cannot compute with permuted axes"
_NO_BETTER = "as many elements or more would be transposed elsewhere"
_UNKNOWN = 64
"""The size assumed for a dynamic dimension."""


def move_transposes(graph: Graph) -> Counts:
    """Lets nodes that can compute in either layout use the one that leaves fewer elements to transpose.

    Given:
        A region of nodes that are elementwise, concatenate, split, slice, pad, reduce or take a softmax, entered
        through transposes with one permutation, or left through transposes with its inverse. All other nodes around it
        need their tensors in the present layout; constants, ShapeOf and other transposes take either.
    Result:
        The nodes that a minimum cut selects compute on the inputs of the transposes, with permuted axes and constants;
        each tensor that is needed in both layouts is transposed once. Transposing a tensor costs its number of
        elements, or nothing if only axes of size 1 move. Of two positions with the same cost, a transpose takes the
        later one if OpenVINO can then fuse the nodes before it into a convolution or a MatMul.
    """
    counts = {"nodes": 0, "transposes before": 0, "transposes after": 0}
    waiting = graph.nodes("Transpose")
    staying: dict[str, Node] = {}  # the original ones that could be moved, and are not
    for number in range(_MAX_ROUNDS):
        starts: dict[tuple[int, ...], list[tuple[Node, bool]]] = {}
        for transpose in waiting:
            sides = _flexible_sides(graph, transpose)
            perm = perm_of(transpose) if sides else None
            if perm is None:
                if number == 0:
                    graph.match_failed(_NAME, transpose, _COMPUTED if sides else _FIXED)
                continue
            if number == 0:
                staying[transpose.get_name()] = transpose
            for comes_in in sides:
                starts.setdefault(tuple(perm if comes_in else inverse(perm)), []).append((transpose, comes_in))
        waiting = []
        for order, candidates in starts.items():
            left = [_inner(*start) for start in candidates if consumers(start[0].output(0))]
            change = Change(list(order), _Layout(list(order)).better_left(left))
            change.make()
            for name in change.removed:
                staying.pop(name, None)
            waiting += change.added
            counts["nodes"] += len(change.nodes)
            counts["transposes before"] += len(change.removed)
            counts["transposes after"] += len(change.added)
    for transpose in staying.values():
        graph.match_failed(_NAME, transpose, _NO_BETTER)
    return counts


def _inner(transpose: Node, comes_in: bool) -> Output:
    """The tensor of a transpose on the transposed side: its output if it `comes_in`, else its input."""
    return transpose.output(0) if comes_in else transpose.input_value(0)


def _flexible_sides(graph: Graph, transpose: Node) -> list[bool]:
    """On which sides of a transpose all nodes around its tensor are of permutable types; rules out most transposes."""
    index = graph.index
    place = index.place_of(transpose)
    if place is None:  # it was removed after it was added
        return []
    (source, *_) = index.sources[place]
    sides = [True] if index.reader_kinds(place) <= _FLEXIBLE else []
    if index.kinds[source] not in _FLEXIBLE:
        return sides
    if index.kinds[source] in _SPLITTING:
        around = {consumer.get_node().get_type_name() for consumer in consumers(transpose.input_value(0))}
    else:
        around = index.reader_kinds(source)
    return [*sides, False] if around <= _FLEXIBLE else sides


class _Layout:
    """Nodes that compute on data transposed by `perm`, and could compute on the data before the transposes.

    They form a flow network: a node is a vertex, and a tensor an edge between the nodes around it, with the cost of
    transposing it if these do not all use one layout. Paths start at the present transposes, and end at nodes that
    cannot change their layout.
    """

    def __init__(self, perm: list[int]) -> None:
        self._perm, self._back = perm, inverse(perm)
        self._cut = MinimumCut()
        self._nodes: dict[Vertex, NodeTensors | None] = {}
        self._tensors: dict[Vertex, Output] = {}
        self._around: dict[Vertex, Mapping[Vertex, int]] = {}
        self._kept: set[Vertex] = set()

    def better_left(self, tensors: list[Output]) -> dict[str, NodeTensors]:
        """The nodes that should not compute on transposed data, so that these tensors need not be transposed."""
        selected: dict[str, NodeTensors] = {}
        for tensor in tensors:
            new = self._cut.start(self._vertex(tensor), self._edges)
            nodes = [around for around in map(self._nodes.get, new) if around is not None]
            if nodes and self._perm == self._back and not self._keep_beyond(new):
                break
            selected |= {node.get_name(): (node, around) for node, around in nodes}
        return selected

    def _keep_beyond(self, vertices: Collection[Vertex]) -> bool:
        """Fixes the layout of the nodes beyond the surrounding transposes: these cancel, and must not be removed twice.

        Returns False if those nodes are selected themselves: a matrix meets its transpose.
        """
        beyond: set[Vertex] = set()
        for tensor in map(self._tensors.get, vertices):
            if tensor is not None:
                around = [tensor.get_node(), *(reader for reader, _ in readers_of(tensor))]
                for node in around:
                    if node.get_type_name() == "Transpose":
                        beyond.add(key_of(node.input_value(0) if node == around[0] else node.output(0)))
        for vertex in beyond:
            self._kept.add(vertex)
            self._cut.end(vertex)
        return beyond.isdisjoint(self._cut.before)

    def _vertex(self, tensor: Output) -> Vertex:
        vertex = key_of(tensor)
        self._tensors[vertex] = tensor
        return vertex

    def _edges(self, vertex: Vertex) -> Mapping[Vertex, int]:
        if vertex in self._nodes:
            _, tensors = self._nodes[vertex] or (None, [])
            return {self._vertex(tensor): ENDLESS for tensor in tensors}
        if vertex in self._around:
            return self._around.pop(vertex)
        if vertex in self._kept:
            return {END: ENDLESS}
        tensor, after = self._tensors[vertex], (vertex, "after")
        neighbours, is_transposed = self._neighbours(tensor)
        if is_transposed and END in neighbours:
            return {}  # it is selected in any case
        self._around[after] = neighbours
        return {after: self._cost(tensor)}

    def _neighbours(self, tensor: Output) -> tuple[dict[Vertex, int], bool]:
        """The nodes that write or read a tensor, END for fixed layouts; and whether there are transposes among them."""
        neighbours: dict[Vertex, int] = {}
        is_transposed = False
        source = tensor.get_node()
        perm = perm_of(source) if source.get_type_name() == "Transpose" else None
        if perm is not None:
            is_transposed = perm == self._perm
        else:
            neighbours[self._either(source, tensor)] = ENDLESS
        for node, _ in readers_of(tensor):
            perm = perm_of(node) if node.get_type_name() == "Transpose" else None
            if perm is not None:
                is_transposed |= perm == self._back
            elif node.get_type_name() != "ShapeOf":
                neighbours[self._either(node, tensor)] = ENDLESS
        return neighbours, is_transposed

    def _either(self, node: Node, tensor: Output) -> Vertex:
        """The node if it can compute in either layout, else END."""
        name = node.get_name()
        if name not in self._nodes:
            tensors = _tensors_around(node, self._perm)
            self._nodes[name] = None if tensors is None else (node, tensors)
        entry = self._nodes[name]
        return name if entry is not None and tensor in entry[1] else END

    def _cost(self, tensor: Output) -> int:
        dims = dims_of(tensor) or []
        perm = self._back if len(dims) == len(self._perm) else list(range(len(dims)))[::-1]
        if 1 in dims and not moves_elements(dims, perm):
            return 0
        source = tensor.get_node()
        if source.get_type_name() == "Transpose":
            source = source.input_value(0).get_node()
        kind = source.get_type_name()
        parts = map(dims_of, source.input_values()) if kind == "Concat" and None in dims else [dims]
        elements = sum(math.prod(_UNKNOWN if dim is None else dim for dim in part or []) for part in parts)
        return elements + (kind in _FUSING and _is_fused(tensor))


def _is_fused(tensor: Output) -> bool:
    """Whether the only reader of a tensor is elementwise with scalar or per-channel constants."""
    readers = consumers(tensor)
    node = readers[0].get_node()
    if len(readers) > 1 or node.get_type_name() not in UNARY | BINARY:
        return False
    arrays = [constant_of(source) for source in node.input_values() if source != tensor]
    return all(array is not None and array.size == max(array.shape, default=1) for array in arrays)


def _tensors_around(node: Node, perm: list[int]) -> list[Output] | None:
    """The tensors that a node writes or reads in the layout in which it computes; None if its layout is fixed."""
    kind, tensors = node.get_type_name(), data_of(node, len(perm))
    if tensors is None:
        return None
    if kind in ("Concat", "Split", "VariadicSplit") and _would_interleave(node, perm):
        return None
    if kind == "FakeQuantize" and _would_misplace_ranges(node, perm):
        return None
    if kind in REDUCTIONS and (after := perm_after_reduction(node, perm)) == sorted(after):
        return tensors
    return [*tensors, *node.outputs()]


def _would_interleave(node: Node, perm: list[int]) -> bool:
    """Whether single elements would be joined or split on the last axis, which takes twice as long as a transpose."""
    joins = node.get_type_name() == "Concat"
    axis = node.get_attributes()["axis"] if joins else (ints_of(node.input_value(1)) or [0])[0]
    if perm[axis % len(perm)] != len(perm) - 1:
        return False
    return any((dims_of(part) or perm)[axis] == 1 for part in (node.input_values() if joins else node.outputs()))


@works_around("quantization_ranges_along_axis_2")
def _would_misplace_ranges(node: Node, perm: list[int]) -> bool:
    """Whether FakeQuantize ranges would be along axis 2 of a dynamic shape: OpenVINO 2026.4 reads wrong ones there."""
    place = perm.index(2) - len(perm) if 2 in perm else 0
    shapes = [array.shape for source in node.input_values() if (array := constant_of(source)) is not None]
    along = any(place and len(shape) >= -place and shape[place] > 1 for shape in shapes)
    return along and None in (dims_of(node.output(0)) or [None])
