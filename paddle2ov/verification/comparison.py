"""Differences between two tensors, as typed results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paddle2ov.compilation.running import Result
from paddle2ov.graph.types import OV_TYPES
from paddle2ov.typing import AnyArray
from paddle2ov.verification.expected import Expected

_MIN_TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float8_e4m3fn": 0.2, "float8_e5m2": 0.4}
"""Least tolerance of a narrow type: a few units in its last place."""


@dataclass(frozen=True, slots=True)
class TensorComparison:
    """One tensor, as Paddle and as OpenVINO compute it.

    Attributes:
        name: the result's name, or the variable's inside the program.
        dtype: Paddle's data type.
        shape: Paddle's shape.
        absolute: the largest absolute difference (infinite where only one of them is finite or NaN).
        relative: that difference as a fraction of Paddle's largest value in this tensor.
        wrong: how many elements differ by more than the tolerance.
        elements: how many there are.
        reason: what differs, with the worst element; "" if nothing does.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    absolute: float
    relative: float
    wrong: int
    elements: int
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Whether type and shape are the same and every element is within the tolerance."""
        return not self.reason


def compare_tensor(name: str, result: Result, expected: Expected, tolerance: float) -> TensorComparison:
    """Compares one tensor: types and shapes exactly, integers and bools exactly, floats within the tolerance.

    The tolerance is relative to the tensor's largest value: a network's small values carry the rounding of its large
    ones. NaN equals NaN, and infinities are exact.
    """
    want = as_openvino_array(expected)
    shape, size = tuple(expected.array.shape), int(want.size)
    wanted_kind = OV_TYPES.get(expected.dtype)
    reason = ""
    if wanted_kind is None or result.kind != wanted_kind.get_type_name():
        reason = f"type {result.kind} in OpenVINO, {expected.dtype} in Paddle"
    elif result.array.shape != want.shape:
        reason = f"shape {list(result.array.shape)} in OpenVINO, {list(want.shape)} in Paddle"
    if reason:
        return TensorComparison(name, expected.dtype, shape, math.inf, math.inf, size, size, reason)
    distance, scale = distances(result.array, want)
    limit = limit_of(expected.dtype, want, tolerance, scale)
    wrong = int((distance > limit).sum())
    absolute = float(distance.max()) if size else 0.0
    if wrong:
        worst = np.unravel_index(int(np.argmax(distance)), want.shape)
        reason = (
            f"{wrong} of {size} elements; the worst at {[int(i) for i in worst]}: "
            f"OpenVINO {result.array[worst].item()!r}, Paddle {want[worst].item()!r}"
        )
    return TensorComparison(name, expected.dtype, shape, absolute, absolute / scale, wrong, size, reason)


def compare_results(
    results: Sequence[Result],
    expected: Sequence[Expected],
    tolerance: float,
    missing: str = "not there in OpenVINO",
) -> tuple[TensorComparison, ...]:
    """Compares a model's results in order; `missing` is said of those that OpenVINO does not have."""
    found = [
        compare_tensor(want.name, result, want, tolerance) for result, want in zip(results, expected, strict=False)
    ]
    for want in expected[len(results) :]:
        shape, size = tuple(want.array.shape), want.array.size
        found.append(TensorComparison(want.name, want.dtype, shape, math.inf, math.inf, size, size, missing))
    return tuple(found)


def as_openvino_array(expected: Expected) -> AnyArray:
    """Paddle's array as OpenVINO has it: bfloat16 as float32, complex numbers as pairs."""
    array = expected.array
    if expected.dtype == "bfloat16" and array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32)
    return np.stack([array.real, array.imag], -1) if array.dtype.kind == "c" else array


def limit_of(dtype: str, want: AnyArray, tolerance: float, scale: float) -> float:
    """The largest difference that counts as none."""
    return 0.0 if want.dtype.kind in "biu" else max(tolerance, _MIN_TOLERANCE.get(dtype, 0.0)) * scale


def distances(ours: AnyArray, want: AnyArray) -> tuple[AnyArray, float]:
    """How far elements are apart (NaN equals NaN, and infinities are exact), and the largest finite magnitude."""
    if want.dtype.kind in "biu":
        # Two's complement would wrap: compare exactly first.
        distance = np.abs(ours.astype(np.float64) - want.astype(np.float64))
        distance = np.where(ours != want, np.maximum(distance, 1.0), 0.0)
        return distance, max(float(np.abs(want.astype(np.float64)).max()) if want.size else 1.0, 1.0)
    a, b = ours.astype(np.float64), want.astype(np.float64)
    with np.errstate(invalid="ignore"):
        distance = np.abs(a - b)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    distance = np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance))
    finite = np.abs(b[np.isfinite(b)])
    return distance, (float(finite.max()) if finite.size else 0.0) or 1.0


def root_mean_square(array: AnyArray) -> float:
    """That of the elements; 0 where there are none."""
    return float(np.sqrt(np.mean(np.square(array, dtype=np.float64)))) if array.size else 0.0


__all__ = [
    "TensorComparison",
    "as_openvino_array",
    "compare_results",
    "compare_tensor",
    "distances",
    "limit_of",
    "root_mean_square",
]
