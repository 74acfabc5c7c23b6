"""Finds the operator at fault inside the bodies of `if` and `while`.

A branch is run as a program of its own, on the inputs that it had in Paddle. So is the body of a loop, iteration by
iteration from Paddle's values, up to the first one whose results differ; the operators of that iteration are then
compared like those of any program. Nested bodies are searched in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from paddle2ov.comparison.differences import compare_results
from paddle2ov.comparison.paddle_process import PaddleModel
from paddle2ov.compilation.running import infer
from paddle2ov.conversion import convert
from paddle2ov.errors import Paddle2OVError
from paddle2ov.program.files import ModelFiles
from paddle2ov.program.model import Operator, Program
from paddle2ov.program.reading import read_program
from paddle2ov.translation.registry import Registry
from paddle2ov.typing import AnyArray
from paddle2ov.verification.both_sides import Subject
from paddle2ov.verification.cutting import cut_body
from paddle2ov.verification.editing import Cut
from paddle2ov.verification.localisation import Localisation, Localiser
from paddle2ov.verification.values import Values, variables_read

_MAX_ITERATIONS = 1000
_MAX_DIFFERING = 8
"""Iterations of a loop that are looked into: of those before, all that differs is rounding."""


def find_in_body(subject: Subject, values: Values, operator: Operator, original: Operator) -> Localisation | None:
    """What is at fault inside an `if` or a `while`; `original` is the same operator, as the whole program has it.

    There is no culprit where all that differs is Paddle's rounding. None where the body cannot stand alone, or agrees.
    """
    if operator.type not in ("if", "while"):
        return None
    try:
        known = _known(values, operator)
        block = 0
        if operator.type == "if":
            block = 0 if bool(np.asarray(known[operator.inputs["cond"][0]]).reshape(-1)[0]) else 1
        written = cut_body(subject.second_paddle.new_folder(), values, operator, block)
        return _compare_body(subject, *written, known, original, block) if written is not None else None
    except (Paddle2OVError, RuntimeError, KeyError):  # of a body alone: Paddle may refuse it, or hand nothing out
        return None


def _compare_body(
    subject: Subject, files: ModelFiles, body: Cut, known: Mapping[str, AnyArray], original: Operator, block: int
) -> Localisation | None:
    program = read_program(files.program, files.params, Registry(subject.extension).signatures())
    inner = {operator.index: operator for operator in original.blocks[block].operators}
    originals = {index: inner[old] for index, old in body.positions.items() if old in inner}
    amplifies: Localisation | None = None
    rounds: Localisation | None = None
    with subject.second_paddle.load(files) as paddle:
        for number, inputs in _differing(subject, body, program, paddle, known):
            values = Values(program, paddle, inputs, subject.extension, subject.where)
            location = _compare_iteration(subject, values, originals)
            if location is None:
                return None
            location.within.insert(0, str(original.place).splitlines()[0])
            if body.state:
                location.within[0] += f", iteration {number + 1}"
            if location.culprit is None:
                location.rounded = [*(rounds.rounded if rounds is not None else ()), *location.rounded]
                rounds = location
            elif not location.amplifies:
                return location
            else:
                amplifies = amplifies or location
    return amplifies or rounds


def _compare_iteration(subject: Subject, values: Values, originals: Mapping[int, Operator]) -> Localisation | None:
    """What is at fault in one iteration; None where it is not known which operator that is in the whole program."""

    def inside(operator: Operator) -> Localisation | None:
        whole = originals.get(operator.index)
        return find_in_body(subject, values, operator, whole) if whole is not None else None

    location = Localiser(values, subject.tolerance, subject.judge, inside).run()
    location.rounded = [
        replace(item, operator=originals.get(item.operator.index, item.operator)) for item in location.rounded
    ]
    if location.culprit is None:
        return location if location.rounded else None
    here = location.culprit.operator
    whole = originals.get(here.index)
    if whole is None or whole.source_type != here.source_type:
        return None
    location.place = whole.place
    return location.inside or location


def _differing(
    subject: Subject, body: Cut, program: Program, paddle: PaddleModel, known: Mapping[str, AnyArray]
) -> Iterator[tuple[int, dict[str, AnyArray]]]:
    """The first iterations whose results differ, and their inputs; a branch has one iteration."""
    compiled = subject.where.compile(convert(program, extension=subject.extension, device=subject.where.target))
    captured = {name: known[variable] for name, variable in body.given.items()}
    state = {name: known[first] for name, (first, _) in body.state.items()}
    differing = 0
    for number in range(_MAX_ITERATIONS if body.state else 1):
        inputs = {**captured, **state}
        expected = paddle.run(inputs)
        if not all(result.ok for result in compare_results(infer(compiled, inputs), expected, subject.tolerance)):
            yield number, inputs
            differing += 1
        after = {item.name: item.array for item in expected}
        if differing == _MAX_DIFFERING or not body.state or not bool(after[body.condition].reshape(-1)[0]):
            return
        state = {name: after[next_one] for name, (_, next_one) in body.state.items()}


def _known(values: Values, operator: Operator) -> dict[str, AnyArray]:
    """Paddle's values of what an operator and its blocks read."""
    names = dict.fromkeys(variables_read(operator))
    arrays = {name: value.array for name, value in values.of_paddle(names).items()}
    arrays |= {name: array for name, array in values.inputs.items() if name in names}
    return arrays | {name: parameter.data for name, parameter in values.program.parameters.items() if name in names}
