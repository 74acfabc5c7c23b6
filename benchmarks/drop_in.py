"""How long a run takes by `paddle2ov.inference` and by `paddle.inference`: the same code, but for the import.

    python -m benchmarks.drop_in
    python -m benchmarks.drop_in --networks mlp lod_tagger --rounds 5

Both run the same files: those of PIR by Paddle 3, or legacy ones by Paddle 2 where Paddle 3 cannot export or run the
network. A run is what a user writes: `copy_from_cpu` for each input, `run()`, `copy_to_cpu` for each result, with
handles that were got once. Paddle computes with oneDNN and without, and the faster one counts. All have one thread, as
Paddle by default. Figures are CPU time, which other work on the machine disturbs least; the ratios are medians over the
rounds, in which all take turns, with the quartiles in brackets: below 1, paddle2ov is faster.

The last two columns compare the graph alone, without the drop-in: with that of OpenVINO's own frontend, both from
legacy files, and with what `convert` gives with `rewrite=False`; "same" where OpenVINO computes the same layers in
both. A dash is one that does not run, or gives other results; the reason is below.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.child import Child
from benchmarks.generated import exported
from benchmarks.latency import INPUTS, drawn
from benchmarks.record import Record, options, ratios, spread, table
from gen_models.harness.legacy import legacy_python

LIBRARIES = ("Paddle 3", "Paddle 3, oneDNN", "Paddle 2", "Paddle 2, oneDNN")
WORKER = ("-W", "ignore", "-m", "benchmarks.network_worker")
BY = {
    "paddle2ov": "paddle2ov.inference",
    "Paddle": "paddle.inference",
    "oneDNN": "paddle.inference, oneDNN",
    "legacy": "convert",
    "PIR": "convert",
    "rewrite=False": "convert, rewrite=False",
    "C++ frontend": "read_model",
}
"""The last word of a way to run a network -> how the worker runs it."""
REWRITTEN = ("tcn", "fourier_operator", "resnet_last", "mobilenet_last", "inception_last", "csp_last")
"""Networks that docs/rewrites.md compares with and without rewrites."""
NETWORKS = [name for name in INPUTS if name not in REWRITTEN]


def main() -> None:
    """Exports the networks, runs the rounds and prints a table."""
    parser = options(__doc__)
    parser.add_argument("--networks", nargs="+", default=NETWORKS, choices=list(INPUTS))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    record = Record("drop_in", "Beside Paddle", __doc__)
    pythons = {"paddle2ov": sys.executable, "Paddle 3": sys.executable, "Paddle 2": legacy_python()}
    with tempfile.TemporaryDirectory() as temporary:
        workers = {
            library: Child([python, *WORKER], Path(temporary) / f"{library}.log")
            for library, python in pythons.items()
            if python is not None
        }
        figures = {}
        for name in arguments.networks:
            figures[name] = compare(name, Path(temporary) / f"{name}.npz", workers, arguments)
            print(" | ".join(map(str, row(name, figures[name]))), flush=True)
        for worker in workers.values():
            worker.stop()
    record.write(arguments.json, summary(figures))


def compare(name: str, arrays: Path, workers: dict[str, Child], arguments: argparse.Namespace) -> dict[str, Any]:
    """The milliseconds of every round by each way to run a network, or why there are none."""
    np.savez(arrays, **drawn(np.random.default_rng(0), name))
    lod = [[0, 50]] if name.startswith("lod_") else None
    by_way: dict[str, Any] = {}

    def load(way: str, format: str) -> bool:
        model = exported(name, format)
        if model is None:
            by_way[way] = {"failed": f"Paddle {'3' if format == 'pir' else '2'} does not export it"}
            return False
        worker = workers.get(way.partition(",")[0] if way.startswith("Paddle") else "paddle2ov")
        by = BY[re.sub(r" \d$", "", way.rpartition(", ")[2])]
        files = [f"{model}/inference.{'json' if format == 'pir' else 'pdmodel'}", f"{model}/inference.pdiparams"]
        by_way[way] = {"failed": "absent"}
        if worker is not None:
            by_way[way] = worker.ask("load", way, by, files, str(arrays), lod, arguments.threads)
        if "failed" not in by_way[way]:
            by_way[way]["ms"] = []
        return "ms" in by_way[way]

    for paddle in ("Paddle 3", "Paddle 2"):
        format = "pir" if paddle == "Paddle 3" else "legacy"
        loaded = [load(f"{paddle}{onednn}", format) for onednn in (", oneDNN", "")]
        if any(loaded):
            break
    load("paddle2ov", format)
    plain = "PIR" if load("PIR", "pir") else "legacy"
    load("legacy", "legacy")
    load("legacy, C++ frontend", "legacy")
    load(f"{plain}, rewrite=False", plain.lower())
    ways = [way for way in by_way if "ms" in by_way[way]]
    for i in range(arguments.rounds):
        for way in ways[:: 1 if i % 2 else -1]:
            worker = workers[way.partition(",")[0] if way.startswith("Paddle") else "paddle2ov"]
            answer = worker.ask("turn", way)
            by_way[way]["ms"] += [answer["cpu"]] if "cpu" in answer else []
    for worker in workers.values():
        worker.ask("forget")
    return by_way


def paddle_way(by_way: dict[str, Any]) -> str | None:
    """The faster one of Paddle's ways that run."""
    ways = [way for way in LIBRARIES if by_way.get(way, {}).get("ms")]
    return min(ways, key=lambda way: statistics.median(by_way[way]["ms"]), default=None)


def row(name: str, by_way: dict[str, Any]) -> list[str]:
    """A network's line of the table."""

    def time_of(way: str | None) -> str:
        return "-" if way is None or not by_way[way].get("ms") else f"{statistics.median(by_way[way]['ms']):.3g}"

    def beside(one: str, other: str) -> str:
        if any(not by_way.get(way, {}).get("ms") for way in (one, other)) or differs(by_way, one, other):
            return "-"
        layers = by_way[one]["layers"]
        if layers is not None and layers == by_way[other]["layers"]:
            return "same"
        return spread(ratios(by_way[one]["ms"], by_way[other]["ms"]))

    return [name, time_of("paddle2ov"), time_of(paddle_way(by_way)), *(beside(*pair) for pair in pairs(by_way))]


def pairs(by_way: dict[str, Any]) -> list[tuple[str, str]]:
    """What is compared: the drop-in with Paddle, the graph with those of the frontend and of no rewrites."""
    plain = "PIR" if "ms" in by_way["PIR"] else "legacy"
    paddle = paddle_way(by_way) or LIBRARIES[0]
    return [("paddle2ov", paddle), ("legacy", "legacy, C++ frontend"), (plain, f"{plain}, rewrite=False")]


def differs(by_way: dict[str, Any], one: str, other: str) -> bool:
    """Whether the sums of the results say that they differ."""
    ours, theirs = by_way[one]["sums"], by_way[other]["sums"]
    return len(ours) != len(theirs) or not np.allclose(ours, theirs, rtol=1e-3, atol=1e-5)


def summary(figures: dict[str, Any]) -> str:
    """The table in Markdown, and why there are dashes."""
    columns = ["CPU ms", "paddle2ov", "Paddle", "ratio", "graph / C++ frontend", "graph / rewrite=False"]
    rows, notes = [], []
    for name, by_way in figures.items():
        shown, paddle = row(name, by_way), paddle_way(by_way)
        shown[2] += "" if paddle is None else f" ({paddle})"
        rows.append(shown)
        notes += [f"- {name}, {way}: {item['failed']}" for way, item in by_way.items() if "failed" in item]
        for one, other in pairs(by_way):
            if "sums" in by_way[one] and "sums" in by_way.get(other, {}) and differs(by_way, one, other):
                notes.append(f"- {name}, {other}: other results than {one}")
    return "\n".join([table(columns, rows), "", *notes])


if __name__ == "__main__":
    main()
