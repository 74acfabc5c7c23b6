"""Reductions of segments."""

from __future__ import annotations

from typing import Any

from gen_models.harness.spec import Case, Op, case, paddle, tensor
from gen_models.harness.strategies import dynamic_tensor, integer, one_of, shape


def _random(draw: Any) -> Case:
    ids = sorted(integer(draw, 0, 5) for _ in range(integer(draw, 1, 7)))
    return case(
        x=dynamic_tensor(draw, [len(ids), *shape(draw, 1, 2)]),
        ids=tensor([len(ids)], "int64", values=ids),
        kind=one_of(draw, "sum", "mean", "max", "min"),
    )


_IDS = tensor([5], "int32", values=[0, 0, 1, 3, 3])
_KINDS = ("sum", "mean", "max", "min")

SEGMENT_POOL = [
    *(case(x=tensor([5, 3]), ids=_IDS, kind=kind) for kind in _KINDS),
    *(
        case(
            x=tensor([5, 3, 2], dims=[-1, -1, -1]),
            ids=tensor([5], "int64", values=[0, 0, 2, 2, 2], dims=[-1]),
            kind=kind,
        )
        for kind in _KINDS
    ),
]


def _send_u_recv(x: Any, src: Any, dst: Any, *, reduce_op: str = "sum", out_size: Any = None) -> Any:
    return paddle.geometric.send_u_recv(x, src, dst, reduce_op, out_size)


def _send_ue_recv(
    x: Any, y: Any, src: Any, dst: Any, *, message_op: str = "add", reduce_op: str = "sum", out_size: Any = None
) -> Any:
    return paddle.geometric.send_ue_recv(x, y, src, dst, message_op, reduce_op, out_size)


def _reindex_random(draw: Any) -> Case:
    nodes, types = integer(draw, 1, 4), integer(draw, 1, 2)
    count = [integer(draw, 0, 3) for _ in range(nodes * types)]
    kind = one_of(draw, "int32", "int64")
    return case(
        x=tensor([nodes], kind, values=[7 * i % 5 for i in range(nodes)]),
        neighbors=tensor([sum(count)], kind, low=0, high=9),
        count=tensor([len(count)], "int32", values=count),
    )


def _ends(nodes: int, edges: int, dtype: str = "int64", dims: Any = None) -> dict[str, Any]:
    """The edges' ends; the last node receives nothing."""
    return {
        "src": tensor([edges], dtype, low=0, high=nodes, dims=dims),
        "dst": tensor([edges], dtype, low=0, high=max(nodes - 1, 1), dims=dims),
    }


def _send_random(draw: Any) -> Case:
    nodes, row = integer(draw, 1, 5), shape(draw, 1, 2)
    return case(
        x=dynamic_tensor(draw, [nodes, *row]),
        **_ends(nodes, integer(draw, 1, 8)),
        reduce_op=one_of(draw, *_KINDS),
        out_size=one_of(draw, None, nodes + 2),
    )


def _send_ue_random(draw: Any) -> Case:
    nodes, edges, row = integer(draw, 1, 5), integer(draw, 1, 8), shape(draw, 1, 2)
    return case(
        x=dynamic_tensor(draw, [nodes, *row]),
        y=dynamic_tensor(draw, [edges, *[1 if integer(draw, 0, 2) == 0 else size for size in row]]),
        **_ends(nodes, edges),
        message_op=one_of(draw, "add", "sub", "mul", "div"),
        reduce_op=one_of(draw, *_KINDS),
    )


def _send_uv_random(draw: Any) -> Case:
    nodes, edges, row = integer(draw, 1, 5), integer(draw, 1, 8), shape(draw, 1, 2)
    tensors = dynamic_tensor(draw, [nodes, *row]), dynamic_tensor(draw, [nodes, *row])
    return case(x=tensors[0], y=tensors[1], **_ends(nodes, edges), message_op=one_of(draw, "add", "sub", "mul", "div"))


SEND_U_RECV = [
    *(case(x=tensor([4, 3]), **_ends(4, 7), reduce_op=kind) for kind in _KINDS),
    *(
        case(x=tensor([4, 3, 2], dims=[-1, -1, -1]), **_ends(4, 7, "int32", [-1]), reduce_op=kind, out_size=6)
        for kind in _KINDS
    ),
    case(x=tensor([4, 3], "int64"), **_ends(4, 7), reduce_op="mean"),
    case(x=tensor([4, 3]), **_ends(4, 7), out_size=tensor([1], "int32", values=[5])),
]

SEND_UE_RECV = [
    *(case(x=tensor([4, 3]), y=tensor([7, 3]), **_ends(4, 7), reduce_op=kind) for kind in _KINDS),
    *(
        case(
            x=tensor([4, 3, 2], dims=[-1, -1, 2]),
            y=tensor([7, 1, 2], dims=[-1, 1, 2]),
            **_ends(4, 7, "int32", [-1]),
            reduce_op=kind,
            message_op="mul",
        )
        for kind in _KINDS
    ),
    case(x=tensor([4, 3]), y=tensor([7]), **_ends(4, 7), message_op="sub", out_size=6),
]

SEND_UV = [
    case(x=tensor([4, 3]), y=tensor([4, 3]), **_ends(4, 7)),
    case(x=tensor([4, 3, 2]), y=tensor([4, 1, 2]), **_ends(4, 7, "int32"), message_op="mul"),
    case(x=tensor([4, 3], dims=[-1, -1]), y=tensor([4, 3], dims=[-1, -1]), **_ends(4, 7, dims=[-1]), message_op="div"),
]

_NEIGHBORS = [8, 9, 0, 4, 7, 6, 7]

REINDEX = [
    case(
        x=tensor([3], "int64", values=[0, 1, 2], dims=[-1]),
        neighbors=tensor([7], "int64", values=_NEIGHBORS, dims=[-1]),
        count=tensor([3], "int32", values=[2, 3, 2], dims=[-1]),
    ),
    case(  # two types of edges; some nodes have no neighbors of a type
        x=tensor([3], "int32", values=[4, 1, 2]),
        neighbors=tensor([7], "int32", values=_NEIGHBORS),
        count=tensor([6], "int32", values=[2, 0, 2, 0, 3, 0]),
    ),
]

OPS = [
    Op(
        "segment_pool",
        lambda x, ids, kind: getattr(paddle.incubate, f"segment_{kind}")(x, ids),
        *SEGMENT_POOL,
        random=_random,
    ),
    Op("graph_send_recv", _send_u_recv, *SEND_U_RECV, random=_send_random),
    Op("graph_send_ue_recv", _send_ue_recv, *SEND_UE_RECV, random=_send_ue_random),
    Op(
        "graph_send_uv",
        lambda x, y, src, dst, message_op="add": paddle.geometric.send_uv(x, y, src, dst, message_op),
        *SEND_UV,
        random=_send_uv_random,
    ),
    Op(
        "graph_reindex",
        lambda x, neighbors, count: paddle.geometric.reindex_graph(x, neighbors, count),
        *REINDEX,
        random=_reindex_random,
    ),
]
