"""Whether the buffer that a node reads has other users: views, a Concat that may join in place, results."""

from __future__ import annotations

from collections.abc import Iterator

from openvino import Node, Output

from paddle2ov.graph.memory import COPYING, SLICING, SPLITTING, VIEWS
from paddle2ov.passes.consumers import consumers
from paddle2ov.passes.operands import perm_of

_COPYING = COPYING | SLICING
"""Nodes that read a view and write elsewhere."""


def changes_layout(perm: list[int]) -> bool:
    """Whether a permutation is a change between channels-first and channels-last, or of batch and time steps."""
    last = len(perm) - 1
    between = list(range(1, last))
    return perm == [1, 0, 2] or (2 <= last <= 4 and perm in ([0, last, *between], [0, *between[1:], last, 1]))


def shares_memory(node: Node) -> bool:
    """Whether another node may write to the buffer of this node's first input, or join it into a larger one.

    Buffers of Constants, and of Parameters that are not split, are not counted: OpenVINO copies them where they are
    shared. The parts of a Parameter are copies themselves, and share their memory like any other tensor.
    """
    root = node.input_value(0)
    part: Output | None = None
    while root.get_node().get_type_name() in VIEWS:
        part = root if root.get_node().get_type_name() in SPLITTING else part
        root = root.get_node().input_value(0)
    kind = root.get_node().get_type_name()
    if kind == "Constant" or (kind == "Parameter" and part is None):
        return False
    if kind == "Parameter" and part is not None:
        root = part
    return any(
        _is_shared(output, port.get_node(), output == root)
        for output in _family(root)
        for port in consumers(output)
        if port.get_node().get_name() != node.get_name()
    )


def _family(root: Output) -> Iterator[Output]:
    """A tensor and its views."""
    pending = [root]
    while pending:
        output = pending.pop()
        yield output
        for port in consumers(output):
            if port.get_node().get_type_name() in VIEWS:
                pending += port.get_node().outputs()


def _is_shared(output: Output, reader: Node, is_root: bool) -> bool:
    kind = reader.get_type_name()
    if kind == "Concat":  # along which axis it joins in place depends on the layout that the plugin chooses
        return True
    if kind == "Transpose":
        perm = perm_of(reader)
        return not is_root and perm is not None and changes_layout(perm)
    return not is_root and kind not in VIEWS and kind not in _COPYING


__all__ = ["changes_layout", "shares_memory"]
