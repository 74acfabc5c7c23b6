"""In which module of the network's source each operator stands, as far as the program says.

A PIR program carries the path of layers that an operator was made in (`struct_name`: "/LCNet/Sequential_4/Conv2D/"),
where it was exported from a Layer. A legacy program has no such path; where it was saved without `clip_extra` it
carries the Python call stack, and where it was written with name scopes, the names of its variables begin with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import PureWindowsPath

from paddle2ov.program.model import Operator

_FRAME = re.compile(r'File "(?P<file>[^"]*)", line (?P<line>\d+), in (?P<function>[^:]*)(: (?P<code>.*))?', re.DOTALL)

_DEEPEST = 12
"""How many modules inside each other are told apart."""

SOURCES = {
    "layers": "Folded by the layers of the network's source.",
    "call stack": "Folded by the lines of the network's source that call others.",
    "names": "Folded by the scopes in the names of its variables.",
    "": "The program names no modules of its source: a large graph is folded into parts, in the program's order.",
}
"""Where paths of modules come from -> in words."""


def modules_of(operators: Sequence[Operator]) -> tuple[str, list[tuple[str, ...]]]:
    """Where the program's modules are told, one of `SOURCES`, and the path of each operator, the outermost first."""
    readers: dict[str, Callable[[Operator], tuple[str, ...]]] = {
        "layers": _layers,
        "call stack": _callers,
        "names": _scopes,
    }
    for source, read in readers.items():
        paths = [read(operator) for operator in operators]
        if any(paths):
            return source, _without_common(paths)
    return "", [() for _ in operators]


def _layers(operator: Operator) -> tuple[str, ...]:
    path = operator.attributes.get("struct_name")
    return tuple(filter(None, path.split("/"))) if isinstance(path, str) else ()


def _callers(operator: Operator) -> tuple[str, ...]:
    """The lines that lead to the one that made the operator."""
    lines = []
    for frame in operator.place.source_frames(_DEEPEST + 1)[:-1]:
        parts = _FRAME.match(frame)
        if parts:
            place = f"{PureWindowsPath(parts['file']).name}:{parts['line']}"  # which takes both separators
            lines.append(f"{(parts['code'] or parts['function']).strip()}  {place}")
    return tuple(lines)


def _scopes(operator: Operator) -> tuple[str, ...]:
    name = next((name for name in operator.output_names() if name), "")
    return tuple(filter(None, name.split("/")[:-1]))


def _without_common(paths: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Leaves out what all paths begin with: the script, and the network itself."""
    told = [path for path in paths if path]
    common = 0
    while all(len(path) > common and path[common] == told[0][common] for path in told):
        common += 1
    return [path[common:][:_DEEPEST] for path in paths]
