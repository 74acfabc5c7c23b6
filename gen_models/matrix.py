"""Square matrices: inverses, determinants, systems of equations."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from gen_models.harness.marks import COMPLEX_HERE
from gen_models.harness.spec import Case, Op, TensorSpec, case, paddle, tensor
from gen_models.harness.strategies import flag, integer

LOOSE: dict[str, Any] = {"atol": 2e-4, "rtol": 2e-4, "why": "rounding of an elimination, in another order"}

OPEN: dict[str, Any] = {**LOOSE, "why": LOOSE["why"] + "; whether y holds vectors or matrices depends on its size"}


def regular(*shape: int, seed: int = 0, dims: Any = None, dtype: str = "float32") -> TensorSpec:
    """Well-conditioned matrices: random ones, with a heavier diagonal of random sign."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(-1, 1, shape) + np.eye(shape[-1]) * rng.choice([-2.5, 2.5], shape[-1])
    return tensor(shape, dtype, values=np.round(values, 5), dims=dims)


def regular_complex(*shape: int, seed: int = 0, dims: Any = None) -> TensorSpec:
    """Well-conditioned complex matrices."""
    real, imag = (np.asarray(regular(*shape, seed=seed + part).values) for part in (0, 1))
    return tensor(shape, "complex64", values=real + 1j * imag, dims=dims)


def positive(*shape: int, seed: int = 0, dims: Any = None) -> TensorSpec:
    """Symmetric positive definite matrices."""
    half = np.random.default_rng(seed).uniform(-1, 1, shape)
    return tensor(shape, values=np.round(half @ np.swapaxes(half, -1, -2) + np.eye(shape[-1]), 5), dims=dims)


def _square_random(draw: Any, dims: bool = True) -> dict[str, Any]:
    n = draw(st.integers(1, 6))
    shape = [*(draw(st.integers(1, 3)) for _ in range(draw(st.integers(0, 2)))), n, n]
    dynamic = [-1 if draw(st.booleans()) else size for size in shape[:-2]] + [n, n]
    return {"x": regular(*shape, seed=draw(st.integers(0, 99)), dims=dynamic if dims else None), **LOOSE}


SQUARE = [
    case(x=regular(3, 3), **LOOSE),
    case(x=regular(1, 1), **LOOSE),
    case(x=regular(2, 2, seed=1), **LOOSE),
    case(x=regular(2, 4, 4, seed=2), **LOOSE),
    case(x=regular(2, 3, 7, 7, seed=3, dims=[-1, -1, -1, -1]), **LOOSE),
    case(x=regular(5, 5, seed=4, dtype="float64"), **LOOSE),
]

LOOSE_NEW: dict[str, Any] = {**LOOSE, "formats": ("pir",), "why": LOOSE["why"] + "; new in Paddle 3"}
LOOSE_COMPLEX: dict[str, Any] = {**LOOSE, "formats": ("pir",), "why": LOOSE["why"] + "; " + COMPLEX_HERE["why"]}
PLANE = [
    case(x=regular_complex(3, 3), **LOOSE_COMPLEX),
    case(x=regular_complex(2, 4, 4, seed=2, dims=[-1, -1, -1]), **LOOSE_COMPLEX),
    case(x=tensor([3, 3], "complex64", values=[[0, 1j, 0], [2, 0, 1], [0, 3 - 1j, 1]]), **LOOSE_COMPLEX),
]

SWAPPED = [
    case(x=tensor([3, 3], values=[[0.0, 1.0, 0.0], [2.0, 0.0, 1.0], [0.0, 3.0, 1.0]]), **LOOSE),
    case(x=tensor([2, 2], values=[[0.0, 1.0], [1.0, 0.0]]), **LOOSE),
]


SINGULAR = [
    case(x=tensor([2, 2], values=[[1.0, 2.0], [2.0, 4.0]]), **LOOSE),
    case(x=tensor([3, 3], values=[[0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [4.0, 5.0, 7.0]]), **LOOSE),
    case(x=tensor([2, 2, 2], values=[[[1.0, 2.0], [2.0, 4.0]], [[3.0, 1.0], [0.0, 2.0]]]), **LOOSE),
]


MATRIX_POWER = [case(x=regular(2, 3, 3), n=n, **LOOSE) for n in (0, 1, 2, 3, 5, 6, -1, -2, -3)] + [
    case(x=regular_complex(3, 3), n=n, **LOOSE_COMPLEX) for n in (0, 3, -2)
]


SOLVE = [
    case(x=regular(3, 3), y=tensor([3, 2]), **LOOSE),
    case(x=regular(3, 3), y=tensor([3]), **LOOSE),
    case(x=regular(2, 3, 3), y=tensor([2, 3, 4]), **LOOSE),
    case(x=regular(2, 3, 3), y=tensor([2, 3]), dynamic=False, **OPEN),
    case(x=regular(2, 3, 3, dims=[-1, 3, 3]), y=tensor([2, 3, 4], dims=[-1, 3, -1]), **LOOSE),
    case(x=regular(2, 4, 4), y=tensor([4, 3]), dynamic=False, **OPEN),
]


CHOLESKY = [
    case(x=positive(3, 3), **LOOSE),
    case(x=positive(1, 1), **LOOSE),
    case(x=positive(4, 4), upper=True, **LOOSE),
    case(x=positive(2, 4, 4, dims=[-1, -1, -1]), **LOOSE),
    case(x=positive(2, 3, 5, 5), upper=True, **LOOSE),
]


CHOLESKY_SOLVE = [
    case(x=tensor([3, 2]), y=regular(3, 3), **LOOSE),
    case(x=tensor([3, 1]), y=regular(3, 3), upper=True, **LOOSE),
    case(x=tensor([2, 3, 2], dims=[-1, 3, 2]), y=regular(2, 3, 3, dims=[-1, 3, 3]), **LOOSE),
]


def _triangular_solve(
    x: Any, y: Any, *, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    return paddle.linalg.triangular_solve(x, y, upper, transpose, unitriangular)


TRIANGULAR_SOLVE = [
    *(
        case(x=regular(3, 3), y=tensor([3, 2]), upper=upper, transpose=transpose, unitriangular=unitriangular, **LOOSE)
        for upper in (True, False)
        for transpose in (True, False)
        for unitriangular in (True, False)
    ),
    case(x=regular(2, 3, 3, dims=[-1, 3, 3]), y=tensor([2, 3, 1], dims=[-1, 3, 1]), **LOOSE),
    case(x=regular_complex(3, 3), y=tensor([3, 2], "complex64"), **LOOSE_COMPLEX),
    case(x=regular_complex(3, 3), y=tensor([3, 2], "complex64"), upper=False, transpose=True, **LOOSE_COMPLEX),
    case(x=regular_complex(3, 3), y=tensor([3, 2], "complex64"), unitriangular=True, **LOOSE_COMPLEX),
]


def _random(draw: Any) -> Case:
    return case(**_square_random(draw))


def _sized(draw: Any) -> tuple[list[int], int, int]:
    """Batch, rows, columns of right-hand sides (more than 1 row, so that vectors are no question)."""
    return [integer(draw, 1, 3) for _ in range(integer(draw, 0, 2))], integer(draw, 1, 6), integer(draw, 1, 4)


def _solve_random(draw: Any) -> Case:
    batch, n, k = _sized(draw)
    return case(x=regular(*batch, n, n, seed=integer(draw, 0, 99)), y=tensor([*batch, n, k]), **LOOSE)


def _cholesky_random(draw: Any) -> Case:
    batch, n, _ = _sized(draw)
    return case(x=positive(*batch, n, n, seed=integer(draw, 0, 99)), upper=flag(draw), **LOOSE)


def _cholesky_solve_random(draw: Any) -> Case:
    batch, n, k = _sized(draw)
    y = regular(*batch, n, n, seed=integer(draw, 0, 99))
    return case(x=tensor([*batch, n, k]), y=y, upper=flag(draw), **LOOSE)


def _triangular_solve_random(draw: Any) -> Case:
    batch, n, k = _sized(draw)
    x = regular(*batch, n, n, seed=integer(draw, 0, 99))
    modes = {"upper": flag(draw), "transpose": flag(draw), "unitriangular": flag(draw)}
    return case(x=x, y=tensor([*batch, n, k]), **modes, **LOOSE)


_V2: dict[str, Any] = {**LOOSE, "formats": ("pir",), "why": LOOSE["why"] + "; new in Paddle 3.3"}
SLOGDET_V2 = [
    case(x=regular(3, 3), **_V2),
    case(x=regular(2, 3, 4, 4, seed=2, dims=[-1, -1, -1, -1]), **_V2),
    case(x=tensor([2, 2], values=[[0.0, 1.0], [1.0, 0.0]]), **_V2),
    case(x=regular_complex(3, 3), **_V2),
]

OPS = [
    Op("inverse", lambda x: paddle.inverse(x), *SQUARE, *SWAPPED, *PLANE, random=_random),
    Op("determinant", lambda x: paddle.linalg.det(x), *SQUARE, *SWAPPED, *SINGULAR, *PLANE, random=_random),
    Op("slogdeterminant", lambda x: paddle.linalg.slogdet(x), *SQUARE, *SWAPPED, *PLANE, random=_random),
    Op(
        "slogdet_v2",
        lambda x: paddle._C_ops.slogdet_v2(x),
        *SLOGDET_V2,
        random=lambda draw: case(**_random(draw).arguments, **_V2),
    ),
    Op(
        "matrix_power",
        lambda x, n: paddle.linalg.matrix_power(x, n),
        *MATRIX_POWER,
        random=lambda draw: case(**_square_random(draw, dims=False), n=integer(draw, -4, 6)),
    ),
    Op("solve", lambda x, y: paddle.linalg.solve(x, y), *SOLVE, random=_solve_random),
    Op("cholesky", lambda x, upper=False: paddle.linalg.cholesky(x, upper), *CHOLESKY, random=_cholesky_random),
    Op(
        "cholesky_solve",
        lambda x, y, upper=False: paddle.linalg.cholesky_solve(x, y, upper),
        *CHOLESKY_SOLVE,
        random=_cholesky_solve_random,
    ),
    Op("triangular_solve", _triangular_solve, *TRIANGULAR_SOLVE, random=_triangular_solve_random),
]
