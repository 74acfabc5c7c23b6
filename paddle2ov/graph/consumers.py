"""Tensors, and the inputs that read them, each with the node that it belongs to."""

from __future__ import annotations

import threading
import weakref

from openvino import Input, Node, Output


class Consumer:
    """An input of a node, with the node: OpenVINO's `Input` does not keep it, and crashes if asked once it is gone."""

    __slots__ = ("_input", "_node")

    def __init__(self, input_: Input) -> None:
        self._input, self._node = input_, input_.get_node()

    def get_node(self) -> Node:
        """The node that reads."""
        return self._node

    def get_index(self) -> int:
        """By which of its inputs."""
        return self._input.get_index()

    def replace_source_output(self, new: Output) -> None:
        """Has the node read another tensor here."""
        rewire(self._node, self.get_index(), new)


class Changes:
    """The inputs that this thread has changed by `rewire`, and the nodes of which it has inferred the shapes again."""

    def __init__(self) -> None:
        self.rewired: list[tuple[Node, int]] = []
        self.revalidated: list[Node] = []

    def listen(self) -> None:
        """Takes note of all changes until somebody else listens."""
        _listening.to = weakref.ref(self)


class _Listening(threading.local):
    to: weakref.ref[Changes] | None = None


_listening = _Listening()


def rewire(node: Node, index: int, new: Output) -> None:
    """Has a node read another tensor by one of its inputs."""
    node.input(index).replace_source_output(new)
    changes = None if _listening.to is None else _listening.to()
    if changes is not None:
        changes.rewired.append((node, index))


def revalidate(node: Node) -> None:
    """Infers the shapes of a node again, whose inputs or attributes have changed."""
    node.validate_and_infer_types()
    changes = None if _listening.to is None else _listening.to()
    if changes is not None:
        changes.revalidated.append(node)


def key_of(tensor: Output) -> tuple[str, int]:
    """A key that identifies a tensor: the name of its node, and its index there."""
    return tensor.get_node().get_name(), tensor.get_index()


def consumers(output: Output) -> list[Consumer]:
    """The inputs that read a tensor."""
    return list(map(Consumer, output.get_target_inputs()))
