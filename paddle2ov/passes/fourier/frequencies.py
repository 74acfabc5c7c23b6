"""Which frequencies of a spectrum are read, and which ones of one are not 0.

Spectra are walked from their transform to where something else than a choice of frequencies reads them, and from the
inverse transform back to what is not 0: operators of neural networks keep the lowest frequencies only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct
from openvino import Node, Output

from paddle2ov.graph.complex_pairs import parts_of
from paddle2ov.graph.constants import ints_of, is_zero, number_of
from paddle2ov.graph.consumers import consumers
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import Dims, dims_of
from paddle2ov.graph.upstream import source_behind
from paddle2ov.passes.constant_operands import broadcast_shape

Kept = dict[int, list[int]]
"""Axis -> the elements along it that are there, in their order."""

_WITHOUT_VALUES = ("Broadcast", "Convert", "Reshape", "Tile", "Transpose", "Unsqueeze")
"""Nodes whose results are 0 where their first input is."""

_MOST_READINGS = 64
"""Of a spectrum; a neural operator reads four corners, of both parts."""

_MOST_STEPS = 16
"""From an inverse transform back to what is not 0."""


class Reading(Struct, frozen=True):
    """A tensor that holds some elements of a spectrum: its real part (0), its imaginary one (1), or pairs of both."""

    output: Output
    part: int | None
    kept: Kept


class Parts(Struct, frozen=True):
    """The real and the imaginary part of a spectrum, and which of its elements they hold; all others are 0."""

    real: Output
    imaginary: Output
    kept: Kept


def readings(spectrum: Output, kept: Kept) -> list[Reading]:
    """What is chosen of a spectrum of pairs, until something else reads it."""
    whole = Reading(spectrum, None, kept)
    found: list[Reading] = []
    open_ = [whole]
    while open_:
        reading = open_.pop()
        nodes = [consumer.get_node() for consumer in consumers(reading.output)]
        if len(found) + len(open_) + len(nodes) > _MOST_READINGS:
            return [whole]
        further = [choice for node in nodes if (choice := _choice(node, reading)) is not None]
        if nodes and len(further) == len(nodes):
            open_ += further
        else:
            found.append(reading)
    return found


def _choice(node: Node, reading: Reading) -> Reading | None:
    """What a node chooses of the elements; None if it does something else."""
    kind = node.get_type_name()
    if kind == "Gather":
        rank = len(dims_of(reading.output) or [])
        index = number_of(node.input_value(1))
        is_part = reading.part is None and index in (0, 1) and len(dims_of(node.output(0)) or []) == rank - 1
        if not is_part or number_of(node.input_value(2)) not in (-1, rank - 1) or node.get_attributes()["batch_dims"]:
            return None
        return Reading(node.output(0), int(index or 0), reading.kept)
    kept = _rolled(node, reading.kept) if kind == "Roll" else None
    if kind == "Slice":
        kept = _sliced(node.input_values()[1:], reading.kept, len(dims_of(reading.output) or []))
    return None if kept is None else Reading(node.output(0), reading.part, kept)


def _rolled(node: Node, kept: Kept, back: bool = False) -> Kept | None:
    """The elements after a Roll, or before it; None if it concerns another axis, or is computed."""
    rank = len(dims_of(node.input_value(0)) or [])
    shifts, axes = (ints_of(source_behind(value, ("Convert",)).output(0)) for value in node.input_values()[1:])
    if shifts is None or axes is None or any(axis % rank not in kept for axis in axes):
        return None
    result = dict(kept)
    for shift, axis in zip(shifts * (len(axes) if len(shifts) == 1 else 1), axes, strict=True):
        elements = result[axis % rank]
        last = (shift if back else -shift) % len(elements)
        result[axis % rank] = elements[last:] + elements[:last]
    return result


def _sliced(operands: Sequence[Output], kept: Kept, rank: int) -> Kept | None:
    """The elements within the bounds of a Slice; None if it concerns another axis, or is computed."""
    starts, stops, steps, *rest = map(ints_of, operands)
    axes = rest[0] if rest else [*range(len(starts or ()))]
    if (
        starts is None
        or stops is None
        or steps is None
        or axes is None
        or any(axis % rank not in kept for axis in axes)
    ):
        return None
    result = dict(kept)
    for start, stop, step, axis in zip(starts, stops, steps, axes, strict=True):
        elements = result[axis % rank]
        is_open = step < 0 and stop < -len(elements)  # where Python counts from the end
        result[axis % rank] = elements[start : None if is_open else stop : step]
    return result if all(map(len, result.values())) else None


def parts_without_zeros(spectrum: Output, kept: Kept) -> Parts | None:
    """The parts that a spectrum is made of, without elements that are 0; None if it is another node."""
    parts = parts_of(spectrum.get_node())
    if parts is None:
        return None
    (real, there), (imaginary, same) = (_not_zero(part, kept) for part in parts)
    inner = _crossed(real, imaginary, there) if there == same else None
    if inner is not None:
        (real, there), (imaginary, same) = (_not_zero(part, there) for part in inner)
    if there != same:
        return Parts(parts[0], parts[1], kept)
    if inner is not None:
        real, imaginary = _broadcast(real, imaginary), _broadcast(imaginary, real)
    return Parts(real, imaginary, there)


def _crossed(real: Output, imaginary: Output, kept: Kept) -> list[Output] | None:
    """What both parts are made of, if each is broadcast to the shape of the other one, as complex numbers are made."""
    parts = [real, imaginary]
    inner = [part.get_node().input_value(0) for part in parts if _keeps(part, kept)]
    return inner if len(inner) == 2 and [broadcast_shape(part.get_node()) for part in parts] == inner[::-1] else None


def _keeps(part: Output, kept: Kept) -> bool:
    """Whether a node broadcasts a tensor along other axes than those of a spectrum."""
    node = part.get_node()
    if node.get_type_name() != "Broadcast" or node.get_attributes()["mode"] != "bidirectional":
        return False
    before, after = dims_of(node.input_value(0)) or [], dims_of(part) or []
    return len(before) == len(after) and all(before[axis] == after[axis] is not None for axis in kept)


def _broadcast(value: Output, other: Output) -> Output:
    return ops.broadcast(value, ops.shape_of(other), broadcast_spec="BIDIRECTIONAL").output(0)


def _not_zero(value: Output, kept: Kept) -> tuple[Output, Kept]:
    """The elements that are not known to be 0, and which those of `kept` are that they stand for."""
    for _ in range(_MOST_STEPS):
        inner, there = _without_zeros(value.get_node(), kept)
        if there is None or not _has_sizes(inner, there, dims_of(value) or []):
            break
        value, kept = inner, there
    return value, kept


def _without_zeros(node: Node, kept: Kept) -> tuple[Output, Kept | None]:
    """What a node puts among zeros, or rolls, and which elements it stands for; None if it does something else."""
    kind, x = node.get_type_name(), node.output(0)
    if kind == "Roll":
        return node.input_value(0), _rolled(node, kept, back=True)
    if kind == "SliceScatter" and _is_zero(node.input_value(0)):
        return node.input_value(1), _sliced(node.input_values()[2:], kept, len(dims_of(x) or []))
    if kind == "Pad":
        return node.input_value(0), _padded(node, kept)
    return _joined(node, kept) if kind == "Concat" else (x, None)


def _has_sizes(value: Output, kept: Kept, around: Dims) -> bool:
    """Whether a tensor is known to have these elements, and behind the first axis of them the sizes of another one."""
    sizes = {axis: len(elements) for axis, elements in kept.items()}
    first = min(sizes)
    wanted = [sizes.get(axis, dim) for axis, dim in enumerate(around)]
    return 0 not in sizes.values() and (dims_of(value) or [])[first:] == wanted[first:]


def _padded(node: Node, kept: Kept) -> Kept | None:
    """Which elements the input of a Pad with zeros stands for."""
    begin, end = (ints_of(value) for value in node.input_values()[1:3])
    mode = node.get_attributes()["pad_mode"]
    if mode != "constant" or begin is None or end is None or not all(map(_is_zero, node.input_values()[3:])):
        return None
    sides = {axis: pair for axis, pair in enumerate(zip(begin, end, strict=True)) if pair != (0, 0)}
    if min((*begin, *end)) < 0 or any(axis not in kept for axis in sides):
        return None
    return {**kept, **{axis: kept[axis][first : len(kept[axis]) - last] for axis, (first, last) in sides.items()}}


def _joined(node: Node, kept: Kept) -> tuple[Output, Kept | None]:
    """What is joined without zeros, and which elements it stands for."""
    axis = node.get_attributes()["axis"] % len(dims_of(node.output(0)) or [0])
    pieces = node.input_values()
    sizes = [(dims_of(piece) or [])[axis] for piece in pieces]
    is_kept = [not _is_zero(piece) for piece in pieces]
    if axis not in kept or None in sizes or all(is_kept) or not any(is_kept):
        return node.output(0), None
    elements, start = [], 0
    for size, is_one in zip(sizes, is_kept, strict=True):
        elements += kept[axis][start : start + (size or 0)] if is_one else []
        start += size or 0
    left = [piece for piece, is_one in zip(pieces, is_kept, strict=True) if is_one]
    joined = left[0] if len(left) == 1 else ops.concat(left, axis).output(0)
    return joined, {**kept, axis: elements}


def _is_zero(value: Output) -> bool:
    """Whether a tensor is nothing but zeros."""
    for _ in range(_MOST_STEPS):
        sources = _with_zeros(value.get_node())
        if len(sources) != 1:
            break
        value = sources[0]
    return is_zero(value)


def _with_zeros(node: Node) -> list[Output]:
    """The tensor that has to be 0 for the result of a node to be; several, or none, where that is not so simple."""
    if node.get_type_name() == "Multiply":
        numbers = [(factor, number_of(factor)) for factor in node.input_values()]
        return [factor for factor, number in numbers if number is None or not math.isfinite(number)]
    return node.input_values()[:1] if node.get_type_name() in _WITHOUT_VALUES else []


def chosen(value: Output, there: Sequence[int], wanted: Sequence[int], axis: int) -> Output:
    """The wanted ones of the elements along an axis."""
    if list(there) == list(wanted):
        return value
    index = {element: i for i, element in enumerate(there)}
    indices = [index[element] for element in wanted]
    first, stop = indices[0], indices[0] + len(indices)
    if indices == [*range(first, stop)]:
        return ops.slice(value, ints([first]), ints([stop]), ints([1]), ints([axis])).output(0)
    return ops.gather(value, ints(indices), ints(axis)).output(0)
