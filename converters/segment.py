"""Reductions of the rows of a segment, and message passing on graphs.

Paddle: `segment_pool` (the reductions of segments in paddle.geometric), `graph_send_recv` (PIR `send_u_recv`),
`graph_send_ue_recv` (`send_ue_recv`), `graph_send_uv` (`send_uv`), `graph_reindex` (`reindex_graph`).
Semantics: `paddle/phi/kernels/impl/segment_pool_kernel_impl.h`,
`paddle/phi/kernels/cpu/{send_u_recv,send_ue_recv,send_uv,graph_reindex}_kernel.cc`.
A row of the result without any input row is 0.
"""

from __future__ import annotations

from typing import Literal

from openvino import Node, Type

from paddle2ov.converters.counting import in_order_of_appearance
from paddle2ov.converters.graph.common import Tensor, cast_to, const_like
from paddle2ov.converters.graph.dims import dim_range, dim_vector, rank_of, shape_of
from paddle2ov.graph.opset import ints, ops
from paddle2ov.graph.slices import OPEN_END, slice_along
from paddle2ov.translation.node_context import NamedOutputs, NodeContext

_REDUCTIONS: dict[str, Literal["sum", "max", "min"]] = {"SUM": "sum", "MEAN": "sum", "MAX": "max", "MIN": "min"}


def segment_pool(node: NodeContext) -> NamedOutputs:
    """out[s] = the sum, mean, largest or smallest of the rows of x in segment s; summed_ids[s] = their number."""
    x, kind = node.get_input("x"), node.get_str("pooltype", "SUM")
    node.require(kind in _REDUCTIONS, "unknown", pooltype=kind)
    ids = _indices(node, "segment_ids")
    # The ids are sorted.
    count = ops.add(ops.gather(ids, ints([-1]), ints(0)), ints([1]))
    out = _reduce_by_id(x, rank_of(node, x), ids, count, kind)
    return {"out": out, "summed_ids": cast_to(ops.unsqueeze(_count_ids(ids, count), ints([1])), x.get_element_type())}


def send_recv(node: NodeContext) -> NamedOutputs:
    """out[d] = the sum, mean, largest or smallest of the messages of the edges i with dst_index[i] = d.

    These are x[src_index[i]], plus or times y[i] in `send_ue_recv`.
    """
    x, kind = node.get_input("x"), node.get_str("reduce_op", "SUM")
    node.require(kind in _REDUCTIONS, "unknown", reduce_op=kind)
    messages = ops.gather(x, _indices(node, "src_index"), ints(0))
    if node.has_input("y"):
        messages = _message(node, messages, node.get_input("y"))
    indices = _indices(node, "dst_index")
    wanted = ops.reshape(node.get_tensor("out_size", Type.i64, [0]), ints([1]), False)
    count = ops.select(ops.greater(wanted, ints([0])), wanted, dim_vector(x, [0]))
    out = _reduce_by_id(messages, rank_of(node, x), indices, count, kind)
    return {"out": out, "dst_count": cast_to(_count_ids(indices, count), Type.i32)}


def send_uv(node: NodeContext) -> NamedOutputs:
    """out[i] = x[src_index[i]] + y[dst_index[i]], or their product."""
    ends = (("x", "src_index"), ("y", "dst_index"))
    x, y = (ops.gather(node.get_input(name), _indices(node, index), ints(0)) for name, index in ends)
    return {"out": _message(node, x, y)}


def reindex_graph(node: NodeContext) -> NamedOutputs:
    """Numbers the nodes of a sampled graph: those of x, which differ, then their neighbors as they first appear.

    out_nodes[i] is node i; edge j goes from reindex_src[j] to reindex_dst[j]. count[i] neighbors belong to x[i]; with
    several types of edges, count starts again at the first node for each type.
    """
    x, neighbors, count = node.get_input("x"), node.get_input("neighbors"), _indices(node, "count")
    own = dim_vector(x, [0])
    nodes, numbers = in_order_of_appearance(ops.concat([x, neighbors], 0).output(0))
    # Edge j belongs to as many nodes as there are runs of edges that end at or before it.
    edges = dim_vector(neighbors, [0])
    starts = ops.broadcast(ints(0), ops.add(edges, ints([1])))
    ends = ops.unsqueeze(ops.cum_sum(count, ints(0)), ints([1]))
    ended = ops.scatter_nd_update(starts, ends, ops.broadcast(ints(1), shape_of(count)), "sum")
    targets = ops.mod(slice_along(ops.cum_sum(ended, ints(0)), ints([0]), edges, 0), ops.maximum(own, ints([1])))
    dtype = x.get_element_type()
    return {
        "reindex_src": cast_to(slice_along(numbers, own, ints([OPEN_END]), 0), dtype),
        "reindex_dst": cast_to(targets, dtype),
        "out_nodes": nodes,
    }


def _indices(node: NodeContext, name: str) -> Node:
    return ops.reshape(cast_to(node.get_input(name), Type.i64), ints([-1]), False)


def _message(node: NodeContext, x: Node, y: Tensor) -> Node:
    ranks = [rank_of(node, node.get_input(name)) for name in ("x", "y")]
    node.require(ranks[0] == ranks[1], f"x and y have {ranks[0]} and {ranks[1]} dimensions; as many are expected")
    kind = node.get_str("message_op", "ADD")
    node.require(kind in ("ADD", "MUL"), "unknown", message_op=kind)
    return ops.add(x, y) if kind == "ADD" else ops.multiply(x, y)


def _reduce_by_id(rows: Tensor, rank: int, ids: Tensor, count: Tensor, kind: str) -> Node:
    """[count, ...]: the reduction of the rows with each id."""
    indices = ops.unsqueeze(ids, ints([1]))
    dims = ops.concat([count, dim_range(rows, 1)], 0)
    start = ops.broadcast(const_like(0, rows), dims)
    if kind in ("MAX", "MIN"):
        # The reduction includes the start: for each id that has a row, it is one of its rows.
        start = ops.scatter_nd_update(start, indices, rows)
    out = ops.scatter_nd_update(start, indices, rows, _REDUCTIONS[kind])
    if kind != "MEAN":
        return out
    number = cast_to(ops.maximum(_count_ids(ids, count), ints([1])), rows.get_element_type())
    divisor = ops.unsqueeze(number, ints(list(range(1, rank)))) if rank > 1 else number
    if rows.get_element_type().is_real():
        return ops.divide(out, divisor)
    # Integers are truncated.
    return ops.multiply(ops.sign(out), ops.divide(ops.abs(out), divisor))


def _count_ids(ids: Tensor, count: Tensor) -> Node:
    """How often each of 0 ... count - 1 occurs in ids."""
    ones = ops.broadcast(ints(1), shape_of(ids))
    return ops.scatter_nd_update(ops.broadcast(ints(0), count), ops.unsqueeze(ids, ints([1])), ones, "sum")
