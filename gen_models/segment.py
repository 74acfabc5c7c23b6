"""Reductions of segments."""

from __future__ import annotations

from typing import Any

from gen_models.spec import Case, Op, case, paddle, tensor
from gen_models.strategies import integer, one_of, shape, varied


def _segment_pool(x: Any, ids: Any, *, kind: str) -> Any:
    return getattr(paddle.incubate, f"segment_{kind}")(x, ids)


def _random(draw: Any) -> Case:
    ids = sorted(integer(draw, 0, 5) for _ in range(integer(draw, 1, 7)))
    return case(
        x=varied(draw, [len(ids), *shape(draw, 1, 2)]),
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

OPS = [Op("segment_pool", _segment_pool, SEGMENT_POOL, _random)]
