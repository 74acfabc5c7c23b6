"""What `quantize` returns: the quantized model, beside what the other precisions of this processor cost and gain."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import openvino

from paddle2ov.quantization.layers import Layer, is_quantized
from paddle2ov.report import plain_data

_SLOWER = 1.1
"""From this ratio of times on, one model counts as slower than another."""
_MAX_LOST = 0.1
"""A model that loses more agreement is not advised."""
_MIN_ITEMS = 10
"""Fewer do not show the ranges of activations."""


@dataclass(frozen=True, slots=True)
class MeasuredPrecision:
    """What one precision costs and gains on this machine.

    Attributes:
        name: "f32", "bf16", "f16" or "int8".
        agreement: with the results in float32, in the measure; 1 where they mean the same.
        milliseconds: for one item, the median over some.
    """

    name: str
    agreement: float
    milliseconds: float


@dataclass(slots=True)
class Quantized:
    """What `quantize` returns.

    Attributes:
        model: the quantized model.
        measure: what agreement is measured in: "labels", "text", "regions", "boxes" or "results".
        meaning: the same in words.
        max_drop: how much agreement was to be lost at most, where that was asked for.
        precisions: those of this processor, float32 first, the quantized model last.
        layers: how this processor runs the layers of the quantized model.
        calibrated_with: the number of items; None where weights alone are quantized, which needs none.
        is_measured_on_calibration: whether agreement was measured on what the model was calibrated with, as there was
            little else, and may be less on other data.
        was_quantized: whether the program is quantized already; what is called f32 runs in int8 then.
        unreadable: the pictures that were left out as they cannot be read, with the reasons.
        has_integer_kernels: whether this processor has fast ones (VNNI, AMX, or those of ARM); without, int8 is rarely
            worth it.
    """

    model: openvino.Model
    measure: str
    meaning: str
    max_drop: float | None = None
    precisions: list[MeasuredPrecision] = field(default_factory=list)
    layers: list[Layer] = field(default_factory=list)
    calibrated_with: int | None = None
    is_measured_on_calibration: bool = False
    was_quantized: bool = False
    has_integer_kernels: bool = True
    unreadable: dict[str, str] = field(default_factory=dict)

    @property
    def lost(self) -> float:
        """How much less than the results in float32 those of the quantized model agree with them."""
        return max(0.0, 1.0 - self.precisions[-1].agreement)

    @property
    def loses_too_much(self) -> bool:
        """Whether that is more than `max_drop`: NNCF ends where no layer is left that could go back."""
        return self.max_drop is not None and self.lost > self.max_drop

    @property
    def has_few_items(self) -> bool:
        """Whether they are too few to calibrate with."""
        return self.calibrated_with is not None and self.calibrated_with < _MIN_ITEMS

    @property
    def advice(self) -> str:
        """What to choose here, in a sentence or two."""
        last, others = self.precisions[-1], self.precisions[:-1]
        best = min(others, key=lambda precision: precision.milliseconds)
        name = "int8" if last.name == "int8" else f"a model with {last.name}"
        if self.was_quantized:
            return "the model is quantized already, and runs in int8 as `paddle2ov convert` makes it: take that"
        if self.max_drop is not None and not is_quantized(self.model):
            return f"every layer went back to floating point, as more than {self.max_drop:g} is lost: take {best.name}"
        if self.lost > _MAX_LOST:
            more = ". Calibrate with some hundred items" if self.has_few_items else ""
            return f"{name} loses {self.lost:.2%} of the agreement: take {best.name}{more}"
        if not self.has_integer_kernels and last.name == "int8":
            chosen = f"this processor has no fast kernels for int8: take {best.name}, and int8 on one that has them"
            if last.milliseconds < best.milliseconds:
                chosen += ". The time of int8 does not count: its sums overflow at 16 bits here"
            return chosen
        if last.milliseconds >= best.milliseconds:
            if last.milliseconds < _SLOWER * best.milliseconds:
                return f"{best.name} is as fast as {name} here, and nearer to float32: take {best.name}"
            times = f"{last.milliseconds:.3g} ms beside {best.milliseconds:.3g}"
            return f"{name} is slower than {best.name} here ({times}), as in small models: take {best.name}"
        faster = others[0].milliseconds / last.milliseconds
        lost = f"for {1 - last.agreement:.2%} less agreement with it"
        return f"{name} is {faster:.1f} times as fast as float32 here, {lost} ({self.meaning})"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON; without the model."""
        return plain_data(self, "lost", "loses_too_much", "advice", without=("model",))
