"""What a benchmark found, and where and when: the JSON that `docs/benchmarks.md` is rendered from.

parser = options(__doc__)
...
record = Record("cold_start", "The first result", __doc__)  # before anything is measured
...
record.write(arguments.json, table(["", "C++", "ours"], rows))
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import resource
import shlex
import statistics
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("openvino", "paddlepaddle", "numpy")
INSTRUCTIONS = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_bf16", "amx_int8")


def options(doc: str | None) -> argparse.ArgumentParser:
    """The parser of a benchmark's command line, which says where to write what is found."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="where to write what is found")
    return parser


class Record:
    """Notes time and load where it is made; `write` adds what was found, and what else ran meanwhile.

    Args:
        name: the benchmark's module, or a name of its own for one of several that a module measures.
        title: the heading of its section.
        doc: the module's docstring, whose text, without the commands, says what is measured.
        module: the module, where it is called otherwise.
    """

    def __init__(self, name: str, title: str, doc: str | None, module: str | None = None) -> None:
        self._name = name
        self._module = module or name
        self._title = title
        self._doc = doc or ""
        self._load = _load()
        self._ticks = _processor_seconds()

    def write(self, path: Path | None, result: str) -> None:
        """Prints the result in Markdown, and writes it as the page shows it where there is a path."""
        print(f"\n{result}")
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {
            "benchmark": self._name,
            "title": self._title,
            "about": about(self._doc),
            "command": command(self._module, sys.argv[1:]),
            "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
            "machine": machine(),
            "versions": versions(),
            "load": {"before": self._load, "after": _load(), "others": self._others()},
            "result": result.strip("\n").splitlines(),
        }
        path.write_text(json.dumps(record, indent=1) + "\n")

    def _others(self) -> float | None:
        """The part of the machine's processors that other programs took."""
        if self._ticks is None or (now := _processor_seconds()) is None:
            return None
        whole, busy, own = (after - before for after, before in zip(now, self._ticks, strict=True))
        return round(max(0.0, busy - own) / whole, 3) if whole > 0 else 0.0


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown; the first column stands left, the others right."""
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)], *rows]
    return "\n".join(f"| {' | '.join(str(cell).replace('|', '/') for cell in line)} |" for line in lines)


def reason(text: str) -> str:
    """The last line of an error that says something, cut short."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)  # colors
    lines = [re.sub(r"^[-0-9]+ [:0-9]+ \[\w+\]", "", line).strip() for line in text.splitlines()]
    lines = [line for line in lines if line]
    lines = [line for line in lines if not line.startswith(("Exception from", "File", "subprocess.", "raise "))]
    said = [line for line in lines if "rror" in line or line.startswith("Failed")]
    return ((said or lines or ["no message"])[-1])[:100]


def ratios(values: Sequence[float], others: Sequence[float]) -> list[float]:
    """The ratios of the rounds, in order."""
    return sorted(value / other for value, other in zip(values, others, strict=False))


def spread(values: list[float]) -> str:
    """The median, and the quartiles in brackets."""
    if not values:
        return "-"
    if len(values) < 4:
        return f"{statistics.median(values):.2f}"
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.2f} ({low:.2f}-{high:.2f})"


def about(doc: str) -> str:
    """The text of a docstring without its commands, and without where its options are explained."""
    paragraphs = re.split(r"\n\s*\n", doc.strip())
    return "\n\n".join(text for text in paragraphs if not text.startswith("    "))


def command(name: str, arguments: Sequence[str]) -> str:
    """The command that measures this again, wherever what it finds is to be written."""
    _, kept = options(None).parse_known_args(arguments)
    return shlex.join(["python", "-m", f"benchmarks.{name}", *kept])


def machine() -> dict[str, Any]:
    """The processor, how many cores this process may use, and the memory."""
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    model = re.search(r"^model name\s*:\s*(.+)$", info, re.M)
    flags = re.search(r"^flags\s*:\s*(.+)$", info, re.M)
    known = flags[1].split() if flags else []
    return {
        "processor": model[1] if model else platform.processor() or platform.machine(),
        "instructions": [instruction for instruction in INSTRUCTIONS if instruction in known],
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": platform.system(),
    }


def versions() -> dict[str, str]:
    """What is installed."""
    import paddle2ov

    installed = {"paddle2ov": paddle2ov.__version__, "Python": platform.python_version()}
    for package in PACKAGES:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            continue
    return installed


def _load() -> float:
    """How many programs wanted to run, on average over the last minute."""
    return round(os.getloadavg()[0], 2)


def _processor_seconds() -> tuple[float, float, float] | None:
    """The time of all processors so far, what of it any program took, and what this one and its children took."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return None
    ticks = [int(part) / os.sysconf("SC_CLK_TCK") for part in stat.read_text().partition("\n")[0].split()[1:9]]
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    own = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    return sum(ticks), sum(ticks) - ticks[3] - ticks[4], own  # without "idle" and "iowait"
