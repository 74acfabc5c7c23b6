"""What `quantize` returns: the quantized model, beside what the other precisions of this processor cost and gain."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import openvino

from paddle2ov.quantization.layers import Layer

_SLOWER = 1.1
"""From this ratio of times on, one model counts as slower than another."""


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
        precisions: those of this processor, float32 first, the quantized model last.
        layers: how this processor runs the layers of the quantized model.
        has_integer_kernels: whether this processor has fast ones (VNNI, AMX, or those of ARM); without, int8 is rarely
            worth it.
    """

    model: openvino.Model
    measure: str
    meaning: str
    precisions: list[MeasuredPrecision] = field(default_factory=list)
    layers: list[Layer] = field(default_factory=list)
    has_integer_kernels: bool = True

    @property
    def advice(self) -> str:
        """What to choose here, in a sentence."""
        last, others = self.precisions[-1], self.precisions[:-1]
        best = min(others, key=lambda one: one.milliseconds)
        if not self.has_integer_kernels:
            return f"this processor has no fast kernels for int8: take {best.name}, and int8 on one that has them"
        if last.milliseconds >= best.milliseconds:
            if last.milliseconds < _SLOWER * best.milliseconds:
                return f"{best.name} is as fast as int8 here, and nearer to float32: take {best.name}"
            times = f"{last.milliseconds:.3g} ms beside {best.milliseconds:.3g}"
            return f"int8 is slower than {best.name} here ({times}), as in small models: take {best.name}"
        faster = others[0].milliseconds / last.milliseconds
        lost = f"for {1 - last.agreement:.2%} less agreement with it"
        return f"int8 is {faster:.1f} times as fast as float32 here, {lost} ({self.meaning})"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON; without the model."""
        found = {name: getattr(self, name) for name in ("measure", "meaning", "has_integer_kernels", "advice")}
        return {
            **found,
            "precisions": [asdict(one) for one in self.precisions],
            "layers": [asdict(one) for one in self.layers],
        }


__all__ = ["MeasuredPrecision", "Quantized"]
