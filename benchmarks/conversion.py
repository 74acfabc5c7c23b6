"""How long a conversion takes and how much memory it needs, by every route from Paddle to OpenVINO, in one run.

    python -m benchmarks.conversion
    python -m benchmarks.conversion --networks mobilenet_v3_large swin_tiny --runs 20 --json result.json

Routes: paddle2ov from PIR and from legacy files; OpenVINO's own C++ frontend, which reads legacy files only;
paddle2onnx 2.1.0 from both and the Rust tool p2o 0.1.2, each with OpenVINO reading what they write; a route that cannot
read a network has dashes, and the reason. Every round runs every route once, in turn, so that whatever else the machine
does hits all of them alike. Two kinds of times for each network:

- warm: in one process, imports done, from the path to an `openvino.Model` (routes that live in this process);
- fresh: in a new process each, from its start to the model, with the peak of its memory.

CPU time is what other work on the machine disturbs least. Ratios are taken round by round to the C++ frontend: the
median, and the quartiles in brackets. `--paddle2onnx` and `--p2o` (or
PADDLE2OV_BENCHMARK_PADDLE2ONNX and PADDLE2OV_BENCHMARK_P2O) name the Python of an environment with that tool and
OpenVINO; without one, the route is listed as absent. `make bench` prepares both. Legacy models are written by the
interpreter that PADDLE2OV_LEGACY_PYTHON names (`make venv-legacy`).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openvino

import paddle2ov
from benchmarks.growth import measure
from benchmarks.record import ROOT, Record, ratios, reason, spread
from gen_models.harness.legacy import legacy_python

NETWORKS = (
    *("resnet18", "resnet50", "vgg16", "mobilenet_v3_large", "pp_lcnet", "ocr_rec"),
    *("swin_tiny", "bert_small", "picodet", "mask_rcnn"),
)
Figures = dict[str, Any]

PADDLE2ONNX = """
import os, tempfile, openvino, paddle2onnx
file = tempfile.mkdtemp(dir=os.path.dirname({folder})) + "/model.onnx"
paddle2onnx.export({program}, {folder} + "/inference.pdiparams", save_file=file)
model = openvino.Core().read_model(file)
"""

ROUTES = {
    "paddle2ov, PIR": "import paddle2ov; model = paddle2ov.convert(pir)",
    "paddle2ov, legacy": "import paddle2ov; model = paddle2ov.convert(legacy)",
    "C++ frontend": "import openvino; model = openvino.Core().read_model(legacy + '/inference.pdmodel')",
    "paddle2onnx, PIR": PADDLE2ONNX.format(program='pir + "/inference.json"', folder="pir"),
    "paddle2onnx, legacy": PADDLE2ONNX.format(program='legacy + "/inference.pdmodel"', folder="legacy"),
    "p2o": """
import os, pathlib, subprocess, tempfile, openvino
file = tempfile.mkdtemp(dir=os.path.dirname(pir)) + "/model.onnx"
p2o = pathlib.Path(sys.executable).with_name("p2o")
subprocess.run([p2o, pir + "/inference.json", pir + "/inference.pdiparams", file], check=True)
model = openvino.Core().read_model(file)
""",
}
"""Route -> Python statements that make `model` of the folders `pir` and `legacy`."""

LEGACY = ("paddle2ov, legacy", "C++ frontend", "paddle2onnx, legacy")
"""The routes that read legacy files."""

FRESH = """
import pathlib, re, resource, sys
pir, legacy = sys.argv[1:]
{0}
own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
# Not ru_maxrss: it starts with what the process had that started this one. Linux only.
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", pathlib.Path("/proc/self/status").read_text())[1])
cpu = sum(one.ru_utime + one.ru_stime for one in (own, others))
print("\\nFIGURES", cpu, max(peak, others.ru_maxrss) / 1024, flush=True)
"""


def main() -> None:
    """Exports the networks, runs the rounds and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", default=NETWORKS, help="of networks.py, or in paddle.vision.models")
    parser.add_argument("--runs", type=int, default=15, help="rounds of warm conversions")
    parser.add_argument("--fresh", type=int, default=3, help="rounds of fresh processes")
    parser.add_argument("--models", type=Path, help="a folder to keep the exported networks in, for the next time")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    for tool in ("paddle2onnx", "p2o"):
        variable = f"PADDLE2OV_BENCHMARK_{tool.upper()}"
        parser.add_argument(f"--{tool}", default=os.environ.get(variable), help=f"Python that has {tool} and OpenVINO")
    arguments = parser.parse_args()
    record = Record("conversion", "Conversion", __doc__)
    tools = {"paddle2onnx": arguments.paddle2onnx, "p2o": arguments.p2o}
    pythons = {route: tools.get(route.partition(",")[0], sys.executable) for route in ROUTES}
    figures: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.models or Path(temporary)
        for name in arguments.networks:
            pir, legacy = exported(name, folder)
            routes = [route for route in ROUTES if legacy is not None or route not in LEGACY]
            weights = (pir / "inference.pdiparams").stat().st_size / 2**20
            figures[name] = {
                "weights_mb": weights,
                "growth_mb": measure("paddle2ov", exported("squeezenet1_1", folder)[0], pir)["megabytes"],
                "warm": warm(pir, legacy, arguments.runs),
                "fresh": fresh(pir, legacy, routes, pythons, arguments.fresh),
            }
            print(markdown({name: figures[name]}), flush=True)
    print(f"\n{markdown(figures)}")
    record.write(arguments.json, figures, markdown(figures))


def exported(name: str, folder: Path) -> tuple[Path, Path | None]:
    """The folders with the PIR and the legacy model of a network; no legacy one where Paddle 2.6 is not there."""
    folders: list[Path | None] = []
    for format, python in (("pir", sys.executable), ("legacy", legacy_python())):
        target = folder.absolute() / format / name
        if python is None:
            folders.append(None)
            continue
        if not (target / "inference.pdiparams").exists():
            target.mkdir(parents=True, exist_ok=True)
            command = [python, "-W", "ignore", "-m", "benchmarks.networks", name, str(target / "inference")]
            run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            if run.returncode:
                sys.exit(f"{python} could not export {name}:\n{run.stderr}")
        folders.append(target)
    assert folders[0] is not None
    return folders[0], folders[1]


def warm(pir: Path, legacy: Path | None, runs: int) -> Figures:
    """Milliseconds (CPU and wall) of every round, by route; routes that cannot read the network say why."""
    core = openvino.Core()
    routes: dict[str, Callable[[], object]] = {"paddle2ov, PIR": lambda: paddle2ov.convert(pir)}
    if legacy is not None:
        routes["paddle2ov, legacy"] = lambda: paddle2ov.convert(legacy)
        routes["C++ frontend"] = lambda: core.read_model(legacy / "inference.pdmodel")
    figures: Figures = {}
    for route, run in list(routes.items()):
        try:
            run()
            figures[route] = {"cpu": [], "wall": []}
        except Exception as error:  # whatever a route makes of a network that it cannot read
            figures[route] = {"failed": reason(str(error))}
            del routes[route]
    for _ in range(runs):
        for route, run in routes.items():
            started, cpu = time.perf_counter(), time.process_time()
            run()
            figures[route]["cpu"].append(1e3 * (time.process_time() - cpu))
            figures[route]["wall"].append(1e3 * (time.perf_counter() - started))
    return figures


def fresh(pir: Path, legacy: Path | None, routes: list[str], pythons: dict[str, str | None], runs: int) -> Figures:
    """Milliseconds (CPU and wall) and MB at the peak of a new process in each round, by route."""
    figures: Figures = {route: {"cpu": [], "wall": [], "peak_mb": []} for route in routes}
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(runs):
        for route in routes:
            python = pythons[route]
            if python is None or not Path(python).exists():
                figures[route] = {"failed": "absent"}
            if "failed" in figures[route]:
                continue
            environment["PYTHONPATH"] = str(ROOT) if route.startswith("paddle2ov") else ""
            command = [str(python), "-W", "ignore", "-c", FRESH.format(ROUTES[route]), str(pir), str(legacy)]
            started = time.perf_counter()
            run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
            if run.returncode:
                figures[route] = {"failed": reason(run.stdout + run.stderr)}  # paddle2onnx says it on the former
                continue
            cpu, peak = (float(part) for part in run.stdout.rpartition("FIGURES")[2].split())
            figures[route]["wall"].append(1e3 * (time.perf_counter() - started))
            figures[route]["cpu"].append(1e3 * cpu)
            figures[route]["peak_mb"].append(peak)
    return figures


def markdown(figures: dict[str, Figures]) -> str:
    """A table of all networks: CPU time in ms, warm and in a new process; the ratio is that of `spread`."""
    columns = [(kind, route) for kind, routes in (("warm", list(ROUTES)[:3]), ("fresh", ROUTES)) for route in routes]
    heads = [f"{kind}: {route}" for kind, route in columns]
    heads.insert(3, "warm: PIR / C++ frontend")
    lines = [f"| CPU ms | weights | {' | '.join(heads)} | memory grows by |", "|---|" + "---:|" * (len(heads) + 2)]
    for name, measurements in figures.items():
        times = [measurements[kind].get(route, {}).get("cpu") for kind, route in columns]
        cells = [f"{statistics.median(time):.0f}" if time else "-" for time in times]
        beside = [measurements["warm"].get(route, {}).get("cpu", []) for route in ("paddle2ov, PIR", "C++ frontend")]
        cells.insert(3, spread(ratios(*beside)))
        weights, growth = f"{measurements['weights_mb']:.0f} MB", f"{measurements['growth_mb']:.1f} MB"
        lines.append(f"| {name} | {weights} | {' | '.join(cells)} | {growth} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
