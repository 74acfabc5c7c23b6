"""TopK in its fast and its stable form.

OpenVINO's stable TopK compares every element with every chosen one: 50,000 elements take 20 s to sort, 0.04 s in the
unstable form. Paddle's own order of equal elements is that of the C++ library (`std::sort`, `std::nth_element`), which
is stable for short rows only; so stability is kept here where it costs little, and for full sorts.
"""

from __future__ import annotations

import math

import numpy as np
from openvino import Node, Output, Type
from openvino.op import Constant

from paddle2ov.converters.graph.common import Tensor, cast_to, const_like
from paddle2ov.converters.graph.dims import dim_of, static_rank
from paddle2ov.converters.graph.spatial import ranked_dims
from paddle2ov.graph import arrays
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.permutation import permute

_CHEAP_COMPARISONS = 1 << 18
_CHEAP_COUNT = 16
_FEW_SORTED = 256
"""Up to here, a stable TopK of many rows is faster than two unstable ones: 1.4 and 5.3 ms for 1,024 rows of 64."""
_LONG_ROW = 4096
"""From here on, three passes over a row are faster than a stable TopK: 0.16 ms and 0.48 ms for 50,000 elements."""
_MAX_ROW_LENGTH = 1 << 24
"""Integers up to here are exact in float32, in which the CPU plugin computes a Select that it fuses."""
_MAX_PACKED_LENGTH = 46_340
"""The square of a row's length must fit into the 32 bits that the CPU plugin computes integers with."""
_FEWEST_ROWS, _MOST_ROWS = 8, 64
"""As many rows fill a vector, and few enough stay in the cache, if they are long."""
_MANY_COMPARISONS = 1 << 15
"""From here on, moving the elements takes less time than it saves."""


def topk(x: Tensor, k: Tensor, axis: int, largest: bool) -> tuple[Output, Output]:
    """TopK sorted by value, and the indices; stable where that is cheap."""
    size, count = ranked_dims(x)[axis], _static_count(k)
    cheap = count is not None and (count <= _CHEAP_COUNT or (size is not None and size * count <= _CHEAP_COMPARISONS))
    order = "max" if largest else "min"
    rows = _rows_at_once(x, axis, count) if cheap else None
    if rows is None:
        top = ops.topk(x, k, axis, order, "value", index_element_type=Type.i64, stable=cheap)
        return top.output(0), top.output(1)
    rank = static_rank(x)
    before = [0] * (rank - 2)
    swap = [*range(rank - 1), rank, rank - 1]
    columns = permute(ops.reshape(x, ints([*before, -1, rows, size or 0]), True).output(0), swap)
    top = ops.topk(columns, k, rank - 1, order, "value", index_element_type=Type.i64, stable=True)
    values, indices = (
        ops.reshape(permute(output, swap), ints([*before, -1, count or 0]), True).output(0) for output in top.outputs()
    )
    return values, indices


def _rows_at_once(x: Tensor, axis: int, count: int | None) -> int | None:
    """How many rows a stable TopK along the last axis compares at once as columns; None if it is left as it is.

    OpenVINO compares one element after the other along the last axis, and a vector of them along any other: 512 rows of
    512 elements take 18 and 3 ms for the first 16 of each.
    """
    dims = ranked_dims(x)
    if len(dims) < 2 or axis % len(dims) != len(dims) - 1 or dims[-1] is None or dims[-2] is None:
        return None
    if math.prod(dim for dim in dims if dim is not None) * (count or 0) < _MANY_COMPARISONS:
        return None
    fitting = [rows for rows in range(_FEWEST_ROWS, _MOST_ROWS + 1) if dims[-2] % rows == 0]
    return fitting[-1] if fitting else None


def first_extreme(x: Tensor, axis: int, largest: bool) -> Output:
    """The index of the first of the largest (or smallest) elements along axis, which stays as a dimension of 1.

    In long rows of numbers NaN is passed over, as in Paddle; elsewhere its order is that of TopK's comparisons.
    """
    size = ranked_dims(x)[axis]
    if size is None or not _LONG_ROW <= size < _MAX_ROW_LENGTH or x.get_element_type() != Type.f32:
        return topk(x, ints(1), axis, largest)[1]
    limits = np.finfo(np.float32)
    worst = float(limits.min if largest else limits.max)
    numbers = ops.select(ops.is_nan(x), const_like(worst, x), x)
    extreme = (ops.reduce_max if largest else ops.reduce_min)(numbers, ints([axis]), True)
    # The first one is the furthest from the end; if none is equal, because all are NaN, it is element 0.
    from_end = _broadcastable_along(ops.constant(arrays.arange(size, 0, -1, np.int32)), axis, static_rank(x))
    furthest = ops.reduce_max(ops.select(ops.equal(numbers, extreme), from_end, _i32(0)), ints([axis]), True)
    index = ops.select(ops.equal(furthest, _i32(0)), _i32(0), ops.subtract(_i32(size), furthest))
    return ops.convert(index, Type.i64).output(0)


def sort(x: Tensor, axis: int, descending: bool) -> tuple[Output, Output]:
    """The sorted elements along axis, and their indices; a stable sort for up to 46,340 elements."""
    axis %= static_rank(x)
    length = dim_of(x, axis)
    order = "max" if descending else "min"
    size = ranked_dims(x)[axis]
    if size is not None and size <= _FEW_SORTED:
        return topk(x, length, axis, descending)
    top = ops.topk(x, length, axis, order, "value", index_element_type=Type.i32, stable=False)
    values, indices = top.output(0), top.output(1)
    # Sort once more by (group of equal elements, index), packed into one integer.
    positions = _broadcastable_along(ops.range(ints(0), length, ints(1), "i32"), axis, static_rank(x))
    previous = ops.maximum(ops.subtract(ops.reshape(positions, ints([-1]), False), _i32(1)), _i32(0))
    before = ops.gather(values, previous, ints(axis))
    group = ops.cum_sum(cast_to(ops.not_equal(values, before), Type.i32), ints(axis))
    count = ops.convert(length, Type.i32)
    fits = ops.less_equal(count, _i32(_MAX_PACKED_LENGTH))
    key = ops.select(fits, ops.add(ops.multiply(group, count), indices), positions)
    packed = ops.topk(key, length, axis, "min", "value", index_element_type=Type.i32, stable=False).output(0)
    # The remainder without a division, whose CPU kernel computes in float32.
    position = ops.subtract(packed, ops.multiply(group, count))
    return values, ops.convert(ops.select(fits, position, indices), Type.i64).output(0)


def _broadcastable_along(row: Node, axis: int, rank: int) -> Node:
    """A 1-D tensor as `axis` of a tensor of `rank` dimensions, the others 1."""
    return ops.unsqueeze(row, ints([i for i in range(rank) if i != axis])) if rank > 1 else row


def _i32(value: int) -> Node:
    return ops.constant(value, Type.i32)


def _static_count(k: Tensor) -> int | None:
    node = k if isinstance(k, Node) else k.get_node()
    if node.get_type_name() == "Reshape":
        node = node.input_value(0).get_node()
    return int(node.get_data().reshape(-1)[0]) if isinstance(node, Constant) else None
