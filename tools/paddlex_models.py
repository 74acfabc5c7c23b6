"""Write the lists of docs/paddlex.md: the models of PaddleX that the engine takes, by task, as PaddleX has them.

Run `python -m tools.paddlex_models` after a new PaddleX; with `--check` nothing is written, and the exit status is 1
where the page would change although it is of the PaddleX that is installed. What stands from `RUN` on stays.
"""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from tools.written import ROOT, write_or_check

PAGE = ROOT / "docs" / "paddlex.md"
HEAD = """\
# Models of PaddleX

The models that PaddleX {version} runs with Paddle's static graphs, and so those of PaddleOCR too, take the
[engine](pipelines.md#pipelines-of-paddleocr-3-and-paddlex) `paddle2ov`, alone and in pipelines: {count} by name, of
{tasks} tasks. `python -m tools.paddlex_models` reads PaddleX's own list. The engine takes these models; those that have
been run are [below](#architectures-that-were-run). `paddle2ov verify MODEL_DIR` compares any of them with Paddle.

| Task | | Models |
|---|---|---|
"""
REST = """
Not taken, of those with a static graph:

| Model | Why |
|---|---|
"""
RUN = "\n## Architectures that were run\n"
OWN_RUNNER = "PaddleX runs it with a runner of its own, which calls Paddle"


def main(arguments: list[str]) -> int:
    """Write or check the page; that of another PaddleX than the installed one is not stale."""
    is_of_this_version = f"PaddleX {importlib.metadata.version('paddlex')} " in PAGE.read_text(encoding="utf-8")
    if "--check" in arguments and not is_of_this_version:
        return 0
    return write_or_check("paddlex_models", {PAGE: page()}, arguments)


def page() -> str:
    from paddlex.inference.models.bindings import default_registry

    from paddle2ov.inference.paddlex import ENGINE, register_engine

    register_engine()
    static = {name: value for name, value in default_registry._registry.items() if "paddle_static" in value}
    taken = {name: value for name, value in static.items() if ENGINE in value}
    tasks = sorted({task(value) for value in taken.values()})
    head = HEAD.format(version=importlib.metadata.version("paddlex"), count=len(taken), tasks=len(tasks))
    recorded = "".join(PAGE.read_text(encoding="utf-8").partition(RUN)[1:])
    rest = "".join(f"| {name} | {OWN_RUNNER} |\n" for name in sorted(static.keys() - taken.keys()))
    return head + "".join(rows(taken, tasks)) + (REST + rest if rest else "") + recorded


def rows(taken: Mapping[str, Any], tasks: list[str]) -> Iterator[str]:
    for item in tasks:
        names = sorted(name for name, bindings in taken.items() if task(bindings) == item)
        yield f"| {item.replace('_', ' ')} | {len(names)} | {', '.join(names)} |\n"


def task(bindings: Mapping[str, Any]) -> str:
    """The name of PaddleX's package for the task."""
    return str(bindings["paddle_static"].predictor.__module__.split(".")[-2])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
