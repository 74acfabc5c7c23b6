"""A service that reads pages with PP-OCRv4: pages per second and memory, beside other ways to run the same models.

    python -m benchmarks.pages
    python -m benchmarks.pages --rounds 20 --routes paddle pool --json pages.json

The three models have their real weights; they come with RapidOCR's packages. The pages are drawn, some lines of them
upside down, and every route reads them in as many threads as there are cores, one reader for each. Each route runs in a
process of its own, which waits for its turn; each round gives every route one turn, in which it reads all pages, so
that whatever else the machine does hits all of them alike. Shown are medians, with the quartiles of the rounds in
brackets; the ratio is that of pages per second to `paddle.inference` or, for PaddleX's pipeline, to its own engine; CPU
time is of all threads, for a page. `lines` are those of which the text is what the first route reads. OpenVINO's own
precision is bfloat16 on processors that have it, and float32 on others; Paddle's engine in PaddleX runs without oneDNN,
with which Paddle 3.3.1 cannot run these models. `--python` (or PADDLE2OV_BENCHMARK_PAGES) names the Python of an
environment with the packages, which `make bench` prepares.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.child import Child
from benchmarks.pages_worker import ROUTES
from benchmarks.record import Record, ratios, spread, table

WORDS = (
    *("Paddle models on Intel processors", "Invoice No. 2024-1187", "The quick brown fox", "jumps over the lazy dog"),
    *("Quantity 12 pcs", "Total: 1,234.56 EUR", "Delivery within 14 days", "Please do not bend", "Tel. +49 30 901820"),
    *("Chapter 3: Measurements", "See table 4 on page 17", "All prices include tax", "Temperature 21.5 C"),
    *("signed and dated", "Reference AB-77-XK"),
)


def main() -> None:
    """Draws the pages, runs the rounds and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--routes", nargs="+", default=list(ROUTES), choices=list(ROUTES))
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--pages", type=int, default=8)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--python", default=os.environ.get("PADDLE2OV_BENCHMARK_PAGES", sys.executable))
    parser.add_argument("--json", type=Path, help="where to write the figures")
    arguments = parser.parse_args()
    record = Record("pages", "A service of pages", __doc__)
    with tempfile.TemporaryDirectory() as temporary:
        pages = Path(temporary, "pages")
        pages.mkdir()
        draw(pages, arguments.pages)
        workers, figures = {}, {}
        for route in arguments.routes:
            command = [arguments.python, "-W", "ignore", "-m", "benchmarks.pages_worker"]
            workers[route] = Child(
                command, Path(temporary, f"{route}.log"), PADDLE_PDX_DISABLE_MODEL_SOURCE_CHECK="True"
            )
            figures[route] = workers[route].ask("load", route, str(pages), arguments.threads)
            print(f"{route}: {figures[route].get('failed', 'ready')}", flush=True)
        for i in range(arguments.rounds):
            for route in arguments.routes[:: 1 if i % 2 else -1]:  # each goes first in every other round
                if "failed" not in figures[route]:
                    answer = workers[route].ask("turn")
                    figures[route]["turns"] += [answer] if "failed" not in answer else []
        for worker in workers.values():
            worker.stop()
    result = summary(figures, arguments.pages)
    print(f"\n{arguments.pages} pages, {arguments.threads} threads\n\n{result}")
    record.write(arguments.json, {"pages": arguments.pages, "threads": arguments.threads, "routes": figures}, result)


def draw(folder: Path, count: int) -> None:
    """White pages with lines of different sizes, some upside down, and a little noise."""
    import cv2
    import numpy as np

    rng = np.random.default_rng(0)
    for page in range(count):
        strips = []
        for i in range(int(rng.integers(8, 14))):
            strip = np.full((80, 960, 3), 255, np.uint8)
            text, size = WORDS[(page * 5 + i) % len(WORDS)], float(rng.uniform(0.9, 1.5))
            color = [int(rng.integers(0, 90))] * 3
            cv2.putText(strip, text, (30, 55), cv2.FONT_HERSHEY_SIMPLEX, size, color, 2, cv2.LINE_AA)
            strips.append(strip[::-1, ::-1] if rng.random() < 0.1 else strip)
        drawn = np.concatenate(strips).astype(np.int16)
        drawn += rng.normal(0, 6, drawn.shape).astype(np.int16)
        cv2.imwrite(str(folder / f"{page:03}.png"), np.clip(drawn, 0, 255).astype(np.uint8))


def summary(figures: dict[str, Any], pages: int) -> str:
    """A table in Markdown."""
    rows, reasons = [], []
    base: list[list[str]] = next((figure["texts"] for figure in figures.values() if figure.get("texts")), [])
    for route, item in figures.items():
        label = ROUTES[route][0]
        if not item.get("turns"):
            rows.append([label, "-", "-", "-", "-", "-"])
            reasons.append(f"- {label}: {item.get('failed') or 'no rounds'}")
            continue
        turns = item["turns"]
        other = figures.get("paddlex" if route.startswith("paddlex") else "paddle", {}).get("turns", [])
        faster = ratios([turn["wall"] for turn in other], [turn["wall"] for turn in turns])
        same = [sum(line in theirs for line in mine) for mine, theirs in zip(item["texts"], base, strict=False)]
        rate = statistics.median(pages / turn["wall"] for turn in turns)
        cpu = statistics.median(turn["cpu"] / pages for turn in turns)
        memory = max(turn["peak"] for turn in turns)
        lines = f"{sum(same)} of {sum(map(len, base))}"
        rows.append([label, f"{rate:.2f}", spread(faster), f"{1e3 * cpu:.0f} ms", f"{memory:.0f} MB", lines])
    text = table(["", "pages per second", "ratio", "CPU time for a page", "peak memory", "lines"], rows)
    return "\n".join([text, *(["", *reasons] if reasons else [])])


if __name__ == "__main__":
    main()
