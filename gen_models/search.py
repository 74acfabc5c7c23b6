"""Search: the largest elements."""

from __future__ import annotations

from typing import Any

from gen_models import strategies as some
from gen_models.spec import Case, Op, TensorSpec, case, paddle, tensor

F64: dict[str, Any] = {"why": "OpenVINO's CPU plugin computes f64 as f32"}
TIES = [[3.0, 1.0, 3.0, 2.0, 3.0], [0.0, 0.0, 0.0, 0.0, 0.0], [-1.0, -1.0, 5.0, 5.0, -1.0]]
INFINITE = [[1.0, float("inf"), -2.0, float("-inf"), 0.0]]


def _top_k_v2(x: Any, k: Any, *, axis: int = -1, largest: bool = True, sorted: bool = True, ties: bool = False) -> Any:
    """Paddle selects with std::nth_element: which of equal elements it takes, and their order unless sorted, is chance.

    With `ties` the indices are checked by the elements that they point to, and without `sorted` by their sum.
    """
    out, indices = paddle.topk(x, k, axis, largest, sorted)
    if sorted and not ties:
        return out, indices
    pointed = paddle.take_along_axis(x, indices, axis)
    return (out, pointed) if sorted else (paddle.sum(out, axis), paddle.sum(pointed, axis), paddle.shape(indices))


def _k(k: int, dtype: str = "int32", shape: tuple[int, ...] = (1,), **dims: Any) -> TensorSpec:
    return tensor(shape, dtype, values=[k], **dims)


def _top_k_v2_random(draw: Any) -> Case:
    shape = some.shape(draw, 1, 4, high=8)
    axis = some.axis(draw, len(shape))
    k = some.integer(draw, 1, shape[axis])
    dtype = some.one_of(draw, "float32", "float64", "int32", "int64")
    x = some.varied(draw, shape, dtype)
    whole = dtype.startswith("int")  # integers are few, and so often equal
    return case(x=x, k=_k(k) if some.flag(draw) else k, axis=axis, largest=some.flag(draw), ties=whole)


TOP_K_V2 = [
    case(x=tensor([3, 7]), k=2),
    case(x=tensor([3, 7]), k=1),
    case(x=tensor([3, 7]), k=7),
    case(x=tensor([7]), k=3),
    case(x=tensor([2, 3, 4, 5]), k=2, axis=1),
    case(x=tensor([2, 3, 4, 5]), k=2, axis=-3),
    case(x=tensor([2, 3, 4, 5]), k=1, axis=0),
    case(x=tensor([3, 7]), k=2, largest=False),
    case(x=tensor([3, 7]), k=2, axis=0, largest=False),
    case(x=tensor([3, 7]), k=7, sorted=False),
    case(x=tensor([3, 7]), k=3, largest=False, sorted=False),
    case(x=tensor([3, 7], dims=[-1, 7]), k=2),
    case(x=tensor([3, 7], dims=[-1, -1]), k=2, axis=0),
    case(x=tensor([3, 7], dims=[3, -1]), k=4),
    case(x=tensor([3, 7]), k=_k(3)),
    case(x=tensor([3, 7]), k=_k(3, "int64")),
    case(x=tensor([3, 7], dims=[-1, -1]), k=_k(2, dims=[-1]), axis=0),
    case(x=tensor([3, 7]), k=_k(3, shape=())),
    case(x=tensor([3, 7], "int32", -1000, 1000), k=3),
    case(x=tensor([3, 7], "int64", -1000, 1000), k=7),
    case(x=tensor([3, 7], "int64", -1000, 1000), k=3, largest=False),
    case(x=tensor([3, 7], "int64", 0, 5), k=7, ties=True),
    case(x=tensor([3, 7], "float64"), k=3, **F64),
    case(x=tensor([3, 5], values=TIES), k=4, ties=True),
    case(x=tensor([3, 5], values=TIES), k=4, largest=False, ties=True),
    case(x=tensor([3, 5], values=TIES), k=2, axis=0, ties=True),
    case(x=tensor([1, 5], values=INFINITE), k=5),
    case(x=tensor([]), k=1),
    case(x=tensor([2, 500]), k=300),
]

OPS = [Op("top_k_v2", _top_k_v2, TOP_K_V2, _top_k_v2_random)]
