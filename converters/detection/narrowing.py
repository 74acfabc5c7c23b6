"""Some entries of a tensor along one axis, computed from those entries of what it is computed from.

The boxes of a detector are decoded one by one: a box needs its own codes, its own anchor, and nothing of the others. So
instead of decoding all and choosing, the choice is made where the codes lie. That is done on OpenVINO's nodes, which
are a few dozen kinds whatever operators and whatever detector they come from.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

from openvino import Node, Output, Type

from paddle2ov.converters.detection.choice import (
    CannotNarrowError,
    Choice,
    Dims,
    Place,
    cells_of,
    constant_ints,
    dims_list,
    key_of,
    known,
)
from paddle2ov.converters.detection.narrowing_rules import ELEMENTWISE, MAKERS, RULES, UNARY
from paddle2ov.converters.detection.rows import dim_of, dims_of, positions
from paddle2ov.converters.graph.common import Tensor, ints, output_of
from paddle2ov.graph.opset import ops
from paddle2ov.graph.provenance import copied_from
from paddle2ov.program.merging import CHOSEN


class Narrowing:
    """Computes the chosen entries of values.

    Args:
        choice: which entries.
        ends: outputs (node name, index) and friendly names of nodes at which the choice is made at the latest, because
            they are computed in any case.
    """

    def __init__(self, choice: Choice, ends: frozenset[Any] = frozenset()) -> None:
        self._choice = choice
        self._ends = ends
        self._done: dict[tuple[str, int, Place], Output] = {}
        self._clones: dict[tuple[str, Place], Node] = {}
        self._told: dict[tuple[str, bool], Narrowing] = {}
        self._others: list[Narrowing] = []
        self._parts = [Narrowing(part, ends) for part in choice.parts]
        self.parted_by: list[int] = []
        """The lengths of parts that the choice would have to be made in to go further."""
        self._extent: Tensor | None = None
        self._loose_extents: list[Tensor] = []

    @property
    def extent(self) -> Tensor | None:
        """How many entries there are in all, 0-D, as the values that were narrowed tell."""
        return self._extent or (functools.reduce(ops.maximum, self._loose_extents) if self._loose_extents else None)

    @property
    def computed(self) -> int:
        """How many nodes compute less than before."""
        return len(self._clones) + sum(one.computed for one in (*self._parts, *self._told.values(), *self._others))

    def __call__(self, x: Output, place: Place) -> Output:
        """The chosen entries of `x`, as many dimensions as `x` has."""
        key = (x.get_node().get_name(), x.get_index(), place)
        if key not in self._done:
            self._done[key] = self._narrowed(x, place)
        return self._done[key]

    def _narrowed(self, x: Output, place: Place) -> Output:
        node = x.get_node()
        rule = _OWN_RULES.get(node.get_type_name()) or RULES.get(node.get_type_name())
        if rule is None or key_of(x) in self._ends or node.get_friendly_name() in self._ends:
            return self._gathered(x, place)
        try:
            return output_of(rule(self, node, x, place))
        except CannotNarrowError:
            return self._gathered(x, place)

    # --- the choice itself --------------------------------------------------------------------------------------------

    def _gathered(self, x: Output, place: Place) -> Output:
        index, axis, dims = self._choice.index, ints(place.axis), dims_list(x)
        if place.loose:
            length = dim_of(x, place.axis)
            self._loose_extents.append(length)
            index = ops.minimum(index, ops.subtract(length, ints(1)))
        elif not place.repeated:
            axes = list(range(place.axis, place.axis + place.spread))
            self._extent = self._extent or ops.reduce_prod(dims_of(x, axes), ints([0]), False)
        if place.plain:
            return output_of(ops.gather(x, index, axis))
        after = known(dims[place.axis + place.spread :])
        before = [0] * place.axis
        if place.spread > 1:
            flat = ops.reshape(x, ints([*before, -1, *after]), True)
            ones = ints(list(range(place.axis, place.axis + place.spread - 1)))
            return output_of(ops.unsqueeze(ops.gather(flat, index, axis), ones))
        number = ops.unsqueeze(self._choice.number, ints(0))
        target = ops.concat([ints([*before, -1]), number, ints([place.inner, *after])], 0)
        chosen = ops.gather(ops.reshape(x, target, True), index, ints(place.axis + 1))
        return output_of(ops.reshape(chosen, ints([*before, -1, *after]), True))

    def clone(self, node: Node, inputs: Sequence[Tensor], place: Place) -> Node:
        """The node on other inputs."""
        key = (node.get_name(), place)
        if key not in self._clones:
            made = MAKERS[node.get_type_name()](node, inputs)
            made.set_friendly_name(f"{node.get_friendly_name()}/{made.get_name()}{CHOSEN}")
            copied_from(made, node)
            self._clones[key] = made
        return self._clones[key]

    # --- rules of nodes that mix entries or lengths -------------------------------------------------------------------

    def _elementwise(self, node: Node, x: Output, place: Place) -> Node:
        if node.get_attributes().get("auto_broadcast", "numpy") != "numpy":
            raise CannotNarrowError
        inputs, rank = node.input_values(), len(dims_list(x))
        wholes = [self._whole(one, rank, x, place) for one in inputs]
        several = sum(whole != "one" for whole in wholes) > 1
        parts = []
        for one, whole in zip(inputs, wholes, strict=True):
            own = replace(place, axis=place.axis - rank + len(dims_list(one)))
            own = replace(own, loose=place.loose or (whole == "unknown" and several))
            parts.append(one if whole == "one" else self(one, own))
        return self.clone(node, parts, place)

    def _whole(self, one: Output, rank: int, x: Output, place: Place) -> str:
        """Whether an operand has all entries, one for all, or whether that is unknown."""
        start = place.axis - rank + len(dims_list(one))
        if start + place.spread <= 0:
            return "one"
        if start < 0:
            raise CannotNarrowError
        own = dims_list(one)[start : start + place.spread]
        all_ = dims_list(x)[place.axis : place.axis + place.spread]
        if None not in own and all(dim == 1 for dim in own):
            # Where there is one entry in all, this may be it; it then stands for all that are chosen: that one.
            return "one"
        if None not in own and own == all_:
            return "all"
        if not place.plain:
            raise CannotNarrowError
        return "unknown" if own[0] is None else "all"

    def _joined(self, node: Node, x: Output, place: Place) -> Node:
        axis = node.get_attributes()["axis"] % len(dims_list(x))
        inputs = node.input_values()
        if axis != place.axis or not place.plain:
            if place.has(axis):
                raise CannotNarrowError
            return self.clone(node, [self(one, place) for one in inputs], place)
        lengths = [dims_list(one)[axis] for one in inputs]
        if len(inputs) < 2 or len(self._parts) != len(inputs):
            if not self._parts:
                self.parted_by = self.parted_by or known(lengths)
            raise CannotNarrowError
        # More than one part, so all entries are there.
        place = replace(place, loose=False)
        own = [part._choice.length for part in self._parts]
        if None in lengths or None in own:
            return _concatenated(self._in_parts(inputs, place), axis)
        if lengths != own:
            raise CannotNarrowError
        return _concatenated([part(one, place) for part, one in zip(self._parts, inputs, strict=True)], axis)

    def _in_parts(self, inputs: Sequence[Output], place: Place) -> list[Output]:
        """The chosen entries of parts whose lengths nobody knows: they are what their sources say, once those are."""
        if self._choice.mask is None:
            raise CannotNarrowError
        pieces, later, extents, others = [], [], [], []
        for one in inputs:
            index, number = ops.parameter([-1], Type.i64), ops.parameter([], Type.i64)
            narrowing = Narrowing(Choice(index, number, None), self._ends)
            pieces.append(narrowing(one, place))
            if narrowing.extent is None:
                raise CannotNarrowError
            later.append((index, number))
            extents.append(narrowing.extent)
            others.append(narrowing)
        sizes = ops.concat([ops.unsqueeze(extent, ints(0)) for extent in extents], 0)
        masks = ops.variadic_split(self._choice.mask, ints(0), sizes).outputs()
        for (index, number), mask, extent in zip(later, masks, extents, strict=True):
            for node, value in ((index, positions(mask)), (number, extent)):
                for reader in node.output(0).get_target_inputs():
                    reader.replace_source_output(output_of(value))
        self._others += others
        return pieces

    def _reshaped(self, node: Node, x: Output, place: Place) -> Node:
        source = node.input_value(0)
        before, after = dims_list(source), dims_list(x)
        if place.spread > 1:
            raise CannotNarrowError
        cells = cells_of(x)
        if cells is not None and place == Place(1) and source.get_node().get_friendly_name() not in self._ends:
            # The rows are read where they lie, so that the map is not transposed.
            self._extent = ints(cells.size * cells.anchors)
            flat = ops.reshape(cells.x, ints([0, -1]), True)
            return ops.gather(flat, cells.flat(self._choice.index), ints(1))
        if source.get_node().get_type_name() in UNARY and source.get_node().get_friendly_name() not in self._ends:
            return self._before_unary(node, place)
        row = place.inner * prod(known(after[place.axis + 1 :]))  # elements of one entry
        chosen = self._told_by(node, place)(source, self._in_rows(before, row))
        target: list[Tensor] = []
        unknown = 0
        for axis, dim in enumerate(after):
            if axis == place.axis and place.plain:
                target.append(ops.shape_of(self._choice.index, Type.i64))
            elif dim is None or axis == place.axis:
                unknown += 1
                target.append(ints([-1]))
            else:
                target.append(ints([dim]))
        if unknown > 1:
            raise CannotNarrowError
        return ops.reshape(chosen, ops.concat(target, 0), False)

    def _before_unary(self, reshape: Node, place: Place) -> Node:
        """A function of single elements can as well follow a Reshape."""
        source = reshape.input_value(0).get_node()
        same = reshape.get_attributes()["special_zero"]
        moved = ops.reshape(source.input_value(0), reshape.input_value(1), same).output(0)
        return self.clone(source, [self(moved, place)], place)

    def _told_by(self, reshape: Node, place: Place) -> Narrowing:
        """Where a length is not known, the shape that the program computes says how many entries there are."""
        if not place.plain or (self._choice.length is not None and not place.loose):
            return self
        shape = reshape.input_value(1)
        pieces = shape.get_node().input_values() if shape.get_node().get_type_name() == "Concat" else ()
        told = all(dims_list(piece) == [1] for piece in pieces) and len(pieces) > place.axis
        if not told or constant_ints(pieces[place.axis]) is not None:
            raise CannotNarrowError
        length, index = ops.squeeze(pieces[place.axis], ints(0)), self._choice.index
        if place.loose:
            self._loose_extents.append(length)
            index = ops.minimum(index, ops.subtract(length, ints(1)))
        else:
            self._extent = length
        key = (pieces[place.axis].get_node().get_name(), place.loose)
        if key not in self._told:
            self._told[key] = Narrowing(Choice(index, length, None), self._ends)
        return self._told[key]

    def _in_rows(self, dims: Dims, row: int) -> Place:
        """Where entries of `row` elements lie in a tensor of some dimensions."""
        length, count, axis = self._choice.length, 1, len(dims)
        while axis > 0 and count * (dims[axis - 1] or row + 1) <= row:
            axis -= 1
            count *= dims[axis] or 1
        if axis == 0 or row % count:
            raise CannotNarrowError
        if count == row and length is not None:
            total, first = 1, axis
            while first > 0 and total * (dims[first - 1] or length + 1) <= length:
                first -= 1
                total *= dims[first] or 1
            if total == length and first < axis:
                return Place(first, axis - first)
        last, inner = axis - 1, row // count
        size = dims[last]
        # The first axis has all that stand before; another one, which must be known, as many lists as fit.
        if (size is None or length is None or size % (length * inner)) and not (last == 0 and None in (size, length)):
            raise CannotNarrowError
        return Place(last, 1, inner, True)


def _concatenated(pieces: Sequence[Output], axis: int) -> Node:
    """The pieces joined; functions of single elements follow, as OpenVINO would move them in front of the choice."""
    nodes = [piece.get_node() for piece in pieces]
    kind = nodes[0].get_type_name()
    if kind not in UNARY or any(node.get_type_name() != kind for node in nodes):
        return ops.concat(list(pieces), axis)
    joined = MAKERS[kind](nodes[0], [_concatenated([node.input_value(0) for node in nodes], axis)])
    name = nodes[0].get_friendly_name()
    joined.set_friendly_name(f"{name}/{joined.get_name()}{CHOSEN if name.endswith(CHOSEN) else ''}")
    copied_from(joined, nodes[0])
    return joined


_OWN_RULES: dict[str, Any] = {
    **dict.fromkeys(ELEMENTWISE, Narrowing._elementwise),
    "Concat": Narrowing._joined,
    "Reshape": Narrowing._reshaped,
}
