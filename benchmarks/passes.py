"""What the rewrites of paddle2ov/passes change in the graph that OpenVINO's CPU plugin runs, and how long it takes.

    python -m benchmarks.passes                        # all of the following
    python -m benchmarks.passes swin_tiny --runs 60
    python -m benchmarks.passes swin_tiny --batch 4    # or --dynamic: compiled without the shape
    python -m benchmarks.passes --permutes             # what becomes of the transposes in detectors' heads

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
from pathlib import Path
from typing import Any

import numpy as np
import openvino

import paddle2ov
from benchmarks.generated import model_folder
from benchmarks.record import ROOT

SHAPES = {
    "swin_tiny": [3, 224, 224],
    "bert_small": [128],
    "tcn": [64, 200],
    "resnet_last": [224, 224, 3],
    "mobilenet_last": [224, 224, 3],
    "inception_last": [224, 224, 3],
    "csp_last": [224, 224, 3],
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
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("networks", nargs="*", help=f"of {', '.join(SHAPES)}; default: these and the permutes")
    parser.add_argument("--permutes", action="store_true", help="only what becomes of the transposes in heads")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dynamic", action="store_true", help="compile with the batch unknown")
    arguments = parser.parse_args()
    if not arguments.permutes:
        with tempfile.TemporaryDirectory() as folder:
            for name in arguments.networks or SHAPES:
                compare(name, Path(folder), arguments)
    if arguments.permutes or not arguments.networks:
        print_permutes()


def print_permutes() -> None:
    """The table of OpenCV's issue 16306 for the same heads as Paddle exports them, one image at a time."""
    from gen_models.networks.permutes import PERMUTES

    print(f"{'':26}{'in all':>8}{'to 2-D':>8}{'to reshape':>12}{'removed':>9}   OpenCV's table")
    for name, (label, *theirs) in PERMUTES.items():
        report = paddle2ov.ConversionReport()
        paddle2ov.convert(model_folder(name), report=report)
        counts = report.transposes
        print(f"{label:26}{counts['total']:8}{counts['2-D']:8}{counts['reshape']:12}{counts['removed']:9}   {theirs}")


def compare(name: str, folder: Path, arguments: argparse.Namespace) -> None:
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
    summaries = {label: side.summary() for label, side in sides.items()}
    print(f"\n{name} {shape}{' compiled dynamic' if arguments.dynamic else ''}: difference {difference:.1e}")
    print(f"{'':8}" + "".join(f"{kind:>10}" for kind in SHOWN) + "    moving data   latency  CPU time")
    for label, value in summaries.items():
        counts = "".join(f"{value['nodes'].get(kind, 0):10}" for kind in SHOWN)
        share = 100 * value["moving_ms"] / value["nodes_ms"]
        print(
            f"{label:8}{counts}{value['moving_ms']:6.2f} ms {share:4.1f}%"
            f"{value['median_ms']:10.1f}{value['cpu_ms']:10.1f}"
        )
    measures = ("moving_ms", "median_ms", "cpu_ms")
    ratios = {key: summaries["with"][key] / summaries["without"][key] for key in measures}
    line = "{moving_ms:6.2f}{median_ms:19.3f}{cpu_ms:10.3f}".format(**ratios)
    print(f"{'ratio':8}{'':{10 * len(SHOWN)}}{line}")
    print(sides["with"].report.table())


if __name__ == "__main__":
    main()
