"""Discrete Fourier transforms along one axis, as matrices.

A matrix has the axes (part of the result, element of the result, part of the input, element of the input), without the
part where numbers are real. Parts are the real and the imaginary one. Backward transforms are divided by n.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddle2ov.typing import AnyArray


def complex_to_complex(n: int, results: Sequence[int], inputs: Sequence[int], backward: bool) -> AnyArray:
    """These elements of the transform of n numbers, all of which are 0 but `inputs`."""
    cosine, sine = _waves(n, results, inputs)
    sine = sine if backward else -sine
    matrix = np.stack([np.stack([cosine, -sine], 1), np.stack([sine, cosine], 1)])
    return matrix / n if backward else matrix


def real_to_complex(n: int, results: Sequence[int]) -> AnyArray:
    """These elements of the transform of n real numbers."""
    cosine, sine = _waves(n, results, range(n))
    return np.stack([cosine, -sine])


def complex_to_real(n: int, inputs: Sequence[int]) -> AnyArray:
    """The n real numbers whose transform begins with n // 2 + 1 elements, all of which are 0 but `inputs`."""
    cosine, sine = _waves(n, range(n), inputs)
    twice = np.array([1 if 2 * element in (0, 2 * n, n) else 2 for element in inputs])  # for the half that is left out
    return np.stack([cosine * twice, -sine * twice], 1) / n


def _waves(n: int, results: Sequence[int], inputs: Sequence[int]) -> tuple[AnyArray, AnyArray]:
    """The cosines and sines of 2π · result · input / n; those that are 0 are exact."""
    turns = np.outer(results, inputs) * 4 % (4 * n)
    angle = turns * (np.pi / 2 / n)
    return (
        np.where(turns % (2 * n) == n, 0, np.cos(angle)),
        np.where(turns % (2 * n) == 0, 0, np.sin(angle)),
    )
