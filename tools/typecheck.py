"""Run mypy on the tree in its installed shape, with converters/ and op_table.py inside paddle2ov/.

mypy does not follow the lines of paddle2ov/__init__.py that graft the two names in a checkout, so this script stages
the tree with symbolic links and maps the paths in mypy's messages back. Further arguments go to mypy.

OpenVINO's wheel has stubs, but no py.typed, so that mypy passes them by; and most of their names are imported from the
bindings without `as`, which in a stub means that they are not exported. What is installed is staged too, in a folder of
its own, with every import exported: OpenVINO's names have types, and they are those of the installed version.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import openvino

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".mypy_cache"  # always the same place: mypy's cache knows files by their paths
ELSEWHERE = ("--platform", "win32", "--cache-dir", str(CACHE / "win32"), "paddle2ov")
"""The package as Windows has it: what Python lacks there (`os.fork`, `resource`, `signal.SIGKILL`) is an error."""
GRAFTED = ("converters", "op_table.py")
BESIDE = ("benchmarks", "examples", "gen_models", "tests", "tools")

# Where OpenVINO's stubs are mended. Attributes of operators are methods of a node, too: any name would be one.
LEFT_OUT = {("Node", "__getattr__")}
RETURNS = {  # of these the generator of the stubs did not know the classes yet
    ("Input", "get_node"): "Node",
    ("Output", "get_node"): "Node",
    ("Output", "get_target_inputs"): "set[Input]",
    ("Output", "node"): "Node",
    ("Output", "target_inputs"): "set[Input]",
}
OPTIONAL = {("if_op", "set_input")}  # a value enters one of the two bodies, or both
NONE = ast.Constant(None)


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


def mended(stub: str) -> str:
    """The text of a stub of OpenVINO as strict checking needs it: its imports exported, its nodes with types."""
    tree = ast.parse(stub)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            for alias in node.names:
                alias.asname = alias.asname or alias.name
        elif isinstance(node, ast.ClassDef):
            node.body = [one for one in node.body if (node.name, getattr(one, "name", "")) not in LEFT_OUT]
            for function in (one for one in node.body if isinstance(one, ast.FunctionDef)):
                if returned := RETURNS.get((node.name, function.name)):
                    function.returns = ast.parse(returned, mode="eval").body
                for argument in function.args.args if (node.name, function.name) in OPTIONAL else ():
                    argument.annotation = argument.annotation and ast.BinOp(argument.annotation, ast.BitOr(), NONE)
    return "# mypy: ignore-errors\n" + ast.unparse(tree)  # errors of the stubs themselves are not ours


def stage_stubs(target: Path) -> None:
    """Stage the stubs of the installed OpenVINO; `openvino.passes` has none, its modules stand for themselves."""
    package = Path(openvino.__file__).parent
    for source in (*package.rglob("*.pyi"), *(package / "passes").glob("*.py")):
        stub = (target / "openvino" / source.relative_to(package)).with_suffix(".pyi")
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.write_text(mended(source.read_text(encoding="utf-8")), encoding="utf-8")


def stage(folder: Path) -> list[str]:
    """Build the staged tree and OpenVINO's stubs anew and name what is to be checked."""
    staged, stubs = folder / "staged", folder / "stubs"
    for old in (staged, stubs):
        shutil.rmtree(old, ignore_errors=True)
    stage_stubs(stubs)
    link_tree(ROOT / "paddle2ov", staged / "paddle2ov")
    for name in GRAFTED:
        if (ROOT / name).exists():
            link_tree(ROOT / name, staged / "paddle2ov" / name)
    beside = [name for name in BESIDE if any((ROOT / name).rglob("*.py"))]
    for name in beside:
        link_tree(ROOT / name, staged / name)
    return ["paddle2ov", *beside]


def run_mypy(folder: Path, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """Check files of the tree that is staged in a folder."""
    mypy = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(folder)]
    variables = {**os.environ, "MYPYPATH": str(folder / "stubs")}
    return subprocess.run(
        [*mypy, *arguments], cwd=folder / "staged", env=variables, text=True, capture_output=True, check=False
    )


def in_checkout(line: str) -> str:
    """Map the path at the start of one of mypy's messages from the staged tree to the checkout."""
    for name in GRAFTED:
        staged = str(Path("paddle2ov") / name)
        if line.startswith(staged):
            return name + line[len(staged) :]
    return line


def main(arguments: list[str]) -> int:
    """Stage, run mypy, print its messages; the exit status is 0 if it found no errors."""
    checked = stage(CACHE)
    runs = [run_mypy(CACHE, [*arguments, *checked]), run_mypy(CACHE, [*arguments, *ELSEWHERE])]
    for run in runs:
        for line in run.stdout.splitlines():
            print(in_checkout(line))
        print(run.stderr, end="", file=sys.stderr)
    return max(run.returncode for run in runs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
