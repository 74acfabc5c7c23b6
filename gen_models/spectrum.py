"""Eigenvalues, singular values and ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from gen_models.harness.building import function
from gen_models.harness.marks import COMPLEX_HERE, NEW, legacy
from gen_models.harness.spec import Op, TensorSpec, case, paddle, tensor
from gen_models.matrix import LOOSE, LOOSE_COMPLEX, LOOSE_NEW


def low_rank(*shape: int, kept: int, seed: int = 0, dims: Any = None, symmetric: bool = False) -> TensorSpec:
    """Matrices of which only the first `kept` singular values are not 0."""
    rng = np.random.default_rng(seed)
    left = rng.uniform(-1, 1, (*shape[:-1], kept))
    right = np.swapaxes(left, -1, -2) if symmetric else rng.uniform(-1, 1, (*shape[:-2], kept, shape[-1]))
    return tensor(shape, values=np.asarray(left @ right, np.float32), dims=dims)


def _eigh(x, *, uplo="L", vectors=False):
    values, turned = paddle.linalg.eigh(x, uplo)
    if not vectors:
        return values
    # What does not depend on the signs of the vectors.
    return [values, paddle.matmul(turned * values.unsqueeze(-2), turned, transpose_y=True), paddle.abs(turned)]


def _svd(x, *, full=False, vectors=False):
    u, s, vh = paddle.linalg.svd(x, full)
    if not vectors:
        return s
    squares = [paddle.matmul(u, u, transpose_x=True), paddle.matmul(vh, vh, transpose_y=True)]
    return [*squares, *([] if full else [paddle.matmul(u * s.unsqueeze(-2), vh)])]


def _lstsq(x, y, *, driver, rcond=None):
    solution, residuals, rank, values = paddle.linalg.lstsq(x, y, rcond, driver)
    if driver == "gels":
        return [solution, residuals]
    return [solution, rank] if driver == "gelsy" else [solution, residuals, rank, values]


def _matrix_rank(x, *, tol=None, hermitian=False, less=None):
    out = paddle.linalg.matrix_rank(x, tol, hermitian)
    return out if less is None else out - less  # OpenVINO fuses arithmetic into reductions


def _matrix_rank_atol_rtol(x, above, share=None, *, hermitian=False):
    return paddle._C_ops.matrix_rank_atol_rtol(x, above, share, hermitian)


SYMMETRIC = [
    case(x=tensor([3, 3]), uplo="U", **LOOSE),
    case(x=tensor([1, 1]), **LOOSE),
    case(x=tensor([2, 8, 8], dims=[-1, -1, -1]), **LOOSE),
    case(x=tensor([15, 15], low=-3, high=3), **LOOSE),
    case(x=tensor([4, 4], values=np.diag([2.0, -1.0, 2.0, 0.0])), **LOOSE),
    case(x=tensor([3, 3], values=np.ones((3, 3))), **LOOSE),
]

_PLANE = tensor([2, 4, 4], "complex64", dims=[-1, -1, -1])
_TURN = np.eye(6) - 2 * np.full((6, 6), 1 / 6)
"""Symmetric, with the value 1 five times."""
ANY = [tensor([5, 3]), tensor([3, 5]), tensor([2, 6, 6], dims=[-1, -1, -1]), tensor([1, 4]), tensor([12, 11])]


OPS = [
    Op(
        "eigvalsh",
        lambda x, uplo="L": paddle.linalg.eigvalsh(x, uplo),
        *SYMMETRIC,
        case(x=tensor([6, 6], values=_TURN), **LOOSE),
        *[case(x=_PLANE, uplo=triangle, **LOOSE_COMPLEX) for triangle in "LU"],
    ),
    Op(
        "eigh",
        _eigh,
        *SYMMETRIC[:4],
        *[case(**item.arguments, vectors=True, **LOOSE) for item in SYMMETRIC[:4]],
        case(x=_PLANE, **LOOSE_COMPLEX),
    ),
    Op(
        "svd",
        _svd,
        *(case(x=item, **LOOSE) for item in ANY),
        *(case(x=item, vectors=True, **LOOSE) for item in ANY),
        *(case(x=low_rank(5, 4, kept=2), vectors=vectors, full=True, **LOOSE) for vectors in (False, True)),
        case(x=tensor([3, 5]), vectors=True, full=True, **LOOSE),
        case(x=_PLANE, **LOOSE_COMPLEX),
    ),
    Op(
        "lstsq",
        _lstsq,
        case(x=tensor([5, 3]), y=tensor([5, 2]), driver="gels", **LOOSE),
        case(x=tensor([3, 5], dims=[-1, 5]), y=tensor([3, 2], dims=[-1, 2]), driver="gelsd", **LOOSE_NEW),
        case(x=low_rank(5, 4, kept=2), y=tensor([5, 2]), rcond=1e-4, driver="gelss", is_varied=False, **LOOSE_NEW),
        case(x=tensor([2, 5, 3]), y=tensor([2, 5, 1]), driver="gelsy", **LOOSE_NEW),
        case(x=tensor([1, 4, 4]), y=tensor([1, 4, 2]), driver="gelsy", dynamic=False, **LOOSE_NEW),
    ),
    Op(
        "svdvals",
        function("linalg.svdvals"),
        *[case(x=value) for value in [*ANY, tensor([200, 2, 8]), tensor([200, 8, 2])]],
        **LOOSE_NEW,
    ),
    Op(
        "matrix_rank",
        _matrix_rank,
        case(x=tensor([4, 4])),
        case(x=low_rank(5, 4, kept=2), tol=1e-3),
        case(
            x=low_rank(4, 3, 3, 3, kept=2),
            tol=1e-3,
            less=1,
            **legacy("Paddle 3 declares another type than it computes"),
        ),
        case(x=low_rank(2, 3, 6, kept=1, dims=[-1, -1, -1]), tol=0.01),
        case(x=low_rank(4, 4, kept=3, symmetric=True), tol=1e-4, hermitian=True),
        case(x=tensor([3, 3], values=np.diag([1.0, -2.0, 0.0])), hermitian=True),
        case(x=tensor([3, 3], "complex64", values=[[1, 1j, 0], [1j, -1, 0], [0, 0, 2]]), **COMPLEX_HERE),
    ),
    Op(
        "matrix_rank_tol",
        lambda x, tol, default=False, hermitian=False: paddle._C_ops.matrix_rank_tol(x, tol, default, hermitian),
        case(x=low_rank(5, 4, kept=2), tol=tensor([], values=[1e-3])),
        case(x=tensor([2, 4, 4]), tol=tensor([2], values=[0.1, 1.0])),
        case(x=tensor([4, 4]), tol=tensor([], values=[0.0]), default=True),
        case(x=low_rank(4, 4, kept=3, symmetric=True), tol=tensor([], values=[1e-3]), hermitian=True),
        **NEW,
    ),
    Op(
        "matrix_rank_atol_rtol",
        _matrix_rank_atol_rtol,
        case(x=tensor([5, 4]), above=tensor([], values=[0.3]), share=tensor([], values=[0.5])),
        case(x=tensor([2, 4, 4]), above=tensor([2], values=[0.1, 1.0]), share=tensor([2], values=[0.5, 0.0])),
        case(x=tensor([4, 4]), above=tensor([], values=[0.0])),
        case(x=low_rank(4, 4, kept=2), above=tensor([], values=[1e-3])),
        **NEW,
    ),
]
