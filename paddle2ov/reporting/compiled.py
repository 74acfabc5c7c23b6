"""What the CPU plugin made of a converted model: which operators ended in which primitive, and how long each takes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import openvino
from openvino import CompiledModel, Model, Node

from paddle2ov.passes.sink_transposes import BINARY, UNARY
from paddle2ov.program.model import AnyArray
from paddle2ov.reporting.model import CompiledReport, Primitive, PrimitiveNode, ReportedOperator
from paddle2ov.reporting.origins import Origins, prefixes, trace
from paddle2ov.reporting.program import writers
from paddle2ov.testing import as_tensor

_SECONDS = 1.5
_MOST_RUNS = 40
_NO_PRIMITIVE = ("Const", "Input", "Output")
_HEAVY = frozenset(
    ("Convolution", "GroupConvolution", "ConvolutionBackpropData", "GroupConvolutionBackpropData", "MatMul")
)
_OWN = (*_NO_PRIMITIVE, "Reorder")
_FUSED = _HEAVY | {*BINARY, *UNARY}
"""What a primitive computes together with others, so that its name may get lost."""

Inputs = Mapping[str, AnyArray]


def compile_report(
    model: Model,
    operators: Sequence[ReportedOperator],
    inputs: Inputs,
    config: Mapping[str, Any] | None = None,
) -> CompiledReport:
    """Compiles a model for the CPU, runs it, and says what each operator became.

    Args:
        model: the converted model, or one read back from its IR.
        operators: those of the program, see `listed`; their `fate`, `primitives` and `microseconds` are filled in.
        inputs: arrays by the names of the model's inputs, to measure with. Without any, nothing runs.
        config: further properties for the compilation.

    Raises:
        RuntimeError: OpenVINO cannot compile or run the model.
    """
    started = time.perf_counter()
    settings = {"PERFORMANCE_HINT": "LATENCY", **(config or {}), "PERF_COUNT": True}
    compiled = openvino.Core().compile_model(model, "CPU", settings)
    report = CompiledReport(
        str(openvino.Core().get_property("CPU", "FULL_DEVICE_NAME")).strip(),
        int(compiled.get_property("INFERENCE_NUM_THREADS")),
        str(compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name()),
        time.perf_counter() - started,
    )
    times: dict[str, float] = {}
    if inputs or not model.inputs:
        report.inputs = {name: tuple(array.shape) for name, array in inputs.items()}
        times, report.runs, report.milliseconds = _measure(compiled, inputs)
    origins = trace(model, writers(operators))
    report.primitives = _primitives(compiled, origins, times)
    _settle(operators, origins, report.primitives)
    return report


def _measure(compiled: CompiledModel, inputs: Inputs) -> tuple[dict[str, float], int, float]:
    """Mean microseconds of every primitive by name, how many runs they are from, and the median of a run."""
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
    while sum(taken) + taken[-1] < _SECONDS and len(taken) < _MOST_RUNS:
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
    found = {}
    for node in compiled.get_runtime_model().get_ops():
        value = _info(node, "execTimeMcs")
        if value.isdigit():
            found[node.get_friendly_name()] = float(value)
    return found


def _info(node: Node, key: str) -> str:
    info = node.get_rt_info()
    return str(info[key].astype(str)) if key in info else ""


def _primitives(compiled: CompiledModel, origins: Origins, times: Mapping[str, float]) -> list[Primitive]:
    ordered = compiled.get_runtime_model().get_ordered_ops()
    ordered.sort(key=lambda node: int(_info(node, "execOrder") or 0))
    constant: set[str] = set()
    kept: list[Node] = []
    for node in compiled.get_runtime_model().get_ordered_ops():
        sources = [value.get_node().get_friendly_name() for value in node.input_values()]
        if _info(node, "layerType") == "Const" or (sources and all(name in constant for name in sources)):
            constant.add(node.get_friendly_name())  # OpenVINO runs such nodes once, as it compiles
    kept = [node for node in ordered if node.get_friendly_name() not in constant]
    place = {node.get_friendly_name(): i for i, node in enumerate(kept)}
    found: list[Primitive] = []
    located: dict[int, int] = {}
    for i, node in enumerate(kept):
        sources = [value.get_node().get_friendly_name() for value in node.input_values()]
        name = node.get_friendly_name()
        one = Primitive(
            i,
            name,
            _info(node, "layerType"),
            _info(node, "primitiveType"),
            _info(node, "runtimePrecision"),
            _info(node, "outputLayouts"),
            times.get(name),
            inputs=sorted({place[source] for source in sources if source in place}),
        )
        found.append(one)
        if one.layer in _NO_PRIMITIVE:
            continue
        for original in origins.split(_info(node, "originalLayersNames")):
            for k in origins.find(original):
                located.setdefault(k, i)
    inferred = _infer(origins, located)
    for k, i in sorted({**located, **inferred}.items()):
        node_ = origins.nodes[k]
        found[i].nodes.append(PrimitiveNode(node_.name, node_.type, node_.operator, k in inferred))
    for one in found:
        _name_operators(one)
    _adopt(found)
    return found


def _infer(origins: Origins, located: Mapping[int, int]) -> dict[int, int]:
    """Where nodes are that compute but are not named by any primitive: fused by a pass that forgets the names.

    A node is in the primitive that all of its readers are in, or else in the one that all of its sources are in.
    """
    nodes = origins.nodes
    lost = [k for k, node in enumerate(nodes) if k not in located and node.varies and node.computes]
    lost = [k for k in lost if nodes[k].type in _FUSED]
    found: dict[int, int] = {}
    readers: dict[int, set[int]] = {}
    for k, node in enumerate(nodes):
        for source in node.sources:
            readers.setdefault(source, set()).add(k)

    def where(k: int) -> int | None:
        return located.get(k, found.get(k))

    for k in reversed(lost):
        places = {where(reader) for reader in readers.get(k, ())}
        if len(places) == 1 and (place := places.pop()) is not None:
            found[k] = place
    for k in lost:
        places = {where(source) for source in nodes[k].sources if nodes[source].varies}
        if k not in found and len(places) == 1 and (place := places.pop()) is not None:
            found[k] = place
    return found


def _name_operators(one: Primitive) -> None:
    named = [node for node in one.nodes if any(prefix == node.name for prefix in prefixes(one.name))]
    heavy = [node for node in one.nodes if node.type in _HEAVY]
    main = next(iter(heavy or named or one.nodes), None)
    one.operators = sorted({node.operator for node in one.nodes if node.operator is not None})
    if main is None:
        return
    one.operator = main.operator
    if one.layer == "Subgraph":  # compiled from its nodes; none of them is the main one
        one.chain = [node.type for node in one.nodes]
    else:
        one.chain = [main.type, *(node.type for node in one.nodes if node is not main)]


def _adopt(primitives: Sequence[Primitive]) -> None:
    """Gives primitives that OpenVINO's transformations made, without any name of the model, to what reads them."""
    for one in reversed(primitives):
        for source in one.inputs:
            orphan = primitives[source]
            if orphan.operator is None and one.operator is not None and orphan.layer not in _OWN:
                orphan.operator, orphan.operators = one.operator, [one.operator]
    for one in primitives:
        if one.operator is None and one.layer not in _OWN:
            made_by = [primitives[source].operator for source in one.inputs]
            one.operator = next((operator for operator in made_by if operator is not None), None)
            one.operators = [] if one.operator is None else [one.operator]


def _settle(operators: Sequence[ReportedOperator], origins: Origins, primitives: Sequence[Primitive]) -> None:
    """Fills in what became of each operator."""
    nodes: dict[int, list[int]] = {}
    for k, node in enumerate(origins.nodes):
        if node.operator is not None:
            nodes.setdefault(node.operator, []).append(k)
    led: dict[int, list[Primitive]] = {}
    inside: dict[int, list[int]] = {}
    for one in primitives:
        if one.operator is not None:
            led.setdefault(one.operator, []).append(one)
        for number in one.operators:
            inside.setdefault(number, []).append(one.id)
    for operator in operators:
        operator.primitives = inside.get(operator.id, [])
        times = [one.microseconds for one in led.get(operator.id, ()) if one.microseconds is not None]
        operator.microseconds = float(np.sum(times)) if times else None
        mine = [origins.nodes[k] for k in nodes.get(operator.id, ())]
        if operator.fate == "unused":
            continue
        if operator.owner is not None:
            operator.fate = "inner"
        elif operator.id in led:
            operator.fate = "primitive"
        elif operator.id in inside:
            operator.fate = "fused"
        elif mine:
            operator.fate = "removed" if any(node.varies for node in mine) else "folded"
        else:
            operator.fate = "converted"


__all__ = ["Inputs", "compile_report"]
