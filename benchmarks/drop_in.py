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

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.generated import exported
from benchmarks.latency import INPUTS, Route, compare
from benchmarks.record import Record, options, ratios, spread, table
from gen_models.harness.legacy import legacy_python

LIBRARIES = ("Paddle 3", "Paddle 3, oneDNN", "Paddle 2", "Paddle 2, oneDNN")
WAYS = {
    "Paddle 3": ("pir", "paddle.inference"),
    "Paddle 3, oneDNN": ("pir", "paddle.inference, oneDNN"),
    "Paddle 2": ("legacy", "paddle.inference"),
    "Paddle 2, oneDNN": ("legacy", "paddle.inference, oneDNN"),
    "paddle2ov, PIR": ("pir", "paddle2ov.inference"),
    "paddle2ov, legacy": ("legacy", "paddle2ov.inference"),
    "PIR": ("pir", "convert"),
    "PIR, rewrite=False": ("pir", "convert, rewrite=False"),
    "legacy": ("legacy", "convert"),
    "legacy, rewrite=False": ("legacy", "convert, rewrite=False"),
    "legacy, C++ frontend": ("legacy", "read_model"),
}
"""A way to run a network -> the format of its files, and how they are loaded."""
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
    figures = {}
    with tempfile.TemporaryDirectory() as temporary:
        for name in arguments.networks:
            figures[name] = compare(name, routes(name), Path(temporary), arguments.rounds, arguments.threads)
            print(" | ".join(map(str, row(name, figures[name]))), flush=True)
    record.write(arguments.json, summary(figures))


def routes(name: str) -> dict[str, Route]:
    """All ways to run a network."""
    models, found = {format: exported(name, format) for format in ("pir", "legacy")}, {}
    for way, (format, by) in WAYS.items():
        python = legacy_python() if way.startswith("Paddle 2") else sys.executable
        absent = f"Paddle {3 if format == 'pir' else 2} does not export it"
        failed = absent if models[format] is None else "" if python else "absent"
        found[way] = Route(python or "", by, models[format] or Path(), failed=failed)
    return found


def paddle_way(by_way: dict[str, Any]) -> str | None:
    """The faster way of Paddle 3, of Paddle 2 where that cannot run it."""
    for ways in (LIBRARIES[:2], LIBRARIES[2:]):
        if run := [way for way in ways if by_way[way].get("cpu")]:
            return min(run, key=lambda way: statistics.median(by_way[way]["cpu"]))
    return None


def row(name: str, by_way: dict[str, Any]) -> list[str]:
    """A network's line of the table."""

    def time_of(way: str | None) -> str:
        return "-" if way is None or not by_way[way].get("cpu") else f"{statistics.median(by_way[way]['cpu']):.3g}"

    def beside(one: str, other: str) -> str:
        if any(not by_way[way].get("cpu") for way in (one, other)) or differs(by_way, one, other):
            return "-"
        layers = by_way[one]["layers"]
        if layers is not None and layers == by_way[other]["layers"]:
            return "same"
        return spread(ratios(by_way[one]["cpu"], by_way[other]["cpu"]))

    (ours, _), *_ = compared = pairs(by_way)
    return [name, time_of(ours), time_of(paddle_way(by_way)), *(beside(*pair) for pair in compared)]


def pairs(by_way: dict[str, Any]) -> list[tuple[str, str]]:
    """What is compared: the drop-in with Paddle, the graph with those of the frontend and of no rewrites."""
    plain = "PIR" if by_way["PIR"].get("cpu") else "legacy"
    paddle = paddle_way(by_way) or LIBRARIES[0]
    ours = "paddle2ov, PIR" if WAYS[paddle][0] == "pir" else "paddle2ov, legacy"
    return [(ours, paddle), ("legacy", "legacy, C++ frontend"), (plain, f"{plain}, rewrite=False")]


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
            if "sums" in by_way[one] and "sums" in by_way[other] and differs(by_way, one, other):
                notes.append(f"- {name}, {other}: other results than {one}")
    return "\n".join([table(columns, rows), "", *notes])


if __name__ == "__main__":
    main()
