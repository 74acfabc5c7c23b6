"""Search and sort.

Paddle: `top_k_v2` (PIR `topk`), `top_k`, `arg_max`, `arg_min`, `argsort`, `kthvalue`, `mode`, `searchsorted`,
`median`.
Semantics: `paddle/phi/kernels/cpu/{top_k,arg_min_max,argsort,kthvalue,searchsorted}_kernel.cc`,
`paddle/phi/kernels/funcs/mode.h`.
Of equal elements the first one counts, as in Paddle's arg_max and stable argsort; which one Paddle's unstable sorts
(topk, argsort, kthvalue) name depends on the C++ library. NaN is not ordered as in Paddle, where it is the largest.
"""

from __future__ import annotations

from openvino import Node, Output, Type

from paddle2ov.converters.common import cast_to, ints, normalize_axis, rank_of
from paddle2ov.converters.sorting import length_of, sort, top
from paddle2ov.node_context import NamedOutputs, NodeContext
from paddle2ov.opset import ops
from paddle2ov.registry import Converter


def _sortable(x: Output) -> Output | Node:
    """TopK takes no booleans."""
    return cast_to(x, Type.i32) if x.get_element_type() == Type.boolean else x


def top_k_v2(node: NodeContext) -> NamedOutputs:
    """out, indices = the k largest (or smallest) elements along axis, sorted, and where they stand (int64)."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    axis = normalize_axis(node, node.get_int("axis", -1), rank)
    if rank == 0:
        return {"out": x, "indices": ints(0)}
    k = ops.reshape(node.get_tensor("k", Type.i64, 1), ints([]), False)
    # Sorted in either case: without `sorted` Paddle leaves the order open.
    found = top(x, k, axis, node.get_attribute("largest", True))
    return {"out": found.output(0), "indices": found.output(1)}


def _arg_extreme(largest: bool) -> Converter:
    def convert(node: NodeContext) -> NamedOutputs:
        """out = where the largest (or smallest) element stands along axis, or in the flattened tensor."""
        x = node.get_input("x")
        dtype = node.get_dtype("dtype", Type.i64) or Type.i64
        flat = node.get_attribute("flatten", False)
        keep = node.get_attribute("keepdims", False)
        rank = rank_of(node, x)
        axis = normalize_axis(node, node.get_int("axis", -1), rank)
        if rank == 0:
            return {"out": ops.constant(0, dtype)}
        if flat:
            x, axis = ops.reshape(x, ints([-1]), False).output(0), 0
        found = top(_sortable(x), ints(1), axis, largest).output(1)
        if flat:
            shape = [1] * rank if keep else []
            return {"out": cast_to(ops.reshape(found, ints(shape), False), dtype)}
        return {"out": cast_to(found if keep else ops.squeeze(found, ints([axis])), dtype)}

    return convert


arg_max = _arg_extreme(largest=True)
arg_min = _arg_extreme(largest=False)


def argsort(node: NodeContext) -> NamedOutputs:
    """out, indices = the elements in order along axis, and where each one stood."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    axis = normalize_axis(node, node.get_int("axis", -1), rank)
    if rank == 0:
        return {"out": x, "indices": ints(0)}
    values, where = sort(x, axis, node.get_attribute("descending", False))
    return {"out": values, "indices": where}


def kthvalue(node: NodeContext) -> NamedOutputs:
    """out, indices = the k-th smallest element along axis, and where it stands."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    axis = normalize_axis(node, node.get_int("axis", -1), rank)
    if rank == 0:
        return {"out": x, "indices": ints(0)}
    k = node.get_int("k", 1)
    found = top(x, ints(k), axis, largest=False)
    place = ints([k - 1]) if node.get_attribute("keepdim", False) else ints(k - 1)
    return {
        "out": ops.gather(found.output(0), place, ints(axis)),
        "indices": ops.gather(found.output(1), place, ints(axis)),
    }


def mode(node: NodeContext) -> NamedOutputs:
    """out, indices = the most frequent element along axis, the smallest one of several, and where it stands last."""
    x = node.get_input("x")
    rank = rank_of(node, x)
    axis = normalize_axis(node, node.get_int("axis", -1), rank)
    if rank == 0:
        return {"out": x, "indices": ints(0)}
    values, _ = sort(x, axis, descending=False)
    # How often each element occurs: a comparison of all with all.
    same = ops.equal(ops.unsqueeze(values, ints(axis)), ops.unsqueeze(values, ints(axis + 1)))
    counts = ops.reduce_sum(cast_to(same, Type.i32), ints([axis + 1]), False)
    first = top(counts, ints(1), axis, largest=True).output(1)
    value = ops.gather_elements(values, first, axis)
    # The last place of that value: the position of the first one, read backwards.
    places = ops.range(ints(0), length_of(x, axis), ints(1), "i64")
    places = ops.unsqueeze(places, ints(list(range(1, rank - axis)))) if axis + 1 < rank else places
    last = ops.reduce_max(ops.select(ops.equal(x, value), places, ints(-1)), ints([axis]), True)
    if node.get_attribute("keepdim", False):
        return {"out": value, "indices": last}
    return {"out": ops.squeeze(value, ints([axis])), "indices": ops.squeeze(last, ints([axis]))}


def searchsorted(node: NodeContext) -> NamedOutputs:
    """out = how many elements of sorted_sequence are less than (right: at most) each of values."""
    sequence, values = node.get_input("sorted_sequence"), node.get_input("values")
    out = ops.search_sorted(sequence, values, node.get_attribute("right", False))
    return {"out": cast_to(out, Type.i32 if node.get_attribute("out_int32", False) else Type.i64)}
