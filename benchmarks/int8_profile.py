"""Where the time of float32 and of int8 goes in the PP-OCRv4 models of the demo, by kind of node and by type.

    python -m benchmarks.int8_profile

Each model is quantized by `paddle2ov.quantize` with drawn lines or pages, as in `benchmarks.precision`. Times are what
OpenVINO's CPU plugin tells of each node (`PERF_COUNT`) on one thread, the median of runs, and in brackets the number of
nodes; what is not in int8 is in float32 in both columns. What takes less than 1% of float32's time is left out.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.precision import MODELS, drawn, exported
from benchmarks.record import Record, table

_INTEGERS = ("i8", "u8")


def main() -> None:
    """Quantizes, profiles both models, prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=MODELS, action="append", help="may be repeated; all by default")
    parser.add_argument(
        "--calibrate", type=int, default=40, help="pictures to calibrate with; a tenth for the detector"
    )
    parser.add_argument("--runs", type=int, default=50, help="of each model; a tenth for the detector")
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    arguments = parser.parse_args()
    record = Record("int8_profile", "Where the time of int8 goes", __doc__)
    with tempfile.TemporaryDirectory() as folder:
        figures = {name: measured(name, Path(folder), arguments) for name in arguments.model or MODELS}
    rows = []
    for name, times in figures.items():
        for label in sorted(times["float32"].keys() | times["int8"].keys(), key=lambda key: -total(times, key)):
            if total(times, label) >= 0.01 * sum(total(times, item) for item in times["float32"]):
                rows.append([name, label, *(shown(times[name].get(label)) for name in ("float32", "int8"))])
        rows.append([name, "**all**", *(f"{sum(value['ms'] for value in times[key].values()):.3f}" for key in times)])
    text = table(["model", "kind", "float32, ms", "int8, ms"], rows)
    print(text)
    record.write(arguments.json, figures, text)


def total(found: dict[str, dict[str, Any]], label: str) -> float:
    """The time of nodes of a kind in both models."""
    return float(sum(value[label]["ms"] for value in found.values() if label in value))


def shown(found: dict[str, Any] | None) -> str:
    """The time of the nodes of a kind, and how many there are."""
    return "-" if found is None else f"{found['ms']:.3f} ({found['nodes']})"


def measured(name: str, folder: Path, arguments: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Times by kind, in float32 and in int8."""
    import paddle2ov
    from paddle2ov.inputs.pictures import Pictures

    model = exported(name, folder)
    tenth = 10 if name == "detector" else 1
    paths, _ = drawn(name, folder / name, max(2, arguments.calibrate // tenth))
    inputs = Pictures(paddle2ov.read_program(model), model).inputs(paths[0])
    graphs = {"float32": paddle2ov.convert(model), "int8": paddle2ov.quantize(model, paths).model}
    runs = max(2, arguments.runs // tenth)
    return {label: profile(graph, inputs, runs) for label, graph in graphs.items()}


def profile(graph: Any, inputs: Any, runs: int) -> dict[str, Any]:
    """Milliseconds and the number of the nodes of each kind."""
    import openvino

    hints = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "PERF_COUNT": True}
    request = openvino.compile_model(graph, "CPU", hints).create_infer_request()
    times: dict[str, list[float]] = defaultdict(list)
    for _ in range(runs):
        request.infer(inputs)
        sums: dict[str, float] = defaultdict(float)
        for node in request.get_profiling_info():
            sums[kind_of(node)] += node.real_time.total_seconds() * 1e3
        for kind, spent in sums.items():
            times[kind].append(spent)
    nodes = [kind_of(node) for node in request.get_profiling_info() if node.real_time.total_seconds() > 0]
    return {kind: {"ms": statistics.median(value), "nodes": nodes.count(kind)} for kind, value in times.items()}


def kind_of(node: Any) -> str:
    """What a node runs as, and whether in int8."""
    precision = node.exec_type.rpartition("_")[2].lower()
    return f"{node.node_type}, {'int8' if precision in _INTEGERS else precision}"


if __name__ == "__main__":
    main()
