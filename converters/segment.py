"""Reductions of segments: rows of one number.

Paddle: `segment_pool` (`paddle.geometric.segment_sum`, `_mean`, `_min`, `_max`).
Semantics: `paddle/phi/kernels/impl/segment_pool_kernel_impl.h`. The numbers are sorted; one that is missing has a
result of 0.
"""

from __future__ import annotations

from openvino import Type

from paddle2ov.converters.common import cast_to, const_like, ints, rank_of, shape_of
from paddle2ov.node_context import NamedOutputs, NodeContext
from paddle2ov.opset import ops

_REDUCTIONS = {"SUM": "sum", "MEAN": "sum", "MAX": "max", "MIN": "min"}


def segment_pool(node: NodeContext) -> NamedOutputs:
    """out[s] = the sum, mean, largest or smallest of the rows of x in segment s; summed_ids[s] = their number."""
    x, kind = node.get_input("x"), node.get_attribute("pooltype", "SUM")
    node.require(kind in _REDUCTIONS, "unknown", pooltype=kind)
    ids = ops.reshape(cast_to(node.get_input("segment_ids"), Type.i64), ints([-1]), False)
    count = ops.add(ops.gather(ids, ints([-1]), ints(0)), ints([1]))
    places = ops.unsqueeze(ids, ints([1]))
    rank = rank_of(node, x)
    row = ops.slice(shape_of(x), ints([1]), ints([rank]), ints([1]))
    dims = ops.concat([count, row], 0)
    if kind in ("MAX", "MIN"):
        # Whatever is there first: each segment that has a row starts from one of its rows.
        start = ops.scatter_nd_update(ops.broadcast(const_like(0, x), dims), places, x)
    else:
        start = ops.broadcast(const_like(0, x), dims)
    out = ops.scatter_nd_update(start, places, x, _REDUCTIONS[kind])
    if kind != "MEAN":
        return {"out": out}
    ones = ops.broadcast(const_like(1, x), shape_of(ids))
    rows = ops.scatter_nd_update(ops.broadcast(const_like(0, x), count), places, ones, "sum")
    divisor = ops.unsqueeze(ops.maximum(rows, const_like(1, x)), ints(list(range(1, rank))))
    return {"out": ops.divide(out, divisor), "summed_ids": ops.unsqueeze(rows, ints([1]))}
