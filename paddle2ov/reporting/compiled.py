"""Compiles and runs a converted model on the CPU: which primitives compute each operator, and how long they take."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any

from openvino import CompiledModel, Model

from paddle2ov.compilation.running import as_tensor
from paddle2ov.compilation.runtime_info import runtime_info
from paddle2ov.graph.core import compile_on, shared_core
from paddle2ov.program.sources import check_mapped
from paddle2ov.quantization.layers import is_quantized, layers_of
from paddle2ov.reporting.contents import CompiledReport, ReportedOperator
from paddle2ov.reporting.memory_limit import bounded_memory
from paddle2ov.reporting.origins import trace
from paddle2ov.reporting.primitives import fill_fates, primitives_of
from paddle2ov.typing import AnyArray

_SECONDS = 1.5
_MAX_RUNS = 40

Inputs = Mapping[str, AnyArray]


def compile_report(
    model: Model,
    operators: Sequence[ReportedOperator],
    inputs: Inputs,
    config: Mapping[str, Any] | None = None,
    origins: Mapping[str, tuple[int, ...]] | None = None,
) -> CompiledReport:
    """Compiles a model for the CPU, runs it, and finds the primitives that compute each operator.

    Operators get their `fate`, `primitives` and `microseconds`. Without inputs, nothing runs.

    Raises:
        ModelReadError: the model's weights are mapped from a file that has changed.
        RuntimeError: OpenVINO cannot compile or run the model, also for want of memory.
    """
    check_mapped(model)
    started = time.perf_counter()
    settings = {"PERFORMANCE_HINT": "LATENCY", **(config or {}), "PERF_COUNT": True}
    compiled = compile_on("CPU", model, settings)
    report = CompiledReport(
        str(shared_core().get_property("CPU", "FULL_DEVICE_NAME")).strip(),
        int(compiled.get_property("INFERENCE_NUM_THREADS")),
        str(compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name()),
        time.perf_counter() - started,
    )
    times: dict[str, float] = {}
    if inputs or not model.inputs:
        report.inputs = {name: tuple(array.shape) for name, array in inputs.items()}
        with bounded_memory():
            times, report.runs, report.milliseconds = _measure(compiled, inputs)
    traced = trace(model, {name: operator.id for operator in operators for name in operator.outputs}, origins)
    report.primitives = primitives_of(compiled, traced, times)
    fill_fates(operators, traced, report.primitives)
    if is_quantized(model):
        report.layers = layers_of(compiled, model)
    return report


def _measure(compiled: CompiledModel, inputs: Inputs) -> tuple[dict[str, float], int, float]:
    """Mean microseconds of each primitive by name, the number of timed runs, and the median milliseconds of a run."""
    request = compiled.create_infer_request()
    for port in compiled.inputs:
        name = next(name for name in port.get_names() if name in inputs)
        request.set_tensor(port, as_tensor(inputs[name], port.get_element_type()))

    def run() -> float:
        started = time.perf_counter()
        request.infer()
        return time.perf_counter() - started

    warming = [run()]
    if warming[0] < _SECONDS:
        warming.append(run())
    before = _counters(compiled)
    taken = [run()]
    while sum(taken) + taken[-1] < _SECONDS and len(taken) < _MAX_RUNS:
        taken.append(run())
    # A counter is the mean of all runs so far, the slow first ones included: what the later ones took is the difference
    # of the sums.
    ran, all_runs = len(taken), len(taken) + len(warming)
    times = {
        name: max(0.0, (mean * all_runs - before.get(name, 0.0) * len(warming)) / ran)
        for name, mean in _counters(compiled).items()
    }
    return times, ran, 1e3 * statistics.median(taken)


def _counters(compiled: CompiledModel) -> dict[str, float]:
    times = {}
    for node in compiled.get_runtime_model().get_ops():
        value = runtime_info(node, "execTimeMcs")
        if value.isdigit():
            times[node.get_friendly_name()] = float(value)
    return times
