"""Whether the buffer that a node reads has other users: views, results, nodes that may join or write in place."""

from __future__ import annotations

from collections.abc import Iterator

from openvino import Dimension, Node, Output

from paddle2ov.graph.constants import number_of
from paddle2ov.graph.consumers import Consumer, consumers
from paddle2ov.graph.permutation import is_layout_change
from paddle2ov.graph.placement import COPYING, SCATTERING, SLICING, SPLITTING, VIEWS
from paddle2ov.passes.constant_operands import perm_of

_READ_A_VIEW_ONLY = COPYING | SLICING
"""Nodes that read a view and write elsewhere."""
_ALWAYS_VIEWS = VIEWS | {"Identity"}
"""Nodes whose results are views of their input; OpenVINO eliminates an Identity."""
_ONE = Dimension(1)


def shares_memory(node: Node) -> bool:
    """Whether another node may write to the buffer of this node's first input, or join it into a larger one.

    Buffers of Constants, and of Parameters that are not split, are not counted: OpenVINO copies them where they are
    shared. The parts of a Parameter are copies themselves, and share their memory like any other tensor.
    """
    return any(
        _may_write_or_join(port, output in roots)
        for roots in map(_equal_outputs, _roots(node.input_value(0)))
        for output in _views_of(roots, node.get_name())
        for port in consumers(output)
        if port.get_node().get_name() != node.get_name()
    )


def _roots(output: Output) -> Iterator[Output]:
    """The tensors in whose memory a tensor may be: of a node that is a view for some sizes only, both."""
    part: Output | None = None
    while _is_view(output.get_node()):
        node = output.get_node()
        if node.get_type_name() in SPLITTING:
            part = output
        elif node.get_type_name() not in _ALWAYS_VIEWS:
            yield output
        output = node.input_value(0)
    kind = output.get_node().get_type_name()
    if kind == "Parameter" and part is not None:
        yield part
    elif kind not in ("Constant", "Parameter"):
        yield output


def _equal_outputs(root: Output) -> list[Output]:
    """A tensor, and those that nodes of the same kind compute from the same tensors, which OpenVINO merges with it."""
    node = root.get_node()
    if not node.get_input_size():
        return [root]
    read = [port.get_node() for port in consumers(node.input_value(0)) if port.get_index() == 0]
    equal = [
        item
        for item in read
        if item != node
        and item.get_type_name() == node.get_type_name()
        and item.input_values() == node.input_values()
        and item.get_attributes() == node.get_attributes()
    ]
    return [root, *(item.output(root.get_index()) for item in equal)]


def _views_of(roots: list[Output], without: str) -> Iterator[Output]:
    """Tensors and their views, without those through the node of a name."""
    pending = list(roots)
    while pending:
        output = pending.pop()
        yield output
        for port in consumers(output):
            if port.get_node().get_name() != without and _is_view(port.get_node()):
                pending += port.get_node().outputs()


def _is_view(node: Node) -> bool:
    """Whether its results are views of its input, for sizes that are known or may be fixed later."""
    kind = node.get_type_name()
    return (
        kind in _ALWAYS_VIEWS
        or (kind == "Gather" and _may_squeeze(node))
        or (kind == "Transpose" and _may_keep_order(node))
    )


def _may_squeeze(gather: Node) -> bool:
    """Whether it takes the only element of an axis."""
    if gather.get_input_partial_shape(1).rank != 0:
        return False
    dims, axis = gather.get_input_partial_shape(0), number_of(gather.input_value(2))
    return axis is not None and dims.rank.is_static and dims[int(axis)].compatible(_ONE)


def _may_keep_order(transpose: Node) -> bool:
    """Whether it moves axes of one element only."""
    dims, perm = transpose.get_input_partial_shape(0), perm_of(transpose)
    if perm is None or dims.rank.is_dynamic:
        return False
    long = [axis for axis in perm if dims[axis].get_min_length() > 1]
    return long == sorted(long)


def _may_write_or_join(port: Consumer, is_root: bool) -> bool:
    """Whether a reader may write where it reads, or join it; of the root itself, nodes that write copy it before."""
    reader = port.get_node()
    kind = reader.get_type_name()
    # Along which axis a Concat joins in place depends on the layout that the plugin chooses. An Einsum becomes views
    # and a product of them.
    if kind in ("Concat", "Einsum"):
        return True
    if kind in SCATTERING:
        return port.get_index() == 0
    if kind == "Transpose":
        return not is_root and is_layout_change(perm_of(reader))
    return not is_root and not _is_view(reader) and kind not in _READ_A_VIEW_ONLY
