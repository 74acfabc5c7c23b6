"""Tensors, and the inputs that read them, each with the node that it belongs to."""

from __future__ import annotations

from openvino import Node, Output


class Consumer:
    """An input of a node, as OpenVINO's `Input`, which does not keep its node: asked after that is gone, it crashes."""

    __slots__ = ("_index", "_node")

    def __init__(self, node: Node, index: int) -> None:
        self._node, self._index = node, index

    def get_node(self) -> Node:
        """The node that reads."""
        return self._node

    def get_index(self) -> int:
        """By which of its inputs."""
        return self._index

    def replace_source_output(self, new: Output) -> None:
        """Has the node read another tensor here."""
        self._node.input(self._index).replace_source_output(new)


def key_of(tensor: Output) -> tuple[str, int]:
    """A key that identifies a tensor: the name of its node, and its index there."""
    return tensor.get_node().get_name(), tensor.get_index()


def consumers(output: Output) -> list[Consumer]:
    """The inputs that read a tensor."""
    return [Consumer(one.get_node(), one.get_index()) for one in output.get_target_inputs()]


__all__ = ["Consumer", "consumers", "key_of"]
