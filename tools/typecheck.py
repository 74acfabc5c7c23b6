"""Run mypy on the tree in its installed shape, with converters/ and op_table.py inside paddle2ov/.

mypy does not follow the lines of paddle2ov/__init__.py that graft the two names in a checkout, so this script stages
the tree with symbolic links and maps the paths in mypy's messages back. Further arguments go to mypy.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".mypy_cache"
STAGED = CACHE / "staged"  # always the same place: mypy's cache knows files by their paths
GRAFTED = ("converters", "op_table.py")
BESIDE = ("benchmarks", "examples", "gen_models", "tests", "tools")


def link_tree(source: Path, target: Path) -> None:
    """Mirror a file or a folder of Python files; folders are real, files are links."""
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        for child in sorted(source.iterdir()):
            if (child.is_dir() and child.name != "__pycache__") or child.suffix in (".py", ".pyi"):
                link_tree(child, target / child.name)
    else:
        try:
            target.symlink_to(source)
        except OSError:  # Windows without the right to make links
            shutil.copy2(source, target)


def stage() -> list[str]:
    """Build the staged tree anew and name what is to be checked in it."""
    shutil.rmtree(STAGED, ignore_errors=True)
    STAGED.mkdir(parents=True)
    link_tree(ROOT / "paddle2ov", STAGED / "paddle2ov")
    for name in GRAFTED:
        if (ROOT / name).exists():
            link_tree(ROOT / name, STAGED / "paddle2ov" / name)
    beside = [name for name in BESIDE if any((ROOT / name).rglob("*.py"))]
    for name in beside:
        link_tree(ROOT / name, STAGED / name)
    return ["paddle2ov", *beside]


def in_checkout(line: str) -> str:
    """Map the path at the start of one of mypy's messages from the staged tree to the checkout."""
    for name in GRAFTED:
        staged = str(Path("paddle2ov") / name)
        if line.startswith(staged):
            return name + line[len(staged) :]
    return line


def main(arguments: list[str]) -> int:
    """Stage, run mypy, print its messages; its exit status is ours."""
    mypy = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(CACHE)]
    run = subprocess.run([*mypy, *arguments, *stage()], cwd=STAGED, text=True, capture_output=True, check=False)
    for line in run.stdout.splitlines():
        print(in_checkout(line))
    print(run.stderr, end="", file=sys.stderr)
    return run.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
