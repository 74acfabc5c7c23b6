"""How many rows tensors have, where OpenVINO does not infer it: of [N, H, W, C] reshaped to [N, -1, C], H·W."""

from __future__ import annotations

from typing import TypeAlias

from openvino import Output

from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.upstream import source_behind
from paddle2ov.passes.constant_operands import target_of

_RESHAPED = ("Convert", "Reshape", "Squeeze", "Unsqueeze")
_Place: TypeAlias = tuple[Output, int]
"""A dimension: a tensor, and the axis."""


def count_rows(x: Output, axis: int) -> int | None:
    """A dimension of a tensor; None if it is known only at run time.

    Of a Reshape, an element of -1 is the elements over the other ones, whichever dimensions of the data these are.
    """
    dims, node = dims_of(x) or [], x.get_node()
    if axis < len(dims) and dims[axis] is not None:
        return dims[axis]
    if node.get_type_name() != "Reshape" or dims_of(node.input_value(0)) is None:
        return None
    source, total = node.input_value(0), 1
    target = [_element(size) for size in target_of(node) or ()]
    if target.count(-1) != 1 or target.index(-1) != axis:
        return None
    unknown: list[_Place] = []
    for i, dim in enumerate(dims_of(source) or ()):
        total *= 1 if dim is None else dim
        unknown += [(source, i)] if dim is None else []
    for i, size in enumerate([*target[:axis], 1, *target[axis + 1 :]]):
        other = (source, i) if size == 0 and node.get_attributes()["special_zero"] else size
        if isinstance(other, tuple):
            known = (dims_of(other[0]) or [None] * (other[1] + 1))[other[1]]
            if known is None and other in unknown:
                unknown.remove(other)
                continue
            other = known
        if not other or total % other:
            return None
        total //= other
    return None if unknown else total


def _element(size: int | Output | None) -> int | _Place | None:
    """An element of a target shape: a number, or a dimension of a tensor; None for any other."""
    if not isinstance(size, Output):
        return size
    node = source_behind(size, _RESHAPED)
    if node.get_type_name() == "Constant":
        values = ints_of(node.output(0)) or []
        return values[0] if len(values) == 1 else None
    if node.get_type_name() != "Gather" or node.input_value(0).get_node().get_type_name() != "ShapeOf":
        return None
    shaped, index = node.input_value(0).get_node().input_value(0), ints_of(node.input_value(1)) or []
    rank = len(dims_of(shaped) or ())
    return (shaped, index[0] % rank) if len(index) == 1 and rank else None
