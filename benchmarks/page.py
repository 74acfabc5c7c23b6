"""Renders `docs/benchmarks.md` from the JSON files in `docs/benchmarks`, whichever there are.

A text of the same name as the file, which says what a reader may make of the table, stands below it.

    python -m benchmarks.page
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.record import about

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "benchmarks"
ORDER = (
    *("conversion", "conversion_kinds", "cold_start", "drop_in", "latency", "latency_precision", "precision"),
    *("memory", "soak", "yolo_post"),
)
"""The benchmarks, in the order of their sections; those of other files follow."""

HEAD = """\
# Benchmarks

Written by `python -m benchmarks.page` from what the benchmarks found, the JSON files in the folder `docs/benchmarks`.
`make bench` prepares the other tools, runs all benchmarks and writes this page. Each section has its command, the
machine, and how much of it other programs took meanwhile.
"""


def main() -> None:
    """Writes the page."""
    FOLDER.with_suffix(".md").write_text(page(FOLDER), encoding="utf-8")


def page(folder: Path) -> str:
    """The page in Markdown."""
    places = {name: i for i, name in enumerate(ORDER)}
    files = sorted(folder.glob("*.json"), key=lambda file: (places.get(file.stem, len(ORDER)), file.stem))
    return "\n".join([HEAD, *(section(json.loads(file.read_text()), folder) for file in files)])


def section(found: dict[str, Any], folder: Path) -> str:
    """What one benchmark found."""
    parts = [f"## {found['title']}", f"    {found['command']}", about(found["about"]), "\n".join(found["result"])]
    notes = folder / f"{found['benchmark']}.txt"
    if notes.exists():
        parts.append(notes.read_text(encoding="utf-8").strip("\n"))
    parts.append(f"*{circumstances(found)}*")
    return "\n\n".join(parts) + "\n"


def circumstances(found: dict[str, Any]) -> str:
    """The date, versions, machine and load in a line."""
    machine, load = found["machine"], found["load"]
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    with_instructions = f" ({', '.join(machine['instructions'])})" if machine["instructions"] else ""
    others = "" if load["others"] is None else f", of which other programs took {load['others']:.0%}"
    return (
        f"{found['date']}; {versions}; "
        f"{machine['processor']}{with_instructions}, {machine['cores']} cores{others}, {machine['memory_gb']} GB, "
        f"{machine['system']}; load {load['before']} before, {load['after']} after."
    )


if __name__ == "__main__":
    main()
