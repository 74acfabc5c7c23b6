"""Writes programs that were edited, with their weights."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paddle2ov.program import dtypes
from paddle2ov.program.files import ModelFiles, find_model
from paddle2ov.program.framework_proto import TensorDesc
from paddle2ov.program.model import Parameter, Program

Raw = dict[str, Any]
"""A PIR program, or a part of one, as JSON."""


@dataclass(slots=True)
class Cut:
    """A part of a program.

    Attributes:
        content: its program, as a file holds it.
        weights: the names of its weights.
        given: the inputs that do not change: input -> variable of the program around it.
        state: what a loop carries: input -> (variable that enters it, result that enters the next iteration).
        condition: the result that says whether a loop goes on.
        positions: position of an operator in the part -> that in the block.
    """

    content: Raw | bytes
    weights: Collection[str]
    given: dict[str, str] = field(default_factory=dict)
    state: dict[str, tuple[str, str]] = field(default_factory=dict)
    condition: str = ""
    positions: dict[int, int] = field(default_factory=dict)


def write_model(
    folder: Path,
    content: Raw | bytes,
    weights: Collection[str],
    program: Program,
    change: Callable[[Parameter], Parameter] = lambda parameter: parameter,
) -> ModelFiles:
    """Writes a program, and those of its weights that the original's file holds, each as `change` makes it."""
    target = folder / ("inference.json" if isinstance(content, dict) else "inference.pdmodel")
    target.write_bytes(json.dumps(content).encode() if isinstance(content, dict) else content)
    saved = program.parameters.keys() & weights  # the dropout state of `rnn` is declared and not saved
    if saved:
        with target.with_suffix(".pdiparams").open("wb") as file:
            for part in _pdiparams_chunks(change(program.parameters[name]) for name in sorted(saved)):
                file.write(part)
    return find_model(target)


def without_arrays(
    ops: Sequence[Any], arrays: set[Any], used: Callable[[Any], Iterable[Any]], written: Callable[[Any], Iterable[Any]]
) -> list[int]:
    """The positions of operators that use no arrays; what the others write is added to `arrays`."""
    positions = []
    for position, op in enumerate(ops):
        if arrays.isdisjoint(used(op)):
            positions.append(position)
        else:
            arrays.update(written(op))
    return positions


def _pdiparams_chunks(parameters: Iterable[Parameter]) -> Iterator[bytes]:
    """The content of a `.pdiparams` file, see `paddle2ov/program/parameters.py`."""
    numbers = {name: number for number, name in dtypes.LEGACY.items()}
    for parameter in parameters:
        described = TensorDesc(data_type=numbers[parameter.dtype], dims=parameter.data.shape).SerializeToString()
        yield struct.pack("<IQIi", 0, 0, 0, len(described)) + described
        yield parameter.data.tobytes()
