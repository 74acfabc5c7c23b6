"""Reductions of segments."""

from gen_models.harness.building import function
from gen_models.harness.spec import Op, case, int32s, int64s, paddle, tensor

_IDS = int32s(0, 0, 1, 3, 3)
_KINDS = ("sum", "mean", "max", "min")

SEGMENT_POOL = [
    *(case(x=tensor([5, 3]), ids=_IDS, kind=kind) for kind in _KINDS),
    *(case(x=tensor([5, 3, 2], dims=[-1, -1, -1]), ids=int64s(0, 0, 2, 2, 2, dims=[-1]), kind=kind) for kind in _KINDS),
]


def _ends(nodes, edges, dtype="int64", dims=None):
    """The edges' ends; the last node receives nothing."""
    return {
        "src": tensor([edges], dtype, low=0, high=nodes, dims=dims),
        "dst": tensor([edges], dtype, low=0, high=max(nodes - 1, 1), dims=dims),
    }


SEND_U_RECV = [
    *(case(x=tensor([4, 3]), **_ends(4, 7), reduce_op=kind) for kind in _KINDS),
    *(
        case(x=tensor([4, 3, 2], dims=[-1, -1, -1]), **_ends(4, 7, "int32", [-1]), reduce_op=kind, out_size=6)
        for kind in _KINDS
    ),
    case(x=tensor([4, 3], "int64"), **_ends(4, 7), reduce_op="mean"),
    case(x=tensor([4, 3]), **_ends(4, 7), reduce_op="sum", out_size=int32s(5)),
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
        x=int64s(0, 1, 2, dims=[-1]),
        neighbors=tensor([7], "int64", values=_NEIGHBORS, dims=[-1]),
        count=int32s(2, 3, 2, dims=[-1]),
    ),
    case(  # two types of edges; some nodes have no neighbors of a type
        x=int32s(4, 1, 2), neighbors=tensor([7], "int32", values=_NEIGHBORS), count=int32s(2, 0, 2, 0, 3, 0)
    ),
]

OPS = [
    Op("segment_pool", lambda x, ids, kind: getattr(paddle.incubate, f"segment_{kind}")(x, ids), *SEGMENT_POOL),
    Op("graph_send_recv", function("geometric.send_u_recv"), *SEND_U_RECV),
    Op("graph_send_ue_recv", function("geometric.send_ue_recv"), *SEND_UE_RECV),
    Op("graph_send_uv", function("geometric.send_uv"), *SEND_UV),
    Op("graph_reindex", function("geometric.reindex_graph"), *REINDEX),
]
