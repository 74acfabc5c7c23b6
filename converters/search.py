"""Search, sort and medians.

Paddle: `top_k_v2` (PIR `topk`), `top_k`, `arg_max`, `arg_min`, `argsort`, `kthvalue`, `mode`,
`searchsorted`, `median`, `nanmedian`.
Semantics: `paddle/phi/kernels/cpu/{top_k,arg_min_max,argsort,kthvalue,searchsorted,nanmedian}_kernel.cc`,
`paddle/phi/kernels/funcs/{mode,nanmedian_utils}.h`.
Of equal elements the first one is taken, as in Paddle's arg_max and stable argsort; which one Paddle's unstable sorts
(topk, argsort, kthvalue) take depends on the C++ library. NaN is the largest in argsort and kthvalue, as in Paddle; in
topk, arg_max and arg_min its order is that of OpenVINO's comparisons: an extra pass over all scores would cost every
detector time. Only arg_max and arg_min of long rows pass over it, as in Paddle.
Not supported: the indices of medians in mode "avg", which no function of Paddle returns.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.elementwise import divide
from paddle2ov.converters.graph.common import Tensor, cast_to, const_like, prevent_fusion, reshape
from paddle2ov.converters.graph.computed_axis import computed_axis, front_permutations
from paddle2ov.converters.graph.dims import (
    dim_of,
    dim_range,
    dim_vector,
    index_range,
    input_along_axis,
    rank_of,
    scalar_of,
    shape_of,
    with_shape,
)
from paddle2ov.converters.graph.exact import exact_equal, exact_less
from paddle2ov.converters.graph.loops import Outputs, loop
from paddle2ov.converters.graph.reshaping import merge_axes
from paddle2ov.converters.graph.selection import or_of_nothing
from paddle2ov.converters.graph.sorting import first_extreme, sort, topk
from paddle2ov.converters.reduction import axes_of
from paddle2ov.graph import arrays
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def _sortable(x: Tensor) -> Tensor:
    """`x`, bool as int32: TopK takes no bool."""
    return cast_to(x, Type.i32) if x.get_element_type() == Type.boolean else x


def _nan_as_infinity(x: Output) -> Tensor:
    """`x` with infinity for NaN, which is the largest in Paddle; it is equal to a true infinity."""
    return ops.select(ops.is_nan(x), const_like(np.inf, x), x) if x.get_element_type().is_real() else x


def _restore_nan(x: Output, values: Tensor, indices: Tensor, axis: int) -> Tensor:
    """`values`, with the NaNs that `_nan_as_infinity` replaced."""
    return ops.gather_elements(x, indices, axis) if x.get_element_type().is_real() else values


def top_k_v2(node: NodeContext) -> NamedOutputs:
    """out, indices = the k largest (or smallest) elements along axis, sorted, and their indices (int64)."""
    x, rank, axis = input_along_axis(node, -1)
    if rank == 0:
        return {"out": x, "indices": ints(0)}
    k = ints(node.get_int("k", 1)) if node.is_known("k") else scalar_of(node, "k", Type.i64)
    # Always sorted: without `sorted` Paddle leaves the order undefined.
    values, indices = topk(x, k, axis, node.get_bool("largest", True))
    if node.is_known("k"):
        return {"out": values, "indices": indices}
    sizes = [ops.unsqueeze(k, ints(0)) if i == axis else dim_vector(x, [i]) for i in range(rank)]
    shape = ops.concat(sizes, 0)
    return {"out": with_shape(values, shape), "indices": with_shape(indices, shape)}


def arg_extreme(node: NodeContext) -> NamedOutputs:
    """out = the index of the largest (or smallest) element along axis, or in the flattened tensor."""
    largest, dtype = node.op_type == "arg_max", node.get_dtype("dtype", Type.i64)
    flat, keep = node.get_bool("flatten", False), node.get_bool("keepdims", False)
    if not flat and not node.is_known("axis") and (rank := rank_of(node, node.get_input("x"))):
        x = node.get_input("x")
        axis_node = computed_axis(node, rank)
        moved = ops.transpose(x, front_permutations(axis_node, rank)[0])
        index = topk(_sortable(moved), ints(1), 0, largest)[1]
        if not keep:
            return {"out": cast_to(ops.squeeze(index, ints([0])), dtype)}
        dims = ops.select(ops.equal(ints(list(range(rank))), axis_node), ints(1), shape_of(x))
        return {"out": cast_to(ops.reshape(index, dims, False), dtype)}
    x, rank, axis = input_along_axis(node)
    if rank == 0:
        return {"out": ops.constant(arrays.zeros([1] if keep and not flat else []), dtype)}
    if flat:
        x, axis = ops.reshape(x, ints([-1]), False).output(0), 0
    index = first_extreme(_sortable(x), axis, largest)
    if flat:
        shape = [1] * rank if keep else []
        return {"out": cast_to(ops.reshape(index, ints(shape), False), dtype)}
    return {"out": cast_to(index if keep else ops.squeeze(index, ints([axis])), dtype)}


def argsort(node: NodeContext) -> NamedOutputs:
    """out, indices = the sorted elements along axis, and their indices."""
    x, rank, axis = input_along_axis(node, -1)
    if rank == 0:
        return {"out": x, "indices": ints(0)}
    values, indices = sort(_nan_as_infinity(x), axis, node.get_bool("descending", False))
    return {"out": _restore_nan(x, values, indices, axis), "indices": indices}


def kthvalue(node: NodeContext) -> NamedOutputs:
    """out, indices = the k-th smallest element along axis, and its index."""
    x, rank, axis = input_along_axis(node, -1)
    if rank == 0:
        return {"out": x, "indices": ints(0)}
    k = node.get_int("k", 1)
    smallest, their_indices = topk(_nan_as_infinity(x), ints(k), axis, largest=False)
    keep = node.get_bool("keepdim", False)
    indices = ops.gather(their_indices, ints([k - 1]), ints(axis))
    value = _restore_nan(x, ops.gather(smallest, ints([k - 1]), ints(axis)), indices, axis)
    both = {"out": value, "indices": indices}
    return both if keep else {name: ops.squeeze(value, ints([axis])) for name, value in both.items()}


def mode(node: NodeContext) -> NamedOutputs:
    """out, indices = the most frequent element along axis (of several, the smallest), and its last index."""
    x, rank, axis = input_along_axis(node, -1)
    if rank == 0:
        return {"out": x, "indices": ints(0)}
    values, _ = sort(x, axis, descending=False)
    # How often each element occurs: all pairs are compared.
    same = exact_equal(ops.unsqueeze(values, ints(axis)), ops.unsqueeze(values, ints(axis + 1)))
    counts = ops.reduce_sum(cast_to(same, Type.i32), ints([axis + 1]), False)
    first = topk(counts, ints(1), axis, largest=True)[1]
    value = ops.gather_elements(values, first, axis)
    # The last index of that value.
    positions = index_range(dim_of(x, axis))
    positions = ops.unsqueeze(positions, ints(list(range(1, rank - axis)))) if axis + 1 < rank else positions
    own = ops.select(exact_equal(x, value), positions, ints(-1))
    last = prevent_fusion(own, ops.reduce_max(own, ints([axis]), True), [axis])
    if node.get_bool("keepdim", False):
        return {"out": value, "indices": last}
    return {"out": ops.squeeze(value, ints([axis])), "indices": ops.squeeze(last, ints([axis]))}


def searchsorted(node: NodeContext) -> NamedOutputs:
    """out = how many elements of sorted_sequence are less than (right: at most) each value; all for NaN and ±∞."""
    sequence, values = node.get_input("sorted_sequence"), node.get_input("values")
    kinds = {sequence.get_element_type(), values.get_element_type()}
    # Two types are compared as C++ does.
    common = next((kind for kind in (Type.f64, Type.f32, Type.i64) if kind in kinds), None) if len(kinds) > 1 else None
    row, looked_up = (output_of(cast_to(item, common)) for item in (sequence, values))
    out = _number_before(row, looked_up, node.get_bool("right", False))
    if values.get_element_type().is_real():
        length = dim_of(sequence, rank_of(node, sequence) - 1)
        out = ops.select(ops.logical_or(ops.is_nan(values), ops.is_inf(values)), length, out)
    return {"out": cast_to(out, Type.i32 if node.get_bool("out_int32", False) else Type.i64)}


def _number_before(sequence: Output, values: Output, right: bool) -> Tensor:
    """How many elements of its sorted row are before each value, from the highest bit of that number to the lowest.

    OpenVINO's SearchSorted takes as long for a value as there are elements in all rows, and longer.
    """
    axis = sequence.get_partial_shape().rank.get_length() - 1
    dim = sequence.get_partial_shape()[axis]

    def with_bit(number: Tensor, bit: Tensor, sequence: Output, values: Output) -> Tensor:
        more, length = ops.add(number, bit), dim_of(sequence, axis)
        last = ops.subtract(ops.minimum(more, length), ints(1))
        element = ops.gather_elements(sequence, last, axis) if axis else ops.gather(sequence, last, ints(0))
        is_before = ops.logical_not(exact_less(values, element)) if right else exact_less(element, values)
        return ops.select(ops.logical_and(is_before, ops.less_equal(more, length)), more, number)

    number: Tensor = ops.broadcast(ints(0), shape_of(values))
    if dim.is_static:
        for place in reversed(range(int(dim.get_length()).bit_length())):
            number = with_bit(number, ints(1 << place), sequence, values)
        return number

    def step(_: Tensor, state: Outputs, invariants: Outputs) -> tuple[list[Tensor], None]:
        number, bit = state
        return [with_bit(number, bit, *invariants), ops.divide(bit, ints(2))], None

    bits = ints([1 << place for place in range(31)])
    own = ops.less_equal(bits, dim_of(sequence, axis))
    highest = ops.reduce_max(ops.select(own, bits, ints(0)), ints([0]), False)
    count = ops.reduce_sum(cast_to(own, Type.i64), ints([0]), False)
    return loop(count, [number, highest], [sequence, values], step)[0]


_NO_INTEGER = -(2**31)
"""What Paddle makes of NaN as int32; as int64 it has no 32 bits."""


def median(node: NodeContext) -> NamedOutputs:
    """out = the middle element over axis, or the mean of the two middle ones (the lower one in mode "min")."""
    x, ignore_nan = node.get_input("x"), node.op_type == "nanmedian"
    rank = rank_of(node, x)
    axes = axes_of(node, x, ())
    average = node.get_str("mode", "avg") == "avg"
    node.require(not (average and node.is_output_used("medians")), "the indices of averages are not supported")
    rows, is_real = _reduced_axes_last(x, rank, axes), x.get_element_type().is_real()
    empty = ops.is_nan(rows) if is_real else None
    filled = rows if empty is None else ops.select(empty, const_like(np.inf, rows), rows)
    length = dim_of(rows, -1)
    values, indices = sort(filled, -1, descending=False)
    counted = ints([0])
    if empty is not None:
        ones = ops.convert(empty, "i64")
        counted = prevent_fusion(ones, ops.reduce_sum(ones, ints([-1]), True), [-1])
    # Of n valid elements, the middle ones are at (n - 1) / 2 and n / 2.
    valid = ops.subtract(length, counted) if ignore_nan else length
    low, high = (ops.divide(ops.maximum(part, ints(0)), ints(2)) for part in (ops.subtract(valid, ints(1)), valid))
    out: Tensor = _gather_at(values, low)
    if average:
        both = ops.add(out, _gather_at(values, high))
        out = ops.multiply(both, const_like(0.5, out)) if is_real else divide(both, const_like(2, out))
    index: Tensor = _gather_at(indices, low)
    if empty is not None:
        lost = ops.equal(valid, ints(0)) if ignore_nan else ops.greater(counted, ints(0))
        out = ops.select(lost, const_like(np.nan, out), out)
        first = ops.topk(
            ops.convert(empty, "i32"), ints(1), -1, "max", "value", index_element_type=Type.i64, stable=True
        )
        index = ops.select(lost, ints(-1) if ignore_nan else first.output(1), index)
    out = or_of_nothing(out, rows, -1, np.nan if is_real else _NO_INTEGER)
    index = or_of_nothing(index, rows, -1, 0)
    kept = node.get_bool("keepdim", True)
    return {"out": _restore_axes(out, x, rank, axes, kept), "medians": _restore_axes(index, x, rank, axes, kept)}


def _reduced_axes_last(x: Output, rank: int, axes: list[int]) -> Tensor:
    """x with the axes that are not reduced in front, and the reduced ones flattened into a last axis."""
    stay = [axis for axis in range(rank) if axis not in axes]
    if not stay:
        return reshape(x, [1, -1])
    moved = x if axes == list(range(rank - len(axes), rank)) else ops.transpose(x, ints(stay + axes))
    return merge_axes(output_of(moved), [*([i] for i in range(len(stay))), range(len(stay), rank)])


def _gather_at(rows: Output, position: Tensor) -> Node:
    """The element at `position` of each row; the last axis stays, with size 1."""
    rank = rows.get_partial_shape().rank.get_length()
    size = ops.concat([dim_range(rows, 0, rank - 1), ints([1])], 0)
    return ops.gather_elements(rows, ops.broadcast(position, size), rank - 1)


def _restore_axes(out: Tensor, x: Output, rank: int, axes: list[int], keepdim: bool) -> Tensor:
    stay = [axis for axis in range(rank) if axis not in axes]
    if not keepdim:
        return ops.squeeze(out, ints([-1])) if stay else reshape(out, [])
    if not stay:
        return reshape(out, [1] * rank)
    return ops.unsqueeze(ops.squeeze(out, ints([-1])), ints(axes))
