"""How fast the converted networks run on the CPU: those of paddle2ov, of the other routes, and Paddle itself.

    python -m benchmarks.latency
    python -m benchmarks.latency --networks resnet50 --rounds 40 --json latency.json

Every route runs in a process of its own, which waits for its turn; each round gives every route one turn of a few
inferences, so that whatever else the machine does hits all of them alike. Shown are the wall time of one inference, on
all cores, and the CPU time of all threads, which other work disturbs least. Inputs are random, of batch 1, and the same
for all. Options and environment variables for the other tools are those of conversion.py. A route that cannot convert
or run a network has a dash, and its reason below.

    python -m benchmarks.latency --precision             # paddle2ov in each precision that the processor computes in
    python -m benchmarks.latency --precision int8 --networks resnet50
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import Any, NamedTuple

import numpy as np

from benchmarks.child import Child
from benchmarks.conversion import LEGACY, TO_ONNX, add_tools
from benchmarks.generated import exported
from benchmarks.record import Record, options, ratios, reason, spread, table
from gen_models.harness.legacy import legacy_python

INPUTS: dict[str, dict[str, tuple[Any, ...]]] = {
    "resnet18": {"x": ([1, 3, 224, 224], "float32")},
    "mobilenet_v3_large": {"x": ([1, 3, 224, 224], "float32")},
    "resnet50": {"x": ([1, 3, 224, 224], "float32")},
    "ocr_rec": {"x": ([1, 3, 48, 320], "float32")},
    "swin_tiny": {"x": ([1, 3, 224, 224], "float32")},
    "picodet": {"image": ([1, 3, 320, 320], "float32"), "scale_factor": ([1, 2], "float32")},
    "tagger": {"ids": ([1, 50], "int64", 0, 20000), "lengths": ([1], "int64", 40)},
    "lstm_lengths": {"x": ([1, 50, 64], "float32"), "lengths": ([1], "int64", 40)},
    "bert_small": {"ids": ([1, 128], "int64", 1, 1000)},
    "linear": {"input": ([1, 8], "float32")},
    "mlp": {"input": ([1, 16], "float32")},
    "recommender": {"ids": ([1, 26], "int64", 0, 1_000_000), "dense": ([1, 13], "float32")},
    "graph": {
        "x": ([200, 64], "float32"),
        "source": ([1000], "int64", 0, 200),
        "target": ([1000], "int64", 0, 200),
    },
    "vocoder": {"x": ([1, 80, 20], "float32")},
    "table_decoder": {"x": ([1, 96, 16, 16], "float32")},
    "formula_decoder": {"features": ([1, 60, 256], "float32")},
    "beam_search": {"state": ([1, 128], "float32")},
    "lod_tagger": {"ids": ([50, 1], "int64", 0, 20000)},
    "fourier_operator": {"x": ([1, 1, 64, 64], "float32")},
    "tcn": {"x": ([1, 64, 200], "float32")},
    "resnet_last": {"x": ([1, 224, 224, 3], "float32")},
    "mobilenet_last": {"x": ([1, 224, 224, 3], "float32")},
    "inception_last": {"x": ([1, 224, 224, 3], "float32")},
    "csp_last": {"x": ([1, 224, 224, 3], "float32")},
}
"""Network -> input -> shape, type, and the range of integers, or the one that all are."""
NETWORKS = ("resnet18", "mobilenet_v3_large", "resnet50", "ocr_rec", "swin_tiny", "picodet", "tagger", "lstm_lengths")
ROUTES = (
    "paddle2ov, PIR",
    "paddle2ov, legacy",
    "C++ frontend",
    "paddle2onnx, PIR",
    "paddle2onnx, legacy",
    "p2o",
    "Paddle 3, oneDNN",
    "Paddle 2, oneDNN",
)

PRECISIONS = ("f32", "bf16", "f16", "int8")
PRECISIONS_DOC = """How fast the same networks run in the precisions that the processor computes in, beside float32.

Each precision runs in a process of its own, and they take turns, as the routes above do. The times are CPU time of all
threads; the ratios are medians of the rounds, with the quartiles in brackets. Networks in int8 are those that
`paddle2ov.quantize` makes of random inputs; what it leaves in floating point is bfloat16 where the processor has it.
Weights are random, so that nothing is told here of what a precision loses: that is measured with trained ones.
"""

FROM_LEGACY = (*LEGACY, "Paddle 2, oneDNN")
"""The routes that read legacy files."""
CALIBRATED = 24
"""How many random inputs calibrate a network."""
BASE = "paddle2ov, f32"
EXPORT_SECONDS = 900


class Route(NamedTuple):
    """A way to run a network: the Python, what it loads (see network_worker.py), and a reason where it cannot."""

    python: str
    by: str
    model: Path
    hint: str = "f32"
    failed: str = ""

    @property
    def files(self) -> list[str]:
        """The model, or the program and the parameters in a folder."""
        if not self.model.is_dir():
            return [str(self.model)]
        (program,) = (path for path in self.model.iterdir() if path.name in ("inference.json", "inference.pdmodel"))
        return [str(program), str(self.model / "inference.pdiparams")]


def main() -> None:
    """Exports the networks, runs the rounds and prints the table."""
    parser = options(__doc__)
    parser.add_argument("--networks", nargs="+", default=NETWORKS, choices=list(INPUTS))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--precision",
        nargs="*",
        choices=PRECISIONS,
        help="compare precisions of paddle2ov instead of the routes; all if none is named",
    )
    add_tools(parser)
    arguments = parser.parse_args()
    by_precision = arguments.precision is not None
    if by_precision:
        record = Record("latency_precision", "Inference in each precision", PRECISIONS_DOC, module="latency")
    else:
        record = Record("latency", "Inference", __doc__)
    show = by_precisions if by_precision else by_routes
    figures = {}
    with tempfile.TemporaryDirectory() as temporary:
        for name in arguments.networks:
            pir, legacy = exported(name, "pir"), exported(name, "legacy")
            if pir is None:
                continue
            if by_precision:
                routes = precisions(name, pir, Path(temporary), arguments.precision or PRECISIONS)
            else:
                routes = every_route(name, pir, legacy, Path(temporary), arguments)
            figures[name] = compare(name, routes, Path(temporary), arguments.rounds, arguments.threads)
            print(show({name: figures[name]}), flush=True)
    record.write(arguments.json, show(figures))


def every_route(
    name: str, pir: Path, legacy: Path | None, temporary: Path, arguments: argparse.Namespace
) -> dict[str, Route]:
    """The model of each route, which the other tools convert first."""
    routes: dict[str, Route] = {}
    for route in ROUTES:
        python = legacy_python() if route == "Paddle 2, oneDNN" else sys.executable
        if python is None or (route in FROM_LEGACY and legacy is None):
            routes[route] = Route(sys.executable, "", pir, failed="absent: no legacy model")
            continue
        model = legacy if route in FROM_LEGACY and legacy is not None else pir
        tool = route.partition(",")[0]
        by, why = {"paddle2ov": "convert", "C++ frontend": "read_model"}.get(tool, "paddle.inference, oneDNN"), ""
        if tool in TO_ONNX:
            by = "read_model"
            model, why = to_onnx(tool, model, temporary / f"{name}, {route}.onnx", getattr(arguments, tool))
        routes[route] = Route(python, by, model, failed=why)
    return routes


def precisions(name: str, pir: Path, temporary: Path, names: Sequence[str]) -> dict[str, Route]:
    """paddle2ov in float32 and in the precisions that are named, as far as the processor computes in them."""
    import openvino

    import paddle2ov
    from paddle2ov.compilation.precision import computes_in

    routes = {}
    for precision in ("f32", *(name for name in names if name != "f32")):
        by, model, hint = "convert", pir, precision
        why = "" if precision == "int8" or computes_in("CPU", precision) else "not computed by this processor"
        if precision == "int8":
            rng = np.random.default_rng(1)
            data = [drawn(rng, name) for _ in range(CALIBRATED)]
            by, model = "read_model", temporary / f"{name}.xml"
            hint = "bf16" if computes_in("CPU", "bf16") else "f32"
            openvino.save_model(paddle2ov.quantize(pir, data).model, model, compress_to_fp16=False)
        routes[f"paddle2ov, {precision}"] = Route(sys.executable, by, model, hint, why)
    return routes


def compare(name: str, routes: Mapping[str, Route], temporary: Path, rounds: int, threads: int) -> dict[str, Any]:
    """Runs one network by all routes: milliseconds of each round, the sums of the results, and the layers."""
    arrays, lod = temporary / f"{name}.npz", [[0, 50]] if name.startswith("lod_") else None
    np.savez(arrays, **drawn(np.random.default_rng(0), name))
    workers: dict[str, Child] = {}
    result: dict[str, Any] = {route: {"failed": item.failed} for route, item in routes.items()}
    for route, item in routes.items():
        if not item.failed:
            workers[route] = Child([item.python, "-W", "ignore", "-m", "benchmarks.network_worker"], temporary / route)
            answer = workers[route].ask("load", item.by, item.files, str(arrays), lod, threads, item.hint)
            result[route] = answer if "failed" in answer else {**answer, "wall": [], "cpu": []}
    running = [route for route in routes if "failed" not in result[route]]
    for i in range(rounds):
        for route in running[:: 1 if i % 2 else -1]:  # each goes first in every other round
            answer = result[route] if "failed" in result[route] else workers[route].ask("turn")
            if "failed" in answer:
                result[route] = answer
            else:
                for key, time in answer.items():
                    result[route][key].append(time)
    for worker in workers.values():
        worker.stop()
    return result


def drawn(rng: np.random.Generator, name: str) -> dict[str, Any]:
    """Inputs of a network: numbers from 0 to 1, integers of a range, or one integer."""
    arrays = {}
    for port, (shape, kind, *limits) in INPUTS[name].items():
        if not limits:
            arrays[port] = rng.random(shape).astype(kind)
        elif len(limits) == 1:
            arrays[port] = np.full(shape, limits[0], kind)
        else:
            arrays[port] = rng.integers(limits[0], limits[1], shape).astype(kind)
    return arrays


def to_onnx(tool: str, model: Path, target: Path, python: str | None) -> tuple[Path, str]:
    """The model as the tool converts it; a reason instead where it cannot."""
    if python is None or not Path(python).exists():
        return target, "absent"
    code = f"import sys\nfolder, file = sys.argv[1:]\n{TO_ONNX[tool]}"
    command = [python, "-W", "ignore", "-c", code, str(model), str(target)]
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=EXPORT_SECONDS)
    except subprocess.TimeoutExpired:
        return target, f"takes longer than {EXPORT_SECONDS} s"
    return target, reason(run.stdout + run.stderr) if run.returncode or not target.exists() else ""


def by_routes(figures: dict[str, Any]) -> str:
    """A table in Markdown: the latency and the CPU time of every route in ms, for each network."""
    rows, reasons = [], []
    for route in ROUTES:
        cells = []
        for name, routes in figures.items():
            measured = routes[route]
            if measured.get("failed") or not measured.get("wall"):
                cells.append("-")
                reasons.append(f"- {name}, {route}: {measured.get('failed') or 'no rounds'}")
            else:
                cells.append(", ".join(f"{statistics.median(measured[key]):.1f}" for key in ("wall", "cpu")))
        rows.append([route, *cells])
    return "\n".join([table(["ms, CPU ms", *figures], rows), *(["", *reasons] if reasons else [])])


def by_precisions(figures: dict[str, Any]) -> str:
    """A table in Markdown: the CPU time in float32, and how much faster each network is in other precisions."""
    of_all: dict[str, list[float]] = {}
    rows: list[list[str]] = []
    names = [route for route in next(iter(figures.values())) if route != BASE]
    for network, routes in figures.items():
        base = routes[BASE]
        row = [network, f"{statistics.median(base['cpu']):.1f} ms"]
        for route in names:
            if "failed" in routes[route]:
                row += ["-"]
                continue
            of_rounds = ratios(base["cpu"], routes[route]["cpu"])
            of_all.setdefault(route, []).append(statistics.median(of_rounds))
            row += [f"{statistics.median(routes[route]['cpu']):.1f} ms: {spread(of_rounds)}"]
        rows.append(row)
    rows.append(
        ["**all**", "", *(f"**{geometric_mean(of_all[name]):.2f}**" if name in of_all else "-" for name in names)]
    )
    reasons = {
        f"- {route.partition(', ')[2]}: {routes[route]['failed']}"
        for routes in figures.values()
        for route in names
        if "failed" in routes[route]
    }
    shown = [f"{route.partition(', ')[2]}, times as fast" for route in names]
    return "\n".join([table(["CPU time", "f32", *shown], rows), *(["", *sorted(reasons)] if reasons else [])])


if __name__ == "__main__":
    main()
