"""Values written or added to elements given by index or by mask.

Paddle: `scatter`, `scatter_nd_add`, `index_add`, `index_put`, `put_along_axis`.
Semantics: `paddle/phi/kernels/funcs/{scatter.h,gather_scatter_functor.cc,index_put_utils.h}`,
`paddle/phi/kernels/cpu/{scatter,scatter_nd_add,index_put,put_along_axis}_kernel.cc`,
`paddle/phi/kernels/cpu/index_add_impl.h`.
If two values go to the same element and are not reduced, the last one is kept, as in Paddle's loop.
"""

from __future__ import annotations

from openvino import Node, Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const, const_like
from paddle2ov.converters.graph.dims import dim_range, dim_vector, input_along_axis, rank_of, shape_of
from paddle2ov.converters.graph.selection import exact_select
from paddle2ov.converters.indexing import has_dims_of, nd_index
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import dims_of, static_dims
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def scatter(node: NodeContext) -> NamedOutputs:
    """out = x with out[index[i]] = updates[i]; without overwrite, the sum of all updates of that row."""
    x, index, updates = node.get_input("x"), node.get_input("index"), node.get_input("updates")
    if rank_of(node, index) == 2:  # [n, 1] counts as [n]
        index = ops.squeeze(index, ints([1])).output(0)
    if rank_of(node, index) == 0:
        index, updates = ops.unsqueeze(index, ints(0)).output(0), ops.unsqueeze(updates, ints(0)).output(0)
    nd_indices = ops.unsqueeze(index, ints(1))
    if node.get_bool("overwrite", True):
        known = node.get_known("index")
        if known is not None and bool((known >= 0).all()):
            return {"out": ops.scatter_update(x, index, updates, ints(0))}
        return {"out": ops.scatter_nd_update(x, nd_indices, updates)}  # takes negative indices
    zeros = ops.broadcast(const_like(0, x), shape_of(updates))
    cleared = ops.scatter_nd_update(x, nd_indices, zeros)
    return {"out": ops.scatter_nd_update(cleared, nd_indices, updates, "sum")}


def scatter_nd_add(node: NodeContext) -> NamedOutputs:
    """out = x with updates[...] added to x[index[..., 0], index[..., 1], ...]."""
    x, updates = node.get_input("x"), node.get_input("updates")
    index, depth = nd_index(node, x, node.declared_input_shape("updates"))
    if depth == 0:  # an index of length 0 selects all of x
        outer = rank_of(node, updates) - rank_of(node, x)
        summed = ops.reduce_sum(updates, ints(list(range(outer))), False) if outer else updates
        return {"out": ops.add(x, summed)}
    return {"out": ops.scatter_nd_update(x, index, updates, "sum")}


def index_add(node: NodeContext) -> NamedOutputs:
    """out = x with the slice i of add_value added to the slice index[i] of x, along axis."""
    (x, rank, axis), index, value = input_along_axis(node, 0), node.get_input("index"), node.get_input("add_value")
    if axis == 0:  # whole rows, several times as fast as their elements
        return {"out": ops.scatter_nd_update(x, ops.unsqueeze(index, ints(1)), value, "sum")}
    other_axes = [i for i in range(rank) if i != axis]
    expanded = ops.unsqueeze(index, ints(other_axes)) if other_axes else index
    indices = ops.broadcast(expanded, shape_of(value))
    return {"out": ops.scatter_elements_update(x, indices, value, ints(axis), "sum")}


def index_put(node: NodeContext) -> NamedOutputs:
    """out = x with value written (or added) to x[indices[0], indices[1], ...]; a mask selects where it is true."""
    x, value = node.get_input("x"), node.get_input("value")
    indices = node.get_inputs("indices")
    accumulate = node.get_bool("accumulate", False)
    masks = [index.get_element_type() == Type.boolean for index in indices]
    single = static_dims(value)
    mask = _mask_of_all(node, x, indices[0]) if masks == [True] else None
    if mask is not None and not accumulate and single is not None and all(dim == 1 for dim in single):
        return {"out": exact_select(mask, ops.reshape(value, ints([]), False), x)}
    coordinates: list[Tensor] = []
    for index, is_mask in zip(indices, masks, strict=True):
        if not is_mask:
            coordinates.append(cast_to(index, Type.i64))
        else:
            per_axis = ops.split(ops.non_zero(index, "i64"), ints(0), rank_of(node, index)).outputs()
            coordinates += [ops.squeeze(item, ints([0])) for item in per_axis]
    if len(coordinates) > 1:
        first, *others = coordinates
        for other in others:
            first = ops.broadcast(first, shape_of(other), None, "BIDIRECTIONAL")
        coordinates = [first, *(ops.broadcast(other, shape_of(first)) for other in others)]
    depth = len(coordinates)
    stacked = ops.concat([ops.unsqueeze(coordinate, ints(-1)) for coordinate in coordinates], -1)
    outer = dim_range(stacked, 0, -1)
    inner_rank = rank_of(node, x) - depth
    target = ops.concat([outer, dim_range(x, depth)], 0)
    updates = ops.broadcast(value, target if inner_rank else outer)
    return {"out": ops.scatter_nd_update(x, stacked, updates, "sum" if accumulate else None)}


def _mask_of_all(node: NodeContext, x: Output, mask: Output) -> Output | None:
    """A mask over the first axes of x, with the rank of x; None if it is known to be smaller.

    A run in which one of its dimensions differs fails: it must not be broadcast.
    """
    dims, wanted = dims_of(mask) or [], dims_of(x) or []
    rank = rank_of(node, mask)
    for size, whole in zip(dims, wanted, strict=False):
        if size is not None and whole is not None and size > whole:
            node.refuse(f"a mask of shape {dims} for a tensor of shape {wanted}")
    if any(None not in (size, whole) and size != whole for size, whole in zip(dims, wanted, strict=False)):
        return None
    inner = list(range(rank, rank_of(node, x)))
    if inner and None in (*dims, *wanted[:rank]):
        shape = ops.concat([dim_vector(x, list(range(rank))), ints([1] * len(inner))], 0)
        return ops.reshape(mask, shape, False).output(0)
    if inner:
        return ops.unsqueeze(mask, ints(inner)).output(0)
    return mask if has_dims_of(mask, x) else ops.reshape(mask, shape_of(x), False).output(0)


_REDUCTIONS = {
    "assign": "none",
    "add": "sum",
    "mul": "prod",
    "multiply": "prod",
    "amin": "min",
    "amax": "max",
    "mean": "mean",
}


def put_along_axis(node: NodeContext) -> NamedOutputs:
    """out = arr with values[i, j, k] reduced into (or assigned to) arr[i, indices[i, j, k], k], along axis."""
    x, rank, axis = input_along_axis(node, name="arr")
    indices, values = node.get_input("indices"), node.get_input("values")
    reduce = node.get_str("reduce", "assign")
    node.require(reduce in _REDUCTIONS, f"it must be one of {', '.join(_REDUCTIONS)}", reduce=reduce)
    include_self = node.get_bool("include_self", True)
    declared, wanted = node.declared_input_shape("values"), node.declared_input_shape("indices")
    if declared is None or declared != wanted or -1 in declared or rank_of(node, values) != rank:
        values = _match_indices_shape(values, declared, indices, wanted, rank)
    kind = x.get_element_type()
    if reduce == "mean" and kind.is_integral():
        return {"out": _integer_mean(x, indices, cast_to(values, kind), axis, bool(include_self))}
    use_self = bool(include_self) or reduce == "assign"
    return {
        "out": ops.scatter_elements_update(x, indices, cast_to(values, kind), ints(axis), _REDUCTIONS[reduce], use_self)
    }


def _integer_mean(x: Output, indices: Output, values: Tensor, axis: int, include_self: bool) -> Node:
    """The mean of the values that go to the same element, rounded down (OpenVINO rounds towards zero)."""
    kind = x.get_element_type()
    ones = ops.broadcast(const_like(1, x), shape_of(values))
    total = ops.scatter_elements_update(x, indices, values, ints(axis), "sum", include_self)
    ones_like_x = ops.broadcast(const_like(1, x), shape_of(x))
    count = cast_to(ops.scatter_elements_update(ones_like_x, indices, ones, ints(axis), "sum", include_self), Type.f32)
    # 0.5 more never reaches the next quotient, and keeps a rounded division from falling below its own.
    return cast_to(ops.floor(ops.divide(ops.add(cast_to(total, Type.f32), const(0.5, Type.f32)), count)), kind)


def _match_indices_shape(
    values: Output, declared: tuple[int, ...] | None, indices: Output, wanted: tuple[int, ...] | None, rank: int
) -> Output:
    """`values` in the shape of `indices`: broadcast where they have fewer elements, cut where they have more."""
    if declared is not None and wanted is not None and len(declared) == rank:
        # An unknown dimension may be larger at run time; a cut does not change a smaller one.
        larger = [i for i, (a, b) in enumerate(zip(declared, wanted, strict=True)) if a < 0 or (b < a and a != 1)]
        if larger:
            stop = dim_vector(indices, larger)
            zeros, steps = ints([0] * len(larger)), ints([1] * len(larger))
            values = ops.slice(values, zeros, stop, steps, ints(larger)).output(0)
    return ops.broadcast(values, shape_of(indices)).output(0)
