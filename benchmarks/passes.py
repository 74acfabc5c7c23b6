"""What the rewrites of paddle2ov/passes change in the graph that OpenVINO's CPU plugin runs, and how long it takes.

    python -m benchmarks.passes                        # all of the following
    python -m benchmarks.passes swin_tiny --runs 60 --json result.json
    python -m benchmarks.passes swin_tiny --batch 4    # or --dynamic: compiled without the shape
    python -m benchmarks.passes --only permutes        # what becomes of the transposes in detectors' heads
    python -m benchmarks.passes --only chains          # nodes of the chains that a oneDNN primitive can do in one
    python -m benchmarks.passes --only heads           # detectors' post-processing (as benchmarks/yolo_post.py)

Each network is converted with and without the rewrites and compiled in float32; both are run in turn, so that whatever
else the machine does hits both alike. Nodes that move data count if they take time (OpenVINO runs some in place and
folds those of weights). A node's time is that of its fastest run. The ratios are with / without: of the time of the
nodes that move data, and of medians of latency and of CPU time. CPU time on one thread (the default) is what other
work on the machine disturbs least; BERT, whose graph the rewrites leave as it is, shows how much it still does.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openvino

import paddle2ov
from benchmarks.record import Record, table
from benchmarks.yolo_post import print_heads
from paddle2ov.compilation.runtime_info import runtime_info
from paddle2ov.program import read_program

ROOT = Path(__file__).resolve().parents[1]
SHAPES = {
    "swin_tiny": [3, 224, 224],
    "vit_tiny": [3, 224, 224],
    "svtr_tiny": [3, 32, 320],
    "bert_small": [128],
    "tcn": [64, 200],
    "resnet_last": [224, 224, 3],
    "mobilenet_last": [224, 224, 3],
    "inception_last": [224, 224, 3],
    "csp_last": [224, 224, 3],
}
BLOCKS = {
    "swin_tiny": 12,
    "vit_tiny": 12,
    "svtr_tiny": 12,
    "bert_small": 6,
    "tcn": 6,
    "resnet_last": 8,
    "mobilenet_last": 7,
    "inception_last": 4,
    "csp_last": 5,
}
MOVING = ("Transpose", "Reorder", "Gather", "Split", "StridedSlice", "Slice", "Roll", "Concatenation", "Concat")
SHOWN = ("Transpose", "Reorder", "Gather", "Split", "Roll", "MatMul", "Softmax", "Subgraph")


class Side:
    """A compiled model and what was measured of it."""

    def __init__(self, folder: Path, rewrite: bool, shape: list[int] | None, threads: int) -> None:
        self.report = paddle2ov.ConversionReport()
        model = paddle2ov.convert(folder, input=shape, rewrite=rewrite, report=self.report)
        options = {"PERF_COUNT": True, "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}
        self.request = openvino.Core().compile_model(model, "CPU", options).create_infer_request()
        self.latencies: list[float] = []
        self.cpu: list[float] = []
        self.nodes: dict[tuple[str, str], float] = {}

    def run(self, x: Any) -> Any:
        started, cpu = time.perf_counter(), time.process_time()
        result = self.request.infer([x])
        self.latencies.append(1e3 * (time.perf_counter() - started))
        self.cpu.append(1e3 * (time.process_time() - cpu))
        for node in self.request.profiling_info:
            key, spent = (node.node_type, node.node_name), 1e3 * node.real_time.total_seconds()
            self.nodes[key] = min(self.nodes.get(key, spent), spent)
        return result[0]

    def summary(self) -> dict[str, Any]:
        counts = Counter(kind for (kind, _), spent in self.nodes.items() if spent > 0)
        total = sum(self.nodes.values())
        moving = sum(spent for (kind, _), spent in self.nodes.items() if kind in MOVING)
        return {
            "nodes": dict(counts),
            "nodes_ms": total,
            "moving_ms": moving,
            "median_ms": statistics.median(self.latencies),
            "cpu_ms": statistics.median(self.cpu),
            "optimise_ms": 1e3 * self.report.seconds["optimise"],
            "rewrites": self.report.rewrites,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("networks", nargs="*", help=f"of {', '.join(SHAPES)}; default: these and all that `--only` has")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), help="these tables")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dynamic", action="store_true", help="compile with the batch unknown")
    parser.add_argument("--json", type=Path, help="write the results here")
    arguments = parser.parse_args()
    record = Record("passes", "Rewrites", __doc__)
    results: dict[str, Any] = {}
    if arguments.networks or not arguments.only:
        with tempfile.TemporaryDirectory() as folder:
            for name in arguments.networks or SHAPES:
                results[name] = compare(name, Path(folder), arguments)
    for part in arguments.only or ([] if arguments.networks else PARTS):
        print()
        results[part] = PARTS[part]()
    record.write(arguments.json, results, summary(results))


def summary(results: dict[str, Any]) -> str:
    """Tables in Markdown: networks with and without the rewrites, and transposes and chains where they were counted."""
    networks = [name for name in results if name not in PARTS]
    rows = []
    for name in networks:
        without, rewritten, ratios = (results[name][key] for key in ("without", "with", "ratios"))
        times = [f"{one[key]:.2f} ms" for key in ("moving_ms", "cpu_ms") for one in (without, rewritten)]
        rows.append([name, *times, f"{ratios['moving_ms']:.2f}", f"{ratios['cpu_ms']:.3f}"])
    heads = ["", "moving data: without", "with", "CPU time: without", "with", "ratio, moving data", "ratio, CPU time"]
    parts = [table(heads, rows)] if rows else []
    for part, first in (("permutes", "network"), ("chains", "operator")):
        if counts := results.get(part):
            keys = list(next(iter(counts.values())))
            parts.append(
                table([first, *keys], [[name, *(one.get(key, 0) for key in keys)] for name, one in counts.items()])
            )
    return "\n\n".join(parts)


def print_permutes() -> dict[str, Any]:
    """The table of OpenCV's issue 16306 for the same heads as Paddle exports them, one image at a time."""
    from gen_models import all_networks
    from gen_models.harness.store import generated_network
    from gen_models.networks.permutes import PERMUTES

    found = {}
    print(f"{'':26}{'in all':>8}{'to 2-D':>8}{'to reshape':>12}{'removed':>9}   OpenCV's table")
    for name, (label, *theirs) in PERMUTES.items():
        report = paddle2ov.ConversionReport()
        paddle2ov.convert(generated_network(all_networks()[name], "pir"), report=report)
        counts = found[name] = report.transposes
        print(f"{label:26}{counts['total']:8}{counts['2-D']:8}{counts['reshape']:12}{counts['removed']:9}   {theirs}")
    return found


def print_chains() -> dict[str, Any]:
    """The chains of `gen_models/networks/post_ops.py` as Paddle's operators, and as nodes that OpenVINO runs."""
    from gen_models.harness.store import generated
    from gen_models.networks.post_ops import CHAINS

    found: dict[str, Counter[str]] = {}
    for op in CHAINS:
        folder = generated(op, op.cases[0], "pir")
        program = read_program(folder)
        model = paddle2ov.convert(program)
        compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        live = {variable.name for variable in program.inputs}
        counts = found.setdefault(op.name.partition("-")[0], Counter())
        for operator in program.block.operators:
            if not live.isdisjoint(operator.input_names()):
                live.update(operator.output_names())
                counts["operators"] += 1
        nodes = _nodes_run(compiled)
        counts.update(chains=1, nodes=nodes, one=nodes == 1)
    print(f"{'':22}{'chains':>8}{'operators':>11}{'nodes':>7}   chains that are one node")
    for name, one in found.items():
        print(f"{name:22}{one['chains']:8}{one['operators']:11}{one['nodes']:7}{one['one']:10}")
    return found


def _nodes_run(compiled: openvino.CompiledModel) -> int:
    """How many nodes compute on the inputs, changes of the layout aside."""
    live, count = set(), 0
    for node in compiled.get_runtime_model().get_ordered_ops():
        kind = runtime_info(node, "layerType")
        if any(value.get_node().get_name() in live for value in node.input_values()):
            count += kind not in ("Output", "Reorder")
        elif kind != "Input" or node.get_type_name() == "Constant":
            continue
        live.add(node.get_name())
    return count


PARTS: dict[str, Callable[[], Any]] = {"permutes": print_permutes, "chains": print_chains, "heads": print_heads}
"""What is shown besides whole networks."""


def compare(name: str, folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Exports, converts, compiles and runs one network both ways and prints its table."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.networks", name, str(folder / name / "inference")]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    shape = [arguments.batch, *SHAPES[name]]
    rng = np.random.default_rng(0)
    x = rng.integers(1, 1000, shape) if name == "bert_small" else rng.standard_normal(shape).astype(np.float32)
    sides = {
        label: Side(folder / name, rewrite, None if arguments.dynamic else shape, arguments.threads)
        for label, rewrite in (("without", False), ("with", True))
    }
    outputs = {}
    for i in range(arguments.runs):
        for label in list(sides)[:: 1 if i % 2 else -1]:  # each goes first in every other round
            outputs[label] = sides[label].run(x).copy()
    difference = float(np.abs(outputs["with"] - outputs["without"]).max() / np.abs(outputs["without"]).max())
    found = {label: side.summary() for label, side in sides.items()}
    print(f"\n{name} {shape}{' compiled dynamic' if arguments.dynamic else ''}: difference {difference:.1e}")
    print(f"{'':8}" + "".join(f"{kind:>10}" for kind in SHOWN) + "    moving data   latency  CPU time")
    for label, one in found.items():
        counts = "".join(f"{one['nodes'].get(kind, 0):10}" for kind in SHOWN)
        share = 100 * one["moving_ms"] / one["nodes_ms"]
        print(f"{label:8}{counts}{one['moving_ms']:6.2f} ms {share:4.1f}%{one['median_ms']:10.1f}{one['cpu_ms']:10.1f}")
    kinds = [kind for kind in MOVING if any(one["nodes"].get(kind) for one in found.values())]
    pairs = ([one["nodes"].get(kind, 0) / BLOCKS[name] for one in found.values()] for kind in kinds)
    shown = (f"{kind} {before:.1f} -> {after:.1f}" for kind, (before, after) in zip(kinds, pairs, strict=True))
    print(f"for each of {BLOCKS[name]} blocks: {', '.join(shown)}")
    measures = ("moving_ms", "median_ms", "cpu_ms")
    ratios = {key: found["with"][key] / found["without"][key] for key in measures}
    line = "{moving_ms:6.2f}{median_ms:19.3f}{cpu_ms:10.3f}".format(**ratios)
    print(f"{'ratio':8}{'':{10 * len(SHOWN)}}{line}")
    print(sides["with"].report.table())
    return {**found, "ratios": ratios, "difference": difference}


if __name__ == "__main__":
    main()
