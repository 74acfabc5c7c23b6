"""Walks a graph from nodes up to what they are computed from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import TypeVar

from openvino import Node, Output

_Key = TypeVar("_Key", bound=Hashable)


def sources_of(node: Node) -> list[Node]:
    """The nodes that a node reads."""
    return [value.get_node() for value in node.input_values()]


def source_behind(value: Output, kinds: Collection[str]) -> Node:
    """The node that computes a tensor, behind nodes of some types, by the first input of each."""
    node = value.get_node()
    while node.get_type_name() in kinds:
        node = node.input_value(0).get_node()
    return node


def upstream(nodes: Iterable[Node], follow: Callable[[Node], Iterable[Node]] = sources_of) -> Iterator[Node]:
    """These nodes and all that `follow` reaches from them, each once."""
    pending, seen = list(nodes), dict[int, Node]()
    while pending:
        node = pending.pop()
        if id(node) not in seen:  # the bindings have one object for each node that is kept here
            seen[id(node)] = node
            yield node
            pending += follow(node)


def reached(keys: Iterable[_Key], follow: Callable[[_Key], Iterable[_Key]]) -> set[_Key]:
    """These keys and all that `follow` reaches from them, where a graph is given by names or numbers."""
    pending, seen = list(keys), set[_Key]()
    while pending:
        key = pending.pop()
        if key not in seen:
            seen.add(key)
            pending += follow(key)
    return seen


_MAX_UPSTREAM = 2000


def depends_on_data(node: Node, if_far: bool = True) -> bool:
    """Whether a node depends on the data of an input, and not on shapes alone.

    Each node of a chain may be asked about. Where none of 2,000 nodes upstream is an input, `if_far` is the answer: a
    network computes less from constants.
    """
    for visited, item in enumerate(upstream([node], data_sources)):
        if item.get_type_name() == "Parameter":
            return True
        if visited == _MAX_UPSTREAM:
            return if_far
    return False


def inputs_behind(*values: Output) -> str:
    """The model's inputs that values depend on, for messages: "inputs 'n' and 'x'"; "the program" inside of a body."""
    nodes = upstream([value.get_node() for value in values])
    names = sorted(
        {min(node.output(0).get_names(), default="") for node in nodes if node.get_type_name() == "Parameter"}
    )
    shown = [f"'{name}'" for name in names if name]
    if not shown:
        return "the program"
    return f"input{'s' if len(shown) > 1 else ''} " + " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def data_sources(node: Node) -> list[Node]:
    """The nodes whose data a node reads; a ShapeOf reads none."""
    return [] if node.get_type_name() == "ShapeOf" else sources_of(node)
