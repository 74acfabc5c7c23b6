"""A compiled model as the predictors of a program share it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import openvino

from paddle2ov.inference.renewed_model import RenewedModel
from paddle2ov.inference.request import by_name, input_ports

Shapes: TypeAlias = Mapping[str, Sequence[int]]
"""The shapes of inputs, by their names."""


class SharedModel(RenewedModel):
    """A compiled model that several predictors share, and how many spare ones they may have beside them."""

    def __init__(self, compiled: openvino.CompiledModel, device: str, properties: dict[str, Any]) -> None:
        super().__init__(compiled, device, properties)
        self.inputs = by_name(input_ports(compiled))
        wanted = int(properties.get("PERFORMANCE_HINT_NUM_REQUESTS") or 0)
        # One more than are computed at once is filled or read meanwhile.
        self.spare_bound = wanted or _number(compiled, "OPTIMAL_NUMBER_OF_INFER_REQUESTS", 1) + 1
        # OpenVINO 2026.4 loses what `infer` raises in a stream of one thread; what `wait` raises it does not.
        limits = [_number(compiled, name, 0) for name in ("NUM_STREAMS", "INFERENCE_NUM_THREADS")]
        self.drops_errors = limits == [1, 1] or device.startswith("HETERO")  # which does not tell

    def unfit(self, shapes: Shapes) -> list[str]:
        """The inputs that do not take these shapes."""
        return [name for name, shape in shapes.items() if not self.inputs[name].takes(tuple(shape))]


def _number(compiled: openvino.CompiledModel, name: str, default: int) -> int:
    """A property that is a number, which not every device has."""
    try:
        return int(compiled.get_property(name))
    except RuntimeError:
        return default
