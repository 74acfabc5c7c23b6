"""Whether the results of a simulated quantization differ only where a number lies half-way between two steps.

Each side must have rounded what it read to the nearest step. Both may still differ: what they read differs by rounding,
and x / scale · 127 is rounded in another order. `STEP_CHECKS` holds a function for each operator, which returns None
where the values do not show that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from paddle2ov.comparison.differences import scale_of
from paddle2ov.typing import AnyArray
from paddle2ov.verification.orders import ObservedOperator, Reordering

_SLACK = 1e-5
"""Of the highest step: how far the rounding of x / scale · 127 in float32 moves a number, and more."""


def _quantized(
    seen: ObservedOperator, scale: str = "", *, axis: int | None = None, out: str = "out", back: bool = False
) -> Reordering | None:
    """`out` holds the steps of x / scale, or with `back` their values; without a scale it is the largest magnitude."""
    x, results = seen.read("x"), seen.wrote(out)
    scales = seen.read(scale) if scale else None
    if x is None or results is None or (scale and scales is None) or x[0].shape != results[0].shape:
        return None
    high = seen.number("qmax", 2 ** (seen.number("bit_length", 8) - 1) - 1)
    numbers, steps = list[AnyArray](), list[AnyArray]()
    for side in range(2):
        values = x[side].astype(np.float64)
        size = _broadcast(
            _largest(values, axis) if scales is None else scales[side].astype(np.float64), axis, x[0].ndim
        )
        if size is None or not (size > 0).all():
            return None
        numbers.append(np.clip(values * high / size, -high - 1, high))
        steps.append(results[side] * high / size if back else results[side].astype(np.float64))
    slack, apart = _SLACK * high, np.abs(steps[0] - steps[1])
    moved = apart > 0.5
    errors = [np.abs(step - number)[moved] for step, number in zip(steps, numbers, strict=True)]
    if not (apart[~moved] <= slack).all() or not all((error <= 0.5 + slack).all() for error in errors):
        return None  # so it is where something is not finite
    gap = np.abs(x[0].astype(np.float64) - x[1])[moved].max(initial=0.0) / scale_of(x[0])
    return Reordering(int(moved.sum()), moved.size, float(gap))


def _largest(x: AnyArray, axis: int | None) -> AnyArray:
    others = tuple(i for i in range(x.ndim) if i != axis)
    return np.asarray(np.abs(x).max(others, initial=0.0))


def _broadcast(scale: AnyArray, axis: int | None, rank: int) -> AnyArray | None:
    """A scale, or one for each element along an axis, in the shape that broadcasts with x."""
    if scale.size == 1 or axis is None:
        return scale.reshape(()) if scale.size == 1 else None
    return scale.reshape([-1 if i == axis else 1 for i in range(rank)])


def _linear(seen: ObservedOperator) -> Reordering | None:
    axis = seen.number("quant_axis", 0)
    return _quantized(seen, "scale", axis=axis if axis >= 0 else None, out="y")


def _by_channel(seen: ObservedOperator) -> Reordering | None:
    return _quantized(seen, axis=seen.number("quant_axis", 0), back=True)


STEP_CHECKS: dict[str, Callable[[ObservedOperator], Reordering | None]] = {
    "fake_channel_wise_quantize_dequantize_abs_max": _by_channel,
    "fake_quantize_abs_max": _quantized,
    "fake_quantize_dequantize_abs_max": partial(_quantized, back=True),
    "fake_quantize_dequantize_moving_average_abs_max": partial(_quantized, scale="in_scale", back=True),
    "fake_quantize_moving_average_abs_max": partial(_quantized, scale="in_scale"),
    "fake_quantize_range_abs_max": partial(_quantized, scale="in_scale"),
    "quantize_linear": _linear,
}
