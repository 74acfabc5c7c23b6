"""Whether eigenvectors or singular vectors differ from Paddle's only as far as their definition leaves them open.

A vector may be the negative of Paddle's; of equal values, any basis of the same space is right. So OpenVINO's are
compared with their definition, on the matrix that OpenVINO read, and the values with Paddle's. `VECTOR_CHECKS` holds a
function for each operator, which returns None where the values do not show that.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paddle2ov.comparison.differences import scale_of
from paddle2ov.typing import AnyArray
from paddle2ov.verification.orders import ObservedOperator, Reordering

_Sides = tuple[AnyArray, AnyArray]
"""What Paddle and OpenVINO computed."""


def _eigh(seen: ObservedOperator) -> Reordering | None:
    matrices, vectors = _doubles(seen.read("x")), _doubles(seen.wrote("out_v"))
    if matrices is None or vectors is None:
        return None
    half = matrices[1] if seen.operator.attributes.get("UPLO", "L") == "L" else _transposed(matrices[1])
    matrix, v = np.tril(half) + _transposed(np.tril(half, -1)), vectors[1]
    values = _doubles(seen.wrote("out_w")) or (np.linalg.eigvalsh(matrix),) * 2
    return _judged(seen, values, matrix @ v - v * values[1][..., None, :], vectors)


def _svd(seen: ObservedOperator) -> Reordering | None:
    matrices, left, right = _doubles(seen.read("x")), _doubles(seen.wrote("u")), _doubles(seen.wrote("vh"))
    if matrices is None or (left is None and right is None):
        return None
    x = matrices[1]
    values = _doubles(seen.wrote("s")) or (np.linalg.svd(x, compute_uv=False),) * 2
    columns = None if right is None else (_transposed(right[0]), _transposed(right[1]))
    if left is not None and columns is not None:
        count = values[1].shape[-1]
        error = x @ columns[1][..., :count] - left[1][..., :count] * values[1][..., None, :]
        return _judged(seen, values, error, left, columns)
    # One of the two is not computed: the other one must be Paddle's, or its negative.
    known = left or columns
    assert known is not None
    paddle, ours = known
    sign = np.where((paddle * ours).sum(-2, keepdims=True) < 0, -1, 1)
    return _judged(seen, values, scale_of(values[0]) * (ours * sign - paddle), known)


def _transposed(x: AnyArray) -> AnyArray:
    return x.swapaxes(-1, -2)


def _doubles(sides: _Sides | None) -> _Sides | None:
    """Both in float64; None where one is not known, or not finite."""
    if sides is None or not all(np.isfinite(side).all() for side in sides):
        return None
    return sides[0].astype(np.float64), sides[1].astype(np.float64)


def _judged(seen: ObservedOperator, values: _Sides, error: AnyArray, *vectors: _Sides) -> Reordering | None:
    """Compares the values with Paddle's, and tests the vectors (columns): their `error`, and that they are a basis."""
    scale = scale_of(values[0])
    errors = [(values[0] - values[1]) / scale, error / scale]
    errors += [_transposed(ours) @ ours - np.eye(ours.shape[-1]) for _, ours in vectors]
    worst = max(float(np.abs(each).max(initial=0.0)) for each in errors)
    if worst > seen.tolerance:
        return None
    others = [np.abs(paddle - ours).max(-2, initial=0.0) > seen.tolerance for paddle, ours in vectors]
    return Reordering(sum(int(each.sum()) for each in others), sum(each.size for each in others), worst)


VECTOR_CHECKS: dict[str, Callable[[ObservedOperator], Reordering | None]] = {"eigh": _eigh, "svd": _svd}
