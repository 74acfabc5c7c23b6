"""Finds the operator at fault inside the bodies of `if` and `while`.

A branch is run as a program of its own, on the inputs that it had in Paddle. So is the body of a loop, iteration by
iteration from Paddle's values, up to the first one whose results differ; the operators of that iteration are then
compared like those of any program. Nested bodies are searched in the same way.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from paddle2ov.conversion import convert
from paddle2ov.errors import Paddle2OVError
from paddle2ov.program import ModelFiles, read_program
from paddle2ov.program.model import AnyArray, Operator, Program
from paddle2ov.testing import compile_model, infer
from paddle2ov.translation.extension import Extension
from paddle2ov.translation.registry import Registry
from paddle2ov.verification import body_legacy, body_pir
from paddle2ov.verification.body import Body
from paddle2ov.verification.comparison import compare_results
from paddle2ov.verification.localisation import Localisation, Localiser
from paddle2ov.verification.paddle_process import PaddleProcess
from paddle2ov.verification.values import Values, variables_read

_MAX_ITERATIONS = 1000


@dataclass(slots=True)
class BodyFault:
    """What was found inside of a control-flow operator.

    Attributes:
        location: of the body as a program of its own; its culprit is the operator at fault.
        operator: that operator, as the whole program has it.
        within: the control-flow operators that it is in, outermost first, with the iteration of a loop.
        files: the body's files.
        program: the body.
    """

    location: Localisation
    operator: Operator
    files: ModelFiles
    program: Program
    within: list[str] = field(default_factory=list)


class BodySearch:
    """Searches bodies. Use it in a `with` statement, at whose end the files of the bodies are removed.

    Args:
        tolerance: see `compare_tensor`.
        extension: converters of the user's own.
        paddle_python: the interpreter that has Paddle.
        precision: what OpenVINO computes in, as `compile_model` of `paddle2ov.testing` takes it.
    """

    def __init__(
        self,
        tolerance: float,
        extension: Extension = None,
        paddle_python: str | os.PathLike[str] | None = None,
        precision: str = "f32",
    ) -> None:
        self._tolerance = tolerance
        self._extension = extension
        self._python = paddle_python
        self._precision = precision
        self._stack = ExitStack()

    def __enter__(self) -> BodySearch:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def run(self, values: Values, files: ModelFiles, operator: Operator, original: Operator) -> BodyFault | None:
        """The operator at fault inside of `operator`.

        Args:
            values: those of the program that holds it.
            files: that program's files.
            operator: the `if` or `while`; another one is not looked into.
            original: the same, as the whole program has it.

        Returns:
            None where its body cannot stand alone, or agrees.
        """
        if operator.type not in ("if", "while"):
            return None
        try:
            known = _known(values, operator)
            block = 0
            if operator.type == "if":
                block = 0 if bool(np.asarray(known[operator.inputs["cond"][0]]).reshape(-1)[0]) else 1
            folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="paddle2ov-")))
            writer = body_pir if values.program.format == "pir" else body_legacy
            body = writer.write_body(folder, files, values.program, operator, block, values.dynamic)
            return self._compare_body(body, known, original, block) if body is not None else None
        except (Paddle2OVError, RuntimeError, KeyError):  # of a body alone: Paddle may refuse it, or hand nothing out
            return None

    def _compare_body(
        self, body: Body, known: Mapping[str, AnyArray], original: Operator, block: int
    ) -> BodyFault | None:
        registry = Registry(self._extension)
        signatures = [one for item in registry.extensions() if (one := item.parsed_signature()) is not None]
        program = read_program(body.files.program, body.files.params, signatures)
        with PaddleProcess(body.files, self._python) as paddle:
            found = self._first_difference(body, program, paddle, known)
            if found is None:
                return None
            number, inputs = found
            values = Values(program, paddle, inputs, self._extension, self._precision)
            location = Localiser(values, self._tolerance).run()
            if location.culprit is None:
                return None
            here = location.culprit.operator
            inner = next(
                (one for one in original.blocks[block].operators if one.index == body.positions.get(here.index)), None
            )
            if inner is None or inner.source_type != here.source_type:
                return None
            deeper = self.run(values, body.files, here, inner) if here.blocks and not location.amplifies else None
        within = str(original.place).splitlines()[0] + (f", round {number + 1}" if body.state else "")
        result = deeper or BodyFault(location, inner, body.files, program)
        result.within.insert(0, within)
        return result

    def _first_difference(
        self, body: Body, program: Program, paddle: PaddleProcess, known: Mapping[str, AnyArray]
    ) -> tuple[int, dict[str, AnyArray]] | None:
        """The first iteration whose results differ, and its inputs; a branch has one iteration."""
        compiled = compile_model(convert(program, extension=self._extension), self._precision)
        given = {name: known[variable] for name, variable in body.given.items()}
        state = {name: known[first] for name, (first, _) in body.state.items()}
        for number in range(_MAX_ITERATIONS if body.state else 1):
            inputs = {**given, **state}
            expected = paddle.run(inputs)
            if not all(one.ok for one in compare_results(infer(compiled, inputs), expected, self._tolerance)):
                return number, inputs
            after = {one.name: one.array for one in expected}
            if not body.state or not bool(after[body.condition].reshape(-1)[0]):
                return None
            state = {name: after[next_one] for name, (_, next_one) in body.state.items()}
        return None


def _known(values: Values, operator: Operator) -> dict[str, AnyArray]:
    """Paddle's values of what an operator and its blocks read."""
    names = dict.fromkeys(variables_read(operator))
    found = {name: one.array for name, one in values.of_paddle(names).items()}
    found |= {name: array for name, array in values.inputs.items() if name in names}
    return found | {name: one.data for name, one in values.program.parameters.items() if name in names}


__all__ = ["BodyFault", "BodySearch"]
