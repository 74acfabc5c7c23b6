"""The results of a campaign of random cases: as data, and as a page with their totals."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gen_models import all_ops
from gen_models.harness.exploration import formats
from gen_models.harness.spec import FORMATS
from gen_models.harness.store import paddle_version
from paddle2ov.deployment.saving import write_text

PAGE = """# Random campaign

Written by `python -m tools.campaign --state FILE --page docs/campaign.md`, which runs random cases of every operator
that has some (`gen_models/`), in both formats. What Paddle accepts of what is drawn is converted as
declared and with every dimension dynamic, and compared with Paddle's results. The numbers of each operator are in
[campaign.json](campaign.json).

{drawn} examples were drawn for each operator, those of both formats together. A case that was drawn twice counts once.
The results are those of OpenVINO {openvino}.

| | PIR | legacy |
|---|---:|---:|
| Paddle | {paddle} |
| operators with random cases | {known} |
| operators with cases that were compared | {reached} |
| cases | {cases} |
| cases of one operator: fewest, median, most | {spread} |
| failures | {failures} |

In all, {total} cases of {operators} operators were compared.
"""


def results(records: Mapping[str, Any]) -> dict[str, Any]:
    """What a campaign has found out, by operator; `records` are those of its state file.

    Of each operator: how many examples were drawn, and how many different cases were compared in each of its formats.
    """
    import openvino

    operators = {
        op.name: {"drawn": 0, **{format: 0 for format in FORMATS if format in formats(op)}}
        for op in all_ops().values()
        if op.is_varied
    }
    compared: dict[tuple[str, str], set[str]] = {}
    failures = []
    for key, record in records.items():
        op, format, _ = key.split("/")
        if op not in operators or format not in operators[op]:  # its cases were varied when the campaign ran
            continue
        operators[op]["drawn"] += record["asked"]
        compared.setdefault((op, format), set()).update(record["compared"])
        operators[op][format] = len(compared[op, format])
        if "failure" in record:
            failures.append({"operator": op, "format": format, "case": record["case"]})
    return {
        "paddle": {format: paddle_version(format).strip("[]'") or "not installed" for format in FORMATS},
        "openvino": openvino.__version__.partition("-")[0],
        "failures": sorted(failures, key=lambda failure: (failure["operator"], failure["format"])),
        "operators": operators,
    }


def page(found: Mapping[str, Any]) -> str:
    """The page of `results`."""
    operators = found["operators"]
    drawn = [operator["drawn"] for operator in operators.values() if operator["drawn"]] or [0]
    counts = {format: [operator[format] for operator in operators.values() if format in operator] for format in FORMATS}
    ran = {format: sorted(count for count in counts[format] if count) for format in FORMATS}
    failed = [item["format"] for item in found["failures"]]
    text = PAGE.format(
        drawn=min(drawn) if min(drawn) == max(drawn) else f"{min(drawn)} to {max(drawn)}",
        openvino=found["openvino"],
        paddle=_row(found["paddle"][format] for format in FORMATS),
        known=_row(len(counts[format]) for format in FORMATS),
        reached=_row(len(ran[format]) for format in FORMATS),
        cases=_row(sum(ran[format]) for format in FORMATS),
        spread=_row(_spread(ran[format]) for format in FORMATS),
        failures=_row(failed.count(format) for format in FORMATS),
        total=sum(map(sum, ran.values())),
        operators=sum(any(operator.get(format) for format in FORMATS) for operator in operators.values()),
    )
    if found["failures"]:
        text += "\n## Failures\n\n"
        text += "".join(f"- `{item['operator']}` ({item['format']}): `{item['case']}`\n" for item in found["failures"])
    return text


def write_page(path: Path, records: Mapping[str, Any]) -> None:
    """Writes the page, and the data beside it as JSON with a line for each operator."""
    summary = results(records)
    write_text(path, page(summary))
    write_text(path.with_suffix(".json"), as_json(summary))


def as_json(found: Mapping[str, Any]) -> str:
    """The results as JSON, so that a changed operator is a changed line."""
    rows = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found["operators"].items()]
    rest = [f"{json.dumps(key)}: {json.dumps(found[key])}" for key in found if key != "operators"]
    return "{\n" + ",\n".join([*rest, '"operators": {\n' + ",\n".join(rows) + "\n}"]) + "\n}\n"


def _row(cells: Iterable[object]) -> str:
    return " | ".join(map(str, cells))


def _spread(counts: list[int]) -> str:
    return f"{counts[0]}, {counts[len(counts) // 2]}, {counts[-1]}" if counts else "-"


__all__ = ["as_json", "page", "results", "write_page"]
