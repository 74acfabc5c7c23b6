"""What the operands of Reshape, Transpose and Broadcast say, where they are not data."""

from __future__ import annotations

from openvino import Node, Output

from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.shapes import Dims, dims_of
from paddle2ov.graph.upstream import source_behind


def perm_of(node: Node) -> list[int] | None:
    """The permutation of a Transpose; None where it is computed."""
    perm = ints_of(node.input_value(1))
    if perm:
        return perm
    dims = dims_of(node.input_value(0))  # an empty order reverses the axes
    return list(range(len(dims)))[::-1] if perm is not None and dims is not None else None


def target_of(reshape: Node) -> list[int | Output | None] | None:
    """The elements of the target shape of a Reshape; a [1] tensor for one that is computed, None if it is not known.

    None for a shape that is neither a constant nor a Concat of constants and such tensors.
    """
    source = reshape.input_value(1)
    if source.get_node().get_type_name() != "Concat":
        known = ints_of(source)
        return None if known is None else list(known)
    target: list[int | Output | None] = []
    for piece in source.get_node().input_values():
        node = piece.get_node()
        value = ints_of(node.input_value(0) if node.get_type_name() == "Unsqueeze" else piece)
        if value is not None:
            target += value
            continue
        length = (dims_of(piece) or [None])[0]
        if length is None:
            return None
        target += [piece] if length == 1 else [None] * length
    return target


def reshaped_dims(reshape: Node) -> Dims | None:
    """The output dimensions of a Reshape; where OpenVINO infers none, the constants in its target shape, a Concat."""
    dims, source = dims_of(reshape.output(0)), reshape.input_value(1).get_node()
    if dims is None or None not in dims or source.get_type_name() != "Concat":
        return dims
    named = target_of(reshape)
    if named is None or len(named) != len(dims):
        return dims
    known = [item if isinstance(item, int) and item > 0 else None for item in named]
    return [dim if dim is not None else other for dim, other in zip(dims, known, strict=True)]


def broadcast_shape(node: Node) -> Output | None:
    """The tensor whose shape a Broadcast takes; None where that is not the whole shape of one, or for another node."""
    if node.get_type_name() != "Broadcast":
        return None
    shape = source_behind(node.input_value(1), ("Convert",))
    return shape.input_value(0) if shape.get_type_name() == "ShapeOf" else None
