"""How the modules of the package import one another."""

import ast
from collections.abc import Collection, Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from gen_models.harness.legacy import ROOT


def modules() -> dict[str, Path]:
    """The files of the package, by the names that they are imported by."""
    files = [*ROOT.glob("paddle2ov/**/*.py"), *ROOT.glob("converters/**/*.py"), ROOT / "op_table.py"]
    named = {}
    for file in files:
        parts = file.relative_to(ROOT).with_suffix("").parts
        parts = parts if parts[0] == "paddle2ov" else ("paddle2ov", *parts)
        named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return named


def imported(file: Path, named: Collection[str]) -> Iterator[str]:
    """The modules that one imports anywhere in its text: at its top, in its functions, for its types."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                module = f"{node.module}.{alias.name}"
                yield module if module in named else node.module


def test_no_modules_import_one_another_in_a_circle() -> None:
    named = modules()
    graph = {name: set(imported(file, named)) & named.keys() - {name} for name, file in named.items()}
    assert graph["paddle2ov.conversion"] >= {"paddle2ov.arguments", "paddle2ov.passes"}
    assert "paddle2ov" in graph["paddle2ov.reporting.build"]
    assert len(list(TopologicalSorter(graph).static_order())) == len(named)


def test_the_framework_imports_no_converters() -> None:
    """It finds them by the operator table alone, which imports their modules when they are asked for."""
    named = modules()
    for name, file in named.items():
        if file.is_relative_to(ROOT / "paddle2ov"):
            assert not [
                module for module in imported(file, named) if f"{module}.".startswith("paddle2ov.converters.")
            ], name
