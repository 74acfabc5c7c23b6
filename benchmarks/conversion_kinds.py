"""How long warm conversions of forty networks of six kinds take beside OpenVINO's C++ frontend, in one run.

    python -m benchmarks.conversion_kinds
    python -m benchmarks.conversion_kinds --kinds detection text --runs 21 --json result.json

The networks are those of the tests that the C++ frontend reads, which are as deep as those that they stand for. All but
the classifiers have few channels, so that copying weights, which costs the C++ frontend most with large networks, plays
no part. The last row is a chain of 200 ReLUs, the simplest operators, each of which becomes one node.
Each round converts every network by paddle2ov (PIR) and by the C++ frontend (legacy), in turn; imports and a first
conversion are done. The times are the least CPU time of all rounds, the ratios those of paddle2ov to the C++ frontend,
their means geometric ones.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import openvino

import paddle2ov
from benchmarks.generated import exported, model_folder
from benchmarks.record import Record, options, table

KINDS = {
    "detection": (
        *("gfl", "permutes_mask_rcnn", "permutes_rcnn", "permutes_ssd", "permutes_yolo", "picodet", "picodet_fixed"),
        *("ppyolo", "ppyoloe", "ppyoloe_fixed", "ssd", "ssd_in_pixels", "yolov3"),
    ),
    "text": ("crnn", "db", "svtr_mixer"),
    "segmentation": ("dense_denoiser", "dense_flow", "dense_segmenter", "dense_style"),
    "attention": ("attention_unmasked", "bert", "choosing_queries", "encoder_by_hand", "swin_stage"),
    "time": ("grown_states", "series_blocks", "series_decomposed", "speech_speaker", "speech_synthesis"),
    "classification": (
        *("alexnet", "densenet121", "googlenet", "inception_v3", "mobilenet_v2", "mobilenet_v3_large", "resnet18"),
        *("resnet50", "shufflenet_v2_x0_25", "squeezenet1_1"),
    ),
}
"""Kind -> the networks of `gen_models` that stand for it."""

CHAIN = "relu_chain"
"""The network of `benchmarks.networks` that shows what an operator costs at least."""


def main() -> None:
    """Runs the rounds and prints the table."""
    parser = options(__doc__)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="which networks")
    parser.add_argument("--runs", type=int, default=11, help="rounds")
    arguments = parser.parse_args()
    record = Record("conversion_kinds", "Conversion of many networks", __doc__)
    names = [name for kind in arguments.kinds for name in KINDS[kind]]
    figures = measured([*names, CHAIN], arguments.runs)
    record.write(arguments.json, rendered(figures, arguments.kinds))


def measured(names: Sequence[str], runs: int) -> dict[str, dict[str, float]]:
    """Network -> the least CPU time by either route, in milliseconds, and the ratio."""
    core = openvino.Core()
    routes: dict[str, tuple[Callable[[Any], object], dict[str, Path]]] = {
        "paddle2ov": (paddle2ov.convert, {name: _folder(name, "pir") for name in names}),
        "cpp": (core.read_model, {name: _folder(name, "legacy") / "inference.pdmodel" for name in names}),
    }
    best = {name: dict.fromkeys(routes, float("inf")) for name in names}
    for done in range(runs + 1):
        for name in names:
            for route, (convert, models) in routes.items():
                started = time.process_time()
                model = convert(models[name])
                taken = 1e3 * (time.process_time() - started)
                del model  # outside of the time that is measured
                if done:
                    best[name][route] = min(best[name][route], taken)
    return {name: {**times, "ratio": times["paddle2ov"] / times["cpp"]} for name, times in best.items()}


def _folder(name: str, format: str) -> Path:
    folder = exported(name, format) if name == CHAIN else model_folder(name, format)
    if folder is None:
        sys.exit(f"{name}: no Paddle exports it as {format}")
    return folder


def rendered(figures: dict[str, dict[str, float]], kinds: Sequence[str]) -> str:
    """A row for each network, and one for each kind."""
    rows: list[list[object]] = []
    for kind in kinds:
        of_kind = {name: figures[name] for name in KINDS[kind]}
        rows += [_row(name, times) for name, times in of_kind.items()]
        rows.append(
            [f"**{kind}**", "", "", f"**{geometric_mean([value['ratio'] for value in of_kind.values()]):.2f}**"]
        )
    ratios = [times["ratio"] for name, times in figures.items() if name != CHAIN]
    rows.append([f"**all {len(ratios)}**", "", "", f"**{geometric_mean(ratios):.2f}**"])
    rows.append(_row(CHAIN, figures[CHAIN]))
    return table(["CPU ms", "C++ frontend", "paddle2ov", "ratio"], rows)


def _row(name: str, times: dict[str, float]) -> list[object]:
    return [name, f"{times['cpp']:.1f}", f"{times['paddle2ov']:.1f}", f"{times['ratio']:.2f}"]


if __name__ == "__main__":
    main()
