"""How nearly a model computes what the converted one computes in float32, and how fast."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import cycle
from statistics import median
from typing import Any

import openvino
from openvino import CompiledModel

from paddle2ov.graph.core import compile_on, with_error_reporting
from paddle2ov.inputs.given_arrays import Inputs
from paddle2ov.program.settings import Settings
from paddle2ov.quantization.calibration import CalibrationData
from paddle2ov.quantization.results import MeasuredPrecision
from paddle2ov.typing import AnyArray
from paddle2ov.verification.measures import Results, measure_for

_RUNS = 9
"""How often each model is timed, on one item after the other."""


class Reference:
    """The results in float32 of some items, and the measure for what the model does.

    Those of the `chosen` items, by their index, are compared.

    Raises:
        RuntimeError: OpenVINO cannot run the model on an item.
    """

    def __init__(
        self, compiled: CompiledModel, items: CalibrationData, chosen: Sequence[int], settings: Settings | None
    ) -> None:
        self._items, self.chosen = items, list(chosen)
        self._results: dict[int, Results] = {i: _run(compiled, items.inputs(i)) for i in chosen}
        self.measure = measure_for(settings, self._results[chosen[0]])

    def agreement(self, compiled: CompiledModel, item: int) -> float:
        """That of a compiled model on one of the items, from 0 to 1; 1 where the results mean the same."""
        return self.measure.agreement(_run(compiled, self._items.inputs(item)), self._results[item])

    def measured(self, models: Mapping[str, CompiledModel]) -> list[MeasuredPrecision]:
        """Agreement and time of compiled models, by what their precision is called.

        They run in turn, so that what else the machine does slows down none of them alone.
        """
        means = {
            name: sum(self.agreement(compiled, item) for item in self._results) / len(self._results)
            for name, compiled in models.items()
        }
        times: dict[str, list[float]] = {name: [] for name in models}
        for _, item in zip(range(_RUNS), cycle(self._results)):
            inputs = self._items.inputs(item)
            for name, compiled in models.items():
                started = time.perf_counter()
                _run(compiled, inputs)
                times[name].append(time.perf_counter() - started)
        return [MeasuredPrecision(name, mean, median(times[name]) * 1e3) for name, mean in means.items()]


def compiled_in(model: openvino.Model, precision: str | None, config: Mapping[str, Any] | None = None) -> CompiledModel:
    """The model compiled for the CPU in a precision, or in what OpenVINO chooses (None)."""
    hint = {} if precision is None else {"INFERENCE_PRECISION_HINT": precision}
    return compile_on("CPU", model, with_error_reporting({**hint, **(config or {})}, "CPU"))


def _run(compiled: CompiledModel, inputs: Inputs) -> list[AnyArray]:
    results = compiled(inputs)
    return [results[port] for port in compiled.outputs]
