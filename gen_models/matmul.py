"""Products of matrices."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gen_models.harness.building import any_op, legacy_op
from gen_models.harness.marks import F64, OLD
from gen_models.harness.spec import Case, Op, case, paddle, tensor
from gen_models.harness.strategies import dynamic_tensor, flag, integer, one_of


def _matmul(x: Any, y: Any, *, transpose_x: bool = False, transpose_y: bool = False) -> Any:
    return paddle.matmul(x, y, transpose_x, transpose_y)


def weight(shape: list[int], seed: int = 0, dtype: str = "float32") -> Any:
    """A parameter with fixed values."""
    values = np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype)
    attribute = paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(values))
    return paddle.static.create_parameter(shape, dtype, attr=attribute)


_weight = weight  # where an argument has that name


def _matmul_any(
    x: Any, y: Any = None, *, transpose_x: bool = False, transpose_y: bool = False, shape: Any = None
) -> Any:
    return _matmul(x, weight(shape) if y is None else y, transpose_x=transpose_x, transpose_y=transpose_y)


MATMUL_V2 = [
    case(x=tensor([3, 4]), y=tensor([4, 5])),
    case(x=tensor([4, 3]), y=tensor([5, 4]), transpose_x=True, transpose_y=True),
    case(x=tensor([2, 3, 4]), y=tensor([2, 4, 5])),
    case(x=tensor([2, 3, 4]), y=tensor([4, 5])),
    case(x=tensor([3, 4]), y=tensor([2, 4, 5])),
    case(x=tensor([2, 1, 3, 4]), y=tensor([5, 6, 4]), transpose_y=True),
    case(x=tensor([2, 1, 4, 3]), y=tensor([5, 4, 6]), transpose_x=True),
    case(x=tensor([4]), y=tensor([4])),
    case(x=tensor([4]), y=tensor([4]), transpose_x=True, transpose_y=True),
    case(x=tensor([4]), y=tensor([4, 5])),
    case(x=tensor([4]), y=tensor([5, 4]), transpose_x=True, transpose_y=True),
    case(x=tensor([4]), y=tensor([2, 4, 5])),
    case(x=tensor([3, 4]), y=tensor([4])),
    case(x=tensor([2, 4, 3]), y=tensor([4]), transpose_x=True),
    case(x=tensor([2, 3, 4], dims=[-1, -1, 4]), y=tensor([2, 4, 5], dims=[-1, 4, -1])),
    case(x=tensor([2, 2, 3, 4], dims=[-1, 2, -1, 4]), y=tensor([2, 2, 5, 4], dims=[-1, 2, -1, 4]), transpose_y=True),
    case(x=tensor([2, 3, 4], dims=[-1, -1, 4]), shape=[4, 5]),
    case(x=tensor([2, 3, 4], dims=[-1, -1, 4]), shape=[5, 4], transpose_y=True),
    case(x=tensor([3, 4], dims=[-1, 4]), shape=[2, 4, 5]),
    case(x=tensor([1, 3, 4], dims=[-1, -1, 4]), shape=[2, 5, 4], transpose_y=True),
    case(x=tensor([2, 4, 3], dims=[-1, 4, -1]), shape=[2, 4, 5], transpose_x=True),
    case(x=tensor([4], dims=[-1]), shape=[2, 4, 5]),
    case(x=tensor([3, 4], "float64"), y=tensor([4, 5], "float64"), **F64),
    case(x=tensor([3, 4], "int32"), y=tensor([4, 5], "int32"), formats=("pir",), why="integers are new in Paddle 3"),
    case(x=tensor([3, 4], "int64"), y=tensor([4, 5], "int64"), formats=("pir",), why="integers are new in Paddle 3"),
    case(x=tensor([1, 1]), y=tensor([1, 1])),
    case(x=tensor([4, 0]), y=tensor([0, 300]), formats=("pir",), why="Paddle 2 takes nothing empty"),
]


def _matmul_random(draw: Any) -> Case:
    m, k, n = (draw(st.integers(1, 5)) for _ in range(3))
    batch = [draw(st.integers(1, 3)) for _ in range(draw(st.integers(0, 3)))]
    transpose_x, transpose_y = draw(st.booleans()), draw(st.booleans())
    x = [1 if draw(st.integers(0, 3)) == 0 else size for size in batch] + ([k, m] if transpose_x else [m, k])
    kept = batch[draw(st.integers(0, len(batch))) :]
    y = [1 if draw(st.integers(0, 3)) == 0 else size for size in kept] + ([n, k] if transpose_y else [k, n])
    if draw(st.integers(0, 5)) == 0:
        x, transpose_x = [k], False
    elif draw(st.integers(0, 5)) == 0:
        y, transpose_y = [k], False
    return case(
        x=tensor(x, dims=[-1 if draw(st.booleans()) else size for size in x]),
        y=tensor(y, dims=[-1 if draw(st.booleans()) else size for size in y]),
        transpose_x=transpose_x,
        transpose_y=transpose_y,
    )


LEGACY: dict[str, Any] = {"formats": ("legacy",), "why": "an operator of Paddle 1"}


def _matmul_v1(x: Any, y: Any, *, alpha: float = 1.0, transpose_x: bool = False, transpose_y: bool = False) -> Any:
    attributes = {"alpha": alpha, "transpose_X": transpose_x, "transpose_Y": transpose_y}
    return legacy_op("matmul", {"X": x, "Y": y}, {"Out": x.dtype}, attributes)


MATMUL = [
    case(x=tensor([3, 4]), y=tensor([4, 5]), **LEGACY),
    case(x=tensor([2, 3, 4]), y=tensor([2, 5, 4]), alpha=0.125, transpose_y=True, **LEGACY),
    case(x=tensor([2, 4, 3], dims=[-1, -1, -1]), y=tensor([2, 4, 5], dims=[-1, -1, -1]), transpose_x=True, **LEGACY),
]


def _mul(x: Any, y: Any = None, *, x_num_col_dims: int = 1, y_num_col_dims: int = 1, shape: Any = None) -> Any:
    y = weight(shape) if y is None else y
    attributes = {"x_num_col_dims": x_num_col_dims, "y_num_col_dims": y_num_col_dims}
    return any_op("mul", {"X": x, "Y": y}, {"Out": x.dtype}, attributes, "matmul_with_flatten")


MUL = [
    case(x=tensor([3, 4]), y=tensor([4, 5])),
    case(x=tensor([3, 4], dims=[-1, 4]), shape=[4, 5]),
    case(x=tensor([2, 3, 4], dims=[-1, -1, 4]), shape=[4, 5], x_num_col_dims=2),
    case(x=tensor([2, 3, 4]), y=tensor([12, 5])),
    case(x=tensor([2, 3, 2, 2], dims=[-1, 3, 2, 2]), shape=[12, 5]),
    case(x=tensor([2, 3, 4]), y=tensor([2, 2, 5, 3]), x_num_col_dims=2, y_num_col_dims=2),
    case(x=tensor([2, 3, 4], dims=[-1, -1, -1]), y=tensor([3, 4, 5], dims=[-1, -1, -1]), y_num_col_dims=2),
]


def _mul_random(draw: Any) -> Case:
    inner = [draw(st.integers(1, 3)) for _ in range(draw(st.integers(1, 2)))]
    left = [draw(st.integers(1, 3)) for _ in range(draw(st.integers(1, 2)))]
    right = [draw(st.integers(1, 3)) for _ in range(draw(st.integers(1, 2)))]
    return case(
        x=tensor([*left, *inner]), y=tensor([*inner, *right]), x_num_col_dims=len(left), y_num_col_dims=len(inner)
    )


BMM = [
    case(x=tensor([2, 3, 4]), y=tensor([2, 4, 5])),
    case(x=tensor([2, 3, 4], dims=[-1, -1, -1]), y=tensor([2, 4, 5], dims=[-1, -1, -1])),
]


def _bmm_random(draw: Any) -> Case:
    b, m, k, n = (draw(st.integers(1, 5)) for _ in range(4))
    return case(x=tensor([b, m, k], dims=[-1, m, -1]), y=tensor([b, k, n]))


DOT = [
    case(x=tensor([5]), y=tensor([5])),
    case(x=tensor([3, 5]), y=tensor([3, 5])),
    case(x=tensor([3, 5], dims=[-1, -1]), y=tensor([3, 5], dims=[-1, -1])),
    case(x=tensor([5], "int32"), y=tensor([5], "int32")),
    case(x=tensor([3, 5], "int64"), y=tensor([3, 5], "int64")),
]


MV = [case(x=tensor([3, 4]), vec=tensor([4])), case(x=tensor([3, 4], dims=[-1, -1]), vec=tensor([4], dims=[-1]))]


ADDMM = [
    case(input=tensor([3, 5]), x=tensor([3, 4]), y=tensor([4, 5])),
    case(input=tensor([3, 5]), x=tensor([3, 4]), y=tensor([4, 5]), beta=0.5, alpha=2.0),
    case(input=tensor([1, 5]), x=tensor([3, 4]), y=tensor([4, 5]), alpha=-1.0),
    case(input=tensor([3, 1], dims=[-1, -1]), x=tensor([3, 4], dims=[-1, -1]), y=tensor([4, 5], dims=[-1, -1])),
    case(input=tensor([5]), x=tensor([3, 4]), y=tensor([4, 5]), beta=0.0),
    case(input=tensor([1, 2], values=[math.nan, 1]), x=tensor([3, 4]), y=tensor([4, 2]), beta=0.0),
    case(input=tensor([1, 2]), x=tensor([2, 2], values=[math.nan, 1, 2, 3]), y=tensor([2, 2]), alpha=0.0),
]


BADDBMM = [
    case(input=tensor([2, 3, 5]), x=tensor([2, 3, 4]), y=tensor([2, 4, 5]), formats=("pir",), why="new in Paddle 3"),
    case(
        input=tensor([2, 3, 5], dims=[-1, -1, -1]),
        x=tensor([2, 3, 4], dims=[-1, -1, -1]),
        y=tensor([2, 4, 5], dims=[-1, -1, -1]),
        beta=0.5,
        alpha=2.0,
        formats=("pir",),
        why="new in Paddle 3",
    ),
]


MULTI_DOT = [
    case(x=[tensor([3, 4]), tensor([4, 5])]),
    case(x=[tensor([10, 3]), tensor([3, 8]), tensor([8, 2]), tensor([2, 6])]),
    case(x=[tensor([4]), tensor([4, 5]), tensor([5, 3])]),
    case(x=[tensor([2, 4]), tensor([4, 5]), tensor([5])]),
    case(x=[tensor([4]), tensor([4, 5]), tensor([5])]),
    case(x=[tensor([3, 4], dims=[-1, 4]), tensor([4, 5]), tensor([5, 2], dims=[5, -1])]),
]


def _bilinear(x: Any, y: Any, weight: Any = None, bias: Any = None, *, shape: Any = None) -> Any:
    return paddle.nn.functional.bilinear(x, y, _weight(shape) if weight is None else weight, bias)


BILINEAR = [
    case(x=tensor([3, 4]), y=tensor([3, 5]), weight=tensor([6, 4, 5])),
    case(x=tensor([3, 4]), y=tensor([3, 5]), weight=tensor([6, 4, 5]), bias=tensor([1, 6])),
    case(x=tensor([3, 4], dims=[-1, 4]), y=tensor([3, 5], dims=[-1, 5]), weight=tensor([6, 4, 5]), bias=tensor([1, 6])),
    case(x=tensor([3, 4], dims=[-1, 4]), y=tensor([3, 5], dims=[-1, 5]), shape=[6, 4, 5]),
]


def _einsum_case(equation: str, *shapes: list[int], dims: bool = False) -> Case:
    return case(x=[tensor(shape, dims=[-1] * len(shape) if dims else None) for shape in shapes], equation=equation)


EINSUM = [
    _einsum_case("ij,jk->ik", [2, 3], [3, 4]),
    _einsum_case("ij, jk", [2, 3], [3, 4]),
    _einsum_case("i->", [3]),
    _einsum_case("i,i->", [3], [3]),
    _einsum_case("i,j->ij", [3], [4]),
    _einsum_case("ijk->kji", [2, 3, 4]),
    _einsum_case("ij->j", [2, 3]),
    _einsum_case("ij,ij->ij", [2, 3], [2, 3]),
    _einsum_case("bhqd,bhkd->bhqk", [2, 3, 4, 5], [2, 3, 6, 5]),
    _einsum_case("bhqk,bhkd->bqhd", [2, 3, 4, 6], [2, 3, 6, 5], dims=True),
    _einsum_case("bhwc,hkc->bhwk", [2, 3, 4, 5], [3, 6, 5]),
    _einsum_case("bnm,bm->bn", [2, 3, 4], [2, 4], dims=True),
    _einsum_case("...jk->...kj", [2, 3, 4]),
    _einsum_case("...jk,...kl->...jl", [2, 3, 4], [2, 4, 5]),
    _einsum_case("...jk,kl->...jl", [2, 2, 3, 4], [4, 5]),
    _einsum_case("ii->i", [3, 3]),
    _einsum_case("ii->", [3, 3]),
    _einsum_case("ab,cd->acbd", [2, 3], [4, 2]),
    _einsum_case("ij,jk,kl->il", [2, 3], [3, 4], [4, 2]),
    _einsum_case("ijk,ilk,nij->njl", [2, 3, 4], [2, 5, 4], [6, 2, 3]),
]


def _einsum_random(draw: Any) -> Case:
    size = {label: draw(st.integers(1, 4)) for label in "abcde"}
    terms = ["".join(draw(st.permutations("abcde"))[: draw(st.integers(1, 4))]) for _ in range(draw(st.integers(1, 2)))]
    named = sorted(set("".join(terms)))
    result = "".join(draw(st.permutations(named))[: draw(st.integers(0, len(named)))])
    return _einsum_case(f"{','.join(terms)}->{result}", *([size[label] for label in term] for term in terms))


def _matmul_v1_random(draw: Any) -> Case:
    b, m, k, n = (integer(draw, 1, 5) for _ in range(4))
    transpose_x, transpose_y = flag(draw), flag(draw)
    return case(
        x=dynamic_tensor(draw, [b, k, m] if transpose_x else [b, m, k]),
        y=dynamic_tensor(draw, [b, n, k] if transpose_y else [b, k, n]),
        alpha=one_of(draw, 1.0, 0.5, -2.0),
        transpose_x=transpose_x,
        transpose_y=transpose_y,
        **LEGACY,
    )


def _dot_random(draw: Any) -> Case:
    sizes = [integer(draw, 1, 5) for _ in range(integer(draw, 1, 2))]
    dtype = one_of(draw, "float32", "int32", "int64")
    return case(x=dynamic_tensor(draw, sizes, dtype), y=dynamic_tensor(draw, sizes, dtype))


def _mv_random(draw: Any) -> Case:
    m, n = integer(draw, 1, 5), integer(draw, 1, 5)
    return case(x=dynamic_tensor(draw, [m, n]), vec=dynamic_tensor(draw, [n]))


def _addmm_random(draw: Any) -> Case:
    m, k, n = (integer(draw, 1, 5) for _ in range(3))
    addend = one_of(draw, [m, n], [1, n], [m, 1], [n])
    beta, alpha = one_of(draw, 1.0, 0.0, -0.5), one_of(draw, 1.0, 2.0)
    return case(input=tensor(addend), x=tensor([m, k]), y=tensor([k, n]), beta=beta, alpha=alpha)


def _baddbmm_random(draw: Any) -> Case:
    b, m, k, n = (integer(draw, 1, 5) for _ in range(4))
    beta, alpha = one_of(draw, 1.0, 0.0, -0.5), one_of(draw, 1.0, 2.0)
    x, y = tensor([b, m, k]), tensor([b, k, n])
    return case(input=tensor([b, m, n]), x=x, y=y, beta=beta, alpha=alpha, formats=("pir",), why="new in Paddle 3")


def _multi_dot_random(draw: Any) -> Case:
    sizes = [integer(draw, 1, 6) for _ in range(integer(draw, 3, 6))]
    shapes = [[a, b] for a, b in itertools.pairwise(sizes)]
    shapes[0] = shapes[0][1:] if flag(draw) else shapes[0]
    shapes[-1] = shapes[-1][:1] if flag(draw) else shapes[-1]
    return case(x=[tensor(shape) for shape in shapes])


def _bilinear_random(draw: Any) -> Case:
    b, m, n, out = (integer(draw, 1, 5) for _ in range(4))
    bias = {"bias": tensor([1, out])} if flag(draw) else {}
    return case(x=dynamic_tensor(draw, [b, m]), y=dynamic_tensor(draw, [b, n]), weight=tensor([out, m, n]), **bias)


_V2: dict[str, Any] = {"formats": ("pir",), "why": "new in Paddle 3.3, which writes it where it is built for GPUs"}
LINEAR_V2 = [
    case(x=tensor([3, 4]), weight=tensor([4, 5]), bias=tensor([5]), **_V2),
    case(x=tensor([2, 3, 4], dims=[-1, -1, 4]), weight=tensor([4, 5]), bias=tensor([5]), **_V2),
    case(x=tensor([2, 3, 4]), weight=tensor([5, 4]), bias=tensor([5]), transpose=True, **_V2),
]


def _linear_v2_random(draw: Any) -> Case:
    rows, columns = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    outer = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    return case(x=tensor([*outer, rows]), weight=tensor([rows, columns]), bias=tensor([columns]), **_V2)


FSP = [
    case(x=tensor([2, 3, 4, 5]), y=tensor([2, 6, 4, 5]), **OLD),
    case(x=tensor([2, 3, 4, 5], dims=[-1, 3, -1, -1]), y=tensor([2, 1, 4, 5], dims=[-1, 1, -1, -1]), **OLD),
]


def _fsp_random(draw: Any) -> Case:
    n, c, d, h, w = (integer(draw, 1, 4) for _ in range(5))
    return case(x=dynamic_tensor(draw, [n, c, h, w]), y=dynamic_tensor(draw, [n, d, h, w]), **OLD)


OPS = [
    Op("matmul_v2", _matmul_any, *MATMUL_V2, random=_matmul_random),
    Op("matmul", _matmul_v1, *MATMUL, random=_matmul_v1_random),
    Op("mul", _mul, *MUL, random=_mul_random),
    Op(
        "linear_v2",
        lambda x, weight, bias, transpose=False: paddle._C_ops.linear_v2(x, weight, bias, transpose),
        *LINEAR_V2,
        random=_linear_v2_random,
    ),
    Op("bmm", lambda x, y: paddle.bmm(x, y), *BMM, random=_bmm_random),
    Op("dot", lambda x, y: paddle.dot(x, y), *DOT, random=_dot_random),
    Op("mv", lambda x, vec: paddle.mv(x, vec), *MV, random=_mv_random),
    Op(
        "addmm",
        lambda input, x, y, beta=1.0, alpha=1.0: paddle.addmm(input, x, y, beta, alpha),
        *ADDMM,
        random=_addmm_random,
    ),
    Op(
        "baddbmm",
        lambda input, x, y, beta=1.0, alpha=1.0: paddle.baddbmm(input, x, y, beta, alpha),
        *BADDBMM,
        random=_baddbmm_random,
    ),
    Op("multi_dot", lambda x: paddle.linalg.multi_dot(x), *MULTI_DOT, random=_multi_dot_random),
    Op("bilinear_tensor_product", _bilinear, *BILINEAR, random=_bilinear_random),
    Op("einsum", lambda x, equation: paddle.einsum(equation, *x), *EINSUM, random=_einsum_random),
    Op("fsp", lambda x, y: legacy_op("fsp", {"X": x, "Y": y}, {"Out": x.dtype}, {}), *FSP, random=_fsp_random),
]
