"""What the campaign found, as data and as a table."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[2] / "docs" / "paddlex.json"


def load() -> dict[str, Any]:
    """By model; empty before the first run."""
    if not DATA.exists():
        return {}
    rows: dict[str, Any] = json.loads(DATA.read_text(encoding="utf-8"))
    return rows


def save(found: dict[str, Any]) -> None:
    """A line for each model, so that a changed model is a changed line."""
    rows = [f"{json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found)]
    DATA.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def table(names: Collection[str]) -> str:
    """The section of the page, of those of `names` that were tried."""
    rows = {name: value for name, value in load().items() if name in names}
    if not rows:
        return ""
    done = sum(value["stage"] == "done" for value in rows.values())
    empty = sum(_is_empty(value) for value in rows.values())
    text = HEAD.format(tried=len(rows), done=done, left=len(names) - len(rows))
    if empty:
        text += f"\nOf {empty}, Paddle's own result has no values (no box passes its threshold): marked *empty*.\n"
    if any(value["stage"] == "done" and value["constant"] for value in rows.values()):
        text += "\n*constant*: all values of a result are the same in Paddle, which shows little.\n"
    if any(value.get("eager") for value in rows.values()):
        text += "\n*layer*: Paddle saves the program, and does not run it; the results are those of the layer.\n"
    text += COLUMNS
    return text + "".join(_row(name, item) for name, item in sorted(rows.items()))


HEAD = """
## Architectures that were run

Of these models, {tried} were tried as architectures with random weights. Each was exported in Paddle's PIR format
from the repository that defines it, with the configuration that PaddleX or PaddleOCR has for it. It was run on a
random input of the size shown and compared with Paddle. {done} were compared; of the others the row says why not.
{left} were not tried.

The difference is the largest of any value of a result, divided by the largest value of that result. Of masks it is
the share of pixels that differ. With random weights it says that the arithmetic agrees, not how accurate a model is.
What is made like that on purpose:

- Classifiers and segmenters are exported without the softmax or sigmoid at the end, which would make all results
  alike.
- Batch norms have the statistics of the input.
- Models that write formulas write 12 tokens, the most probable ones. A vocoder's noise is a sine.
- Rows of boxes are in the order of their scores, but for scores that differ by rounding. PP-DocLayoutV2 orders boxes
  for reading by votes: with random weights two are nearly equal, and two places of 29 differ.

`python -m tools.paddlex_models` writes this table from [paddlex.json](paddlex.json), and `python -m
tools.paddlex_campaign --sources FOLDER` writes that; `--commits` lists the repositories that FOLDER holds. The rows
of PaddleMIX, PaddleSpeech, PaddleVideo and PaddleX itself are those of the exporters in commit be5b4f5f.
"""
COLUMNS = """
| Model | Configuration | Operators | Input | Results | Largest difference, or why not |
|---|---|---:|---|---|---|
"""


def _row(name: str, one: dict[str, Any]) -> str:
    config = ", ".join(one[key] for key in ("repository", "config", "changes") if key in one)
    operators = one.get("operators", "")
    return (
        f"| {name} | {config} | {operators} | {_shapes(one.get('inputs', {}).values())} "
        f"| {_shapes(one.get('results', []))} | {_outcome(one)} |\n"
    )


def _outcome(one: dict[str, Any]) -> str:
    if one["stage"] == "done":
        marks = ", *empty*" if _is_empty(one) else ", *constant*" if one["constant"] else ""
        return f"{one['difference']:.1e}{marks}" + (", *layer*" if one.get("eager") else "")
    reason = str(one["reason"]).replace("|", "\\|").replace("<", "&lt;")
    return f"{one['stage']}: {reason}"


def _is_empty(one: dict[str, Any]) -> bool:
    return one["stage"] == "done" and any(0 in shape for shape in one["results"])


def _shapes(shapes: Collection[list[int]]) -> str:
    return ", ".join(" x ".join(map(str, shape)) for shape in shapes)
