"""How long a detector's post-processing takes: all boxes decoded, and those only that can survive (`gather_pushdown`).

    python -m benchmarks.yolo_post                     # three heads; up to 300, 5000 and all boxes with an object
    python -m benchmarks.yolo_post yolov3 --size 0.08 --runs 40 --batch 4 --threads 2 --json result.json

The heads are those of `benchmarks/detection_heads.py`. Each round runs both forms, in turn, so that whatever else the
machine does hits both alike. The times are medians of CPU time, which other work disturbs least; the ratio is the
median of the rounds' ratios, with the two quartiles around it. `--size` makes the boxes smaller: boxes of a pixel or
two have a suppression of their own.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import openvino
from numpy.typing import NDArray

from benchmarks.detection_heads import HEADS, Head
from benchmarks.record import Record, options, table
from paddle2ov.passes import run_rewrites
from paddle2ov.translation.model_builder import TranslationRequest, convert_program
from paddle2ov.translation.registry import Registry
from paddle2ov.workarounds import rewrites_for

OBJECTS = (0, 100, 300, 5000, -1)


def compiled(head: Head, rewrite: bool, batch: int, threads: int) -> openvino.InferRequest:
    """The post-processing in OpenVINO; of the given batch, or of any (0)."""
    model = convert_program(TranslationRequest(head.program(), [], [], Registry()))
    if rewrite:
        run_rewrites(model, rewrites_for())
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
    rows = []
    for name in args.heads:
        head = HEADS[name]
        requests = [compiled(head, rewrite, args.batch, args.threads) for rewrite in (False, True)]
        for objects in args.objects:
            feeds = head.feeds(head.boxes if objects < 0 else objects, args.batch, args.size)
            rows.append({"head": name, "objects": objects, **measured(requests, feeds, args.runs)})
            print(summary(rows[-1:]), flush=True)
    record.write(args.json, summary(rows))


def summary(rows: list[dict[str, Any]]) -> str:
    """The table in Markdown."""
    cells = []
    for row in rows:
        objects = "all" if row["objects"] < 0 else row["objects"]
        times = [f"{row[key]:.2f} ms" for key in ("all_ms", "candidates_ms")]
        cells.append([row["head"], objects, row["found"], *times, "{ratio:.2f} ({low:.2f}-{high:.2f})".format(**row)])
    return table(["", "boxes with an object", "found", "all decoded", "candidates", "ratio"], cells)


def measured(requests: list[openvino.InferRequest], feeds: dict[str, NDArray[Any]], runs: int) -> dict[str, float]:
    """Times of both forms on the same inputs, whose results must agree."""
    for request in requests:
        for name, array in feeds.items():
            request.set_tensor(name, openvino.Tensor(array, shared_memory=True))
    results: list[list[NDArray[Any]]] = []
    times: list[list[float]] = []
    for run in range(runs + 1):
        times.append([])
        for request in requests:
            started = time.process_time()
            request.infer()
            times[-1].append(1e3 * (time.process_time() - started))
            if not run:  # the first one is to warm up
                results.append([np.array(request.get_output_tensor(i).data) for i in range(2)])
    for first, second in zip(*results, strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-4, atol=1e-4)
    taken = np.array(times[1:])
    low, ratio, high = np.percentile(taken[:, 0] / taken[:, 1], [25, 50, 75])
    before, after = np.median(taken, 0)
    count = int(results[1][1].sum())
    return {"found": count, "all_ms": before, "candidates_ms": after, "ratio": ratio, "low": low, "high": high}


if __name__ == "__main__":
    main()
