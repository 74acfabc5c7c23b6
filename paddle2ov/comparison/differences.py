"""How far results are apart: NaN equals NaN, infinities are exact, integers must be equal.

`distances` is the one place that says so; `verify`, `check` and `paddle2ov.testing` decide by it, each within limits of
its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from openvino import Type

from paddle2ov.compilation.running import Result
from paddle2ov.graph.types import OV_TYPES, as_pairs, bits_to_values
from paddle2ov.typing import AnyArray

LEAST_TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float8_e4m3fn": 0.2, "float8_e5m2": 0.4}
"""Least tolerance of a narrow type: a few units in its last place."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What Paddle recorded of one result.

    Attributes:
        name: the result's name, or the variable's inside the program.
        dtype: Paddle's data type.
        array: the values; those of bfloat16 are its bits, as unsigned integers.
        lengths: of the sequences in it (LoD), int64 [count]; None if it holds none.
    """

    name: str
    dtype: str
    array: AnyArray
    lengths: AnyArray | None = None


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
        comparable: whether there are distances: not where a type or a shape differs, or one side has no such result.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    absolute: float
    relative: float
    wrong: int
    elements: int
    reason: str = ""
    comparable: bool = True

    @property
    def ok(self) -> bool:
        """Whether type and shape are the same and every element is within the tolerance."""
        return not self.reason


def compare_tensor(result: Result, expected: Expected, tolerance: float) -> TensorComparison:
    """Compares one tensor: types and shapes exactly, integers and bools exactly, floats within the tolerance.

    The tolerance is relative to the tensor's largest value: a network's small values carry the rounding of its large
    ones.
    """
    return compare_within(result, expected, limit_of(expected.dtype, as_openvino_array(expected), tolerance))


def compare_within(result: Result, expected: Expected, limit: AnyArray | float) -> TensorComparison:
    """Compares as `compare_tensor` does; floats may differ by `limit`."""
    want, wanted_kind = as_openvino_array(expected), OV_TYPES.get(expected.dtype)
    if wanted_kind is None or result.kind != wanted_kind.get_type_name():
        return _incomparable(expected, f"type {result.kind} in OpenVINO, {expected.dtype} in Paddle")
    if result.array.shape != want.shape:
        shapes = f"shape {list(result.array.shape)} in OpenVINO, {list(want.shape)} in Paddle"
        return _incomparable(expected, shapes)
    distance = distances(result.array, want)
    wrong, worst = beyond(distance, limit if want.dtype.kind not in "biu" else 0.0)
    absolute, reason = float(distance.max(initial=0.0)), ""
    if wrong:
        reason = (
            f"{wrong} of {want.size} elements; the worst at {list(worst)}: "
            f"OpenVINO {result.array[worst].item()!r}, Paddle {want[worst].item()!r}"
        )
    relative = absolute / scale_of(want)
    return TensorComparison(
        expected.name, expected.dtype, tuple(expected.array.shape), absolute, relative, wrong, want.size, reason
    )


def compare_results(
    results: Sequence[Result], expected: Sequence[Expected], tolerance: float, error: str = ""
) -> tuple[TensorComparison, ...]:
    """Compares a model's results in order; `error` is why OpenVINO has none, if it has none."""
    missing = f"OpenVINO does not run these inputs: {error}" if error else "not there in OpenVINO"
    pairs = zip(results, expected, strict=False)
    compared = [compare_tensor(result, want, tolerance) for result, want in pairs]
    return (*compared, *(_incomparable(want, missing) for want in expected[len(results) :]))


def _incomparable(expected: Expected, reason: str) -> TensorComparison:
    shape, size = tuple(expected.array.shape), as_openvino_array(expected).size
    return TensorComparison(
        expected.name, expected.dtype, shape, math.inf, math.inf, size, size, reason, comparable=False
    )


def as_openvino_array(expected: Expected) -> AnyArray:
    """Paddle's array as OpenVINO has it: bfloat16 as float32, complex numbers as pairs."""
    array = expected.array
    if expected.dtype == "bfloat16" and array.dtype == np.uint16:
        return bits_to_values(array, Type.bf16)
    return as_pairs(array)


def distances(ours: AnyArray, want: AnyArray) -> AnyArray:
    """How far elements are apart: infinitely where only one is finite or NaN; unequal integers by 1 at least."""
    a, b = ours.astype(np.float64), want.astype(np.float64)
    with np.errstate(invalid="ignore"):
        distance = np.abs(a - b)
    if want.dtype.kind in "biu":  # as float64, large integers may be equal that are not
        return np.where(ours != want, np.maximum(distance, 1.0), 0.0)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    return np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance))


def beyond(distance: AnyArray, limit: AnyArray | float) -> tuple[int, tuple[int, ...]]:
    """How many elements are further apart than the limit, and the index of the worst of them, if any."""
    is_wrong = distance > limit
    wrong = int(is_wrong.sum())
    index = np.unravel_index(int(np.argmax(np.where(is_wrong, distance, -1.0))), distance.shape) if wrong else ()
    return wrong, tuple(int(i) for i in index)


def largest_magnitude(array: AnyArray) -> float:
    """That of the finite elements; 0 where there are none."""
    return float(np.abs(array[np.isfinite(array)].astype(np.float64)).max(initial=0.0))


def scale_of(array: AnyArray) -> float:
    """What differences are relative to: the largest magnitude, 1 where that is 0."""
    return largest_magnitude(array) or 1.0


def limit_of(dtype: str, want: AnyArray, tolerance: float) -> float:
    """The largest difference that counts as none: integers must be equal, narrow types have a least tolerance."""
    return 0.0 if want.dtype.kind in "biu" else max(tolerance, LEAST_TOLERANCE.get(dtype, 0.0)) * scale_of(want)


def root_mean_square(array: AnyArray) -> float:
    """That of the elements; 0 where there are none."""
    return float(np.sqrt(np.mean(np.square(array, dtype=np.float64)))) if array.size else 0.0
