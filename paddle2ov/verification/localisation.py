"""Which operator is wrong: the values inside a program, as Paddle and as OpenVINO compute them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import openvino

from paddle2ov.conversion import convert
from paddle2ov.extension import Extension
from paddle2ov.program.liveness import prune
from paddle2ov.program.model import AnyArray, Block, Operator, Program
from paddle2ov.testing import Expected, Result, compile_model, infer
from paddle2ov.verification.comparison import TensorComparison, compare_tensor
from paddle2ov.verification.paddle_process import PaddleProcess

_AT_ONCE = 128
_RANDOM = frozenset(
    (
        "bernoulli",
        "binomial",
        "exponential",
        "gaussian",
        "gaussian_random",
        "multinomial",
        "poisson",
        "randint",
        "randperm",
        "sampling_id",
        "standard_gamma",
        "truncated_gaussian_random",
        "uniform",
        "uniform_random",
        "uniform_random_batch_size_like",
    )
)


@dataclass(slots=True)
class OperatorComparison:
    """One operator of the main block.

    Attributes:
        operator: the operator.
        outputs: its results that the program uses, as far as both sides can hand them out.
        inputs_agree: whether all of its inputs are the same on both sides, as far as they are known.
        isolated: how its results compare when OpenVINO gets Paddle's inputs; filled for suspects.
    """

    operator: Operator
    outputs: tuple[TensorComparison, ...]
    inputs_agree: bool
    isolated: tuple[TensorComparison, ...] | None = None

    @property
    def ok(self) -> bool:
        """Whether no result differs."""
        return all(one.ok for one in self.outputs)

    @property
    def error(self) -> float:
        """The largest relative difference of its results."""
        return max((one.relative for one in self.outputs), default=0.0)


@dataclass(slots=True)
class Isolated:
    """An operator alone: Paddle's inputs, both sides' results, and the OpenVINO model that computes it."""

    inputs: dict[str, Expected]
    expected: dict[str, Expected]
    results: dict[str, Result]
    model: openvino.Model


@dataclass(slots=True)
class Localisation:
    """What was found.

    Attributes:
        operators: the operators of the main block that the results need, in program order.
        culprit: the first operator whose results differ although its inputs agree, or None. It is wrong by itself
            too, given Paddle's own inputs; if there is no such operator it is the first that amplifies rounding.
        isolated: the culprit alone, where it could be converted so.
        amplifies: whether the culprit agrees with Paddle when it gets Paddle's own inputs.
    """

    operators: list[OperatorComparison] = field(default_factory=list)
    culprit: OperatorComparison | None = None
    isolated: Isolated | None = None
    amplifies: bool = False


class Localiser:
    """Compares a program's values on one set of inputs.

    Args:
        program: the program.
        paddle: Paddle, with the same program loaded.
        inputs: arrays by the names of the inputs.
        tolerance: see `compare_tensor`.
        extension: converters of the user's own.
    """

    def __init__(
        self,
        program: Program,
        paddle: PaddleProcess,
        inputs: Mapping[str, AnyArray],
        tolerance: float,
        extension: Extension = None,
    ) -> None:
        self._program = program
        self._paddle = paddle
        self._inputs = inputs
        self._tolerance = tolerance
        self._extension = extension
        self._block, self._used = prune(program.block, (item.variable for item in program.outputs))
        self._values = {name: value for operator in self._block.operators for name, value in _values(program, operator)}
        self._dynamic = _depending(self._block, [variable.name for variable in program.inputs])

    def run(self, progress: Callable[[int, int], None] | None = None) -> Localisation:
        """Compares every operator and finds the one at fault."""
        found: dict[str, TensorComparison] = {}
        names = [name for name in self._values if name in self._used and not self._is_array(name)]
        for start in range(0, len(names), _AT_ONCE):
            found |= self._compare(names[start : start + _AT_ONCE])
            if progress is not None:
                progress(min(start + _AT_ONCE, len(names)), len(names))
        location = Localisation()
        for operator in self._block.operators:
            outputs = tuple(found[name] for name in operator.output_names() if name in found)
            agree = all(found[name].ok for name in _read(operator) if name in found)
            location.operators.append(OperatorComparison(operator, outputs, agree))
        suspects = [one for one in location.operators if not one.ok and one.inputs_agree]
        suspects = [one for one in suspects if one.operator.type not in _RANDOM] or suspects
        for suspect in suspects:
            isolated = self.isolate(suspect.operator)
            if isolated is not None:
                suspect.isolated = tuple(
                    compare_tensor(name, isolated.results[name], want, self._tolerance)
                    for name, want in isolated.expected.items()
                )
                if all(one.ok for one in suspect.isolated):
                    continue
            location.culprit, location.isolated = suspect, isolated
            return location
        if suspects:
            location.culprit, location.amplifies = suspects[0], True
            location.isolated = self.isolate(suspects[0].operator)
        return location

    def isolate(self, operator: Operator) -> Isolated | None:
        """The operator alone, on Paddle's own inputs; None where it cannot be cut out."""
        wanted = [name for name in operator.output_names() if name in self._used and name in self._values]
        read = [name for name in dict.fromkeys(_read(operator)) if name in self._dynamic and not self._is_array(name)]
        available = self._paddle_values([name for name in read if name in self._values])
        for name in read:
            if name in self._inputs:
                available[name] = Expected(name, self._dtype(name), self._inputs[name])
        expected = self._paddle_values(wanted)
        # Numbers that a converter must know, such as shapes, may only be known through what computes them.
        floats = {name: one for name, one in available.items() if one.dtype not in ("int32", "int64", "bool")}
        for cuts in (available, floats):
            try:
                return self._isolated(cuts, expected)
            except Exception:  # whatever a conversion of a cut program raises: the whole one has passed
                continue
        return None

    def _isolated(self, cuts: dict[str, Expected], expected: dict[str, Expected]) -> Isolated:
        shapes = {name: _shape(self._program, name, one.array) for name, one in cuts.items()}
        model = convert(self._program, input=shapes, output=list(expected), extension=self._extension)
        arrays = {name: one.array for name, one in cuts.items()}
        results = infer(compile_model(model), {**self._inputs, **arrays})
        return Isolated(cuts, expected, dict(zip(expected, results, strict=True)), model)

    def _compare(self, names: Sequence[str]) -> dict[str, TensorComparison]:
        expected = self._paddle_values(names)
        return {
            name: compare_tensor(name, result, expected[name], self._tolerance)
            for name, result in self._openvino_values(list(expected))
        }

    def _paddle_values(self, names: Sequence[str]) -> dict[str, Expected]:
        found = self._paddle.values(self._inputs, [self._values[name] for name in names]) if names else []
        return {name: one for name, one in zip(names, found, strict=True) if one is not None}

    def _openvino_values(self, names: Sequence[str]) -> Iterator[tuple[str, Result]]:
        if not names:
            return
        try:
            model = convert(self._program, output=names, extension=self._extension)
            results = infer(compile_model(model), self._inputs)
        except Exception:  # a value that cannot be a result: the others still can
            if len(names) > 1:
                middle = len(names) // 2
                yield from self._openvino_values(names[:middle])
                yield from self._openvino_values(names[middle:])
            return
        yield from zip(names, results, strict=True)

    def _is_array(self, name: str) -> bool:
        variable = self._program.variables.get(name)
        return variable is not None and variable.is_array

    def _dtype(self, name: str) -> str:
        return self._program.variables[name].dtype or "float32"


def _values(program: Program, operator: Operator) -> Iterator[tuple[str, dict[str, Any]]]:
    """How `reference.py` finds the results of an operator."""
    if program.format == "legacy":
        for name in operator.output_names():
            # The reader numbers the writes of a variable beyond the first: `x@1`.
            written = re.sub(r"@\d+$", "", name)
            yield name, {"op": operator.index, "name": written if written in program.variables else name}
        return
    for i, names in enumerate(operator.outputs.values()):
        for k, name in enumerate(names):
            place = (i, k) if not operator.blocks else (k, 0)
            yield name, {"op": operator.index, "type": operator.source_type, "result": place[0], "element": place[1]}


def _read(operator: Operator) -> Iterator[str]:
    yield from (name for name in operator.input_names() if name)
    for block in operator.blocks:
        inside = {name for inner in block.walk() for name in inner.output_names()} | set(block.inputs)
        names = (name for inner in block.walk() for name in inner.input_names())
        yield from (name for name in (*names, *block.outputs) if name and name not in inside)


def _depending(block: Block, inputs: Iterable[str]) -> set[str]:
    """The variables that depend on the program's inputs; the others are constants."""
    found = set(inputs)
    for operator in block.operators:
        if any(name in found for name in _read(operator)):
            found.update(name for name in operator.output_names() if name)
    return found


def _shape(program: Program, name: str, array: AnyArray) -> list[int]:
    pairs = (program.variables[name].dtype or "").startswith("complex")
    return [*array.shape, 2] if pairs else list(array.shape)


__all__ = ["Isolated", "Localisation", "Localiser", "OperatorComparison"]
