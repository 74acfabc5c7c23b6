"""How many rows tensors have, where OpenVINO does not infer it: of [N, H, W, C] reshaped to [N, -1, C], H·W."""

from __future__ import annotations

from typing import TypeAlias

from openvino import Output

from paddle2ov.passes.detection.views import TensorView, Views

_RESHAPED = ("Convert", "Reshape", "Squeeze", "Unsqueeze")
_Place: TypeAlias = tuple[TensorView, int]
"""A dimension: a tensor, and the axis."""


def count_rows(x: TensorView, axis: int, views: Views) -> int | None:
    """A dimension of a tensor; None if it is known only at run time.

    Of a Reshape, an element of -1 is the elements over the other ones, whichever dimensions of the data these are.
    """
    dims, node = x.dims or [], x.node
    if axis < len(dims) and dims[axis] is not None:
        return dims[axis]
    if node.kind != "Reshape" or node.inputs[0].dims is None:
        return None
    source, total = node.inputs[0], 1
    target = [_element(size, views) for size in node.target or ()]
    if target.count(-1) != 1 or target.index(-1) != axis:
        return None
    unknown: list[_Place] = []
    for i, dim in enumerate(source.dims or ()):
        total *= 1 if dim is None else dim
        unknown += [(source, i)] if dim is None else []
    for i, size in enumerate([*target[:axis], 1, *target[axis + 1 :]]):
        other = (source, i) if size == 0 and node.attributes["special_zero"] else size
        if isinstance(other, tuple):
            known = (other[0].dims or [None] * (other[1] + 1))[other[1]]
            if known is None and other in unknown:
                unknown.remove(other)
                continue
            other = known
        if not other or total % other:
            return None
        total //= other
    return None if unknown else total


def _element(size: int | Output | None, views: Views) -> int | _Place | None:
    """An element of a target shape: a number, or a dimension of a tensor; None for any other."""
    if not isinstance(size, Output):
        return size
    x = views(size)
    while x.node.kind in _RESHAPED:
        x = x.node.inputs[0]
    if x.node.kind == "Constant":
        values = x.ints or []
        return values[0] if len(values) == 1 else None
    if x.node.kind != "Gather" or x.node.inputs[0].node.kind != "ShapeOf":
        return None
    shaped, index = x.node.inputs[0].node.inputs[0], x.node.inputs[1].ints or []
    rank = len(shaped.dims or ())
    return (shaped, index[0] % rank) if len(index) == 1 and rank else None
