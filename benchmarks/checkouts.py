"""How long conversions take by this checkout and by another one, such as the code before a change, side by side.

    git worktree add --detach ../before COMMIT
    python -m benchmarks.checkouts ../before .cache/models/pir/{resnet18,yolov3}-*
    python -m benchmarks.checkouts ../before FOLDER ... --rounds 21 --processes 3 --json result.json

Each checkout converts in processes of its own, warm: imports and a first conversion of every model are done. The
conversions take turns, so that whatever else the machine does hits both alike; the processes are started anew several
times, as where things lie in memory makes a difference as well. The times are the least CPU time of all rounds, the
ratio that of these. Folders whose names differ only behind the last "-" are one line, with the geometric mean of their
ratios.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from benchmarks.child import Child

ROOT = Path(__file__).resolve().parents[1]

WORKER = """
import sys, time
import paddle2ov
for line in sys.stdin:
    path = line.strip()
    started = time.process_time()
    model = paddle2ov.convert(path)
    taken = time.process_time() - started
    del model
    print(taken, flush=True)
"""


class Worker:
    """A process that converts models with one checkout."""

    def __init__(self, checkout: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(checkout)}
        self._child = Child([sys.executable, "-W", "ignore", "-c", WORKER], environment, folder=checkout)

    def milliseconds(self, model: Path) -> float:
        """The CPU time of one conversion."""
        answer = self._child.ask(str(model))
        if not answer:
            sys.exit(f"the conversion of {model} failed")
        return 1e3 * float(answer)

    def stop(self) -> None:
        """Ends the process."""
        self._child.stop()


def main() -> None:
    """Runs the rounds and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="the other checkout")
    parser.add_argument("models", nargs="+", type=Path, help="model folders")
    parser.add_argument("--rounds", type=int, default=21, help="conversions of each model by each checkout")
    parser.add_argument("--processes", type=int, default=3, help="how often the processes are started anew")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    arguments = parser.parse_args()
    models = [model.absolute() for model in arguments.models]
    times = measured((arguments.other.absolute(), ROOT), models, arguments.rounds, arguments.processes)
    rows = {}
    for name, (other, own, ratio) in summaries(times).items():
        rows[name] = {"other_ms": other, "own_ms": own, "ratio": ratio}
    show(rows)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


def measured(checkouts: tuple[Path, Path], models: list[Path], rounds: int, processes: int) -> dict[Path, list[float]]:
    """For each model, the least CPU time by either checkout."""
    best = {model: [math.inf] * len(checkouts) for model in models}
    for _ in range(processes):
        workers = [Worker(checkout) for checkout in checkouts]
        for model in models:
            for worker in workers:
                worker.milliseconds(model)
        for _ in range(math.ceil(rounds / processes)):
            for model in models:
                for i, worker in enumerate(workers):
                    best[model][i] = min(best[model][i], worker.milliseconds(model))
        for worker in workers:
            worker.stop()
    return best


def summaries(times: dict[Path, list[float]]) -> dict[str, tuple[float, float, float]]:
    """Network -> the geometric means over its models: milliseconds by either checkout, and their ratio."""
    groups: dict[str, list[list[float]]] = {}
    for model, pair in times.items():
        groups.setdefault(model.name.rpartition("-")[0] or model.name, []).append(pair)
    means = {}
    for name, pairs in groups.items():
        other, own = (geometric_mean([pair[i] for pair in pairs]) for i in range(2))
        means[name] = (other, own, own / other)
    return means


def show(rows: dict[str, dict[str, Any]]) -> None:
    """Prints the table."""
    print(f"{'':32}{'other ms':>10}{'own ms':>10}   ratio")
    for name, row in rows.items():
        print(f"{name:32}{row['other_ms']:10.2f}{row['own_ms']:10.2f}   {row['ratio']:.3f}")
    if len(rows) > 1:
        print(f"{'geometric mean':52}   {geometric_mean([row['ratio'] for row in rows.values()]):.3f}")


if __name__ == "__main__":
    main()
