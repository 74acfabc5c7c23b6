"""Programs for converters/diagonal.py."""

from gen_models.harness.building import function, operator
from gen_models.harness.marks import COMPLEX_HERE, legacy, pir
from gen_models.harness.spec import Op, case, paddle, tensor


def _trace(x, *, offset=0, axis1=0, axis2=1, less=None):
    out = paddle.trace(x, offset, axis1, axis2)
    return out if less is None else out - less  # OpenVINO fuses arithmetic into reductions


_MANY_BITS = [2**24 + 1, 2**31 - 1, -(2**24) - 3]
"""Integers that float32 does not hold."""

_TRIANGLES = [
    case(x=tensor([4, 5])),
    case(x=tensor([2, 4, 4]), diagonal=1),
    case(x=tensor([2, 4, 4], "int64"), diagonal=-2),
    case(x=tensor([4, 5], dims=[-1, -1])),
    case(x=tensor([4, 5], "bool"), diagonal=1),
    case(x=tensor([3, 3], "int32"), diagonal=9),
    case(x=tensor([2, 3], "int64", values=[_MANY_BITS, _MANY_BITS[::-1]], dims=[-1, -1])),
]


OPS = [
    Op("tril", function("tril"), *_TRIANGLES),
    Op("triu", function("triu"), *_TRIANGLES),
    Op(
        "tril_triu",
        operator("tril_triu", diagonal=0, lower=True),
        *[case(**triangle.arguments, lower=lower) for triangle in _TRIANGLES[:3] for lower in (True, False)],
        **legacy("two operators in PIR"),
    ),
    Op(
        "diag_v2",
        function("diag"),
        case(x=tensor([3])),
        case(x=tensor([3]), offset=2, padding_value=7),
        case(x=tensor([3]), offset=-1, padding_value=-0.5),
        case(x=tensor([4, 5], "float64")),
        case(x=tensor([4, 5]), offset=1),
        case(x=tensor([4, 5]), offset=-2),
        case(x=tensor([]), **pir("Paddle 2.6 refuses it")),
        case(x=tensor([3], "int64", dims=[-1])),
        case(x=tensor([3], "int64", values=_MANY_BITS, dims=[-1]), offset=1, padding_value=3),
        case(x=tensor([4, 5], dims=[-1, -1]), offset=1),
        case(x=tensor([3], "complex64"), offset=1, padding_value=7, **COMPLEX_HERE),
    ),
    Op(
        "diag_embed",
        function("diag_embed"),
        case(x=tensor([2, 3])),
        case(x=tensor([3]), offset=1, dim1=0, dim2=1),
        case(x=tensor([2, 3]), offset=-1),
        case(x=tensor([2, 3]), dim1=0, dim2=2),
        case(x=tensor([2, 3]), offset=1, dim1=2, dim2=0),
        case(x=tensor([2, 3], dims=[-1, -1]), dim1=1, dim2=2),
        case(x=tensor([3], "int64", values=_MANY_BITS, dims=[-1]), offset=-1, dim1=0, dim2=1),
    ),
    Op(
        "diagonal",
        function("diagonal"),
        case(x=tensor([4, 5]), offset=2),
        case(x=tensor([4, 5]), offset=-1),
        case(x=tensor([2, 4, 5]), axis1=1, axis2=2),
        case(x=tensor([2, 4, 5]), axis1=-1, axis2=0),
        case(x=tensor([2, 4, 5], "int64", dims=[-1, -1, -1]), offset=1, axis1=1, axis2=2),
        case(x=tensor([4, 5], "bool")),
        case(x=tensor([1, 1, 4], dims=[1, 1, -1]), offset=1, axis1=2, axis2=0),
    ),
    Op(
        "trace",
        _trace,
        case(x=tensor([4, 5])),
        case(x=tensor([4, 5]), offset=-1),
        case(x=tensor([2, 4, 5]), axis1=1, axis2=-1),
        case(x=tensor([2, 4, 5], "int64", dims=[-1, -1, -1]), axis1=0, axis2=2),
        case(x=tensor([6, 5, 3, 4], "int64"), axis1=2, axis2=3, less=1),
    ),
    Op(
        "fill_diagonal",
        operator("fill_diagonal", value=0.0, offset=0, wrap=False),
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
    ),
    Op(
        "fill_diagonal_tensor",
        operator("fill_diagonal_tensor", {"x": "X", "y": "Y"}, offset=0, dim1=0, dim2=1),
        case(x=tensor([4, 5]), y=tensor([4])),
        case(x=tensor([4, 5]), y=tensor([4]), offset=1),
        case(x=tensor([4, 5]), y=tensor([3]), offset=-1),
        case(x=tensor([4, 5], dims=[-1, 5]), y=tensor([1, 3]), offset=2),
        case(x=tensor([2, 4, 5]), y=tensor([2, 4]), dim1=1, dim2=2),
        case(x=tensor([2, 4, 5], dims=[-1, -1, -1]), y=tensor([4, 2], dims=[-1, -1]), dim1=0, dim2=2),
        case(x=tensor([4, 5], "complex64"), y=tensor([4], "complex64"), **COMPLEX_HERE),
    ),
]
