"""Resident memory while shapes change all the time: plain OpenVINO beside `paddle2ov.inference`.

    python -m benchmarks.memory                          # 2,000 shapes, a text recogniser and a text detector
    python -m benchmarks.memory --shapes 500 --capacities default 0 16 100

Every setting of CPU_RUNTIME_CACHE_CAPACITY runs in a process of its own (Linux) and gets the same shapes, each once, in
the same order; `default` is plain OpenVINO. A last column times the first 20 shapes again, ten times each: what
a cache would have been good for. The networks are those of gen_models/networks/: sequence.py, detection.py.
"""

from __future__ import annotations

import re
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.generated import model_folder
from benchmarks.record import Record, options, table

NETWORKS = {"crnn": "recogniser", "db": "detector"}


def main() -> None:
    """Generates the models, runs the settings and prints a table."""
    parser = options(__doc__)
    parser.add_argument("--shapes", type=int, default=2000, help="how many different shapes")
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), choices=list(NETWORKS))
    parser.add_argument("--capacities", nargs="+", default=["default", "0"], help="settings; 'default' is OpenVINO's")
    arguments = parser.parse_args()
    record = Record("memory", "Memory when shapes change", __doc__)
    figures: dict[str, dict[str, Any]] = {}
    for name in arguments.networks:
        folder = model_folder(name)
        for capacity in arguments.capacities:
            with get_context("spawn").Pool(1) as pool:
                row = pool.apply(measure, (folder, name, capacity, arguments.shapes))
            figures.setdefault(name, {})[capacity] = row
            print(summary({name: {capacity: row}}), flush=True)
    record.write(arguments.json, summary(figures))


def shapes_of(name: str, count: int) -> list[tuple[int, ...]]:
    """Different shapes, in random order: lines of text, or pictures whose sides are multiples of 32."""
    rng = np.random.default_rng(0)
    shapes: dict[tuple[int, ...], None] = {}
    while len(shapes) < count:
        if name == "crnn":
            shapes[int(rng.integers(1, 5)), 3, 32, int(rng.integers(16, 640))] = None
        else:
            shapes[int(rng.integers(1, 5)), 3, 32 * int(rng.integers(1, 25)), 32 * int(rng.integers(1, 25))] = None
    return list(shapes)


def measure(folder: Path, name: str, capacity: str, count: int) -> dict[str, Any]:
    """Runs all shapes; returns resident memory as it grew, and milliseconds per run for new and for known shapes."""
    import openvino

    from paddle2ov.inference import Config, create_predictor

    if capacity == "default":
        from paddle2ov import convert

        request = openvino.Core().compile_model(convert(folder), "CPU").create_infer_request()

        def run(x: Any) -> None:
            request.infer([x])
    else:
        config = Config(folder)
        config.set_mkldnn_cache_capacity(int(capacity))
        predictor = create_predictor(config)

        def run(x: Any) -> None:
            predictor.run([x])

    shapes = shapes_of(name, count)
    memory = []
    started = time.perf_counter()
    for i, shape in enumerate(shapes):
        run(np.full(shape, 0.1, np.float32))
        if i + 1 in (1, *(count * k // 4 + 1 for k in (1, 2, 3)), count):
            memory.append((i + 1, resident()))
    new = time.perf_counter() - started
    again = shapes[-20:]
    for shape in again:
        run(np.full(shape, 0.1, np.float32))
    started = time.perf_counter()
    for _ in range(10):
        for shape in again:
            run(np.full(shape, 0.1, np.float32))
    known = time.perf_counter() - started
    return {"memory": memory, "new": 1e3 * new / count, "known": 1e3 * known / (10 * len(again))}


def resident() -> float:
    """This process's resident memory in MB; Linux only."""
    match = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert match is not None
    return int(match[1]) / 1024


def summary(figures: dict[str, dict[str, Any]]) -> str:
    """A table in Markdown."""
    rows = []
    for name, settings in figures.items():
        for capacity, setting in settings.items():
            counts = ", ".join(f"{count:,}" for count, _ in setting["memory"])
            sizes = ", ".join(f"{size:.0f}" for _, size in setting["memory"])
            rows.append(
                [
                    f"{NETWORKS[name]}, {capacity}",
                    counts,
                    sizes,
                    f"{setting['new']:.1f} ms",
                    f"{setting['known']:.1f} ms",
                ]
            )
    return table(["", "shapes", "resident memory (MB)", "a run with a new shape", "with a known one"], rows)


if __name__ == "__main__":
    main()
