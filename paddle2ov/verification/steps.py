"""Whether the results of a simulated quantization differ only where a number lies half-way between two steps.

Each side must have rounded what it read to the nearest step. Both may still differ: what they read differs by rounding,
and x / scale · 127 is rounded in another order. `STEP_CHECKS` holds a function for each operator, which returns None
where the values do not show that; the trait of its row decides which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from paddle2ov.comparison.differences import scale_of
from paddle2ov.program.traits import with_trait
from paddle2ov.typing import AnyArray
from paddle2ov.verification.orders import ObservedOperator, Reordering

_SLACK = 2e-6
"""Of the highest step: how far the rounding of x / scale · 127 in float32 moves a number, and more."""


def _nearest_steps(seen: ObservedOperator, by_channel: bool) -> Reordering | None:
    """The result holds the steps of x / scale, or their values; without a scale it is the largest magnitude."""
    operator = seen.operator
    scale = next((port for port in ("in_scale", "scale") if operator.inputs.get(port)), "")
    x, results = seen.read("x"), seen.wrote("out") or seen.wrote("y")
    scales = seen.read(scale) if scale else None
    if x is None or results is None or (scale and scales is None) or x[0].shape != results[0].shape:
        return None
    quant_axis = seen.number("quant_axis", 0) if by_channel else -1
    axis, back = quant_axis if quant_axis >= 0 else None, "dequantize" in operator.type
    high = seen.number("qmax", 2 ** (seen.number("bit_length", 8) - 1) - 1)
    numbers, steps = list[AnyArray](), list[AnyArray]()
    for side in range(2):
        values = x[side].astype(np.float64)
        others = tuple(i for i in range(values.ndim) if i != axis)
        given = np.abs(values).max(others, initial=0.0) if scales is None else scales[side].astype(np.float64)
        size = _broadcast(given, axis, values.shape)
        if size is None or not ((size > 0) & np.isfinite(size)).all():
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


def _broadcast(scale: AnyArray, axis: int | None, shape: Sequence[int]) -> AnyArray | None:
    """A scale, or one for each element along an axis, so that it broadcasts with x; None for another number of them."""
    if scale.size == 1:
        return scale.reshape(())
    if axis is None or scale.size != shape[axis]:
        return None
    return scale.reshape([-1 if i == axis else 1 for i in range(len(shape))])


_CHECKS: dict[str, Callable[[ObservedOperator], Reordering | None]] = {
    "rounds channels to steps": partial(_nearest_steps, by_channel=True),
    "rounds to steps": partial(_nearest_steps, by_channel=False),
}
STEP_CHECKS = {key: check for trait, check in _CHECKS.items() for key in with_trait(trait)}
