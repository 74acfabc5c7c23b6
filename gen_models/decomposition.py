"""Factors of matrices: QR and LU."""

from gen_models.harness.building import function
from gen_models.harness.marks import NOT_EMPTY
from gen_models.harness.spec import Op, case, paddle, tensor
from gen_models.matrix import LOOSE, LOOSE_NEW, PLANE, regular, regular_complex


def _lu_unpack(x, *, data=True, pivots=True):
    factors, swaps = paddle.linalg.lu(x)
    permutation, lower, upper = paddle.linalg.lu_unpack(factors, swaps, data, pivots)
    return [*([permutation] if pivots else []), *([lower, upper] if data else [])]


def _lu_solve(b, x, *, trans="N"):
    factors, swaps = paddle.linalg.lu(x)
    return paddle._C_ops.lu_solve(b, factors, swaps, trans)  # paddle.linalg.lu_solve makes a T of C


_SHAPES = [[5, 3], [3, 5], [4, 4]]
_MODES = ("complete", "reduced", "r")
LU = [
    case(x=regular(3, 3), **LOOSE),
    case(x=regular(2, 4, 4, seed=2, dims=[-1, -1, -1]), **LOOSE),
    case(x=tensor([5, 3]), **LOOSE),
    case(x=tensor([3, 5]), **LOOSE),
    case(x=tensor([3, 3], values=[[0, 1, 0], [2, 0, 1], [0, 3, 1]]), **LOOSE),
]

OPS = [
    Op(
        "qr",
        function("linalg.qr"),
        *[case(x=tensor(shape), mode=mode, **LOOSE) for shape in _SHAPES for mode in ("reduced", "complete", "r")],
        case(x=tensor([2, 3, 5, 4], dims=[-1, 3, -1, -1]), **LOOSE),
        case(x=tensor([3, 3], values=[[-2, 1, 0], [0, 1, 3], [0, 0, -1]]), **LOOSE),
        case(x=tensor([3, 2], values=[[0, 1], [3, 0], [4, 2]]), **LOOSE),
        case(x=tensor([0, 3, 2]), **NOT_EMPTY),
        *PLANE[:2],  # of the other one, rounding decides a sign
        *[case(x=tensor(x, "complex64"), mode=mode, **LOOSE_NEW) for x, mode in zip(_SHAPES, _MODES, strict=True)],
    ),
    Op(
        "lu",
        lambda x, infos=True: paddle.linalg.lu(x, get_infos=infos),
        *LU,
        case(x=tensor([3, 3], values=[[1, 2, 3], [2, 4, 6], [1, 0, 1]]), **LOOSE),
        *PLANE,
    ),
    Op(
        "lu_unpack",
        _lu_unpack,
        *LU,
        case(x=regular(3, 3), data=False, **LOOSE),
        case(x=regular(3, 3), pivots=False, **LOOSE),
        *PLANE[:2],
    ),
    Op(
        "lu_solve",
        _lu_solve,
        case(b=tensor([3, 2]), x=regular(3, 3)),
        case(b=tensor([4, 2]), x=regular(4, 4, seed=5), trans="T"),
        case(b=tensor([2, 4, 2]), x=regular(2, 4, 4, seed=2)),
        *[case(b=tensor([3, 2], "complex64"), x=regular_complex(3, 3), trans=trans) for trans in "NTC"],
        **LOOSE_NEW,
    ),
]
