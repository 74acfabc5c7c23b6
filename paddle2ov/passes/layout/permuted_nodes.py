"""Permutes nodes, which then compute on data with another order of the axes."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import TopologicalSorter
from typing import TypeAlias

from openvino import Node, Output

from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.consumers import Consumer, consumers, key_of, revalidate, rewire
from paddle2ov.graph.node_kinds import REDUCTIONS
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.permutation import compose, inverse, permute
from paddle2ov.passes.constant_operands import perm_of
from paddle2ov.passes.layout.permutable import HAVING_AXES, PERMUTABLE, Role, permuted_constant, roles_of
from paddle2ov.passes.replacement import insert, name_after, replace

LAYOUT_AGNOSTIC = frozenset(("ShapeOf", "Transpose"))
"""Node types that read a tensor in any layout, once adapted."""
NodeTensors: TypeAlias = tuple[Node, list[Output]]
"""A node, and the tensors that it writes or reads in the layout in which it computes."""


def readers_of(tensor: Output) -> list[tuple[Node, Consumer]]:
    """The readers of a tensor, without unused transposes; with their nodes."""
    pairs = [(reader.get_node(), reader) for reader in consumers(tensor)]
    return [item for item in pairs if item[0].get_type_name() != "Transpose" or consumers(item[0].output(0))]


def perm_after_reduction(node: Node, perm: list[int]) -> list[int]:
    """The permutation of the output of a reduction of transposed data."""
    axes = {axis % len(perm) for axis in ints_of(node.input_value(1)) or []}
    if node.get_attributes()["keep_dims"]:
        return perm
    left = [axis for i, axis in enumerate(perm) if i not in axes]
    return [sorted(left).index(axis) for axis in left]


class Change:
    """Makes nodes compute on data not transposed by `perm`, and transposes their outputs for all other nodes."""

    def __init__(self, perm: list[int], nodes: Mapping[str, NodeTensors]) -> None:
        self.nodes = nodes
        self._perm, self._back = perm, inverse(perm)
        self._moved: dict[tuple[str, int], Output] = {}
        self._constants: dict[tuple[str, int], Output | None] = {}
        # Transposes that read permuted nodes, except those that `_restore_for` adds.
        self._of_permuted: set[str] = set()
        self.added: list[Node] = []
        self.removed: set[str] = set()

    def make(self) -> None:
        """Permutes the nodes in topological order; `added` and `removed` are the transposes that come and go."""
        sources = {name: node.input_values() for name, (node, _) in self.nodes.items()}
        readers = {name: list(map(readers_of, node.outputs())) for name, (node, _) in self.nodes.items()}
        producers = {key_of(source): source.get_node() for item in sources.values() for source in item}
        for node in producers.values():
            if node.get_type_name() == "Transpose" and node.input_value(0).get_node().get_name() in self.nodes:
                self._of_permuted.add(node.get_name())
        order = TopologicalSorter({name: map(self._origin, adjacent) for name, adjacent in sources.items()})
        for name in order.static_order():
            if name not in self.nodes:
                continue
            node, tensors = self.nodes[name]
            after = perm_after_reduction(node, self._perm) if node.get_type_name() in REDUCTIONS else self._perm
            self._permute(node, sources[name], tensors)
            for output, adjacent in zip(node.outputs(), readers[name], strict=True):
                for reader in adjacent if after != sorted(after) else ():
                    self._restore_for(*reader, output, after, node)
        for node in producers.values():
            if node.get_type_name() == "Transpose":
                self._drop_if_unneeded(node)

    def _permute(self, node: Node, sources: list[Output], tensors: list[Output]) -> None:
        """Connects a node to the data that is not transposed, and adapts its axes and constants."""
        for i, (source, role) in enumerate(zip(sources, roles_of(node) or (), strict=True)):
            if source in tensors and role in HAVING_AXES:
                rewire(node, i, self._untransposed(source))
            elif (constant := self._constant(source, role)) is not None:
                rewire(node, i, constant)
        if axis := PERMUTABLE[node.get_type_name()].axis:
            node.set_attribute(axis, self._perm[node.get_attributes()[axis] % len(self._perm)])
        revalidate(node)

    def _constant(self, source: Output, role: Role) -> Output | None:
        """The adapted constant, shared by the nodes that shared the original; None if it stays."""
        if role not in HAVING_AXES:
            permuted = permuted_constant(source, role, self._perm)
            return None if permuted is None else permuted.output(0)
        key = key_of(source)
        if key not in self._constants:
            permuted = permuted_constant(source, role, self._perm)
            self._constants[key] = None if permuted is None else permuted.output(0)
        return self._constants[key]

    def _origin(self, source: Output) -> str:
        """The name of the node that writes a tensor, looking through a Transpose."""
        node = source.get_node()
        if node.get_type_name() == "Transpose":
            node = node.input_value(0).get_node()
        return str(node.get_name())

    def _untransposed(self, tensor: Output) -> Output:
        node = tensor.get_node()
        if node.get_name() in self.nodes:
            return tensor
        key = key_of(tensor)
        if key not in self._moved:
            perm, order, x = None, self._back, tensor
            if node.get_type_name() == "Transpose" and (perm := perm_of(node)) is not None:
                x, order = node.input_value(0), compose(perm, order)
                if node.get_name() in self._of_permuted:
                    order = compose(self._perm, order)
            others = (item for item, _ in readers_of(x)) if order != sorted(order) else ()
            same = (item for item in others if item.get_type_name() == "Transpose" and perm_of(item) == order)
            other = next(same, None)
            self._moved[key] = self._transposed(x, order, node) if other is None else other.output(0)
        return self._moved[key]

    def _restore_for(self, node: Node, reader: Consumer, tensor: Output, perm: list[int], permuted: Node) -> None:
        """Gives a reader of a permuted node the tensor in its original layout."""
        kind = node.get_type_name()
        if node.get_name() in self.nodes:
            return
        order = perm_of(node) if kind == "Transpose" else None
        if order is not None:
            replace(node.output(0), self._transposed(tensor, compose(perm, order), node))
            self.removed.add(node.get_name())
        elif kind == "ShapeOf":
            _permute_shape(node, tensor, perm)
        else:
            key = key_of(tensor)
            if key not in self._moved:
                self._moved[key] = self._transposed(tensor, perm, permuted)
            reader.replace_source_output(self._moved[key])

    def _transposed(self, tensor: Output, perm: list[int], origin: Node) -> Output:
        if perm == sorted(perm):
            return tensor
        moved = permute(tensor, perm)
        if moved.get_node().get_type_name() == "Transpose":
            self.added.append(moved.get_node())
        name_after(moved.get_node(), origin, "moved")
        return moved

    def _drop_if_unneeded(self, transpose: Node) -> None:
        """Bypasses a transpose that only transposes and ShapeOf read."""
        readers = [node for node, _ in readers_of(transpose.output(0))]
        orders = [perm_of(node) if node.get_type_name() == "Transpose" else [] for node in readers]
        perm, x = perm_of(transpose), transpose.input_value(0)
        if perm is None or None in orders or not all(node.get_type_name() in LAYOUT_AGNOSTIC for node in readers):
            return
        self.removed.add(transpose.get_name())
        for node, order in zip(readers, orders, strict=True):
            if order:
                self.removed.add(node.get_name())
                replace(node.output(0), self._transposed(x, compose(perm, order), node))
            else:
                _permute_shape(node, x, perm)


def _permute_shape(shape_of: Node, tensor: Output, perm: list[int]) -> None:
    """Computes the shape of a transposed tensor from that of the tensor itself."""
    readers = consumers(shape_of.output(0))
    rewire(shape_of, 0, tensor)
    shape = ops.gather(shape_of, ints(perm), ints(0))
    name_after(shape, shape_of, "moved")
    insert(readers, shape.output(0), shape_of)
