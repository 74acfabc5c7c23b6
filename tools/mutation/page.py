"""The table of a campaign's outcomes, as a part of a page."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from tools.mutation.trial import OUTCOMES

_BEGIN, _END = "<!-- outcomes: written by tools.mutate -->", "<!-- end of outcomes -->"
_ENDS = {
    "converted": "ran",
    "exception": "ended in an exception",
    "crash": "crashed",
    "hang": "took longer than 10 s",
    "memory": "ran out of memory",
}


def write_table(page: Path, records: dict[str, Any]) -> None:
    """Writes the table between the two marks of a page."""
    text = page.read_text()
    before, rest = text.split(_BEGIN)
    after = rest.split(_END)[1]
    page.write_text(f"{before}{_BEGIN}\n{table(records)}{_END}{after}")


def table(records: dict[str, Any]) -> str:
    """Rows are what was damaged, columns what came of it."""
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records.values():
        for row, outcomes in record.get("outcomes", {}).items():
            rows[row].update(outcomes)
    total: Counter[str] = sum(rows.values(), Counter())
    lines = ["| | files | " + " | ".join(OUTCOMES) + " |", "|---" + "|---:" * (len(OUTCOMES) + 1) + "|"]
    for name, counts in [*sorted(rows.items()), ("all", total)]:
        lines.append(
            f"| {name} | {counts.total():,} | " + " | ".join(f"{counts[outcome]:,}" for outcome in OUTCOMES) + " |"
        )
    ran: Counter[str] = sum((Counter(record.get("ran", {})) for record in records.values()), Counter())
    ends = ", ".join(f"{ran[end]:,} {name}" for end, name in _ENDS.items() if ran[end]) or "none"
    lines += ["", f"Of those that converted, {ran.total():,} were compiled and run by OpenVINO: {ends}."]
    return "\n".join(lines) + "\n"
