"""How long a conversion takes and how much memory it needs, by every route from Paddle to OpenVINO, in one run.

    python -m benchmarks.conversion
    python -m benchmarks.conversion --networks mobilenet_v3_large swin_tiny --runs 20 --json result.json

Routes: paddle2ov from PIR and from legacy files; OpenVINO's own C++ frontend, which reads legacy files only;
paddle2onnx 2.1.0 from both and the Rust tool p2o 0.1.2, each with OpenVINO reading what they write; a route that cannot
read a network has dashes, and the reason. Every round runs every route once, in turn, so that whatever else the machine
does hits all of them alike. Two kinds of times for each network:

- warm: in one process, imports done, from the path to an `openvino.Model` (routes that live in this process);
- fresh: in a new process each, from its start to the model.

Memory is what a conversion adds to the peak of a process that has converted another network. CPU time is what other
work on the machine disturbs least. Ratios are taken round by round to the C++ frontend: the median, and the quartiles
in brackets. `--paddle2onnx` and `--p2o` (or PADDLE2OV_BENCHMARK_PADDLE2ONNX and PADDLE2OV_BENCHMARK_P2O) name the
Python of an environment with that tool and OpenVINO; without one, the route is listed as absent. `make bench` prepares
both. Legacy models are written by the interpreter that PADDLE2OV_LEGACY_PYTHON names (`make venv-legacy`).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openvino

import paddle2ov
from benchmarks.generated import exported
from benchmarks.record import ROOT, Record, options, ratios, reason, spread, table

NETWORKS = (
    *("resnet18", "resnet50", "vgg16", "mobilenet_v3_large", "pp_lcnet", "ocr_rec"),
    *("swin_tiny", "bert_small", "picodet", "mask_rcnn"),
)
Figures = dict[str, Any]

TO_ONNX = {
    "paddle2onnx": """
import glob, paddle2onnx
(program,) = glob.glob(folder + "/inference.json") + glob.glob(folder + "/inference.pdmodel")
paddle2onnx.export(program, folder + "/inference.pdiparams", save_file=file)
""",
    "p2o": """
import pathlib, subprocess, sys
p2o = pathlib.Path(sys.executable).with_name("p2o")
subprocess.run([p2o, folder + "/inference.json", folder + "/inference.pdiparams", file], check=True)
""",
}
"""Other tools -> Python statements that convert the model in `folder` to the ONNX file `file`."""

READ_ONNX = """
import tempfile, openvino
folder = {folder}
scratch = tempfile.TemporaryDirectory()
file = scratch.name + "/model.onnx"
{to_onnx}
model = openvino.Core().read_model(file)
"""

ROUTES = {
    "paddle2ov, PIR": "import paddle2ov; model = paddle2ov.convert(pir)",
    "paddle2ov, legacy": "import paddle2ov; model = paddle2ov.convert(legacy)",
    "C++ frontend": "import openvino; model = openvino.Core().read_model(legacy + '/inference.pdmodel')",
    "paddle2onnx, PIR": READ_ONNX.format(folder="pir", to_onnx=TO_ONNX["paddle2onnx"]),
    "paddle2onnx, legacy": READ_ONNX.format(folder="legacy", to_onnx=TO_ONNX["paddle2onnx"]),
    "p2o": READ_ONNX.format(folder="pir", to_onnx=TO_ONNX["p2o"]),
}
"""Route -> Python statements that make `model` of the folders `pir` and `legacy`."""

LEGACY = ("paddle2ov, legacy", "C++ frontend", "paddle2onnx, legacy")
"""The routes that read legacy files."""

FRESH = """
import resource, sys
pir, legacy = sys.argv[1:]
{0}
own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print("\\nFIGURES", sum(one.ru_utime + one.ru_stime for one in (own, others)), flush=True)
"""

GROWTH = """
import pathlib, re, sys, paddle2ov
def memory(name):  # of this process, in MB; Linux only
    return int(re.search(name + r":\\s+(\\d+) kB", pathlib.Path("/proc/self/status").read_text())[1]) / 1024
small, program = sys.argv[1:]
paddle2ov.convert(small)
pathlib.Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
before = memory("VmRSS")
model = paddle2ov.convert(program)
print("\\nFIGURES", memory("VmHWM") - before, flush=True)
"""


def main() -> None:
    """Exports the networks, runs the rounds and prints the tables."""
    parser = options(__doc__)
    parser.add_argument("--networks", nargs="+", default=NETWORKS, help="of networks.py, or in paddle.vision.models")
    parser.add_argument("--runs", type=int, default=15, help="rounds of warm conversions")
    parser.add_argument("--fresh", type=int, default=3, help="rounds of fresh processes")
    add_tools(parser)
    arguments = parser.parse_args()
    record = Record("conversion", "Conversion", __doc__)
    tools = {"paddle2onnx": arguments.paddle2onnx, "p2o": arguments.p2o}
    pythons = {route: tools.get(route.partition(",")[0], sys.executable) for route in ROUTES}
    figures: dict[str, Figures] = {}
    for name in arguments.networks:
        pir, legacy = exported(name, "pir"), exported(name, "legacy")
        if pir is None:
            continue
        routes = [route for route in ROUTES if legacy is not None or route not in LEGACY]
        figures[name] = {
            "weights_mb": (pir / "inference.pdiparams").stat().st_size / 2**20,
            "growth_mb": growth(pir),
            "warm": warm(pir, legacy, arguments.runs),
            "fresh": fresh(pir, legacy, routes, pythons, arguments.fresh),
        }
        print(markdown({name: figures[name]}), flush=True)
    record.write(arguments.json, markdown(figures))


def add_tools(parser: argparse.ArgumentParser) -> None:
    """The options that say where the other tools are."""
    for tool in TO_ONNX:
        variable = f"PADDLE2OV_BENCHMARK_{tool.upper()}"
        parser.add_argument(f"--{tool}", default=os.environ.get(variable), help=f"Python that has {tool} and OpenVINO")


def growth(model: Path) -> float:
    """MB by which the conversion of a model raises the peak of a new process that has converted another one."""
    command = [sys.executable, "-W", "ignore", "-c", GROWTH, str(exported("squeezenet1_1", "pir")), str(model)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return float(run.stdout.rpartition("FIGURES")[2])


def warm(pir: Path, legacy: Path | None, runs: int) -> Figures:
    """Milliseconds of CPU time in every round, by route; routes that cannot read the network say why."""
    core = openvino.Core()
    routes: dict[str, Callable[[], object]] = {"paddle2ov, PIR": lambda: paddle2ov.convert(pir)}
    if legacy is not None:
        routes["paddle2ov, legacy"] = lambda: paddle2ov.convert(legacy)
        routes["C++ frontend"] = lambda: core.read_model(legacy / "inference.pdmodel")
    figures: Figures = {}
    for route, run in list(routes.items()):
        try:
            run()
            figures[route] = {"cpu": []}
        except Exception as error:  # whatever a route makes of a network that it cannot read
            figures[route] = {"failed": reason(str(error))}
            del routes[route]
    for _ in range(runs):
        for route, run in routes.items():
            started = time.process_time()
            run()
            figures[route]["cpu"].append(1e3 * (time.process_time() - started))
    return figures


def fresh(pir: Path, legacy: Path | None, routes: list[str], pythons: dict[str, str | None], runs: int) -> Figures:
    """Milliseconds of CPU time of a new process in each round, by route."""
    figures: Figures = {route: {"cpu": []} for route in routes}
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
            run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
            if run.returncode:
                figures[route] = {"failed": reason(run.stdout + run.stderr)}  # paddle2onnx says it on the former
                continue
            figures[route]["cpu"].append(1e3 * float(run.stdout.rpartition("FIGURES")[2]))
    return figures


def markdown(figures: dict[str, Figures]) -> str:
    """A table of all networks: CPU time in ms, warm and in a new process; the ratio is that of `spread`."""
    columns = [(kind, route) for kind, routes in (("warm", list(ROUTES)[:3]), ("fresh", ROUTES)) for route in routes]
    heads = ["CPU ms", "weights", *(f"{kind}: {route}" for kind, route in columns), "memory grows by"]
    heads.insert(5, "warm: PIR / C++ frontend")
    rows, notes = [], []
    for name, measurements in figures.items():
        times = [measurements[kind].get(route, {}).get("cpu") for kind, route in columns]
        cells = [f"{statistics.median(time):.0f}" if time else "-" for time in times]
        beside = [measurements["warm"].get(route, {}).get("cpu", []) for route in ("paddle2ov, PIR", "C++ frontend")]
        cells.insert(3, spread(ratios(*beside)))
        failed = {route: item["failed"] for route, item in measurements["fresh"].items() if "failed" in item}
        notes += [f"- {name}, {route}: {why}" for route, why in failed.items()]
        rows.append([name, f"{measurements['weights_mb']:.0f} MB", *cells, f"{measurements['growth_mb']:.1f} MB"])
    return "\n".join([table(heads, rows), "", *notes])


if __name__ == "__main__":
    main()
