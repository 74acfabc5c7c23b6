"""How many rows tensors have, where OpenVINO does not infer it: of [N, H, W, C] reshaped to [N, -1, C], H·W.

Dimensions are counted as products of those that they are computed from, so that what is not known, as N, cancels out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from openvino import Output

from paddle2ov.graph.constants import ints_of
from paddle2ov.passes.detection.row_rules import RULES, RowLayout
from paddle2ov.passes.detection.views import NodeView, TensorView, Views
from paddle2ov.passes.node_kinds import ELEMENTWISE
from paddle2ov.passes.rule import MatchFailureError

_KEEPING = RULES.keys() - {"Convolution", "MatMul"}  # rows are not counted further up than the layers of a network
_RESHAPED = ("Convert", "Reshape", "Squeeze", "Unsqueeze")


class Count(NamedTuple):
    """A number of rows: the product of a static number and of dynamic dimensions, sorted.

    Attributes:
        static: the static factor.
        dims: the dimensions: the name of a node, the index of its output, and the axis.
    """

    static: int
    dims: tuple[tuple[str, int, int], ...] = ()

    def times(self, other: Count) -> Count:
        """The product."""
        return Count(self.static * other.static, tuple(sorted((*self.dims, *other.dims))))

    def over(self, other: Count) -> Count | None:
        """The quotient; None if it is not known to be an integer."""
        dims = list(self.dims)
        for dim in other.dims:
            if dim not in dims:
                return None
            dims.remove(dim)
        if not other.static or self.static % other.static:
            return None
        return Count(self.static // other.static, tuple(dims))


class RowCounts:
    """The numbers of rows of tensors, cached."""

    def __init__(self, views: Views) -> None:
        self._views = views
        self._found: dict[tuple[TensorView, int], Count] = {}

    def __call__(self, x: TensorView, axis: int) -> int | None:
        """A dimension of a tensor; None if it is known only at run time."""
        count = self._dim(x, axis)
        return None if count.dims else count.static

    def _dim(self, x: TensorView, axis: int) -> Count:
        """A dimension of a tensor."""
        key = (x, axis)
        known = self._found.get(key)
        if known is not None:
            return known
        count = self._computed(x, axis) or Count(1, ((x.node.name, x.index, axis),))
        self._found[key] = count
        return count

    def _computed(self, x: TensorView, axis: int) -> Count | None:
        """A dimension, derived from what computes the tensor; None if it cannot be derived."""
        dims, node = x.dims or [], x.node
        dim = dims[axis] if axis < len(dims) else None
        if dim is not None:
            return Count(dim)
        kind = node.kind
        if kind in ELEMENTWISE:
            return self._broadcast(node.inputs, axis - len(dims))
        if kind == "Reshape":
            return self._reshaped(node, axis)
        if kind == "Concat" or kind in _KEEPING:
            return self._kept(x, kind, RowLayout(axis), len(dims))
        return None

    def _kept(self, x: TensorView, kind: str, layout: RowLayout, rank: int) -> Count | None:
        """The count of a dimension that the node keeps from an input."""
        node, inputs = x.node, x.node.inputs
        layouts: Sequence[RowLayout | None]
        if kind == "Concat":
            if node.attributes["axis"] % rank == layout.axis:
                return None
            layouts = [layout] * len(inputs)
        else:
            try:
                layouts = RULES[kind](node, x, layout)
            except MatchFailureError:
                return None
        counts = {self._dim(input_, own.axis) for input_, own in zip(inputs, layouts, strict=True) if own is not None}
        return counts.pop() if len(counts) == 1 else None

    def _broadcast(self, inputs: Sequence[TensorView], place: int) -> Count | None:
        """A dimension, counted from the last, of tensors that are broadcast as NumPy does; they may agree in it."""
        common = None
        for input_ in inputs:
            dims = input_.dims
            if dims is None:
                return None
            if len(dims) < -place or dims[place] == 1:
                continue
            count = self._dim(input_, len(dims) + place)
            if common not in (None, count):
                return None
            common = count
        return common

    def _reshaped(self, node: NodeView, axis: int) -> Count | None:
        target = [self._constant(size) for size in node.target or ()]
        if axis >= len(target) or target.count(-1) > 1:
            return None
        x, own = node.inputs[0], target[axis]
        if own != -1:
            return self._target(node, own, axis)
        whole, rest = self._product(x), Count(1)
        for i, size in enumerate(target):
            other = self._target(node, size, i) if i != axis else Count(1)
            if other is None:
                return None
            rest = rest.times(other)
        return whole.over(rest) if whole is not None else None

    def _constant(self, size: int | Output | None) -> int | Output | None:
        """An element of a target shape; where nodes only reshape a constant, that."""
        node = self._views(size).node if isinstance(size, Output) else None
        while node is not None and node.kind in _RESHAPED:
            node = node.inputs[0].node
        value = ints_of(node.node.output(0)) if node is not None and node.kind == "Constant" else None
        return value[0] if value is not None and len(value) == 1 else size

    def _target(self, node: NodeView, size: int | Output | None, axis: int) -> Count | None:
        """An element of a target shape that is not -1."""
        if isinstance(size, Output):
            return self._number(self._views(size))
        if size == 0 and node.attributes["special_zero"]:
            return self._dim(node.inputs[0], axis)
        return None if size is None else Count(size)

    def _product(self, x: TensorView) -> Count | None:
        """The number of elements of a tensor."""
        rank = len(x.dims or ())
        product = Count(1)
        for axis in range(rank):
            product = product.times(self._dim(x, axis))
        return product if rank else None

    def _number(self, x: TensorView) -> Count | None:
        """A tensor of one element that is computed from dimensions; None for any other."""
        node, kind = x.node, x.node.kind
        if kind in _RESHAPED:
            return self._number(node.inputs[0])
        if kind == "Multiply":
            factor, other = map(self._number, node.inputs)
            return factor.times(other) if factor is not None and other is not None else None
        source, index = (node.inputs[0], node.inputs[1].ints) if kind == "Gather" else (x, None)
        if index is None or len(index) != 1 or source.node.kind != "ShapeOf":
            return None
        shaped = source.node.inputs[0]
        rank = len(shaped.dims or ())
        return self._dim(shaped, index[0] % rank) if rank else None
