"""Helpers for the `random` functions of operators: `shape(draw)`, `axis(draw, rank)`, `dynamic_tensor(draw, shape)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from gen_models.harness.spec import TensorSpec, tensor


def flag(draw: Any) -> bool:
    """True or False."""
    return bool(draw(st.booleans()))


def integer(draw: Any, low: int, high: int) -> int:
    """An integer from low to high, both included."""
    return int(draw(st.integers(low, high)))


def one_of(draw: Any, *values: Any) -> Any:
    """One of the values."""
    return draw(st.sampled_from(values))


def shape(draw: Any, least: int = 0, most: int = 5, *, low: int = 1, high: int = 5) -> list[int]:
    """The shape of a tensor with `least` to `most` dimensions, each of `low` to `high` elements."""
    return list(draw(st.lists(st.integers(low, high), min_size=least, max_size=most)))


def dynamic_tensor(draw: Any, shape: Sequence[int], dtype: str = "float32", **data: Any) -> TensorSpec:
    """A tensor with some of its dimensions declared dynamic."""
    return tensor(shape, dtype, dims=[-1 if flag(draw) else size for size in shape], **data)


def axis(draw: Any, rank: int) -> int:
    """An axis, counted from either end."""
    return integer(draw, -rank, rank - 1)


def axes(draw: Any, rank: int, least: int = 1) -> list[int]:
    """Different axes in any order, each counted from either end."""
    picked = draw(st.lists(st.integers(0, rank - 1), min_size=least, max_size=rank, unique=True))
    return [item - rank * integer(draw, 0, 1) for item in picked]


def shapes_to_broadcast(draw: Any) -> tuple[TensorSpec, TensorSpec]:
    """Two tensors that broadcast, in part dynamic: leading dimensions may be left out, others be 1."""
    whole = shape(draw, 0, 4)
    both = []
    for _ in range(2):
        mine = [1 if integer(draw, 0, 3) == 0 else size for size in whole]
        both.append(dynamic_tensor(draw, mine[integer(draw, 0, len(mine)) if flag(draw) else 0 :]))
    return both[0], both[1]
