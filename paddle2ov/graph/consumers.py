"""Tensors, the inputs and nodes that read them, and walks from one node to the nearest of some type."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Collection

from openvino import Input, Node, Output

_MAX_BETWEEN = 6
"""OpenVINO does not fuse more nodes into one kernel."""


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

    def age(self) -> tuple[int, int]:
        """Its place among the inputs of all nodes, in the order in which these were made."""
        return self._node.get_instance_id(), self._input.get_index()

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
    """The inputs that read a tensor, in the order in which their nodes were made: the bindings have a set of them."""
    ports = list(map(Consumer, output.get_target_inputs()))
    if len(ports) > 1:
        ports.sort(key=Consumer.age)
    return ports


def only_consumer(output: Output) -> Node | None:
    """The only node that reads a tensor; None if there are several inputs that do."""
    ports = output.get_target_inputs()
    return next(iter(ports)).get_node() if len(ports) == 1 else None


def readers(node: Node) -> list[Node]:
    """The nodes that read a node."""
    return [reader.get_node() for output in node.outputs() for reader in consumers(output)]


def nearest(
    nodes: list[Node], kinds: Collection[str], between: Collection[str], follow: Callable[[Node], list[Node]]
) -> list[Node]:
    """The nodes of types `kinds` that `follow` reaches from `nodes`, through at most six nodes of types `between`."""
    matched: list[Node] = []
    seen: set[str] = set()
    for _ in range(_MAX_BETWEEN + 1):
        new = {node.get_name(): node for node in nodes if node.get_name() not in seen}
        seen |= new.keys()
        matched += [node for node in new.values() if node.get_type_name() in kinds]
        nodes = [item for node in new.values() if node.get_type_name() in between for item in follow(node)]
    return matched
