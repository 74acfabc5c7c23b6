"""The register: faults of OpenVINO by name, and the places that work around them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddle2ov.workarounds.table import AFTER_CALIBRATION, WORKAROUNDS
from tools.faults import prelude
from tools.faults.prelude import Graph

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("converters", "paddle2ov")


@dataclass(frozen=True)
class OpenVINOFault:
    """Something that OpenVINO computes wrongly, or does not compute.

    Attributes:
        graph: builds the model, the inputs of each run and the right results.
        precision: what has to be computed in: "f32", or "default" for bfloat16 where the processor has it.
        tolerance: of the comparison, relative, and absolute from 1e-5 on.
        processor: what the processor must have, or must not, as "avx2" or "avx2, not amx"; "" where it does not matter.
        threads: how many there must be; 0 where it does not matter.
    """

    graph: Callable[[], Graph]
    precision: str = "f32"
    tolerance: float = 1e-3
    processor: str = ""
    threads: int = 0

    @property
    def name(self) -> str:
        return self.graph.__name__

    @property
    def text(self) -> str:
        """What is wrong."""
        return inspect.cleandoc(self.graph.__doc__ or "")

    def script(self) -> str:
        """A program of its own, which ends with an error (or crashes) as long as OpenVINO has the fault."""
        head, source = inspect.getsource(prelude).partition('"""\n\n')[2], inspect.getsource(self.graph)
        return f"{head}\n\n{source[source.index('def ') :].rstrip()}\n\n\n{self.call}\n"

    @property
    def call(self) -> str:
        """The last line of the script."""
        threads = f", threads={self.threads}" if self.threads else ""
        return f'check({self.name}(), "{self.precision}", {self.tolerance!r}{threads})'


FAULTS: dict[str, OpenVINOFault] = {}


def fault(**facts: Any) -> Callable[[Callable[[], Graph]], Callable[[], Graph]]:
    """Registers a function as the graph of a fault, under its name; `facts` are attributes of `OpenVINOFault`."""

    def register(graph: Callable[[], Graph]) -> Callable[[], Graph]:
        assert graph.__name__ not in FAULTS, graph.__name__
        FAULTS[graph.__name__] = OpenVINOFault(graph, **facts)
        return graph

    return register


def places() -> dict[str, list[str]]:
    """Name of a fault -> what works around it: rows of the table, and functions that say so, as `module.function`."""
    by_fault: dict[str, list[str]] = {}
    for row in (*WORKAROUNDS, *AFTER_CALIBRATION):
        for name in row.faults:
            by_fault.setdefault(name, []).append(f"paddle2ov.workarounds.{row.name}")
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "@works_around(" not in (text := path.read_text()):
                continue
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.ClassDef))
            for node in nodes:
                for name in marks_of(node):
                    by_fault.setdefault(name, []).append(f"{module}.{node.name}")
    return by_fault


def marks_of(node: ast.FunctionDef | ast.ClassDef) -> Iterator[str]:
    """The faults that a function or class says that it works around."""
    for mark in node.decorator_list:
        if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Name) and mark.func.id == "works_around":
            for name in mark.args:
                assert isinstance(name, ast.Constant), "works_around takes names as string literals"
                yield str(name.value)
