"""Products of matrices."""

from __future__ import annotations

import math

from gen_models.harness.building import any_op, function, operator, weight
from gen_models.harness.marks import F64, NEW, NOT_EMPTY, OLD, legacy, pir
from gen_models.harness.spec import Case, Op, case, paddle, tensor


def _matmul(x, y=None, *, shape=None, **transposed):
    return paddle.matmul(x, weight(shape) if y is None else y, **transposed)


MATMUL_V2 = [
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
    case(x=tensor([3, 4], "int32"), y=tensor([4, 5], "int32"), **pir("integers are new in Paddle 3")),
    case(x=tensor([3, 4], "int64"), y=tensor([4, 5], "int64"), **pir("integers are new in Paddle 3")),
    case(x=tensor([1, 1]), y=tensor([1, 1])),
    case(x=tensor([4, 0]), y=tensor([0, 300]), **NOT_EMPTY),
]


LEGACY = legacy("an operator of Paddle 1")


MATMUL = [
    case(x=tensor([3, 4]), y=tensor([4, 5])),
    case(x=tensor([2, 3, 4]), y=tensor([2, 5, 4]), alpha=0.125, transpose_y=True),
    case(x=tensor([2, 4, 3], dims=[-1, -1, -1]), y=tensor([2, 4, 5], dims=[-1, -1, -1]), transpose_x=True),
]


def _mul(x, y=None, *, x_num_col_dims=1, y_num_col_dims=1, shape=None):
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


BMM = [
    case(x=tensor([2, 3, 4]), y=tensor([2, 4, 5])),
    case(x=tensor([2, 3, 4], dims=[-1, -1, -1]), y=tensor([2, 4, 5], dims=[-1, -1, -1])),
]


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
    case(input=tensor([2, 3, 5]), x=tensor([2, 3, 4]), y=tensor([2, 4, 5]), **NEW),
    case(
        input=tensor([2, 3, 5], dims=[-1, -1, -1]),
        x=tensor([2, 3, 4], dims=[-1, -1, -1]),
        y=tensor([2, 4, 5], dims=[-1, -1, -1]),
        beta=0.5,
        alpha=2.0,
        **NEW,
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


def _bilinear(x, y, factors=None, bias=None, *, shape=None):
    return paddle.nn.functional.bilinear(x, y, weight(shape) if factors is None else factors, bias)


BILINEAR = [
    case(x=tensor([3, 4]), y=tensor([3, 5]), factors=tensor([6, 4, 5])),
    case(x=tensor([3, 4]), y=tensor([3, 5]), factors=tensor([6, 4, 5]), bias=tensor([1, 6])),
    case(
        x=tensor([3, 4], dims=[-1, 4]), y=tensor([3, 5], dims=[-1, 5]), factors=tensor([6, 4, 5]), bias=tensor([1, 6])
    ),
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


_V2 = pir("new in Paddle 3.3, which writes it where it is built for GPUs")
LINEAR_V2 = [
    case(x=tensor([3, 4]), weight=tensor([4, 5]), bias=tensor([5])),
    case(x=tensor([2, 3, 4], dims=[-1, -1, 4]), weight=tensor([4, 5]), bias=tensor([5])),
    case(x=tensor([2, 3, 4]), weight=tensor([5, 4]), bias=tensor([5]), transpose=True),
]


FSP = [
    case(x=tensor([2, 3, 4, 5]), y=tensor([2, 6, 4, 5])),
    case(x=tensor([2, 3, 4, 5], dims=[-1, 3, -1, -1]), y=tensor([2, 1, 4, 5], dims=[-1, 1, -1, -1])),
]


OPS = [
    Op("matmul_v2", _matmul, *MATMUL_V2),
    Op(
        "matmul",
        operator("matmul", {"x": "X", "y": "Y"}, names={"transpose_x": "transpose_X", "transpose_y": "transpose_Y"}),
        *MATMUL,
        **LEGACY,
    ),
    Op("mul", _mul, *MUL),
    Op("linear_v2", operator("linear_v2", {"x": "X", "weight": "W", "bias": "B"}, transpose=False), *LINEAR_V2, **_V2),
    Op("bmm", function("bmm"), *BMM),
    Op("dot", function("dot"), *DOT),
    Op("mv", function("mv"), *MV),
    Op("addmm", function("addmm"), *ADDMM),
    Op("baddbmm", function("baddbmm"), *BADDBMM),
    Op("multi_dot", function("linalg.multi_dot"), *MULTI_DOT),
    Op("bilinear_tensor_product", _bilinear, *BILINEAR),
    Op("einsum", lambda x, equation: paddle.einsum(equation, *x), *EINSUM),
    Op("fsp", operator("fsp", {"x": "X", "y": "Y"}), *FSP, **OLD),
]
