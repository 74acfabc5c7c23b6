"""Elements picked by index or by mask.

Paddle: `gather`, `gather_nd`, `index_select`, `index_sample`, `take_along_axis`, `lookup_table_v2` (PIR `embedding`),
`lookup_table`, `where`, `where_index` (PIR `nonzero`), `masked_select`, `masked_fill`.
Semantics: `paddle/phi/kernels/funcs/gather.h`, `paddle/phi/kernels/cpu/{embedding,where,nonzero,masked_select,
index_select,index_sample,take_along_axis}_kernel.cc`.
An index that is out of range is an error in Paddle; OpenVINO does not check it.
Refused: a gather axis that the program computes.
"""

from __future__ import annotations

import numpy as np
from openvino import Node, Output, Type

from paddle2ov.converters.common import cast_to, const_like, ints, normalize_axis, rank_of, shape_of
from paddle2ov.node_context import NamedOutputs, NodeContext
from paddle2ov.opset import ops


def gather(node: NodeContext) -> NamedOutputs:
    """out = the slices of x at index along axis; a 0-D index drops the axis."""
    x, index = node.get_input("x"), node.get_input("index")
    axis = normalize_axis(node, node.get_int("axis", 0), rank_of(node, x))
    if rank_of(node, index) == 2:  # [n, 1] counts as [n]
        index = ops.squeeze(index, ints([1])).output(0)
    return {"out": ops.gather(x, index, ints(axis))}


def index_select(node: NodeContext) -> NamedOutputs:
    """out = the slices of x at index along axis."""
    x = node.get_input("x")
    axis = normalize_axis(node, node.get_int("axis", 0), rank_of(node, x))
    return {"out": ops.gather(x, node.get_input("index"), ints(axis))}


def gather_nd(node: NodeContext) -> NamedOutputs:
    """out[...] = x[index[..., 0], index[..., 1], ...]."""
    x, index = node.get_input("x"), node.get_input("index")
    last = index.get_partial_shape()[rank_of(node, index) - 1]
    if last.is_static and last.get_length() == 0:  # an empty index stands for all of x
        shape = ops.slice(shape_of(index), ints([0]), ints([-1]), ints([1]))
        return {"out": ops.broadcast(x, ops.concat([shape, shape_of(x)], 0))}
    return {"out": ops.gather_nd(x, non_negative(x, index, node.get_known("index")))}


def non_negative(x: Output, index: Output, known: np.ndarray | None) -> Output:
    """`index` [..., k] into the first k axes of `x`, with negative numbers counted from the end."""
    if known is not None and bool((known >= 0).all()):
        return index
    depth = index.get_partial_shape()[-1]
    stop = int(depth.get_length()) if depth.is_static else None
    dims = shape_of(x)
    dims = ops.slice(
        dims,
        ints([0]),
        ints([stop]) if stop is not None else ops.gather(shape_of(index), ints([-1]), ints(0)),
        ints([1]),
    )
    dims = cast_to(dims, index.get_element_type())
    return ops.select(ops.less(index, const_like(0, index)), ops.add(index, dims), index).output(0)


def index_sample(node: NodeContext) -> NamedOutputs:
    """out[i, j] = x[i, index[i, j]]."""
    return {"out": ops.gather_elements(node.get_input("x"), node.get_input("index"), 1)}


def take_along_axis(node: NodeContext) -> NamedOutputs:
    """out[i, j, k] = arr[i, indices[i, j, k], k] along axis."""
    x, indices = node.get_input("arr"), node.get_input("indices")
    rank = rank_of(node, x)
    axis = normalize_axis(node, node.get_int("axis", 0), rank)
    if rank == 0:
        return {"out": x}
    declared, wanted = node.input_shape("arr"), node.input_shape("indices")
    if declared is None or wanted is None:
        narrower = [i for i in range(rank) if i != axis]
    else:
        narrower = [
            i for i, (a, b) in enumerate(zip(declared, wanted, strict=True)) if i != axis and (a != b or a == -1)
        ]
    if narrower:
        stop = ops.gather(shape_of(indices), ints(narrower), ints(0))
        zeros, steps = ints([0] * len(narrower)), ints([1] * len(narrower))
        x = ops.slice(x, zeros, stop, steps, ints(narrower)).output(0)
    return {"out": ops.gather_elements(x, indices, axis)}


def embedding(node: NodeContext) -> NamedOutputs:
    """out[...] = weight[x[...]]; zeros where x = padding_idx."""
    x, weight = node.get_input("x"), node.get_input("weight")
    if node.op_type == "lookup_table":  # the old operator takes [..., 1]
        x = ops.squeeze(x, ints([rank_of(node, x) - 1])).output(0)
    out = ops.gather(weight, x, ints(0))
    padding = node.get_int("padding_idx", -1)
    if padding == -1:
        return {"out": out}
    table = node.get_known("weight")
    if table is not None and 0 <= padding < len(table) and not table[padding].any():
        return {"out": out}  # the row is zero already
    padded = ops.unsqueeze(ops.equal(x, const_like(padding, x)), ints(-1))
    return {"out": ops.select(padded, const_like(0, weight), out)}


def where(node: NodeContext) -> NamedOutputs:
    """out = x where condition holds, else y."""
    condition = cast_to(node.get_input("condition"), Type.boolean)
    return {"out": ops.select(condition, node.get_input("x"), node.get_input("y"))}


def nonzero(node: NodeContext) -> NamedOutputs:
    """out = the indices of the elements that are not zero, one row each."""
    x = node.get_input("condition")
    rank = rank_of(node, x)
    if rank == 0:
        count = ops.reshape(cast_to(ops.not_equal(x, const_like(0, x)), Type.i64), ints([1]), False)
        return {"out": ops.broadcast(ints(0), ops.concat([count, ints([0])], 0))}
    found = ops.non_zero(x, "i64")
    return {"out": ops.reshape(found, ints([-1, 1]), False) if rank == 1 else ops.transpose(found, ints([1, 0]))}


def masked_select(node: NodeContext) -> NamedOutputs:
    """out = the elements of x where mask holds, 1-D."""
    x, mask = node.get_input("x"), node.get_input("mask")
    if node.input_shape("x") != node.input_shape("mask") or x.get_partial_shape() != mask.get_partial_shape():
        dims = shape_of(mask)
        mask = ops.broadcast(mask, shape_of(x), None, "BIDIRECTIONAL").output(0)
        x = ops.broadcast(x, dims, None, "BIDIRECTIONAL").output(0)
    flat = ops.reshape(x, ints([-1]), False)
    chosen = ops.reshape(ops.non_zero(ops.reshape(mask, ints([-1]), False), "i64"), ints([-1]), False)
    return {"out": ops.gather(flat, chosen, ints(0))}


def masked_fill(node: NodeContext) -> NamedOutputs:
    """out = value where mask holds, else x."""
    x = node.get_input("x")
    value: Node | Output = node.get_input("value")
    return {"out": ops.select(node.get_input("mask"), cast_to(value, x.get_element_type()), x)}
