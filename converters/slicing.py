"""Slices of a tensor, and assignment to them.

Paddle: `slice`, `strided_slice`, `crop_tensor` (PIR `crop`), `set_value`, `set_value_with_tensor`,
`view_slice` (PIR only), `crop` (legacy only).
Semantics: `paddle/phi/kernels/funcs/{slice_utils,strided_slice}.h`,
`paddle/phi/kernels/impl/{slice,crop,set_value}_kernel_impl.h`.
Refused: axes that the program computes.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import (
    Tensor,
    cast_to,
    dim_of,
    dim_vector,
    index_range,
    int_vector,
    normalize_axis,
    rank_of,
    shape_of,
)
from paddle2ov.graph import arrays
from paddle2ov.graph.constants import ints
from paddle2ov.graph.expected_dims import of_length
from paddle2ov.graph.indexed_writes import write_at
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of, static_dims
from paddle2ov.graph.slices import BEFORE_FIRST, OPEN_END, slice_along
from paddle2ov.graph.types import numpy_dtype
from paddle2ov.graph.values import ConstantValue
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.folding import fold
from paddle2ov.translation.node_context import NamedOutputs, NodeContext
from paddle2ov.typing import AnyArray


class _Bounds:
    """One bound (start, end or step) for each sliced axis: constants, or elements of a tensor."""

    def __init__(self, node: NodeContext, name: str, count: int, default: int | None = None) -> None:
        self._node = node
        self._name = name
        self._tensor: Output | None = None
        self.known: list[int] | None = None
        if node.is_known(name):
            self.known = node.get_ints(name) if default is None else node.get_ints(name, []) or [default] * count
            node.require(len(self.known) == count, f"{count} axes are sliced", **{name: self.known})

    def select(self, positions: list[int]) -> Tensor:
        """The bounds at some positions, as a 1-D tensor."""
        if self.known is not None:
            return ints([self.known[i] for i in positions])
        if self._tensor is None:
            self._tensor = int_vector(self._node, self._name)
        shape = self._tensor.get_partial_shape()
        if shape.is_static and list(range(shape[0].get_length())) == positions:
            return self._tensor
        return ops.gather(self._tensor, ints(positions), ints(0))

    def scalar(self, position: int) -> Tensor:
        """The bound at one position, 0-D."""
        if self.known is not None:
            return ints(self.known[position])
        if self._node.get_input_size(self._name) > 1:
            return ops.reshape(cast_to(self._node.get_input(self._name, position), Type.i64), ints([]), False)
        return ops.reshape(self.select([position]), ints([]), False)


def _slice(node: NodeContext, name: str, steps_name: str | None) -> NamedOutputs:
    x = node.get_input(name)
    rank = rank_of(node, x) - node.is_complex(name)
    axes = [normalize_axis(node, axis, rank, "axes") for axis in node.get_ints("axes")]
    dropped = [normalize_axis(node, axis, rank, "decrease_axis") for axis in node.get_ints("decrease_axis", [])]
    starts, ends = _Bounds(node, "starts", len(axes)), _Bounds(node, "ends", len(axes))
    steps = _Bounds(node, steps_name, len(axes), 1) if steps_name else None
    sizes = _known_dims_slice(x, starts, ends, bool(dropped)) if steps is None and len(axes) == 1 else None
    if sizes is not None:
        return {
            "out": ConstantValue(sizes.reshape(()) if dropped and node.declared_output_shape("out") != (1,) else sizes)
        }
    # A dropped axis has a single index (for the last element the start -1, whatever the end): a Gather by a scalar.
    kept = [i for i, axis in enumerate(axes) if axis not in dropped and not _is_full(x, axis, i, starts, ends, steps)]
    if kept:
        sliced_axes, start = [axes[i] for i in kept], _starts_from_last(starts, steps, kept)
        step = steps.select(kept) if steps else ints([1] * len(kept))
        end = _open_backward_ends(node, ends, steps, kept) if steps else ends.select(kept)
        if steps and node.semantics.end_before_first:
            if (steps.known is None or min(steps.known) < 0) and (ends.known is None or min(ends.known) < -1):
                end = _clamp_backward_ends(x, sliced_axes, end, step)
        elif steps and _may_start_early(x, sliced_axes, kept, starts, steps):
            end = _empty_if_started_before_first(x, sliced_axes, start, end, step)
        x = ops.slice(x, start, end, step, ints(sliced_axes)).output(0)
        dims, storage = static_dims(x), numpy_dtype(x.get_element_type())
        if dropped and 0 in (dims or ()) and storage is not None:  # OpenVINO's CPU plugin divides by 0 in a Gather
            return {
                "out": ConstantValue(
                    arrays.zeros([dim for axis, dim in enumerate(dims or ()) if axis not in dropped], storage)
                )
            }
    declared = node.declared_output_shape("out")
    # Before 0-D tensors (Paddle 2.5), dropping all axes left one: the program declares it.
    all_dropped = len(set(dropped)) == rank and declared is not None and len(declared) == 1
    for axis in sorted(set(dropped), reverse=True):
        if axis not in axes:
            x = ops.squeeze(x, ints([axis])).output(0)
            continue
        position = axes.index(axis)
        if starts.known is not None:
            index: Tensor = ints(_clamp_start(x, axis, starts.known[position]))
        else:
            index = starts.scalar(position)
        if all_dropped and axis == 0:
            index = ops.reshape(index, ints([1]), False)
        x = ops.gather(x, index, ints(axis)).output(0)
    return {"out": x}


def _known_dims_slice(x: Output, starts: _Bounds, ends: _Bounds, is_one: bool) -> AnyArray | None:
    """The dimensions that a slice takes from the shape of a tensor, where all of them are known.

    OpenVINO folds them as well. Its CPU plugin (2026.4), however, crashes if it does so with an input of a loop that is
    also an input of a loop in that loop.
    """
    maker, storage = x.get_node(), numpy_dtype(x.get_element_type())
    if maker.get_type_name() != "ShapeOf" or starts.known is None or ends.known is None or storage is None:
        return None
    dims = dims_of(maker.input_value(0))
    if dims is None:
        return None
    first, last = starts.known[0], ends.known[0]
    if is_one:
        first = max(first, -len(dims))
        last = first + 1 or len(dims)
    found = dims[first:last]
    return None if None in found or (is_one and not found) else np.array(found, storage)


def _starts_from_last(starts: _Bounds, steps: _Bounds | None, positions: list[int]) -> Tensor:
    """The starts; a slice backwards from beyond the last element starts at the last one.

    From 2^31 - 1 OpenVINO counts up to 2^31 elements of an unknown dimension, which its CPU plugin takes for fewer than
    none.
    """
    if starts.known is None or steps is None or steps.known is None:
        return starts.select(positions)
    both = [(starts.known[i], steps.known[i]) for i in positions]
    return ints([-1 if start >= OPEN_END and step < 0 else start for start, step in both])


def _open_backward_ends(node: NodeContext, ends: _Bounds, steps: _Bounds, positions: list[int]) -> Tensor:
    """The ends; where `end_before_first` holds, the end -1 of a slice backwards is before the first element."""
    if not node.semantics.end_before_first or (steps.known is not None and min(steps.known) > 0):
        return ends.select(positions)
    if steps.known is not None and ends.known is not None:
        both = [(ends.known[i], steps.known[i]) for i in positions]
        return ints([BEFORE_FIRST if end == -1 and step < 0 else end for end, step in both])
    end, step = ends.select(positions), steps.select(positions)
    before = ops.logical_and(ops.equal(end, ints(-1)), ops.less(step, ints(0)))
    return _select_bounds(before, ints(BEFORE_FIRST), end)


@works_around("integer_select_in_float32", "slice_of_constants_not_folded")
def _select_bounds(condition: Tensor, bounds: Tensor, otherwise: Tensor) -> Node:
    """`bounds` [n] where the condition holds, else `otherwise`; one of the two may be a scalar.

    No Select: OpenVINO's CPU plugin fuses it in float32, which rounds an open bound. No arithmetic: OpenVINO (2026.4)
    infers wrong limits for the sizes of a Slice backwards from it. No GatherElements: it does not fold it, and a Slice
    of constants by what is constant but not folded does not compile.
    """
    known = [fold(one if isinstance(one, Node) else one.get_node()) for one in (condition, bounds, otherwise)]
    mask, chosen, others = (one.values() if isinstance(one, ConstantValue) else None for one in known)
    if mask is not None and chosen is not None and others is not None:
        return ints(np.where(mask, chosen, others).tolist())
    size = shape_of(condition)
    either = ops.concat([ops.broadcast(one, size) for one in (otherwise, bounds)], 0)
    positions = index_range(ops.squeeze(size, ints(0)))
    places = ops.add(ops.multiply(ops.convert(condition, Type.i64), size), positions)
    return ops.gather(either, places, ints(0))


def _clamp_backward_ends(x: Output, axes: list[int], end: Tensor, step: Tensor) -> Node:
    """The ends; one before the first element, unless it is open, is clamped to the first element, as in Paddle 2."""
    sizes = dim_vector(x, axes)
    bounded = ops.logical_and(ops.less(step, ints(0)), ops.greater(end, ints(BEFORE_FIRST)))
    return _select_bounds(bounded, ops.maximum(end, ops.subtract(ints(0), sizes)), end)


def _may_start_early(x: Output, axes: list[int], positions: list[int], starts: _Bounds, steps: _Bounds) -> bool:
    """Whether a slice backwards may start before the first element."""
    for axis, i in zip(axes, positions, strict=True):
        if steps.known is not None and steps.known[i] > 0:
            continue
        dim = x.get_partial_shape()[axis]
        least = -int(dim.get_length()) if dim.is_static else -1
        if starts.known is None or starts.known[i] < least:
            return True
    return False


@works_around("slice_backwards_before_first")
def _empty_if_started_before_first(x: Output, axes: list[int], start: Tensor, end: Tensor, step: Tensor) -> Node:
    """The ends, such that a slice backwards from before the first element is empty.

    OpenVINO's Slice would start at the first element.
    """
    sizes = dim_vector(x, axes)
    before = ops.less(start, ops.negative(sizes))  # the sum of both overflows where the start is the greatest integer
    return _select_bounds(ops.logical_and(before, ops.less(step, ints(0))), ints(OPEN_END), end)


def _clamp_start(x: Output, axis: int, start: int) -> int:
    """`start`, clamped to the first element."""
    dim = x.get_partial_shape()[axis]
    return max(start, -int(dim.get_length())) if dim.is_static else start


def _is_full(x: Output, axis: int, i: int, starts: _Bounds, ends: _Bounds, steps: _Bounds | None) -> bool:
    if starts.known is None or ends.known is None or (steps and steps.known is None):
        return False
    if steps and steps.known and steps.known[i] != 1:
        return False
    dim = x.get_partial_shape()[axis]
    return starts.known[i] == 0 and ends.known[i] >= (int(dim.get_length()) if dim.is_static else OPEN_END)


def slice_(node: NodeContext) -> NamedOutputs:
    """out = input[starts:ends] along axes; the axes in decrease_axis, one element long, are dropped."""
    return _slice(node, "input", None)


def view_slice(node: NodeContext) -> NamedOutputs:
    """out = input[begin_idx:end_idx]."""
    begin, end = node.get_int("begin_idx"), node.get_int("end_idx")
    return {"out": slice_along(node.get_input("input"), ints([begin]), ints([end]), 0)}


def strided_slice(node: NodeContext) -> NamedOutputs:
    """out = x[starts:ends:strides] along axes; a negative stride goes backwards."""
    return _slice(node, "x", "strides")


def crop(node: NodeContext) -> NamedOutputs:
    """out = x[offsets : offsets + shape]; a shape of -1 reaches to the end."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    axes = ints(list(range(rank)))
    offsets_known, shape_known = node.is_known("offsets"), node.is_known("shape")
    if offsets_known and shape_known:
        offsets = node.get_ints("offsets", []) or [0] * rank
        shape = node.get_ints("shape")
        ends = [OPEN_END if size == -1 else start + size for start, size in zip(offsets, shape, strict=True)]
        return {"out": ops.slice(x, ints(offsets), ints(ends), ints([1] * rank), axes)}
    start = int_vector(node, "offsets")
    size = int_vector(node, "shape")
    stop = ops.select(ops.less(size, ints(0)), shape_of(x), ops.add(start, size))
    return {"out": ops.slice(x, start, stop, ints([1] * rank), axes)}


def crop_v1(node: NodeContext) -> NamedOutputs:
    """out = x[offsets : offsets + size], size being the shape of y, or `shape` (-1 in front: all of x)."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    start = int_vector(node, "offsets")
    if node.has_input("y"):
        size: Tensor = shape_of(node.get_input("y"))
    else:
        wanted = node.get_ints("shape")
        node.require(len(wanted) == rank and min([0, *wanted[1:]]) == 0, "no shape for this input", shape=wanted)
        first = dim_vector(x, [0]) if wanted[0] == -1 else ints(wanted[:1])
        size = ops.concat([first, ints(wanted[1:])], 0)
    return {"out": ops.slice(x, start, ops.add(start, size), ints([1] * rank), ints(list(range(rank))))}


@works_around("slice_scatter_between_computed_bounds")
def set_value(node: NodeContext) -> NamedOutputs:
    """out = x, with values written to x[starts:ends:steps] along axes."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    axes = [normalize_axis(node, axis, rank, "axes") for axis in node.get_ints("axes")]
    dropped = [normalize_axis(node, axis, rank, "decrease_axes") for axis in node.get_ints("decrease_axes", [])]
    added = node.get_ints("none_axes", [])
    values = _values(node, x.get_element_type())
    if not axes and node.has_input("values") and node.declared_input_shape("values") == node.declared_input_shape("x"):
        return {"out": values}  # as after index_put, when x[index] = ... is written in Python
    if not axes and not rank:
        return {"out": ops.reshape(values, ints([]), False)}
    if not axes:
        return {"out": ops.broadcast(_align_values(node, values, rank, dropped, added), shape_of(x))}
    everything = list(range(len(axes)))
    fitted = _align_values(node, values, rank, dropped, added)
    bounds = [
        _Bounds(node, "starts", len(axes)),
        _Bounds(node, "ends", len(axes)),
        _Bounds(node, "steps", len(axes), 1),
    ]
    starts = bounds[0].known
    if starts is not None and bounds[1].known is not None:
        # An index of -1 comes as the bounds -1 and 0.
        bounds[1].known = [
            OPEN_END if axis in dropped and first == -1 and last == 0 else last
            for axis, first, last in zip(axes, starts, bounds[1].known, strict=True)
        ]
    sizes = dims_of(x)
    if axes == dropped and len(axes) == 1 and starts is None and bounds[2].known == [1] and sizes and sizes[axes[0]]:
        return {"out": _set_at(x, fitted, axes[0], bounds[0].select([0]))}
    start, step = bounds[0].select(everything), bounds[2].select(everything)
    end = _open_backward_ends(node, bounds[1], bounds[2], everything)
    if dropped and (starts is None or bounds[1].known is None):
        last = ops.logical_and(ops.equal(start, ints(-1)), ops.equal(end, ints(0)))
        one = ops.constant(np.array([axis in dropped for axis in axes]))
        end = _select_bounds(ops.logical_and(last, one), ints(OPEN_END), end)
    may_be_empty = not node.semantics.end_before_first and _may_start_early(x, axes, everything, bounds[0], bounds[2])
    if may_be_empty:
        end = _empty_if_started_before_first(x, axes, start, end, step)
    selected = ops.slice(x, start, end, step, ints(axes))
    updates = ops.broadcast(fitted, shape_of(selected))
    if all(bound.known is not None for bound in bounds) and not may_be_empty:
        return {"out": ops.slice_scatter(x, updates, start, end, step, ints(axes))}
    # OpenVINO's CPU plugin crashes when it compiles a SliceScatter whose bounds are not known.
    if len(axes) == 1:
        size = dim_of(x, axes[0])
        written = ops.slice(index_range(size), start, end, step, ints([0]))
        return {"out": ops.scatter_update(x, written, updates, ints(axes[0]))}
    size = ops.reduce_prod(shape_of(x), ints([0]), False)
    flat_indices = ops.reshape(index_range(size), shape_of(x), False)
    written = ops.reshape(ops.slice(flat_indices, start, end, step, ints(axes)), ints([-1]), False)
    flat = ops.scatter_update(
        ops.reshape(x, ints([-1]), False), written, ops.reshape(updates, ints([-1]), False), ints(0)
    )
    return {"out": ops.reshape(flat, shape_of(x), False)}


def _set_at(x: Output, values: Output, axis: int, index: Tensor) -> Node:
    """x, with values broadcast and written at one index [1] of an axis of known size."""
    dims = x.get_partial_shape()
    size, others = dims[axis].get_length(), [one for one in range(len(dims)) if one != axis]
    own = values.get_partial_shape()
    if len(own) != len(dims) or any(dims[one].is_dynamic or dims[one] != own[one] for one in others):
        parts: list[Tensor] = [dim_vector(x, [one]) if one != axis else ints([1]) for one in range(len(dims))]
        values = ops.broadcast(values, ops.concat(parts, 0)).output(0)
    return write_at(x, values, axis, index, size)


def _values(node: NodeContext, dtype: Type) -> Output:
    if node.has_input("values"):
        return ops.convert(x, dtype).output(0) if (x := node.get_input("values")).get_element_type() != dtype else x
    storage = numpy_dtype(dtype) or np.dtype(np.float32)
    array = node.get_constant("values").astype(storage)
    shape = node.get_ints("shape", [])
    return cast_to(ops.constant(array.reshape(shape)), dtype).output(0)


def _drop_leading_unit_dims(values: Output, count: int) -> Output:
    """values without the first `count` of its dimensions of 1: the leading ones, where these are 1.

    Others are dropped where a squeeze without axes kept a dimension that is 1 at run time, which Paddle drops there.
    """
    shape = values.get_partial_shape()
    if all(shape[axis] == 1 for axis in range(count)):
        return ops.squeeze(values, ints(list(range(count)))).output(0)
    dims = shape_of(values)
    one = ops.equal(dims, ints(1))
    seen = ops.cumsum(ops.convert(one, "i64"), ints(0))
    kept = ops.logical_not(ops.logical_and(one, ops.less_equal(seen, ints(count))))
    kept_axes = of_length(ops.non_zero(kept, "i64"), shape.rank.get_length() - count)
    return ops.reshape(values, ops.gather(dims, kept_axes, ints(0)), False).output(0)


def _align_values(node: NodeContext, values: Output, rank: int, dropped: list[int], added: list[int]) -> Output:
    """`values`, which have the axes of an indexing expression, with those of x: no new axes, dropped ones as 1."""
    own = rank_of(node, values)
    # The axes of the expression in order: those of x (by number) without the dropped ones, and new ones (None).
    expression: list[int | None] = []
    waiting = sorted(added)
    for axis in range(rank):
        while waiting and waiting[0] <= axis:
            expression.append(None)
            waiting.pop(0)
        if axis not in dropped:
            expression.append(axis)
    expression += [None] * len(waiting)
    if own > len(expression):  # Paddle ignores leading dimensions of 1
        values = _drop_leading_unit_dims(values, own - len(expression))
        own = len(expression)
    aligned = expression[len(expression) - own :]
    new = [i for i, axis in enumerate(aligned) if axis is None]
    if new:
        values = ops.squeeze(values, ints(new)).output(0)
    axes = [axis for axis in aligned if axis is not None]
    if axes:
        inserted = [axis for axis in range(axes[0], rank) if axis not in axes]
        if inserted:
            values = ops.unsqueeze(values, ints([axis - axes[0] for axis in inserted])).output(0)
    return values
