"""The operators of a program as a report lists them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from paddle2ov.program.model import Block, Operator, Program
from paddle2ov.reporting.contents import ReportedOperator
from paddle2ov.reporting.modules import modules_of

_MAX_LENGTH = 60


def describe_operators(program: Program) -> tuple[list[ReportedOperator], str]:
    """All operators of a program, those of branches and loops after their owner; and the source of their modules.

    The latter is one of `modules.SOURCES`.
    """
    operators: list[ReportedOperator] = []
    listed: list[Operator] = []
    for operator, owner in _walk(program.block, operators):
        listed.append(operator)
        place = operator.place
        operators.append(
            ReportedOperator(
                len(operators),
                operator.type,
                place.block,
                place.index,
                owner,
                tuple(name for name in operator.input_names() if name),
                tuple(name for name in operator.output_names() if name),
                {name: short(value) for name, value in operator.attributes.items() if name != "struct_name"},
                tuple(place.source_frames()),
            )
        )
    modules, paths = modules_of(listed)
    for operator_of_report, path in zip(operators, paths, strict=True):
        operator_of_report.module = path
    return operators, modules


def _walk(
    block: Block, reported: Sequence[ReportedOperator], owner: int | None = None
) -> Iterator[tuple[Operator, int | None]]:
    for operator in block.operators:
        at = len(reported)
        yield operator, owner
        for inner in operator.blocks:
            yield from _walk(inner, reported, at)


def writers(operators: Sequence[ReportedOperator]) -> dict[str, int]:
    """Variable -> the operator that writes it."""
    return {name: operator.id for operator in operators for name in operator.outputs}


def short(value: object) -> str:
    """An attribute's value as text, shortened."""
    if isinstance(value, np.ndarray):
        value = value.tolist() if value.size <= _MAX_LENGTH else f"array of {value.dtype} {list(value.shape)}"
    if isinstance(value, list | tuple) and len(value) > _MAX_LENGTH:
        value = f"{len(value)} values, the first {value[0]!r}"
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…"
