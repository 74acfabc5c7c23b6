"""The operators of a program as a report lists them."""

from __future__ import annotations

import numpy as np

from paddle2ov.program.model import Program
from paddle2ov.reporting.contents import ReportedOperator
from paddle2ov.reporting.modules import modules_of

_MAX_LENGTH = 60


def describe_operators(program: Program) -> tuple[list[ReportedOperator], str]:
    """All operators of a program, those of branches and loops after their owner; and the source of their modules.

    The latter is one of `modules.SOURCES`.
    """
    listed = program.block.walk()
    owners = {id(inner): i for i, owner in enumerate(listed) for block in owner.blocks for inner in block.operators}
    modules, paths = modules_of(listed)
    operators = [
        ReportedOperator(
            i,
            operator.type,
            operator.block_index,
            operator.index,
            owners.get(id(operator)),
            tuple(filter(None, operator.input_names())),
            tuple(filter(None, operator.output_names())),
            {name: short(value) for name, value in operator.attributes.items() if name != "struct_name"},
            tuple(operator.place.source_frames()),
            path,
        )
        for i, (operator, path) in enumerate(zip(listed, paths, strict=True))
    ]
    return operators, modules


def short(value: object) -> str:
    """An attribute's value as text, shortened."""
    if isinstance(value, np.ndarray):
        value = value.tolist() if value.size <= _MAX_LENGTH else f"array of {value.dtype} {list(value.shape)}"
    if isinstance(value, list | tuple) and len(value) > _MAX_LENGTH:
        value = f"{len(value)} values, the first {value[0]!r}"
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…"
