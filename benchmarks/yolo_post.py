"""How long YOLOv3's post-processing takes at 608x608 with 80 classes, decoded as written and decoded where suppressed.

    python benchmarks/yolo_post.py                     # 100, 300, 5000 and all 22743 boxes with an object
    python benchmarks/yolo_post.py --runs 20 --batch 4 --json result.json

The program is `yolo_box` of three heads, their concatenation and `multiclass_nms3`, with PaddleDetection's attributes.
Each round runs every form once, in turn, so that whatever else the machine does hits all of them alike; the table has
the fastest round of each. Paddle is not needed: the program is made here.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import openvino
from numpy.typing import NDArray

from paddle2ov.conversion import convert_program
from paddle2ov.program.model import Block, Operator, Output, Program, Variable
from paddle2ov.program.vocabulary import Vocabulary
from paddle2ov.registry import Registry

CLASSES, IMAGE = 80, 608
ANCHORS = ((116, 90, 156, 198, 373, 326), (30, 61, 62, 45, 59, 119), (10, 13, 16, 30, 33, 23))
STRIDES = (32, 16, 8)
CELLS = [(IMAGE // stride) ** 2 * 3 for stride in STRIDES]


def program() -> Program:
    """The post-processing, of any batch."""
    inputs = [
        Variable(f"head_{i}", "float32", (-1, 3 * (5 + CLASSES), IMAGE // stride, IMAGE // stride))
        for i, stride in enumerate(STRIDES)
    ]
    inputs.append(Variable("img_size", "int32", (-1, 2)))
    operators: list[Operator] = []

    def add(kind: str, reads: dict[str, list[str]], writes: dict[str, list[str]], attributes: dict[str, Any]) -> None:
        operators.append(Operator(kind, reads, writes, attributes, kind, 0, len(operators)))

    for i, stride in enumerate(STRIDES):
        attributes = {"anchors": list(ANCHORS[i]), "class_num": CLASSES, "conf_thresh": 0.005}
        attributes |= {"downsample_ratio": stride, "clip_bbox": True, "scale_x_y": 1.0}
        results = {"boxes": [f"boxes_{i}"], "scores": [f"scores_{i}"]}
        add("yolo_box", {"x": [f"head_{i}"], "img_size": ["img_size"]}, results, attributes)
        add("transpose2", {"x": [f"scores_{i}"]}, {"out": [f"turned_{i}"]}, {"perm": [0, 2, 1]})
    add("concat", {"x": [f"boxes_{i}" for i in range(3)]}, {"out": ["boxes"]}, {"axis": 1})
    add("concat", {"x": [f"turned_{i}" for i in range(3)]}, {"out": ["scores"]}, {"axis": 2})
    attributes = {"score_threshold": 0.01, "nms_top_k": 1000, "keep_top_k": 100, "nms_threshold": 0.45}
    attributes |= {"normalized": False, "nms_eta": 1.0, "background_label": -1}
    names = ["out", "index", "nms_rois_num"]
    add("multiclass_nms3", {"bboxes": ["boxes"], "scores": ["scores"]}, {name: [name] for name in names}, attributes)
    declared = {one.name: one for one in inputs} | {name: Variable(name) for name in names}
    wanted = ["out", "nms_rois_num"]
    block = Block(0, operators, [one.name for one in inputs], wanted)
    return Program("pir", 1, block, inputs, [Output(name, name) for name in wanted], declared, {})


def heads(objects: int, batch: int) -> dict[str, NDArray[Any]]:
    """Heads where so many boxes of each image hold an object, of one class or two."""
    rng = np.random.default_rng(0)
    found: dict[str, NDArray[Any]] = {"img_size": np.full((batch, 2), IMAGE, np.int32)}
    chosen = np.zeros((batch, sum(CELLS)), bool)
    for row in chosen:
        row[rng.choice(row.size, objects, replace=False)] = True
    parts = np.split(chosen, np.cumsum(CELLS)[:-1], 1)
    for i, (stride, mask) in enumerate(zip(STRIDES, parts, strict=True)):
        side = IMAGE // stride
        raw = rng.normal(0, 0.5, (batch, 3, 5 + CLASSES, side * side)).astype(np.float32)
        raw[:, :, 2:4] *= 0.4  # boxes about as large as their anchors
        raw[:, :, 5:] -= 7
        label = rng.integers(0, CLASSES, (batch, 3, 1, side * side))
        np.put_along_axis(raw[:, :, 5:], label, rng.normal(1, 1, label.shape).astype(np.float32), 2)
        raw[:, :, 4] = np.where(mask.reshape(batch, 3, -1), rng.normal(0, 1.5, (batch, 3, side * side)), -9)
        found[f"head_{i}"] = raw.reshape(batch, -1, side, side)
    return found


def compiled(merge: bool, batch: int) -> openvino.CompiledModel:
    """The post-processing in OpenVINO; of the given batch, or of any (0)."""
    model = convert_program(program(), [], [], Registry(), Vocabulary([]), merge=merge)
    if batch:
        model.reshape({port: [batch, *list(port.get_partial_shape())[1:]] for port in model.inputs})
    return openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})


def main() -> None:
    """Runs the rounds and prints a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--objects", type=int, nargs="+", default=[0, 100, 300, 5000, sum(CELLS)])
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    forms = {"as written": compiled(False, args.batch), "merged": compiled(True, args.batch)}
    requests = {name: one.create_infer_request() for name, one in forms.items()}
    rows = []
    print(f"{'boxes with an object':>20} {'found':>6} {'as written':>12} {'merged':>12} {'ratio':>7}")
    for objects in args.objects:
        inputs = heads(objects, args.batch)
        results: dict[str, list[NDArray[Any]]] = {}
        times: dict[str, list[float]] = {name: [] for name in requests}
        for request in requests.values():
            for name, array in inputs.items():
                request.set_tensor(name, openvino.Tensor(array, shared_memory=True))
        for run in range(args.runs + 1):
            for name, request in requests.items():
                started = time.perf_counter()
                request.infer()
                if run:  # the first one is to warm up
                    times[name].append(1e3 * (time.perf_counter() - started))
                else:
                    results[name] = [np.array(request.get_output_tensor(i).data) for i in range(2)]
        for one, other in zip(*results.values(), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
        before, after = (min(times[name]) for name in requests)
        found = int(results["merged"][1].sum())
        rows.append({"objects": objects, "found": found, "as_written_ms": before, "merged_ms": after})
        print(f"{objects:>20} {found:>6} {before:>9.2f} ms {after:>9.2f} ms {before / after:>6.1f}x", flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
