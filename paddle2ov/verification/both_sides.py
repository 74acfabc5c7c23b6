"""Runs a program in Paddle and in OpenVINO on one set of inputs, and compares the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import openvino

from paddle2ov.comparison.deadline import Deadline
from paddle2ov.comparison.differences import Expected, compare_results
from paddle2ov.comparison.paddle_process import PaddleModel, PaddleProcess
from paddle2ov.compilation.running import Result, infer
from paddle2ov.errors import PaddleRunError, described
from paddle2ov.graph.node_names import LENGTHS_SUFFIX
from paddle2ov.graph.types import OV_TYPES
from paddle2ov.inputs.given_arrays import Inputs, cast, cast_inputs, rounded_inputs
from paddle2ov.program.model import Program
from paddle2ov.translation.extension import Extension
from paddle2ov.verification.judgement import Float64Comparisons, Float64Judge
from paddle2ov.verification.paddle_values import RANDOM, faulty_values, with_paddle_random_values, with_paddle_values
from paddle2ov.verification.results import Run
from paddle2ov.verification.ties import TieFinder
from paddle2ov.verification.values import Values
from paddle2ov.verification.where import Where


@dataclass(frozen=True)
class Subject:
    """What is compared, and how.

    Attributes:
        paddle: the model in Paddle.
        whole: its program.
        program: the same with the results that are compared.
        compiled: that program in OpenVINO.
        tolerance: of floats, relative to the largest value of each result.
        where: where OpenVINO computes.
        extension: converters of the caller's own.
        retyped: the inputs that the compiled model takes in other types than the program, each with its type.
        second_paddle: Paddle in another process, for parts of the program and for it in float64.
    """

    paddle: PaddleModel
    whole: Program
    program: Program
    compiled: openvino.CompiledModel
    tolerance: float
    where: Where
    extension: Extension
    retyped: Mapping[str, openvino.Type]
    second_paddle: PaddleProcess

    @property
    def judge(self) -> Float64Judge:
        """Computes in float64."""
        return Float64Judge(self.second_paddle, self.tolerance)


@dataclass
class Sides:
    """One set of inputs: the run, the results on both sides, and the inner values on demand."""

    values: Values
    run: Run
    results: list[Result]
    expected: list[Expected]
    drawn: tuple[str, ...] = ()
    """The operators whose random numbers OpenVINO took from Paddle."""
    has_faulty: bool = False
    """Whether OpenVINO took values from Paddle that Paddle computes wrongly."""

    def compute_in_float64(self, subject: Subject) -> None:
        """Records how far both are from what Paddle computes in float64, if values are what differs."""
        if not any(output.comparable and not output.ok for output in self.run.outputs):
            return
        judged: Float64Comparisons = "random numbers are others in float64"
        if not self.drawn:
            inputs = self.values.inputs
            judged = subject.judge.whole(
                self.values.files, subject.whole, inputs, self.results, self.expected, partial(_paddle_results, subject)
            )
        self.run = replace(self.run, float64=judged)

    def look_for_ties(self, subject: Subject) -> None:
        """Records ties between equal scores that were broken differently, and whether they explain the differences."""
        ties, explain = TieFinder(self.values, subject.tolerance, subject.second_paddle).run(self.results)
        self.run = replace(self.run, ties=tuple(ties), explained=explain)


def run_both(subject: Subject, arrays: Inputs, expected: Sequence[Expected] | None = None) -> Sides:
    """Runs both sides and compares; `expected` are Paddle's results where they are known.

    Raises:
        PaddleRunError: Paddle dies. What it refuses is noted in the run.
    """
    paddle, arrays = subject.paddle, rounded_inputs(arrays, subject.retyped)
    values = Values(subject.program, paddle, arrays, subject.extension, subject.where)
    shapes = {name: tuple(array.shape) for name, array in arrays.items()}
    try:
        wanted = list(expected) if expected is not None else _paddle_results(subject, paddle, arrays)
    except PaddleRunError as error:
        if paddle.process.is_alive():
            return Sides(values, Run(shapes, refused=str(error)), [], [])
        raise
    results, reason = run_openvino(subject.compiled, arrays, paddle.process.deadline)
    drawn = [operator for operator in values.block.operators if operator.type in RANDOM] if results else []
    if drawn:
        results = with_paddle_random_values(values, drawn, results)
    faulty = faulty_values(values, subject.tolerance) if results else {}
    if faulty:
        results = with_paddle_values(values, faulty, results)
    if subject.retyped and results:
        wanted = [_in_type_of(result, want) for result, want in zip(results, wanted, strict=True)]
    run = Run(shapes, compare_results(results, wanted, subject.tolerance, reason), error=reason)
    return Sides(values, run, results, wanted, tuple(dict.fromkeys(item.type for item in drawn)), bool(faulty))


def _in_type_of(result: Result, expected: Expected) -> Expected:
    """Paddle's values in the type that a result has where the inputs were given other types than the program's."""
    kind = next((name for name, type_ in OV_TYPES.items() if type_.get_type_name() == result.kind), None)
    if kind is None or kind == expected.dtype or expected.array.dtype.kind == "c":
        return expected
    return Expected(expected.name, kind, cast(expected.array, OV_TYPES[kind]))


def _paddle_results(subject: Subject, paddle: PaddleModel, arrays: Inputs) -> list[Expected]:
    """Paddle's values of the results that are compared."""
    results = paddle.run(arrays)
    if subject.program is not subject.whole:
        results = _chosen(results, Values(subject.program, paddle, arrays, subject.extension), subject.whole)
    return [*results, *_lengths(subject, results)]


def _lengths(subject: Subject, results: Sequence[Expected]) -> Iterator[Expected]:
    """Paddle's lengths of the sequences in results that the converted model gives too."""
    known = {result.name: result for result in results}
    for port in subject.compiled.outputs[len(results) :]:
        name = port.get_any_name()
        expected = known[name.removesuffix(LENGTHS_SUFFIX)]
        yield Expected(name, "int64", np.array([len(expected.array)]) if expected.lengths is None else expected.lengths)


def _chosen(results: Sequence[Expected], values: Values, whole: Program) -> list[Expected]:
    """Paddle's values of the results that are compared, of which some may lie inside the program."""
    known = {item.name: result for item, result in zip(whole.outputs, results, strict=True)}
    known |= values.of_paddle(item.variable for item in values.program.outputs if item.name not in known)
    declared = {input_.name: input_.dtype or "float32" for input_ in whole.inputs}
    known |= {name: Expected(name, declared[name], array) for name, array in values.inputs.items() if name in declared}
    for item in values.program.outputs:
        if item.name not in known:
            raise PaddleRunError(f"Paddle cannot hand out '{item.name}'")
    return [known[item.name] for item in values.program.outputs]


def run_openvino(
    compiled: openvino.CompiledModel, arrays: Inputs, deadline: Deadline | None = None
) -> tuple[list[Result], str]:
    """The results of OpenVINO, which takes the arrays in the types of its inputs; where it has none, the reason."""
    deadline, request = deadline or Deadline(), compiled.create_infer_request()
    try:
        with deadline.calling(request.cancel):
            return infer(compiled, cast_inputs(arrays, compiled.inputs), request), ""
    except RuntimeError as error:
        deadline.check()
        return [], described(error)
