"""Which tensors hold integers with a scale."""

from __future__ import annotations

from collections.abc import Collection

from openvino import Node, Output


def source_behind(value: Output, kinds: Collection[str]) -> Node:
    """The node that computes a tensor, behind nodes of some types, each of which keeps what its first input holds."""
    node = value.get_node()
    while node.get_type_name() in kinds:
        node = node.input_value(0).get_node()
    return node


def holds_integers(value: Output, kinds: Collection[str]) -> bool:
    """Whether a tensor holds integers with a scale: behind nodes of `kinds`, a FakeQuantize or converted integers."""
    node = source_behind(value, kinds)
    if node.get_type_name() == "Convert":
        return not node.get_input_element_type(0).is_real()
    return bool(node.get_type_name() == "FakeQuantize")
