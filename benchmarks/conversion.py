"""How long a conversion takes and how much memory it needs, beside OpenVINO's own C++ frontend, in one run.

    python benchmarks/conversion.py                  # ResNet-18 and ResNet-50
    python benchmarks/conversion.py --models resnet18 --runs 50 --json result.json

Each round times every route once, in turn, so that whatever else the machine does hits all of them alike. Time is from
the path to an `openvino.Model`, imports done. Peak memory is that of a process of its own (Linux), for one model.
The legacy models are written by the interpreter that PADDLE2OV_LEGACY_PYTHON names (`make venv-legacy`).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

EXPORT = """
import sys, paddle
paddle.seed(0)
name, prefix = sys.argv[1:]
model = getattr(paddle.vision.models, name)()
model.eval()
spec = [paddle.static.InputSpec([-1, 3, 224, 224], "float32", "x")]
paddle.jit.save(model, prefix, input_spec=spec)
"""

PEAK = """
import pathlib, re, sys
import openvino, paddle2ov
def memory(name):  # of this process, in MB; Linux only
    return int(re.search(name + r":\\s+(\\d+) kB", pathlib.Path("/proc/self/status").read_text())[1]) / 1024
paddle2ov.convert(sys.argv[1])  # imports, caches
pathlib.Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
before = memory("VmRSS")
model = paddle2ov.convert(sys.argv[2])
print(memory("VmHWM") - before)
"""


def main() -> None:
    """Exports the models, runs the rounds and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=["resnet18", "resnet50"], help="names in paddle.vision.models")
    parser.add_argument("--runs", type=int, default=30, help="rounds")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = {name: measure(name, arguments.runs, Path(folder)) for name in arguments.models}
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")


def measure(name: str, runs: int, folder: Path) -> dict[str, object]:
    """Times all routes for one model."""
    sys.path.insert(0, str(ROOT))
    import openvino

    import paddle2ov

    pir = export(sys.executable, name, folder / "pir" / name)
    routes: dict[str, Callable[[], object]] = {"paddle2ov, PIR": lambda: paddle2ov.convert(pir)}
    legacy_python = os.environ.get("PADDLE2OV_LEGACY_PYTHON") or str(ROOT / ".venv-legacy" / "bin" / "python")
    if Path(legacy_python).exists():
        legacy = export(legacy_python, name, folder / "legacy" / name)
        core = openvino.Core()
        program = legacy / "inference.pdmodel"
        routes["paddle2ov, legacy"] = lambda: paddle2ov.convert(legacy)
        routes["C++ frontend, legacy"] = lambda: core.read_model(program)
    for run in routes.values():
        run()
    times: dict[str, list[float]] = {route: [] for route in routes}
    for _ in range(runs):
        for route, run in routes.items():
            started = time.perf_counter()
            run()
            times[route].append(1e3 * (time.perf_counter() - started))
    weights = (pir / "inference.pdiparams").stat().st_size / 2**20
    growth = peak_growth(pir, folder)
    base = statistics.median(times.get("C++ frontend, legacy", times["paddle2ov, PIR"]))
    print(
        f"\n{name}: {weights:.0f} MB of weights; peak memory grows by {growth:.1f} MB ({100 * growth / weights:.1f}%)"
    )
    print(f"{'route':24} {'median ms':>10} {'min':>8} {'max':>8} {'ratio':>7}")
    for route, values in times.items():
        median = statistics.median(values)
        print(f"{route:24} {median:10.1f} {min(values):8.1f} {max(values):8.1f} {median / base:7.2f}")
    return {"weights_mb": weights, "peak_growth_mb": growth, "ms": times}


def export(python: str, name: str, folder: Path) -> Path:
    """Writes a model of `paddle.vision.models` with the given interpreter."""
    folder.mkdir(parents=True)
    command = [python, "-W", "ignore", "-c", EXPORT, name, str(folder / "inference")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"{python} could not export {name}:\n{run.stderr}")
    return folder


def peak_growth(model: Path, folder: Path) -> float:
    """By how many MB one conversion raises the peak memory of a process that has converted a small model before."""
    small = folder / "pir" / "small"
    if not small.exists():
        export(sys.executable, "squeezenet1_1", small)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PEAK, str(small), str(model)]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    return float(run.stdout)


if __name__ == "__main__":
    main()
