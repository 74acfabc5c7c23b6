"""Install each package, run it on both sides, and write the page. `--only NAME ...` renews these rows."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.published_models.comparison import TOLERANCE, difference
from tools.published_models.packages import PACKAGES, Published
from tools.published_models.page import PAGE, machine, page

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "models.json"
CACHE = ROOT / ".cache" / "published"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=[package.name for package in PACKAGES], help="these packages")
    only = parser.parse_args().only
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {"packages": {}}
    results["machine"] = machine()
    for package in PACKAGES:
        if only is None or package.name in only:
            results["packages"][package.name] = compared(package)
            print(package.name, results["packages"][package.name], flush=True)
    RESULTS.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    PAGE.write_text(page(results), encoding="utf-8")


def compared(package: Published) -> dict[str, Any]:
    """The row of a package: whether a user sees the same, and the time of each side."""
    installed = install(package)
    theirs, ours = (run(package, side, installed) for side in ("paddle", "paddle2ov"))
    for side, outcome in (("Paddle", theirs), ("paddle2ov", ours)):
        if "error" in outcome:
            return {"answer": f"its code fails on {side}: {outcome['error'].strip().splitlines()[-1]}"}
    apart = difference(theirs["seen"], ours["seen"])
    same = apart is not None and apart <= TOLERANCE
    times = {"paddle": round(theirs["milliseconds"], 1), "paddle2ov": round(ours["milliseconds"], 1)}
    return {"answer": "same" if same else "differs", "difference": apart, "milliseconds": times}


def install(package: Published) -> Path:
    """A folder with the package and what it imports, without what these would install."""
    target = CACHE / package.requirement
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as unfinished:
            constraints = Path(unfinished, "constraints.txt")  # LAC's setup.py imports pkg_resources
            constraints.write_text("setuptools<81\n", encoding="utf-8")
            options = ["--quiet", "--no-deps", "--ignore-requires-python", "--target", f"{unfinished}/package"]
            command = [sys.executable, "-m", "pip", "install", *options, package.requirement, *package.also]
            subprocess.run(command, check=True, env={**os.environ, "PIP_CONSTRAINT": str(constraints)})
            Path(unfinished, "package").rename(target)
    return target


def run(package: Published, side: str, installed: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "result.json")
        command = [
            sys.executable,
            "-m",
            "tools.published_models.worker",
            package.name,
            side,
            str(installed),
            str(result),
        ]
        done = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
        )
        if result.exists():
            return dict(json.loads(result.read_text(encoding="utf-8")))
        return {"error": f"the process ended with status {done.returncode}\n{done.stderr[-300:]}"}


if __name__ == "__main__":
    main()
