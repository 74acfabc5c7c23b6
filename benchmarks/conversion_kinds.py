"""How long warm conversions of forty networks of six kinds take beside OpenVINO's C++ frontend, in one run.

    python -m benchmarks.conversion_kinds
    python -m benchmarks.conversion_kinds --kinds detection text --runs 21 --json result.json

The networks are those of the tests that the C++ frontend reads, which are as deep as those that they stand for. All but
the classifiers have few channels, so that copying weights, which costs the C++ frontend most with large networks, plays
no part.
Each round converts every network by paddle2ov (PIR) and by the C++ frontend (legacy), in turn; imports and a first
conversion are done. The times are the least CPU time of all rounds, the ratios those of paddle2ov to the C++ frontend,
their means geometric ones. What stands below says how much of paddle2ov's time is spent inside OpenVINO's bindings:
their functions' own time by Python's profiler, of each the least of as many rounds, over the CPU time without it; and
for each of the functions that take most of it how often it is called for an operator of Paddle. Constructors
(Constant, Model), which the profiler does not tell from their callers, are not in it. Shares of the steps are those of
the profiler too.
"""

from __future__ import annotations

import argparse
import cProfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import openvino

import paddle2ov
from benchmarks.generated import model_folder
from benchmarks.record import Record, table

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

STEPS = {"read_program": "Reading", "convert_program": "translation", "rewrite_graph": "passes"}
"""The functions of the steps -> what they are called."""


def main() -> None:
    """Runs the rounds and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="which networks")
    parser.add_argument("--runs", type=int, default=11, help="rounds")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    arguments = parser.parse_args()
    record = Record("conversion_kinds", "Conversion of many networks", __doc__)
    names = [name for kind in arguments.kinds for name in KINDS[kind]]
    figures = measured(names, arguments.runs)
    whole = sum(times["paddle2ov"] for times in figures.values())
    result = f"{rendered(figures, arguments.kinds)}\n\n{told(profiled(names, arguments.runs), whole, operators(names))}"
    print(result)
    record.write(arguments.json, figures, result)


def measured(names: Sequence[str], runs: int) -> dict[str, dict[str, float]]:
    """Network -> the least CPU time by either route, in milliseconds, and the ratio."""
    core = openvino.Core()
    routes: dict[str, tuple[Callable[[Any], object], dict[str, Path]]] = {
        "paddle2ov": (paddle2ov.convert, {name: model_folder(name) for name in names}),
        "cpp": (core.read_model, {name: model_folder(name, "legacy") / "inference.pdmodel" for name in names}),
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


@dataclass
class Profile:
    """What Python's profiler tells of converting all networks once.

    Attributes:
        bindings: OpenVINO's functions -> how often they are called, and their own time in milliseconds.
        steps: the steps of a conversion -> their share of its time.
    """

    bindings: dict[str, tuple[int, float]]
    steps: dict[str, float]

    @property
    def inside(self) -> float:
        """The time in OpenVINO's functions, in milliseconds."""
        return sum(taken for _, taken in self.bindings.values())


def profiled(names: Sequence[str], runs: int) -> Profile:
    """Of each function and step the least of some rounds."""
    models = [model_folder(name) for name in names]
    summaries = []
    for _ in range(runs):
        profile = cProfile.Profile()
        for model in models:
            profile.runcall(paddle2ov.convert, model)
        summaries.append(_summary(profile))
    bindings = {
        name: min((value[0][name] for value in summaries if name in value[0]), key=lambda item: item[1])
        for name in summaries[0][0]
    }
    totals = {name: min(item[1][name] for item in summaries) for name in summaries[0][1]}
    return Profile(bindings, {STEPS[name]: totals[name] / totals["convert"] for name in STEPS})


def _summary(profile: cProfile.Profile) -> tuple[dict[str, tuple[int, float]], dict[str, float]]:
    """OpenVINO's functions, and the time of each step and of all."""
    bindings: dict[str, tuple[int, float]] = {}
    totals: dict[str, float] = {}
    for entry in profile.getstats():
        text = str(entry.code)
        if "openvino._pyopenvino" in text:
            name = text.rpartition(".")[2].rstrip(">")
            calls, taken = bindings.get(name, (0, 0.0))
            bindings[name] = (calls + entry.callcount, taken + 1e3 * entry.inlinetime)
        elif not isinstance(entry.code, str) and entry.code.co_name in ("convert", *STEPS):
            totals[entry.code.co_name] = max(totals.get(entry.code.co_name, 0.0), entry.totaltime)
    return bindings, totals


def operators(names: Sequence[str]) -> int:
    """How many operators of Paddle the networks have."""
    count = 0
    for name in names:
        report = paddle2ov.ConversionReport()
        paddle2ov.convert(model_folder(name), report=report)
        count += report.operators
    return count


def told(profile: Profile, whole: float, count: int) -> str:
    """A paragraph on the bindings and the steps, and a row for each of the functions that take most time."""
    calls = sum(number for number, _ in profile.bindings.values())
    share = f"{profile.inside:.0f} ms ({profile.inside / whole:.0%}) inside OpenVINO's bindings, in {calls} calls"
    steps = ", ".join(f"{name} {part:.0%}" for name, part in profile.steps.items())
    most = sorted(profile.bindings.items(), key=lambda item: -item[1][1])[:12]
    rows = [[name, f"{number / count:.2f}", f"{taken:.1f}"] for name, (number, taken) in most]
    by_function = table(["function of the bindings", "calls for an operator", "ms"], rows)
    return f"{whole:.0f} ms by paddle2ov for {count} operators, of which {share}. {steps}.\n\n{by_function}"


def rendered(figures: dict[str, dict[str, float]], kinds: Sequence[str]) -> str:
    """A row for each network, and one for each kind."""
    rows: list[list[object]] = []
    for kind in kinds:
        of_kind = {name: figures[name] for name in KINDS[kind]}
        for name, times in of_kind.items():
            rows.append([name, f"{times['cpp']:.1f}", f"{times['paddle2ov']:.1f}", f"{times['ratio']:.2f}"])
        rows.append(
            [f"**{kind}**", "", "", f"**{geometric_mean([value['ratio'] for value in of_kind.values()]):.2f}**"]
        )
    mean = geometric_mean([times["ratio"] for times in figures.values()])
    rows.append([f"**all {len(figures)}**", "", "", f"**{mean:.2f}**"])
    return table(["CPU ms", "C++ frontend", "paddle2ov", "ratio"], rows)


if __name__ == "__main__":
    main()
