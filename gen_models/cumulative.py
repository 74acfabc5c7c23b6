"""Running sums, products, extremes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from gen_models.harness.building import any_op
from gen_models.harness.marks import COMPLEX_HERE, DIGITS, F64
from gen_models.harness.spec import Case, Op, case, paddle, tensor


def _scan(name: str) -> Callable[..., Any]:
    def build(x: Any, *, axis: Any = -1, flatten: bool = False, exclusive: bool = False, reverse: bool = False) -> Any:
        attributes = {"axis": axis, "flatten": flatten, "exclusive": exclusive, "reverse": reverse}
        return any_op(name, {"X": x}, {"Out": x.dtype}, attributes)

    return build


def _scan_random(draw: Any) -> Case:
    rank = draw(st.integers(1, 4))
    shape = [draw(st.integers(1, 9)) for _ in range(rank)]
    flatten = draw(st.booleans())
    return case(
        x=tensor(shape, dims=[-1 if draw(st.booleans()) else size for size in shape]),
        axis=draw(st.sampled_from([-1, 0])) if flatten else draw(st.integers(-rank, rank - 1)),
        flatten=flatten,
        exclusive=draw(st.booleans()),
        reverse=draw(st.booleans()),
    )


SCAN = [
    *(
        case(x=tensor([3, 5]), axis=axis, exclusive=exclusive, reverse=reverse)
        for axis in (0, -1)
        for exclusive in (False, True)
        for reverse in (False, True)
    ),
    case(x=tensor([2, 3, 4]), axis=1),
    case(x=tensor([2, 3, 4], dims=[-1, -1, -1]), axis=1),
    case(x=tensor([2, 7, 4], dims=[-1, -1, -1]), axis=1, exclusive=True, reverse=True),
    case(x=tensor([2, 3, 4]), flatten=True),
    case(x=tensor([2, 3], dims=[-1, -1]), flatten=True, reverse=True),
    case(x=tensor([1])),
    case(x=tensor([1, 1], dims=[-1, 1]), exclusive=True),
    case(x=tensor([1, 3]), axis=0, exclusive=True),
    case(x=tensor([]), axis=0),
    case(x=tensor([3, 5], "float64"), **F64),
]

CUMSUM = [
    *SCAN,
    case(x=tensor([3, 5], "int32"), axis=0),
    case(x=tensor([3, 5], "int64"), axis=1, exclusive=True),
    case(x=tensor([0, 3]), axis=0),
    *(
        case(
            x=tensor([2, 3, 4], dims=[-1, 3, -1]),
            axis=tensor([1], "int32", values=[axis]),
            exclusive=exclusive,
            reverse=reverse,
            formats=("pir",),
            why="Paddle 2.6 takes no axis from a tensor",
        )
        for axis, exclusive, reverse in ((1, False, False), (-3, True, False), (2, False, True))
    ),
]

LOGCUMSUMEXP = [
    *SCAN,
    case(x=tensor([6], values=[-math.inf, -math.inf, 1.0, -200.0, 90.0, 3.0])),
    case(x=tensor([6], values=[-1.0, 500.0, 1.0, -math.inf, 90.0, 3.0]), reverse=True),
    case(x=tensor([3, 17], low=-30.0, high=30.0)),
    case(x=tensor([6, 2], values=[[0.0, -x] for x in (3.0, 9.0, 15.0, 18.0, 30.0, 60.0)]), **DIGITS),
    case(x=tensor([3, 2], values=[[-3.0, 0.0], [-20.0, 0.0], [-70.0, 0.0]]), axis=1, reverse=True, **DIGITS),
]


def _cumprod(x: Any, *, dim: int, exclusive: bool = False, reverse: bool = False) -> Any:
    attributes = {"dim": dim, "exclusive": exclusive, "reverse": reverse}
    return any_op("cumprod", {"X": x}, {"Out": x.dtype}, attributes)


def _cumprod_random(draw: Any) -> Case:
    rank = draw(st.integers(1, 4))
    shape = [draw(st.integers(1, 9)) for _ in range(rank)]
    return case(
        x=tensor(shape, low=-2.0, high=2.0, dims=[-1 if draw(st.booleans()) else size for size in shape]),
        dim=draw(st.integers(-rank, rank - 1)),
    )


CUMPROD = [
    case(x=tensor([3, 5], low=-2.0, high=2.0), dim=0),
    case(x=tensor([3, 5], low=-2.0, high=2.0, dims=[-1, -1]), dim=-1),
    case(x=tensor([2, 9, 3], low=-2.0, high=2.0, dims=[-1, -1, 3]), dim=1),
    case(x=tensor([3, 4], "int32", low=-3, high=4), dim=1),
    case(x=tensor([3, 4], "int64", low=-3, high=4), dim=0),
    case(x=tensor([1]), dim=0),
    case(x=tensor([]), dim=0),
    case(x=tensor([6], values=[1.0, 0.0, math.inf, 2.0, 1.0, -1.0]), dim=0),
    case(x=tensor([3, 5], "float64"), dim=1, **F64),
    case(x=tensor([3, 5], "complex64", dims=[-1, 5]), dim=0, **COMPLEX_HERE),
    case(x=tensor([3, 5], "complex64"), dim=-1, exclusive=True, reverse=True, **COMPLEX_HERE),
    case(x=tensor([], "complex64"), dim=0, **COMPLEX_HERE),
    *(
        case(
            x=tensor([2, 5], low=-2.0, high=2.0), dim=1, exclusive=exclusive, reverse=reverse, formats=("pir",),
            why="exclusive and reverse are attributes of Paddle 3",
        )
        for exclusive, reverse in ((True, False), (False, True), (True, True))
    ),
    case(
        x=tensor([2, 5], "int32", low=-3, high=4, dims=[-1, -1]), dim=1, exclusive=True, reverse=True,
        formats=("pir",), why="exclusive and reverse are attributes of Paddle 3",
    ),
]  # fmt: skip


def _extreme(name: str) -> Callable[..., Any]:
    def build(x: Any, *, axis: int | None = None, dtype: str = "int64") -> Any:
        return getattr(paddle, name)(x, axis, dtype)

    return build


def _extreme_random(draw: Any) -> Case:
    rank = draw(st.integers(1, 4))
    shape = [draw(st.integers(1, 9)) for _ in range(rank)]
    dtype = draw(st.sampled_from(["float32", "int32", "int64"]))
    ties: dict[str, Any] = {"low": -2, "high": 3} if dtype != "float32" else {}
    return case(
        x=tensor(shape, dtype, dims=[-1 if draw(st.booleans()) else size for size in shape], **ties),
        axis=draw(st.one_of(st.none(), st.integers(-rank, rank - 1))),
        dtype=draw(st.sampled_from(["int32", "int64"])),
    )


EXTREME = [
    case(x=tensor([3, 5])),
    case(x=tensor([3, 5]), axis=0),
    case(x=tensor([3, 5], dims=[-1, -1]), axis=-1, dtype="int32"),
    case(x=tensor([2, 9, 3], dims=[-1, -1, -1]), axis=1),
    case(x=tensor([20], "int32", low=0, high=3), axis=0),
    case(x=tensor([2, 10], "int64", low=-2, high=2), axis=1),
    case(x=tensor([6], "int32", values=[2**24, 2**24 + 1, 2**24, 2**30 + 1, 2**30, 1 - 2**31], dims=[-1]), axis=0),
    case(x=tensor([7], values=[1.0, 1.0, math.nan, 5.0, math.nan, -math.inf, 7.0]), axis=0),
    case(x=tensor([7], values=[math.inf, -math.inf, -math.inf, math.inf, 2.0, math.inf, 7.0]), axis=0),
    case(x=tensor([]), axis=0),
    case(x=tensor([1]), axis=0),
    case(x=tensor([3, 5], "float64"), axis=1, **F64),
]

OPS = [
    Op("cumsum", _scan("cumsum"), *CUMSUM, random=_scan_random),
    Op("logcumsumexp", _scan("logcumsumexp"), *LOGCUMSUMEXP, random=_scan_random),
    Op("cumprod", _cumprod, *CUMPROD, random=_cumprod_random),
    Op("cummax", _extreme("cummax"), *EXTREME, random=_extreme_random),
    Op("cummin", _extreme("cummin"), *EXTREME, random=_extreme_random),
]
