"""What a report holds, as types. `Report.to_dict()` is its JSON, described in docs/report.md."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from paddle2ov.errors import Refusal
from paddle2ov.quantization.layers import Layer
from paddle2ov.report import ConversionReport, plain_data
from paddle2ov.verification.results import Verification

SCHEMA = "paddle2ov-report/1"
"""Name and version of the JSON: the number changes when a field changes its meaning or goes, not when one is added."""

FATES = {
    "primitive": "runs as a primitive of its own",
    "fused": "runs inside another operator's primitive",
    "merged": "merged with others by OpenVINO, which does not say where",
    "folded": "computed by OpenVINO as it compiles: it depends on constants only",
    "removed": "removed by OpenVINO: it moves no data, or changes nothing",
    "converted": "left no node: known at conversion, passed through, or absorbed by a neighbour",
    "inner": "runs inside a branch or a loop",
    "unused": "no result needs it",
    "refused": "stopped the conversion",
    "unknown": "the model was not compiled",
}
"""What became of an operator (`ReportedOperator.fate`) -> in words."""


@dataclass(frozen=True, slots=True)
class ReportedTensor:
    """An input or result of the model.

    Attributes:
        name: its name.
        dtype: its element type in OpenVINO.
        shape: its shape as text, with "?" where a dimension is dynamic.
        variable: the program's variable that it is.
    """

    name: str
    dtype: str
    shape: str
    variable: str


@dataclass(slots=True)
class ReportedOperator:
    """An operator of the Paddle program.

    Attributes:
        id: its position among all operators, those of branches and loops after the one that owns them.
        type: the registry's key.
        block: the block that it stands in.
        index: its position there.
        owner: the operator whose branch or loop it is part of, or None.
        inputs: the variables that it reads.
        outputs: the variables that it writes.
        attributes: name -> value in a few characters.
        constant: whether it depends on none of the model's inputs.
        source: the frames of the model's Python source that made it, where the program carries them.
        module: the modules of the source that it stands in, the outermost first, where the program tells them.
        fate: what became of it, one of `FATES`.
        primitives: the primitives that compute it.
        microseconds: how long those run whose first operator it is; None if it has none or nothing was measured.
        difference: the largest relative difference of its results to Paddle's; None where it was not compared. Infinite
            (null in JSON) where type or shape differ.
        agrees: whether its results are those of Paddle; None where it was not compared.
    """

    id: int
    type: str
    block: int
    index: int
    owner: int | None
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, str]
    source: tuple[str, ...]
    module: tuple[str, ...] = ()
    constant: bool = False
    fate: str = "unknown"
    primitives: list[int] = field(default_factory=list)
    microseconds: float | None = None
    difference: float | None = None
    agrees: bool | None = None


@dataclass(frozen=True, slots=True)
class PrimitiveNode:
    """A node of the converted model that a primitive computes.

    Attributes:
        name: its friendly name.
        type: its OpenVINO type.
        operator: the operator that it comes from, or None; of several the one that matters most.
        operators: all operators that it comes from: a rewrite may put one node in the place of several.
        inferred: whether its primitive or its operator was inferred from its neighbours: OpenVINO lists it for no
            primitive, or its name belongs to no operator.
    """

    name: str
    type: str
    operator: int | None
    operators: tuple[int, ...]
    inferred: bool = False


@dataclass(slots=True)
class Primitive:
    """A node of the compiled graph.

    Attributes:
        id: its position in the order of execution.
        name: OpenVINO's name for it.
        layer: its kind in the CPU plugin: "Convolution", "FullyConnected", "Reorder", "Subgraph" and so on.
        kernel: the implementation: "brgconv_avx2_1x1_f32", "jit_avx2_dw_f32", "ref_any_i32" and so on.
        precision: what it computes in.
        layout: the memory layout of its results.
        microseconds: mean time of a run; None if it did not run or was not measured.
        nodes: what it computes, in the order of the model.
        operators: the operators that these come from, in the order of the program.
        operator: the main one; None for inputs, results and OpenVINO's own changes of layout. Where none of the model's
            nodes is in it, it belongs to the operator that reads it.
        chain: the types of its nodes, the main one first: "Convolution", "Add", "Relu".
        inputs: the primitives that it reads.
    """

    id: int
    name: str
    layer: str
    kernel: str
    precision: str
    layout: str
    microseconds: float | None = None
    nodes: list[PrimitiveNode] = field(default_factory=list)
    operators: list[int] = field(default_factory=list)
    operator: int | None = None
    chain: list[str] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)


@dataclass(slots=True)
class CompiledReport:
    """The model as OpenVINO's CPU plugin compiled and ran it.

    Attributes:
        device: the processor's name.
        threads: how many it computes with.
        precision: the inference precision that it was compiled for.
        compile_seconds: how long compiling took.
        inputs: the shapes of the generated inputs by name.
        runs: how many runs the times are taken from, after one or two that do not count.
        milliseconds: the median time of a run, with the counters on; None if it could not be run.
        primitives: the nodes of the compiled graph in the order of execution, constants aside.
        layers: where the model is quantized, what its layers run in, and why some stay in floating point.
    """

    device: str
    threads: int
    precision: str
    compile_seconds: float
    inputs: dict[str, tuple[int, ...]] = field(default_factory=dict)
    runs: int = 0
    milliseconds: float | None = None
    primitives: list[Primitive] = field(default_factory=list)
    layers: list[Layer] = field(default_factory=list)

    def fusions(self) -> list[tuple[str, str, int, float]]:
        """Chains of nodes fused into one primitive: (layer, chain, count, microseconds in all), most frequent first."""
        counts: Counter[tuple[str, str]] = Counter()
        times: defaultdict[tuple[str, str], float] = defaultdict(float)
        for primitive in self.primitives:
            if len(primitive.chain) > 1:
                key = primitive.layer, " + ".join(primitive.chain)
                counts[key] += 1
                times[key] += primitive.microseconds or 0.0
        return [(*key, count, times[key]) for key, count in counts.most_common()]


@dataclass(slots=True)
class Report:
    """Everything about a model: what it is made of, how it was converted, compiled and verified.

    Attributes:
        model: the model's name.
        paddle2ov: the version that converted it.
        openvino: OpenVINO's version.
        format: "pir" or "legacy".
        inputs: the model's inputs.
        outputs: the model's results.
        parameters: the number of weights.
        parameter_bytes: their size.
        operators: the operators of the program.
        modules: where their modules come from: "layers", "call stack", "names", or "" where the program has none.
        conversion: what the conversion did; None where it was refused.
        refusals: the operators that it was refused for, and why.
        compiled: the compiled model; None where it was not compiled.
        verification: how it compares with Paddle; None where that was not asked for.
        notes: remarks, such as why the model could not be run.
    """

    model: str
    paddle2ov: str
    openvino: str
    format: str
    inputs: list[ReportedTensor] = field(default_factory=list)
    outputs: list[ReportedTensor] = field(default_factory=list)
    parameters: int = 0
    parameter_bytes: int = 0
    operators: list[ReportedOperator] = field(default_factory=list)
    modules: str = ""
    conversion: ConversionReport | None = None
    refusals: list[Refusal] = field(default_factory=list)
    compiled: CompiledReport | None = None
    verification: Verification | None = None
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON; infinite numbers are null."""
        return {"schema": SCHEMA, **plain_data(self)}
