"""Repetition of elements: expand, tile, repeat_interleave.

Paddle: `expand_v2` (PIR `expand`), `expand_as_v2` (PIR `expand_as`), `expand`, `expand_as`, `tile`,
`repeat_interleave`, `repeat_interleave_with_tensor_index`.
Semantics: `paddle/phi/kernels/impl/{expand,expand_as,tile,repeat_interleave}_kernel_impl.h`.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.graph.dims import dim_vector, input_along_axis, rank_of, shape_of, shape_vector, with_shape
from paddle2ov.converters.graph.selection import gather_or_empty
from paddle2ov.graph import arrays
from paddle2ov.graph.constants import ints_of
from paddle2ov.graph.evaluation import evaluate
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.slices import slice_along
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def expand(node: NodeContext) -> NamedOutputs:
    """out = x broadcast to shape; -1 keeps a dimension."""
    x = node.get_input("x")
    if node.is_known("shape"):
        sizes = node.get_ints("shape")
        partial = x.get_partial_shape()
        dims = [-1] * (len(sizes) - len(partial)) + [int(dim.get_length()) if dim.is_static else -1 for dim in partial]
        target = [dim if size == -1 else size for size, dim in zip(sizes, dims, strict=True)]
        if -1 not in target:
            return {"out": x if target == dims else ops.broadcast(x, ints(target))}
        # A 1 instead of -1 keeps a dimension when both directions broadcast.
        counts = [1 if size in (-1, dim) else size for size, dim in zip(sizes, dims, strict=True)]
        if len(counts) == len(partial) and set(counts) == {1}:
            return {"out": x}
        if _is_along_second_axis(counts):
            return {"out": ops.broadcast(x, _expanded_shape(x, ints(sizes).output(0), len(sizes) - len(partial)))}
        return {"out": ops.broadcast(x, ints(counts), None, "BIDIRECTIONAL")}
    shape = shape_vector(node, "shape")
    more = shape.get_partial_shape()[0].get_length() - rank_of(node, x)
    return {"out": ops.broadcast(x, _expanded_shape(x, shape, more))}


@works_around("broadcast_along_axis_1")
def _is_along_second_axis(counts: list[int]) -> bool:
    """Whether only axis 1 of four or more is repeated: OpenVINO (2026.4) turns that into a product with ones."""
    return len(counts) > 3 and counts[1] != 1 and set(counts[:1] + counts[2:]) == {1}


def _expanded_shape(x: Output, shape: Output, more: int) -> Node:
    """The shape that x has once expanded to a computed `shape`, which has `more` dimensions than x.

    A bidirectional broadcast would do without this, but then OpenVINO 2026.4 takes a later ShapeOf of the result for
    the shape of x.
    """
    own = ops.concat([ints([1] * more), shape_of(x)], 0) if more else shape_of(x)
    target = ops.select(ops.less(shape, ints(0)), own, shape)
    dims = [None] * more + [dim.get_length() if dim.is_static and dim != 1 else None for dim in x.get_partial_shape()]
    if not any(dims):
        return target
    # Dimensions that x has stay static.
    sizes = [ops.gather(target, ints([i]), ints(0)) if dim is None else ints([dim]) for i, dim in enumerate(dims)]
    return ops.concat(sizes, 0)


def expand_as(node: NodeContext) -> NamedOutputs:
    """out = x broadcast to the shape of y, or to target_shape."""
    x = node.get_input("x")
    if node.has_input("y"):
        return {"out": ops.broadcast(x, shape_of(node.get_input("y")))}
    target = [abs(size) for size in node.get_ints("target_shape")]
    return {"out": ops.broadcast(x, ints(target), None, "BIDIRECTIONAL")}


def expand_as_tiled(node: NodeContext) -> NamedOutputs:
    """out = x tiled to the shape of y, which is a multiple of its own."""
    x = node.get_input("x")
    return {"out": _tile(x, ops.divide(shape_of(node.get_input("y")), shape_of(x)).output(0))}


_MAX_RANK = 9


def tile(node: NodeContext) -> NamedOutputs:
    """out = x repeated repeat_times along each axis; the shorter of shape and repeat_times has leading ones added."""
    x = node.get_input("x")
    if node.is_known("repeat_times"):
        times = node.get_ints("repeat_times")
        node.require(len(times) <= _MAX_RANK, f"{len(times)} dimensions are more than Paddle has")
        # Where Paddle's own functions multiply by a dimension that is unknown as the program is made, it is a -1.
        node.require(all(count >= 0 for count in times), "a negative count", repeat_times=times)
        rank = rank_of(node, x)
        if all(count == 1 for count in times) and len(times) <= rank:
            return {"out": x}
        return {"out": _tile(x, ints([1] * (rank - len(times)) + times).output(0))}
    return {"out": _tile(x, shape_vector(node, "repeat_times"))}


@works_around("tile_along_axis_of_1")
def _tile(x: Output, times: Output) -> Node:
    """`x` repeated along each axis by `times` [R], constant or computed.

    OpenVINO 2026.4's CPU plugin reads beyond a tensor that has fewer dimensions than there are counts, and mixes up the
    elements of one with unknown dimensions, four or five in all, whose second one is known to be 1.
    """
    rank, length = x.get_partial_shape().rank, times.get_partial_shape()[0]
    if rank.is_dynamic or length.is_dynamic:
        return ops.tile(x, times)
    missing = length.get_length() - rank.get_length()
    if missing > 0:
        x = ops.unsqueeze(x, ints(list(range(missing)))).output(0)
    elif missing < 0:
        times = ops.concat([ints([1] * -missing), times], 0).output(0)
    shape = x.get_partial_shape()
    count = len(shape)
    if shape.is_static or count < 4 or shape[1] != 1:
        return _tile_in_parts(x, times, count)
    others = ops.gather(times, ints([0, *range(2, count)]), ints(0)).output(0)
    tiled = ops.unsqueeze(_tile(ops.squeeze(x, ints([1])).output(0), others), ints([1]))
    own = ops.gather(times, ints([1]), ints(0))
    return ops.broadcast(tiled, ops.concat([own, ints([1] * (count - 2))], 0), None, "BIDIRECTIONAL")


_MOST_LOOPS = 6


@works_around("tile_of_four_axes")
def _tile_in_parts(x: Output, times: Output, count: int) -> Node:
    """`x` of `count` dimensions repeated by `times`, along two axes at once where these are computed and many.

    OpenVINO 2026.4's CPU plugin leaves the result unwritten where it takes more than six loops: two for each axis that
    is repeated, and one for those before. Constant counts it applies one by one.
    """
    axes = _repeated(times)
    if not axes:
        return ops.tile(x, times)
    if 2 * len(axes) + (axes[:1] != [0]) <= _MOST_LOOPS:
        return with_shape(ops.tile(x, times).output(0), ops.multiply(shape_of(x), times)).get_node()
    tiled = x
    for start in range(0, len(axes), 2):
        own = np.isin(arrays.arange(count), axes[start : start + 2])
        tiled = ops.tile(tiled, ops.select(own, times, ints([1] * count))).output(0)
    return with_shape(tiled, ops.multiply(shape_of(x), times)).get_node()


def _repeated(times: Output) -> list[int]:
    """The axes that computed counts may repeat; none if all of them are constant."""
    if ints_of(times) is not None:
        return []
    node = times.get_node()
    known: list[int | None] = []
    for part in node.input_values() if node.get_type_name() == "Concat" else [times]:
        length = part.get_partial_shape()[0].get_length()
        values = evaluate(part, _MAX_RANK, _MAX_RANK)
        known += [None] * length if values is None else values.tolist()
    return [axis for axis, item in enumerate(known) if item != 1]


def repeat_interleave(node: NodeContext) -> NamedOutputs:
    """out = each element of x along axis repeated `repeats` times (one number, or one for each element)."""
    x, _, axis = input_along_axis(node, 0)
    return {"out": gather_or_empty(x, repeated(node, x, axis), axis)}


def repeated(node: NodeContext, x: Output, axis: int) -> Output:
    """The place along the axis that each element of the repeated x is from."""
    if node.is_known("repeats"):
        repeats = node.get_ints("repeats")
        dim = x.get_partial_shape()[axis]
        if len(repeats) > 1 or dim.is_static:
            count = len(repeats) if len(repeats) > 1 else int(dim.get_length())
            indices = arrays.repeat(arrays.arange(count), repeats if len(repeats) > 1 else repeats * count)
            return ops.constant(indices.astype(np.int64)).output(0)
    repeats_tensor = ops.reshape(node.get_tensor("repeats", Type.i64), ints([-1]), False)
    each = ops.broadcast(repeats_tensor, dim_vector(x, [axis]))
    # Element j of the result comes from the number of ends (cumulated repeats) that are at or before j.
    length = ops.add(ops.reduce_sum(each, ints([0]), True), ints(1))
    at_places = ops.scatter_elements_update(
        ops.broadcast(ints(0), length),
        ops.cum_sum(each, ints(0)),
        ops.broadcast(ints(1), shape_of(each)),
        ints(0),
        "sum",
    )
    return slice_along(ops.cum_sum(at_places, ints(0)), ints([0]), ints([-1]), 0).output(0)
