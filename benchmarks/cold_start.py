"""CPU time from the start of a process to the first result, beside OpenVINO's own frontend.

    python -m benchmarks.cold_start                      # 15 processes of each kind, in turns
    python -m benchmarks.cold_start --networks crnn picodet --rounds 30 --json cold_start.json

Each figure is the least CPU time, user and system, of whole processes that import, load a model, run it once and end;
"import" only imports. All take turns. `cold` has no cache. `warm` has one that holds the model: OpenVINO's CACHE_DIR
for its C++ frontend, which reads the legacy file, `cache_dir` for `paddle2ov.compile_model`, which gets the same file.
Modules are compiled to bytecode before, as those of installed packages are.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.generated import model_folder
from benchmarks.record import ROOT, Record, options, table

FRONTEND = """
import sys, numpy as np, openvino
config = {"INFERENCE_PRECISION_HINT": "f32"} | ({"CACHE_DIR": sys.argv[3]} if sys.argv[3] else {})
compiled = openvino.Core().compile_model(sys.argv[1] + "/inference.pdmodel", "CPU", config)
"""
OURS = """
import sys, numpy as np, paddle2ov
config = {"INFERENCE_PRECISION_HINT": "f32"}
compiled = paddle2ov.compile_model(sys.argv[1], "CPU", config, cache_dir=sys.argv[3] or None)
"""
RUN = """
inputs = np.load(sys.argv[2])
compiled([inputs[next(name for name in port.get_names() if name in inputs)] for port in compiled.inputs])
"""
IMPORTS = {"frontend": "import numpy, openvino", "ours": "import paddle2ov.compilation.compile, numpy, openvino"}


def main() -> None:
    """Generates the models, runs the processes and prints a table."""
    parser = options(__doc__)
    parser.add_argument("--networks", nargs="+", default=["mobilenet_v3_large", "crnn", "db", "picodet"])
    parser.add_argument("--rounds", type=int, default=15, help="processes of each kind")
    arguments = parser.parse_args()
    record = Record("cold_start", "The first result", __doc__)
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.networks:
            measurement = measure(model_folder(name, "legacy"), Path(folder, name), arguments.rounds)
            figures[name] = measurement
            print(*_row(name, measurement), flush=True)
        imports = {kind: cpu_time([sys.executable, "-c", code]) for kind, code in IMPORTS.items()}
        for _ in range(arguments.rounds - 1):
            imports = {
                kind: min(least, cpu_time([sys.executable, "-c", IMPORTS[kind]])) for kind, least in imports.items()
            }
    heads = ["", "C++ cold", "ours", "ratio", "C++ warm", "ours", "ratio"]
    named = ", ".join(f"{kind} {1e3 * seconds:.0f} ms" for kind, seconds in imports.items())
    result = f"{table(heads, [_row(*item) for item in figures.items()])}\n\nImports alone: {named}."
    record.write(arguments.json, result)


def measure(folder: Path, caches: Path, rounds: int) -> dict[str, float]:
    """Seconds of each kind of process."""
    commands = {}
    for kind, code in (("frontend", FRONTEND), ("ours", OURS)):
        for state in ("cold", "warm"):
            cache = caches / kind
            cache.mkdir(parents=True, exist_ok=True)
            places = [str(folder), str(folder / "inputs_0.npz"), str(cache) if state == "warm" else ""]
            commands[f"{kind} {state}"] = [sys.executable, "-c", code + RUN, *places]
    for command in commands.values():
        cpu_time(command)  # fills the caches
    least = dict.fromkeys(commands, float("inf"))
    for _ in range(rounds):
        for kind, command in commands.items():
            least[kind] = min(least[kind], cpu_time(command))
    return least


def cpu_time(command: list[str]) -> float:
    """User and system time of a process."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment = {**environment, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return usage.ru_utime + usage.ru_stime


def _row(name: str, found: dict[str, float]) -> list[str]:
    row = [name]
    for state in ("cold", "warm"):
        other, own = found[f"frontend {state}"], found[f"ours {state}"]
        row += [f"{1e3 * other:.0f} ms", f"{1e3 * own:.0f} ms", f"{own / other:.2f}"]
    return row


if __name__ == "__main__":
    main()
