"""Finds the operator at fault inside the bodies of `if` and `while`.

A branch is run as a program of its own, on the inputs that it had in Paddle. So is the body of a loop, iteration by
iteration from Paddle's values, up to the first one whose results differ; the operators of that iteration are then
compared like those of any program. Nested bodies are searched in the same way.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

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
from paddle2ov.verification.localisation import Localisation, LocalisedFault, Localiser, OperatorComparison
from paddle2ov.verification.values import Values, variables_read

_MAX_ITERATIONS = 1000
_MAX_DIFFERING = 8
"""Iterations of a loop that are looked into: of those before, all that differs is rounding."""


class BodySearch:
    """Searches bodies of what is compared. Use it in a `with` statement, at whose end their files are removed."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._stack = ExitStack()

    def __enter__(self) -> BodySearch:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def run(self, values: Values, files: ModelFiles, operator: Operator, original: Operator) -> LocalisedFault | None:
        """The operator at fault inside of `operator`.

        Args:
            values: those of the program that holds it.
            files: that program's files.
            operator: the `if` or `while`; another one is not looked into.
            original: the same, as the whole program has it.

        Returns:
            Its location has no culprit where all that differs is Paddle's rounding. None where the body cannot stand
            alone, or agrees.
        """
        if operator.type not in ("if", "while"):
            return None
        try:
            known = _known(values, operator)
            block = 0
            if operator.type == "if":
                block = 0 if bool(np.asarray(known[operator.inputs["cond"][0]]).reshape(-1)[0]) else 1
            folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="paddle2ov-")))
            written = cut_body(folder, files, values.program, operator, block, values.dynamic)
            return self._compare_body(*written, known, original, block) if written is not None else None
        except (Paddle2OVError, RuntimeError, KeyError):  # of a body alone: Paddle may refuse it, or hand nothing out
            return None

    def _compare_body(
        self, files: ModelFiles, body: Cut, known: Mapping[str, AnyArray], original: Operator, block: int
    ) -> LocalisedFault | None:
        program = read_program(files.program, files.params, Registry(self._subject.extension).signatures())
        inner = {operator.index: operator for operator in original.blocks[block].operators}
        originals = {index: inner[old] for index, old in body.positions.items() if old in inner}
        amplifies: LocalisedFault | None = None
        rounded: list[OperatorComparison] = []
        with self._subject.side.load(files) as paddle:
            for number, inputs in self._differing(body, program, paddle, known):
                fault = self._compare_iteration(files, program, paddle, inputs, originals)
                if fault is None:
                    return None
                fault.within.insert(0, str(original.place).splitlines()[0])
                if body.state:
                    fault.within[0] += f", iteration {number + 1}"
                if fault.location.culprit is None:
                    rounded += fault.location.rounded
                elif not fault.location.amplifies:
                    return fault
                else:
                    amplifies = amplifies or fault
        if amplifies is None and rounded:
            return LocalisedFault(Localisation(rounded=rounded), original, files, program)
        return amplifies

    def _compare_iteration(
        self,
        files: ModelFiles,
        program: Program,
        paddle: PaddleModel,
        inputs: Mapping[str, AnyArray],
        originals: Mapping[int, Operator],
    ) -> LocalisedFault | None:
        """What is at fault in one iteration; None where it is not known which operator that is in the whole program."""
        subject = self._subject
        values = Values(program, paddle, inputs, subject.extension, subject.where)

        def inside(operator: Operator) -> LocalisedFault | None:
            whole = originals.get(operator.index)
            return self.run(values, files, operator, whole) if whole is not None else None

        judge = partial(subject.judge.operator, files, program)
        location = Localiser(values, subject.tolerance, judge, inside).run()
        location.rounded = [
            replace(item, operator=originals[item.operator.index]) if item.operator.index in originals else item
            for item in location.rounded
        ]
        if location.culprit is None:
            return (
                LocalisedFault(location, next(iter(originals.values())), files, program) if location.rounded else None
            )
        here = location.culprit.operator
        whole = originals.get(here.index)
        if whole is None or whole.source_type != here.source_type:
            return None
        return location.inside or LocalisedFault(location, whole, files, program)

    def _differing(
        self, body: Cut, program: Program, paddle: PaddleModel, known: Mapping[str, AnyArray]
    ) -> Iterator[tuple[int, dict[str, AnyArray]]]:
        """The first iterations whose results differ, and their inputs; a branch has one iteration."""
        subject = self._subject
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
