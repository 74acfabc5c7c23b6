"""Programs for converters/diagonal.py."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from gen_models.harness.building import legacy_op
from gen_models.harness.marks import COMPLEX_HERE
from gen_models.harness.spec import Op, case, paddle, tensor

PIR, LEGACY = ("pir",), ("legacy",)


def _tril_triu(x, *, diagonal=0, lower=True):
    return legacy_op("tril_triu", {"X": x}, {"Out": x.dtype}, {"diagonal": diagonal, "lower": lower})


def _trace(x, *, offset=0, axis1=0, axis2=1, less=None):
    out = paddle.trace(x, offset, axis1, axis2)
    return out if less is None else out - less  # OpenVINO fuses arithmetic into reductions


def _fill_diagonal_tensor(x, y, *, offset=0, dim1=0, dim2=1):
    if paddle.__version__ < "3":
        inputs, attrs = {"X": [x], "Y": [y]}, {"offset": offset, "dim1": dim1, "dim2": dim2}
        return legacy_op("fill_diagonal_tensor", inputs, {"Out": x.dtype}, attrs)
    return paddle._C_ops.fill_diagonal_tensor(x, y, offset, dim1, dim2)


def _fill_diagonal(x, *, value, offset=0, wrap=False):
    if paddle.__version__ < "3":
        return legacy_op("fill_diagonal", {"X": x}, {"Out": x.dtype}, {"value": value, "offset": offset, "wrap": wrap})
    return paddle._C_ops.fill_diagonal(x, value, offset, wrap)


def _triangle_random(draw):
    shape = draw(st.lists(st.integers(1, 5), min_size=2, max_size=4))
    return case(x=tensor(shape, draw(st.sampled_from(["float32", "int64"]))), diagonal=draw(st.integers(-5, 5)))


def _diag_random(draw):
    shape = draw(st.lists(st.integers(2, 5), min_size=1, max_size=2))
    return case(x=tensor(shape), offset=draw(st.integers(-1, 1)), padding_value=draw(st.integers(0, 2)))


def _diagonal_random(draw):
    shape = draw(st.lists(st.integers(2, 4), min_size=2, max_size=4))
    axis1, axis2 = draw(st.permutations(range(len(shape))))[:2]
    return case(x=tensor(shape), offset=draw(st.integers(-1, 1)), axis1=axis1, axis2=axis2)


def _trace_random(draw):
    shape = draw(st.lists(st.integers(2, 4), min_size=2, max_size=4))
    axis1, axis2 = draw(st.permutations(range(len(shape))))[:2]
    arguments = {"x": tensor(shape), "offset": draw(st.integers(-1, 1)), "axis1": axis1, "axis2": axis2}
    if axis1 < axis2:
        return case(**arguments)
    return case(**arguments, formats=PIR, why="Paddle 2.6 takes axis1 and axis2 in ascending order")


def _diag_embed_random(draw):
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    dim1, dim2 = draw(st.permutations(range(len(shape) + 1)))[:2]
    return case(x=tensor(shape), offset=draw(st.integers(-2, 2)), dim1=dim1, dim2=dim2)


_MANY_BITS = [2**24 + 1, 2**31 - 1, -(2**24) - 3]
"""Integers that float32 does not hold."""

_TRIANGLES: list[dict[str, Any]] = [
    {"x": tensor([4, 5])},
    {"x": tensor([2, 4, 4]), "diagonal": 1},
    {"x": tensor([2, 4, 4], "int64"), "diagonal": -2},
    {"x": tensor([4, 5], dims=[-1, -1])},
    {"x": tensor([4, 5], "bool"), "diagonal": 1},
    {"x": tensor([3, 3], "int32"), "diagonal": 9},
    {"x": tensor([2, 3], "int64", values=[_MANY_BITS, _MANY_BITS[::-1]], dims=[-1, -1])},
]


def _tril_triu_random(draw):
    drawn = _triangle_random(draw).arguments
    return case(**drawn, lower=draw(st.booleans()), formats=LEGACY, why="two operators in PIR")


def _fill_diagonal_random(draw):
    shape = [draw(st.integers(1, 7)), draw(st.integers(1, 7))]
    dims = [draw(st.sampled_from([dim, -1])) for dim in shape]
    wrap = draw(st.booleans())
    offset = draw(st.integers(1 - shape[0], shape[1] - 1))
    return case(x=tensor(shape, dims=dims), value=float(draw(st.integers(-9, 9))), offset=offset, wrap=wrap)


def _fill_diagonal_tensor_random(draw):
    rank = draw(st.integers(2, 4))
    shape = [draw(st.integers(1, 5)) for _ in range(rank)]
    dim1, dim2 = draw(st.permutations(range(rank)))[:2]
    offset = draw(st.integers(1 - shape[dim1], shape[dim2] - 1))
    length = min(shape[dim1] + min(offset, 0), shape[dim2] - max(offset, 0))
    kept = [dim for axis, dim in enumerate(shape) if axis not in (dim1, dim2)]
    return case(x=tensor(shape), y=tensor([*kept, length]), offset=offset, dim1=dim1, dim2=dim2)


OPS = [
    Op(
        "tril",
        lambda x, diagonal=0: paddle.tril(x, diagonal),
        *[case(**triangle) for triangle in _TRIANGLES],
        random=_triangle_random,
    ),
    Op(
        "triu",
        lambda x, diagonal=0: paddle.triu(x, diagonal),
        *[case(**triangle) for triangle in _TRIANGLES],
        random=_triangle_random,
    ),
    Op(
        "tril_triu",
        _tril_triu,
        *[
            case(**triangle, lower=lower, formats=LEGACY, why="two operators in PIR")
            for triangle in _TRIANGLES[:3]
            for lower in (True, False)
        ],
        random=_tril_triu_random,
    ),
    Op(
        "diag_v2",
        lambda x, offset=0, padding_value=0: paddle.diag(x, offset, padding_value),
        case(x=tensor([3])),
        case(x=tensor([3]), offset=2, padding_value=7),
        case(x=tensor([3]), offset=-1, padding_value=-0.5),
        case(x=tensor([4, 5])),
        case(x=tensor([4, 5]), offset=1),
        case(x=tensor([4, 5]), offset=-2),
        case(x=tensor([3], "int64", dims=[-1])),
        case(x=tensor([3], "int64", values=_MANY_BITS, dims=[-1]), offset=1, padding_value=3),
        case(x=tensor([4, 5], dims=[-1, -1]), offset=1),
        case(x=tensor([3], "complex64"), offset=1, padding_value=7, **COMPLEX_HERE),
        random=_diag_random,
    ),
    Op(
        "diag_embed",
        lambda x, offset=0, dim1=-2, dim2=-1: paddle.diag_embed(x, offset, dim1, dim2),
        case(x=tensor([2, 3])),
        case(x=tensor([3]), offset=1, dim1=0, dim2=1),
        case(x=tensor([2, 3]), offset=-1),
        case(x=tensor([2, 3]), dim1=0, dim2=2),
        case(x=tensor([2, 3]), offset=1, dim1=2, dim2=0),
        case(x=tensor([2, 3], dims=[-1, -1]), dim1=1, dim2=2),
        case(x=tensor([3], "int64", values=_MANY_BITS, dims=[-1]), offset=-1, dim1=0, dim2=1),
        random=_diag_embed_random,
    ),
    Op(
        "diagonal",
        lambda x, offset=0, axis1=0, axis2=1: paddle.diagonal(x, offset, axis1, axis2),
        case(x=tensor([4, 5])),
        case(x=tensor([4, 5]), offset=2),
        case(x=tensor([4, 5]), offset=-1),
        case(x=tensor([2, 4, 5]), axis1=1, axis2=2),
        case(x=tensor([2, 4, 5]), axis1=-1, axis2=0),
        case(x=tensor([2, 4, 5], "int64", dims=[-1, -1, -1]), offset=1, axis1=1, axis2=2),
        case(x=tensor([4, 5], "bool")),
        case(x=tensor([1, 1, 4], dims=[1, 1, -1]), offset=1, axis1=2, axis2=0),
        random=_diagonal_random,
    ),
    Op(
        "trace",
        _trace,
        case(x=tensor([4, 5])),
        case(x=tensor([4, 5]), offset=-1),
        case(x=tensor([2, 4, 5]), axis1=1, axis2=-1),
        case(x=tensor([2, 4, 5], "int64", dims=[-1, -1, -1]), axis1=0, axis2=2),
        case(x=tensor([6, 5, 3, 4], "int64"), axis1=2, axis2=3, less=1),
        random=_trace_random,
    ),
    Op(
        "fill_diagonal",
        _fill_diagonal,
        case(x=tensor([4, 5]), value=2.5),
        case(x=tensor([4, 5]), value=2.5, offset=1),
        case(x=tensor([4, 5], dims=[-1, -1]), value=-1.0, offset=-2),
        case(x=tensor([7, 3]), value=2.5),
        case(x=tensor([7, 3]), value=2.5, wrap=True),
        case(x=tensor([7, 3]), value=2.5, offset=-1),
        case(x=tensor([8, 3], dims=[-1, -1]), value=2.5, offset=1, wrap=True),
        case(x=tensor([8, 3], "int64", 2**24, 2**30), value=-3.0, offset=-2, wrap=True),
        case(x=tensor([3, 3, 3]), value=2.5),
        case(x=tensor([2, 2, 2, 2], dims=[-1, -1, -1, -1]), value=2.5, offset=1, wrap=True),
        case(x=tensor([4, 4], "bool"), value=1.0),
        random=_fill_diagonal_random,
    ),
    Op(
        "fill_diagonal_tensor",
        _fill_diagonal_tensor,
        case(x=tensor([4, 5]), y=tensor([4])),
        case(x=tensor([4, 5]), y=tensor([4]), offset=1),
        case(x=tensor([4, 5]), y=tensor([3]), offset=-1),
        case(x=tensor([4, 5], dims=[-1, 5]), y=tensor([1, 3]), offset=2),
        case(x=tensor([2, 4, 5]), y=tensor([2, 4]), dim1=1, dim2=2),
        case(x=tensor([2, 4, 5], dims=[-1, -1, -1]), y=tensor([4, 2], dims=[-1, -1]), dim1=0, dim2=2),
        case(x=tensor([4, 5], "complex64"), y=tensor([4], "complex64"), **COMPLEX_HERE),
        random=_fill_diagonal_tensor_random,
    ),
]
