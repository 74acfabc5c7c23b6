"""Nodes and tensors with their properties cached: each property is asked of OpenVINO once.

Valid only as long as the nodes are not changed. `gather_pushdown` changes none: new nodes compute the selected rows,
and the old ones lose their readers in the end. Nothing here refers back to what refers to it, so that views, and old
nodes with them, are gone when the rewrite returns: later, collecting them would take nodes away under another rewrite.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from openvino import Node, Output

from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.shapes import Dims, dims_of
from paddle2ov.passes.constant_operands import perm_of, target_of


class NodeView:
    """A node.

    Attributes:
        node: the node itself.
        kind: its type.
    """

    def __init__(self, node: Node, views: Views) -> None:
        self.node, self.kind = node, node.get_type_name()
        self._views = weakref.ref(views)

    @cached_property
    def inputs(self) -> list[TensorView]:
        """The tensors that it reads."""
        views = self._views()
        assert views is not None, "views are read while those that they are from live"
        return [views(value) for value in self.node.input_values()]

    @cached_property
    def attributes(self) -> Mapping[str, Any]:
        """Its attributes."""
        values: Mapping[str, Any] = self.node.get_attributes()
        return values

    @cached_property
    def target(self) -> list[int | Output | None] | None:
        """The target shape of a Reshape, see `target_of`."""
        return target_of(self.node)

    @cached_property
    def perm(self) -> list[int] | None:
        """The permutation of a Transpose, see `perm_of`."""
        return perm_of(self.node)


class TensorView:
    """A tensor.

    Attributes:
        output: the tensor itself.
        node: the node that computes it.
        index: the output of that node.
    """

    def __init__(self, output: Output, node: NodeView, index: int) -> None:
        self.output, self.node, self.index = output, node, index

    @cached_property
    def dims(self) -> Dims | None:
        """Its dimensions, see `dims_of`."""
        return dims_of(self.output)

    @cached_property
    def ints(self) -> list[int] | None:
        """The values of an integer Constant, see `ints_of`."""
        return ints_of(self.output)


class Views:
    """The view of each tensor that is asked for."""

    def __init__(self) -> None:
        self._nodes: dict[str, NodeView] = {}
        self._tensors: dict[tuple[str, int], TensorView] = {}

    def __call__(self, output: Output) -> TensorView:
        """The view of a tensor; always the same one."""
        node, index = output.get_node(), output.get_index()
        name = node.get_name()
        tensor = self._tensors.get((name, index))
        if tensor is None:
            view = self._nodes.get(name)
            if view is None:
                view = self._nodes[name] = NodeView(node, self)
            tensor = self._tensors[name, index] = TensorView(output, view, index)
        return tensor
