"""Gathering and selection of elements by index or by mask.

Paddle: `gather`, `gather_nd`, `index_select`, `index_sample`, `take_along_axis`, `lookup_table_v2` (PIR `embedding`),
`lookup_table`, `embedding_with_scaled_gradient`, `tdm_child`, `where`, `where_index` (PIR `nonzero`), `masked_select`,
`masked_fill`, `shard_index`.
Semantics: `paddle/phi/kernels/funcs/gather.h`, `paddle/phi/kernels/cpu/{embedding,where,nonzero,masked_select,
index_select,index_sample,take_along_axis,tdm_child}_kernel.cc`.
An index that is out of range is an error in Paddle; OpenVINO does not check it.
"""

from __future__ import annotations

import math

from openvino import Output, Type

from paddle2ov.converters.graph.common import Tensor, cast_to, const_like
from paddle2ov.converters.graph.computed_axis import computed_axis, front_permutations
from paddle2ov.converters.graph.dims import dim_range, dim_vector, input_along_axis, normalize_axis, rank_of, shape_of
from paddle2ov.converters.graph.selection import exact_select, gather_or_empty, or_of_nothing
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.shapes import output_of, static_dims
from paddle2ov.graph.workarounds import works_around
from paddle2ov.translation.node_context import NamedOutputs, NodeContext


def gather(node: NodeContext) -> NamedOutputs:
    """out = the slices of x at index along axis; a 0-D index drops the axis."""
    x, index = node.get_input("x"), node.get_input("index")
    if rank_of(node, index) == 2:  # [n, 1] counts as [n]
        index = ops.squeeze(index, ints([1])).output(0)
    if not node.is_known("axis"):
        front, back = front_permutations(computed_axis(node, rank_of(node, x)), rank_of(node, x))
        moved = ops.gather(ops.transpose(x, front), index, ints(0))
        return {"out": moved if rank_of(node, index) == 0 else ops.transpose(moved, back)}
    axis = normalize_axis(node, node.get_int("axis", 0), rank_of(node, x))
    return {"out": gather_or_empty(x, index, axis)}


def gather_nd(node: NodeContext) -> NamedOutputs:
    """out[...] = x[index[..., 0], index[..., 1], ...]; OpenVINO counts negative numbers from the end as well."""
    x = node.get_input("x")
    index, depth = nd_index(node, x, node.declared_output_shape("out"))
    if depth == 0:  # an index of length 0 selects all of x
        shape = dim_range(index, 0, -1)
        return {"out": ops.broadcast(x, ops.concat([shape, shape_of(x)], 0))}
    if depth == 1:  # x[index] in Python
        return {"out": gather_or_empty(x, ops.squeeze(index, ints([-1])).output(0), 0)}
    if depth is None:
        node.refuse(
            "the last dimension of index decides the rank of the result, and the program tells neither: give the "
            "shape of the model's inputs",
            index=node.declared_input_shape("index"),
            out=node.declared_output_shape("out"),
        )
    return {"out": ops.gather_nd(x, _within(x, index, depth))}


@works_around("gather_nd_out_of_range")
def _within(x: Output, index: Output, depth: int) -> Tensor:
    """The indices into the first axes of x, those out of range at the nearest element."""
    node = index.get_node()
    while node.get_type_name() in ("Convert", "Transpose"):
        node = node.input_value(0).get_node()
    if node.get_type_name() == "NonZero":  # each is in range
        return index
    size = cast_to(dim_range(x, 0, depth), index.get_element_type())
    last = ops.subtract(size, const_like(1, index))
    return ops.maximum(ops.minimum(index, last), ops.negative(size))


def nd_index(node: NodeContext, x: Output, slices: tuple[int, ...] | None) -> tuple[Output, int | None]:
    """('index' [..., k] into the first k axes of x, k); k as declared, or from the shape of the `slices`."""
    index, declared = node.get_input("index"), node.declared_input_shape("index")
    rank = rank_of(node, index)
    last = index.get_partial_shape()[rank - 1]
    if last.is_static:
        return index, int(last.get_length())
    depth = declared[-1] if declared is not None else -1
    if depth < 0 and slices is not None:
        # Still below 0 where Paddle declares a shape that it cannot know.
        depth = rank - 1 + rank_of(node, x) - len(slices)
    if depth > 0:
        index = ops.reshape(index, ints([0] * (rank - 1) + [depth]), True).output(0)
    return index, depth if depth >= 0 else None


def index_sample(node: NodeContext) -> NamedOutputs:
    """out[i, j] = x[i, index[i, j]]."""
    return {"out": ops.gather_elements(node.get_input("x"), node.get_input("index"), 1)}


def take_along_axis(node: NodeContext) -> NamedOutputs:
    """out[i, j, k] = arr[i, indices[i, j, k], k] along axis."""
    (x, rank, axis), indices = input_along_axis(node, name="arr"), node.get_input("indices")
    unknown = (-1,) * rank
    declared, wanted = (node.declared_input_shape(name) or unknown for name in ("arr", "indices"))
    narrower = [i for i, (a, b) in enumerate(zip(declared, wanted, strict=True)) if i != axis and (a != b or a == -1)]
    if narrower:
        ends = dim_vector(indices, narrower)
        x = ops.slice(x, ints([0] * len(narrower)), ends, ints([1] * len(narrower)), ints(narrower)).output(0)
    return {"out": or_of_nothing(ops.gather_elements(x, indices, axis), node.get_input("arr"), axis, 0)}


def embedding(node: NodeContext) -> NamedOutputs:
    """out[...] = weight[x[...]]; zeros where x = padding_idx."""
    x, weight = node.get_input("x"), node.get_input("weight")
    if node.op_type == "lookup_table":  # the old operator takes [..., 1]
        x = ops.squeeze(x, ints([rank_of(node, x) - 1])).output(0)
    out = gather_or_empty(weight, x, 0)
    padding = node.get_int("padding_idx", -1)
    if padding == -1:
        return {"out": out}
    table = node.get_known("weight")
    if table is not None and 0 <= padding < len(table) and not table[padding].any():
        return {"out": out}  # the row is zero already
    padded = ops.unsqueeze(ops.equal(x, const_like(padding, x)), ints(-1))
    return {"out": ops.select(padded, const_like(0, weight), out)}


def tdm_child(node: NodeContext) -> NamedOutputs:
    """child[..., j] = the j-th child of node x[...] of a tree, 0 where it has none; leaf_mask = whether it is an item.

    A row of tree_info is (item, layer, parent, children...). Node 0 is no node, and item 0 no item.
    """
    tree, count = node.get_input("tree_info"), node.get_int("child_nums")
    x = output_of(cast_to(node.get_input("x"), Type.i64))
    children = gather_or_empty(ops.slice(tree, ints([3]), ints([3 + count]), ints([1]), ints([1])).output(0), x, 0)
    first = ops.slice(children, ints([0]), ints([1]), ints([1]), ints([-1]))
    is_node = ops.not_equal(ops.unsqueeze(x, ints(-1)), ints(0))
    has_children = ops.logical_and(is_node, ops.not_equal(first, const_like(0, tree)))
    child = ops.select(has_children, children, const_like(0, tree)).output(0)
    items = ops.squeeze(ops.slice(tree, ints([0]), ints([1]), ints([1]), ints([1])), ints([1])).output(0)
    is_item = ops.not_equal(gather_or_empty(items, child, 0), const_like(0, tree))
    dtype = node.get_dtype("dtype", Type.i32)
    return {"child": cast_to(child, dtype), "leaf_mask": cast_to(ops.logical_and(is_item, has_children), dtype)}


def where(node: NodeContext) -> NamedOutputs:
    """out = x where condition holds, else y."""
    condition = cast_to(node.get_input("condition"), Type.boolean)
    return {"out": exact_select(condition, node.get_input("x"), node.get_input("y"))}


@works_around("nonzero_of_truncated_numbers")
def nonzero(node: NodeContext) -> NamedOutputs:
    """out = the indices of the elements that are not zero, a row for each."""
    x = node.get_input("condition")
    rank = rank_of(node, x)
    node.require(rank > 0, "Paddle gives a 0-D tensor no indices")
    if x.get_element_type().is_integral_number():  # of floats, which OpenVINO would look for before they are cast
        x = ops.not_equal(x, const_like(0, x)).output(0)
    indices = ops.non_zero(x, "i64")
    return {"out": ops.reshape(indices, ints([-1, 1]), False) if rank == 1 else ops.transpose(indices, ints([1, 0]))}


_ELEMENTWISE = frozenset(
    (
        *("Abs", "Convert", "Equal", "Greater", "GreaterEqual", "IsFinite", "IsInf", "IsNaN", "Less", "LessEqual"),
        *("LogicalAnd", "LogicalNot", "LogicalOr", "LogicalXor", "NotEqual", "Subtract"),
    )
)
"""Node types that masks are computed by."""


def has_dims_of(mask: Output, x: Output, depth: int = 6) -> bool:
    """Whether a mask is known to have the shape of x: all dimensions are, or it is computed of x and of numbers."""
    dims = static_dims(mask)
    if dims is not None:
        return dims == static_dims(x)
    node = mask.get_node()
    if mask == x:
        return True
    if node.get_type_name() not in _ELEMENTWISE or depth == 0:
        return False
    parts = [value for value in node.input_values() if math.prod(static_dims(value) or (0,)) != 1]
    rank = mask.get_partial_shape().rank
    return all(part.get_partial_shape().rank == rank and has_dims_of(part, x, depth - 1) for part in parts)


def masked_select(node: NodeContext) -> NamedOutputs:
    """out = the elements of x where mask holds, 1-D; each is broadcast to the shape of the other."""
    x, mask = node.get_input("x"), node.get_input("mask")
    if not has_dims_of(mask, x):
        dims = shape_of(mask)
        mask = ops.broadcast(mask, shape_of(x), None, "BIDIRECTIONAL").output(0)
        x = ops.broadcast(x, dims, None, "BIDIRECTIONAL").output(0)
    flat = ops.reshape(x, ints([-1]), False)
    indices = ops.reshape(ops.non_zero(ops.reshape(mask, ints([-1]), False), "i64"), ints([-1]), False)
    return {"out": ops.gather(flat, indices, ints(0))}


def masked_fill(node: NodeContext) -> NamedOutputs:
    """out = value where mask holds, else x."""
    x = node.get_input("x")
    value = cast_to(node.get_input("value"), x.get_element_type())
    return {"out": exact_select(node.get_input("mask"), value, x)}


def shard_index(node: NodeContext) -> NamedOutputs:
    """out = the index within this shard of ceil(index_num / nshards) indices; ignore_value for other shards."""
    x = node.get_input("input")
    count, shards = node.get_int("index_num"), node.get_int("nshards")
    size = (count + shards - 1) // shards
    first = size * node.get_int("shard_id")
    local = ops.subtract(x, const_like(first, x))
    inside = ops.logical_and(ops.greater_equal(local, const_like(0, x)), ops.less(local, const_like(size, x)))
    return {"out": exact_select(inside, local, const_like(node.get_int("ignore_value", -1), x))}
