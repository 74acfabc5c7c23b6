"""Unique names of the nodes of a model.

OpenVINO numbers the nodes of a process (`Gather_12`), and uses that as the friendly name of a node that has no other. A
name of the program is given to one node; every other name ends in OpenVINO's own name of the node, so that it is unique
without a search. OpenVINO does not require unique friendly names, but tools that find nodes by them do (NNCF).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from openvino import Model, Node

from paddle2ov.graph.bodies import bodies_of, walk

LENGTHS_SUFFIX = ".lengths"
"""Appended to the name of a tensor of sequences, this names the tensor of their lengths."""

_GENERATED = re.compile(r"(?:.*/)?[A-Z][A-Za-z0-9]*_\d+")


def is_generated(name: str) -> bool:
    """Whether a name of the program has the form of a generated one."""
    return _GENERATED.fullmatch(name) is not None


def is_unnamed(node: Node) -> bool:
    """Whether a node has only the name that OpenVINO generated."""
    return bool(node.get_friendly_name() == node.get_name())


def derive_name(node: Node, name: str) -> None:
    """Gives a node a name derived from `name`, which another node has."""
    node.set_friendly_name(f"{name}/{node.get_name()}")


def move_name(old: Node, new: Node) -> None:
    """Gives the name of a node to the one that replaces it."""
    if not is_unnamed(old):
        name = old.get_friendly_name()
        old.set_friendly_name(old.get_name())
        new.set_friendly_name(name)


class Names:
    """Names of the program, each for one node.

    Args:
        taken: names that nodes have already, or will have.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def reserve(self, nodes: Iterable[Node]) -> None:
        """Gives no other node the names of these."""
        self._taken.update(node.get_friendly_name() for node in nodes)

    def taken(self) -> frozenset[str]:
        """The names that are taken, for `restore`."""
        return frozenset(self._taken)

    def restore(self, taken: frozenset[str]) -> None:
        """Frees the names that were given since, to nodes that are discarded."""
        self._taken = set(taken)

    def give(self, node: Node, name: str) -> None:
        """Names a node `name`, or derives a name from it if another node has that name or might get it."""
        if name in self._taken or (not name.islower() and is_generated(name)):  # few names have capitals
            derive_name(node, name)
        else:
            self._taken.add(name)
            node.set_friendly_name(name)


def forget_names(model: Model) -> None:
    """Gives all nodes of a model, those of branches and loops included, the names that OpenVINO generates."""
    for node in model.get_ops():
        node.set_friendly_name("")
        if type(node) is not Node:  # most are
            for body in bodies_of(node):
                forget_names(body)


def make_unique(model: Model) -> None:
    """Renames nodes whose name another one has: a user's converters may give any."""
    taken: set[str] = set()
    for node in walk(model):
        name = node.get_friendly_name()
        if name in taken:
            derive_name(node, name)
        taken.add(name)
