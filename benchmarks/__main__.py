"""Runs every benchmark and writes `docs/benchmarks.md`: what `make bench` does.

    python -m benchmarks                        # all, one after the other
    python -m benchmarks cold_start latency     # these; the sections of others stay as they are

Each writes what it finds to a file NAME.json in `docs/benchmarks`. One that fails does not keep the others from
running; its section stays as it was, and the command fails at the end.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from benchmarks.page import FOLDER, ORDER, page
from benchmarks.record import ROOT

OPTIONS = {"latency_precision": ("latency", "--precision")}
"""A benchmark that is another one with options -> its module and these."""


def main() -> None:
    """Runs the benchmarks that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(ORDER)}; default: all")
    parser.add_argument("--json", type=Path, default=FOLDER, help="the folder for the JSON files, beside the page")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(ORDER):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    arguments.json.mkdir(parents=True, exist_ok=True)
    failed = [name for name in arguments.names or ORDER if not run(name, arguments.json)]
    arguments.json.with_suffix(".md").write_text(page(arguments.json))
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def run(name: str, folder: Path) -> bool:
    """Runs one, in a process of its own; tells whether it ended well."""
    print(f"\n== {name}", flush=True)
    module, *options = OPTIONS.get(name, (name,))
    file = str(folder.absolute() / f"{name}.json")
    command = [sys.executable, "-m", f"benchmarks.{module}", *options, "--json", file]
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


if __name__ == "__main__":
    main()
