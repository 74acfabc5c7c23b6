"""Tensors and the nodes that read them, and walks from one node to the nearest of some type."""

from __future__ import annotations

from collections.abc import Callable, Collection

from openvino import Node, Output

from paddle2ov.graph.consumers import Consumer, consumers, key_of, revalidate, rewire

_MAX_BETWEEN = 6
"""OpenVINO does not fuse more nodes into one kernel."""


def only_consumer(output: Output) -> Node | None:
    """The only node that reads a tensor; None if there are several inputs that do."""
    ports = consumers(output)
    return ports[0].get_node() if len(ports) == 1 else None


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


__all__ = ["Consumer", "consumers", "key_of", "nearest", "only_consumer", "readers", "revalidate", "rewire"]
