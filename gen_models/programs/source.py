"""The text of a random program: a layer in plain Paddle."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from gen_models.harness.network import Network
from gen_models.harness.spec import import_paddle
from gen_models.programs.program import SETS, Call, Program

TOLERANCE = 1e-4


def layer(program: Program) -> str:
    """The class `Net`."""
    lines = ["class Net(paddle.nn.Layer):"]
    if program.members:
        lines += ["    def __init__(self):", "        super().__init__()"]
        lines += [f"        self.{name} = {text}" for name, text in program.members.items()]
    lines.append(f"    def forward(self, {', '.join(f'v{number}' for number in program.inputs)}):")
    lines += (f"        {line}" for line in _lines(program.calls))
    results = ", ".join(f"v{number}" for number in program.results)
    return "\n".join([*lines, f"        return {results}"])


def _lines(calls: Iterable[Call]) -> Iterator[str]:
    for call in calls:
        targets = ", ".join(f"v{number}" for number in call.gives)
        if len(call.bodies) == 2:
            for head, body, numbers in zip((f"if {call.code}:", "else:"), call.bodies, call.yields, strict=True):
                inner = [*_lines(body), *_moves(call.gives, numbers)]
                if inner or head != "else:":
                    yield head
                    yield from (f"    {line}" for line in inner or ["pass"])
        elif call.bodies:
            yield from (
                f"v{number} = paddle.assign(v{start})" for number, start in zip(call.gives, call.starts, strict=True)
            )
            yield from f"{call.code}:".splitlines()
            inner = [*_lines(call.bodies[0]), *_moves(call.gives, call.yields[0])]
            if "\n" in call.code:
                counter = call.code.partition(" ")[0]
                inner.append(f"{counter} = {counter} + 1")
            yield from (f"    {line}" for line in inner or ["pass"])
        elif targets:
            *before, last = call.code.splitlines()
            yield from (*before, f"{targets} = {last}")
        else:
            yield from call.code.splitlines()


def _moves(names: tuple[int, ...], numbers: tuple[int, ...]) -> Iterator[str]:
    """Assigns what a body yields to the names that the call gives."""
    moved = [(name, number) for name, number in zip(names, numbers, strict=True) if name != number]
    if moved:
        yield f"{', '.join(f'v{name}' for name, _ in moved)} = {', '.join(f'v{number}' for _, number in moved)}"


HEAD = """import numpy as np
import paddle
import paddle.nn.functional as F

U = paddle.nn.initializer.Uniform
"""


def network(program: Program) -> Network:
    """The program as a network under test."""
    name = f"program_{program.digest()}"
    first, *more = (program.tensors(which) for which in range(SETS))
    return Network(name, lambda: _built(name, program), first, more, TOLERANCE)


def _built(name: str, program: Program) -> Any:
    """The layer; Paddle reads the text of its functions from a file."""
    import_paddle()
    with tempfile.NamedTemporaryFile("w", prefix=f"{name}-", suffix=".py", delete=False) as file:
        file.write(f"{HEAD}\n\n{layer(program)}\n")
    path = Path(file.name)
    try:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        made = module.Net()
        made.kept_file = _Removed(path, name)
        return made
    except BaseException:
        path.unlink(missing_ok=True)
        raise


class _Removed:
    """Removes the file of a module with the layer that needs it."""

    def __init__(self, path: Path, module: str) -> None:
        self._path, self._module = path, module

    def __del__(self) -> None:
        sys.modules.pop(self._module, None)
        self._path.unlink(missing_ok=True)
