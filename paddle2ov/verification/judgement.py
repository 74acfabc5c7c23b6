"""Which of two results is the right one: Paddle computes the same in float64, from the same inputs.

A difference is attributed to Paddle's rounding if OpenVINO's result is within the tolerance of the one in float64, and
nearer to it than Paddle's wherever the two differ. An error of the conversion cannot pass as rounding, as it moves
OpenVINO's result away from the one in float64.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from paddle2ov.comparison.differences import Expected, as_openvino_array, distances, limit_of, scale_of
from paddle2ov.comparison.paddle_process import PaddleModel, PaddleProcess
from paddle2ov.compilation.running import Result
from paddle2ov.errors import Paddle2OVError, system_message
from paddle2ov.inputs.given_arrays import Inputs
from paddle2ov.program.files import ModelFiles
from paddle2ov.program.model import Operator, Program
from paddle2ov.program.reading import read_program
from paddle2ov.verification.cutting import extract
from paddle2ov.verification.float64 import in_float64, write_float64
from paddle2ov.verification.values import Isolated, Values


@dataclass(frozen=True, slots=True)
class Float64Comparison:
    """A result of both sides, compared with the one that Paddle computes in float64.

    Attributes:
        name: the result's name.
        paddle: the largest difference of Paddle's float32 from it, as a fraction of the largest value.
        openvino: that of OpenVINO's result.
        is_nearer: whether OpenVINO is nearer to it wherever the two differ from each other beyond the tolerance.
        is_within: whether OpenVINO is within the tolerance of it as well.
    """

    name: str
    paddle: float
    openvino: float
    is_nearer: bool
    is_within: bool

    @property
    def is_paddle_rounding(self) -> bool:
        """Whether Paddle's rounding is all that the two differ by."""
        return self.is_nearer and self.is_within

    def describe(self) -> str:
        """The same as a sentence."""
        return f"{self.name}: Paddle is {self.paddle:.2g} off what it computes in float64, OpenVINO {self.openvino:.2g}"


def compare_float64(result: Result, expected: Expected, exact: Expected, tolerance: float) -> Float64Comparison:
    """Compares one result of both sides with the one in float64; the tolerance is that of `compare_tensor`."""
    ours, paddle, right = result.array, as_openvino_array(expected), as_openvino_array(exact)
    if not ours.shape == paddle.shape == right.shape:
        is_right = ours.shape == right.shape
        return Float64Comparison(expected.name, float("inf"), 0.0 if is_right else float("inf"), False, False)
    off, paddle_off = distances(ours, right), distances(paddle, right)
    limit, scale = limit_of(expected.dtype, right, tolerance), scale_of(right)
    differ = distances(ours, paddle) > limit
    is_nearer = bool((off[differ] <= paddle_off[differ]).all())
    largest, paddle_largest = (float(distance.max(initial=0.0)) / scale for distance in (off, paddle_off))
    return Float64Comparison(expected.name, paddle_largest, largest, is_nearer, bool((off <= limit).all()))


Float64Comparisons = tuple[Float64Comparison, ...] | str
"""What float64 shows of each result; text: why there is no float64."""


def is_paddle_rounding(judged: Float64Comparisons | None) -> bool:
    """Whether all that differs is Paddle's rounding."""
    return isinstance(judged, tuple) and all(item.is_paddle_rounding for item in judged)


@dataclass(frozen=True, slots=True)
class Float64Judge:
    """Has Paddle compute in float64, in a process of its own; the tolerance is that of `compare_tensor`."""

    process: PaddleProcess
    tolerance: float

    def whole(
        self,
        files: ModelFiles,
        program: Program,
        inputs: Inputs,
        results: Sequence[Result],
        expected: Sequence[Expected],
        compute: Callable[[PaddleModel, Inputs], list[Expected]] = PaddleModel.run,
    ) -> Float64Comparisons:
        """Compares the results of a whole model with Paddle's in float64, which `compute` gets from its inputs."""
        if len(results) != len(expected):
            return "OpenVINO has not all results"
        with tempfile.TemporaryDirectory(prefix="paddle2ov-") as folder:
            try:
                written = write_float64(Path(folder), files, program)
                with self.process.load(written) as model:
                    exact = compute(model, {name: in_float64(array) for name, array in inputs.items()})
            except (Paddle2OVError, OSError) as error:
                return system_message(error).splitlines()[0]
        return tuple(
            compare_float64(ours, want, right, self.tolerance)
            for ours, want, right in zip(results, expected, exact, strict=True)
        )

    def operator(self, values: Values, operator: Operator, alone: Isolated) -> Float64Comparisons:
        """Compares the results of one isolated operator with Paddle's in float64."""
        inputs, expected = alone.inputs, alone.expected
        with tempfile.TemporaryDirectory(prefix="paddle2ov-") as folder:
            try:
                part = extract(Path(folder), values, operator, inputs.keys(), list(expected))
                if part is None:
                    return "it cannot stand alone"
                read = read_program(part.program, part.params, mapped=False)
            except (Paddle2OVError, OSError) as error:
                return system_message(error).splitlines()[0]
            arrays = {name: input_.array for name, input_ in inputs.items()}
            return self.whole(part, read, arrays, [alone.results[name] for name in expected], list(expected.values()))
