"""Which tensors hold integers with a scale."""

from __future__ import annotations

from collections.abc import Collection

from openvino import Output

from paddle2ov.graph.upstream import source_behind


def holds_integers(value: Output, kinds: Collection[str]) -> bool:
    """Whether a tensor holds integers with a scale: behind nodes of `kinds`, a FakeQuantize or converted integers.

    Each of these keeps what its first input holds.
    """
    node = source_behind(value, kinds)
    if node.get_type_name() == "Convert":
        return not node.get_input_element_type(0).is_real()
    return bool(node.get_type_name() == "FakeQuantize")
