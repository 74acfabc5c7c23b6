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

from benchmarks.page import FOLDER, ORDER, main as write_page
from benchmarks.record import ROOT

OPTIONS = {"latency_precision": ("latency", "--precision")}
"""A benchmark that is another one with options -> its module and these."""


def main() -> None:
    """Runs the benchmarks that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(ORDER)}; default: all")
    names = parser.parse_args().names
    if unknown := set(names) - set(ORDER):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    failed = [name for name in names or ORDER if not run(name)]
    write_page()
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def run(name: str) -> bool:
    """Runs one, in a process of its own; tells whether it ended well."""
    print(f"\n== {name}", flush=True)
    module, *options = OPTIONS.get(name, (name,))
    command = [sys.executable, "-m", f"benchmarks.{module}", *options, "--json", str(FOLDER / f"{name}.json")]
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


if __name__ == "__main__":
    main()
