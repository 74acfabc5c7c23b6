"""Square matrices: inverses, determinants, systems of equations."""

from __future__ import annotations

from typing import Any

import numpy as np

from gen_models.harness.building import function
from gen_models.harness.marks import COMPLEX_HERE
from gen_models.harness.spec import Op, TensorSpec, case, tensor

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
    case(x=tensor([3, 3], "complex64", values=[[0, 1j, 0], [2j, 0, 1], [0, 3 - 1j, 1]]), **LOOSE_COMPLEX),
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


_V2: dict[str, Any] = {**LOOSE, "formats": ("pir",), "why": LOOSE["why"] + "; new in Paddle 3.3"}
SLOGDET_V2 = [
    case(x=regular(3, 3)),
    case(x=regular(2, 3, 4, 4, seed=2, dims=[-1, -1, -1, -1])),
    case(x=tensor([2, 2], values=[[0.0, 1.0], [1.0, 0.0]])),
    case(x=regular_complex(3, 3)),
]

OPS = [
    Op("inverse", function("inverse"), *SQUARE, *SWAPPED, *PLANE),
    Op("determinant", function("linalg.det"), *SQUARE, *SWAPPED, *SINGULAR, *PLANE),
    Op("slogdeterminant", function("linalg.slogdet"), *SQUARE, *SWAPPED, *PLANE),
    Op("slogdet_v2", function("_C_ops.slogdet_v2"), *SLOGDET_V2, **_V2),
    Op("matrix_power", function("linalg.matrix_power"), *MATRIX_POWER),
    Op("solve", function("linalg.solve"), *SOLVE),
    Op("cholesky", function("linalg.cholesky"), *CHOLESKY),
    Op("cholesky_solve", function("linalg.cholesky_solve"), *CHOLESKY_SOLVE),
    Op("triangular_solve", function("linalg.triangular_solve"), *TRIANGULAR_SOLVE),
]
