"""How long a detector's post-processing takes: all boxes decoded, and those only that can survive (`gather_pushdown`).

    python -m benchmarks.yolo_post                     # three heads; up to 300, 5000 and all boxes with an object
    python -m benchmarks.yolo_post yolov3 --size 0.08 --runs 40 --batch 4 --threads 2 --json result.json

The heads are those of `benchmarks/detection_heads.py`. Each round runs both forms, in turn, so that whatever else the
machine does hits both alike. The times are medians of CPU time, which other work disturbs least; the ratio is the
median of the rounds' ratios, with the two quartiles around it. `--size` makes the boxes smaller: boxes of a pixel or
two have a suppression of their own.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import openvino

import paddle2ov
from benchmarks.detection_heads import HEADS, Feeds
from benchmarks.generated import exported
from benchmarks.record import Record, options, ratios, spread, table
from paddle2ov.conversion import translated

OBJECTS = (0, 100, 300, 5000, -1)


def compiled(folder: Path, rewrite: bool, batch: int, threads: int) -> openvino.InferRequest:
    """The post-processing in OpenVINO; of the given batch, or of any (0)."""
    model = paddle2ov.convert(folder) if rewrite else translated(folder)
    if batch:
        model.reshape({port: [batch, *list(port.get_partial_shape())[1:]] for port in model.inputs})
    options = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads}
    return openvino.Core().compile_model(model, "CPU", options).create_infer_request()


def main() -> None:
    """Runs the rounds and prints a table."""
    parser = options(__doc__)
    parser.add_argument("heads", nargs="*", default=list(HEADS), help=f"of {', '.join(HEADS)}")
    parser.add_argument("--objects", type=int, nargs="+", default=OBJECTS, help="-1: all boxes")
    parser.add_argument("--size", type=float, default=1.0, help="factor on the boxes' sides")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=20)
    args = parser.parse_args()
    record = Record("yolo_post", "Post-processing of detectors", __doc__)
    rows: list[tuple[str, int, Any]] = []
    for name in args.heads:
        head, folder = HEADS[name], exported(f"{name}_head", "pir")
        if folder is None:
            continue
        requests = [compiled(folder, rewrite, args.batch, args.threads) for rewrite in (False, True)]
        for objects in args.objects:
            feeds = head.feeds(head.boxes if objects < 0 else objects, args.batch, args.size)
            rows.append((name, objects, measured(requests, feeds, args.runs)))
            print(summary(rows[-1:]), flush=True)
    record.write(args.json, summary(rows))


def summary(rows: list[tuple[str, int, Any]]) -> str:
    """The table in Markdown."""
    cells = []
    for name, objects, (found, before, after) in rows:
        times = [f"{statistics.median(values):.2f} ms" for values in (before, after)]
        cells.append([name, "all" if objects < 0 else objects, found, *times, spread(ratios(before, after))])
    return table(["", "boxes with an object", "found", "all decoded", "candidates", "ratio"], cells)


def measured(requests: list[openvino.InferRequest], feeds: Feeds, runs: int) -> tuple[int, list[float], list[float]]:
    """How many boxes are found, and times of both forms on the same inputs, whose results must agree."""
    for request in requests:
        for name, array in feeds.items():
            request.set_tensor(name, openvino.Tensor(array, shared_memory=True))
        request.infer()  # to warm up
    first, second = ([np.array(request.get_output_tensor(i).data) for i in range(2)] for request in requests)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
    times: tuple[list[float], list[float]] = [], []
    for _ in range(runs):
        for request, taken in zip(requests, times, strict=True):
            started = time.process_time()
            request.infer()
            taken.append(1e3 * (time.process_time() - started))
    return int(second[1].sum()), *times


if __name__ == "__main__":
    main()
