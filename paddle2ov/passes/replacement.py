"""New nodes in the place of old ones: they keep the names and the Paddle operators that the old ones come from."""

from __future__ import annotations

from collections.abc import Collection

from openvino import Input, Node, Output

from paddle2ov.graph.aliases import alias, may_be_input
from paddle2ov.graph.consumers import Consumer, consumers, rewire
from paddle2ov.graph.node_names import is_unnamed, move_name
from paddle2ov.graph.provenance import copy_operators


def replace(old: Output, new: Output, *more: Node) -> None:
    """Redirects all consumers of `old` to `new`, which takes the old node's friendly name if it has none of its own.

    The nodes created to compute `new` are attributed to the operators that the node of `old` comes from, and to those
    of `more`, the other nodes that they replace.
    """
    inherit_name(new.get_node(), old.get_node(), *more)
    is_taken: bool | None = None  # whether another Result has the name of `new`; looked up once, as there may be many
    for reader in consumers(old):
        is_result = reader.get_node().get_type_name() == "Result"
        if is_result and is_taken is None:
            is_taken = _is_named(new) or may_be_input(new)
        if is_result and is_taken:
            other = alias(new)
            copy_operators(other, old.get_node(), *more)
            reader.replace_source_output(other)
        else:
            reader.replace_source_output(new)
            is_taken = True if is_result else is_taken


def inherit_name(new: Node, old: Node, *more: Node) -> None:
    """Gives a node the friendly name of the node that it replaces, if it has none of its own, and its operators."""
    if new.get_type_name() not in ("Parameter", "Constant") and is_unnamed(new):
        move_name(old, new)
    copy_operators(new.output(0), old, *more)


def insert(readers: Collection[Consumer | Input], new: Output, node: Node) -> None:
    """Redirects some inputs to a tensor that was created on behalf of a node that stays."""
    copy_operators(new, node)
    for reader in readers:
        rewire(reader.get_node(), reader.get_index(), new)


def name_after(new: Node, old: Node, part: str | int, *more: Node) -> None:
    """Names a node after the one that it partly replaces, and attributes it to the operators of that and of `more`."""
    new.set_friendly_name(f"{old.get_friendly_name()}/{part}/{new.get_name()}")
    copy_operators(new.output(0), old, *more)


def _is_named(output: Output) -> bool:
    """Whether a tensor has a name already, as a model input or output, which another Result would take from it."""
    readers = consumers(output)
    return output.get_node().get_type_name() == "Parameter" or any(
        reader.get_node().get_type_name() == "Result" for reader in readers
    )
