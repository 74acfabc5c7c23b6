"""Run mypy on the checkout, with the stubs of the installed OpenVINO.

pyproject.toml says what is checked, so that `mypy` alone and editors do the same. They find `paddle2ov.converters` and
`paddle2ov.op_table`, which stand at the root, through the links in .graft. Further arguments go to mypy.

OpenVINO's wheel has stubs, but no py.typed, so that mypy passes them by; and most of their names are imported from the
bindings without `as`, which in a stub means that they are not exported. They are written to .mypy_cache/stubs, with
every import exported: OpenVINO's names have types, and they are those of the installed version. Beside them is
`openvino_opset`, the types of `paddle2ov.graph.opset.ops`.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import openvino

from tools import opset_stub

ROOT = Path(__file__).resolve().parents[1]
STUBS = ROOT / ".mypy_cache" / "stubs"  # as mypy_path of pyproject.toml names it
GRAFT = ".graft/paddle2ov/"
ELSEWHERE = ("--platform", "win32", "--cache-dir", ".mypy_cache/win32", "paddle2ov")
"""The package as Windows has it: what Python lacks there (`os.fork`, `resource`, `signal.SIGKILL`) is an error."""

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


def mended(stub: str) -> str:
    """The text of a stub of OpenVINO as strict checking needs it: its imports exported, its nodes with types."""
    tree = ast.parse(stub)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            for alias in node.names:
                alias.asname = alias.asname or alias.name
        elif isinstance(node, ast.ClassDef):
            node.body = [item for item in node.body if (node.name, getattr(item, "name", "")) not in LEFT_OUT]
            for function in (item for item in node.body if isinstance(item, ast.FunctionDef)):
                if returned := RETURNS.get((node.name, function.name)):
                    function.returns = ast.parse(returned, mode="eval").body
                for argument in function.args.args if (node.name, function.name) in OPTIONAL else ():
                    argument.annotation = argument.annotation and ast.BinOp(argument.annotation, ast.BitOr(), NONE)
    return "# mypy: ignore-errors\n" + ast.unparse(tree)  # errors of the stubs themselves are not ours


def write_stubs() -> None:
    """Write the stubs of the installed OpenVINO; `openvino.passes` has none, its modules stand for themselves."""
    package = Path(openvino.__file__).parent
    shutil.rmtree(STUBS, ignore_errors=True)
    for source in (*package.rglob("*.pyi"), *(package / "passes").glob("*.py")):
        stub = (STUBS / "openvino" / source.relative_to(package)).with_suffix(".pyi")
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.write_text(mended(source.read_text(encoding="utf-8")), encoding="utf-8")
    (STUBS / "openvino_opset.pyi").write_text(opset_stub.stub(), encoding="utf-8")


def run_mypy(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run mypy in the checkout; what its messages say of links is said of the files that they lead to."""
    run = subprocess.run(
        [sys.executable, "-m", "mypy", *arguments], cwd=ROOT, text=True, capture_output=True, check=False
    )
    run.stdout = run.stdout.replace(GRAFT, "")
    return run


def main(arguments: list[str]) -> int:
    """Check everything, print mypy's messages; the exit status is 0 if it found no errors."""
    write_stubs()
    with ThreadPoolExecutor(2) as threads:
        runs = list(threads.map(lambda more: run_mypy(*arguments, *more), ((), ELSEWHERE)))
    for run in runs:
        print(run.stdout, end="")
        print(run.stderr, end="", file=sys.stderr)
    return max(run.returncode for run in runs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
