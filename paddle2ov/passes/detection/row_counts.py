"""How many rows tensors have where the numbers are dynamic: as products of the dimensions that they are computed from.

Two tensors with equal products have equally many rows. Without that, one of them may have a single row that is
broadcast over those of the other, which shows at run time only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from openvino import Node, Output

from paddle2ov.passes.detection.row_rules import RULES, RowLayout
from paddle2ov.passes.graph import Dims, dims_of, ints_of, target_of
from paddle2ov.passes.kinds import ELEMENTWISE
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
    """The numbers of rows of tensors, each of which is looked for once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int, int], Count] = {}
        self.tensors: dict[tuple[str, int], Output] = {}
        """The tensors of the dimensions in counts."""

    def __call__(self, x: Output, layout: RowLayout) -> Count:
        """The number of rows of a tensor, whose layout is plain."""
        return self._dim(x, layout.axis)

    def are_equal(self, inputs: Sequence[Output], layouts: Sequence[RowLayout | None]) -> bool:
        """Whether all inputs that have rows are known to have equally many."""
        pairs = [(one, own) for one, own in zip(inputs, layouts, strict=True) if own is not None]
        return all(own.is_plain for _, own in pairs) and len({self._dim(one, own.axis) for one, own in pairs}) == 1

    def _dim(self, x: Output, axis: int, dims: Dims | None = None) -> Count:
        """A dimension of a tensor, whose dimensions `dims` are if they have been read already."""
        node = x.get_node()
        key = (node.get_name(), x.get_index(), axis)
        known = self._found.get(key)
        if known is not None:
            return known
        found = self._computed(node, (dims_of(x) or []) if dims is None else dims, axis)
        if found is None:
            found = Count(1, (key,))
            self.tensors[key[:2]] = x
        self._found[key] = found
        return found

    def _computed(self, node: Node, dims: Dims, axis: int) -> Count | None:
        """A dimension of what a node computes, which has the dimensions `dims`; None if it is that of nothing else."""
        dim = dims[axis] if axis < len(dims) else None
        if dim is not None:
            return Count(dim)
        kind = node.get_type_name()
        if kind in ELEMENTWISE:
            return self._broadcast(node.input_values(), axis - len(dims))
        if kind == "Reshape":
            return self._reshaped(node, axis)
        if kind == "Range":
            return self._number(node.input_value(1)) if counts_from_zero(node) else None
        if kind == "Concat" or kind in _KEEPING:
            return self._kept(node, kind, RowLayout(axis), len(dims))
        return None

    def _kept(self, node: Node, kind: str, layout: RowLayout, rank: int) -> Count | None:
        """A dimension that is an input's as well."""
        inputs = node.input_values()
        layouts: Sequence[RowLayout | None]
        if kind == "Concat":
            if node.get_attributes()["axis"] % rank == layout.axis:
                return None
            layouts = [layout] * len(inputs)
        else:
            try:
                layouts = RULES[kind](node, node.output(0), layout)
            except MatchFailureError:
                return None
        counts = {self._dim(one, own.axis) for one, own in zip(inputs, layouts, strict=True) if own is not None}
        return counts.pop() if len(counts) == 1 else None

    def _broadcast(self, inputs: Sequence[Output], place: int) -> Count | None:
        """A dimension, counted from the last, of tensors that are broadcast as NumPy does; they may agree in it."""
        found = None
        for one in inputs:
            dims = dims_of(one)
            if dims is None:
                return None
            if len(dims) < -place or dims[place] == 1:
                continue
            count = self._dim(one, len(dims) + place, dims)
            if found not in (None, count):
                return None
            found = count
        return found

    def _reshaped(self, node: Node, axis: int) -> Count | None:
        target = target_of(node) or []
        if axis >= len(target) or target.count(-1) > 1:
            return None
        x, own = node.input_value(0), target[axis]
        if own != -1:
            return self._target(node, own, axis)
        whole, rest = self._product(x), Count(1)
        for i, one in enumerate(target):
            other = self._target(node, one, i) if i != axis else Count(1)
            if other is None:
                return None
            rest = rest.times(other)
        return whole.over(rest) if whole is not None else None

    def _target(self, node: Node, one: int | Output | None, axis: int) -> Count | None:
        """An element of a target shape that is not -1."""
        if isinstance(one, Output):
            return self._number(one)
        if one == 0 and node.get_attributes()["special_zero"]:
            return self._dim(node.input_value(0), axis)
        return None if one is None else Count(one)

    def _product(self, x: Output) -> Count | None:
        """The number of elements of a tensor."""
        rank = len(dims_of(x) or ())
        found = Count(1)
        for axis in range(rank):
            found = found.times(self._dim(x, axis))
        return found if rank else None

    def _number(self, x: Output) -> Count | None:
        """A tensor of one element that is computed from dimensions; None for any other."""
        node = x.get_node()
        kind = node.get_type_name()
        if kind in _RESHAPED:
            return self._number(node.input_value(0))
        if kind == "Constant":
            value = ints_of(x) or []
            return Count(value[0]) if len(value) == 1 and value[0] > 0 else None
        if kind == "Multiply":
            one, other = map(self._number, node.input_values())
            return one.times(other) if one is not None and other is not None else None
        source, index = (node.input_value(0), ints_of(node.input_value(1))) if kind == "Gather" else (x, None)
        if index is None or len(index) != 1 or source.get_node().get_type_name() != "ShapeOf":
            return None
        shaped = source.get_node().input_value(0)
        rank = len(dims_of(shaped) or ())
        return self._dim(shaped, index[0] % rank) if rank else None


def counts_from_zero(node: Node) -> bool:
    """Whether a Range holds the numbers 0, 1, 2 and so on."""
    return [ints_of(node.input_value(port)) for port in (0, 2)] == [[0], [1]]
