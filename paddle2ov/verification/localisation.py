"""Which operator is wrong: the values inside a program, as Paddle and as OpenVINO compute them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import openvino

from paddle2ov.program.model import Operator
from paddle2ov.testing import Expected, Result
from paddle2ov.verification.comparison import TensorComparison, compare_tensor
from paddle2ov.verification.random_numbers import RANDOM
from paddle2ov.verification.values import Values, variables_read

_BATCH = 128


@dataclass(slots=True)
class OperatorComparison:
    """One operator of the main block.

    Attributes:
        operator: the operator.
        outputs: its results that the program uses, as far as both sides can hand them out.
        inputs_agree: whether all of its inputs are the same on both sides, as far as they are known. What loops and
            branches wrote to tensor arrays is not known.
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
class _Suspect:
    """An operator whose results differ, or the loop or branch whose arrays it reads.

    Attributes:
        blamed: which it is, with the results that show it.
        operator: the one whose results differ.
        filled: the operators that filled its arrays.
    """

    blamed: OperatorComparison
    operator: Operator
    filled: list[Operator]


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
        values: both sides' values.
        tolerance: see `compare_tensor`.
    """

    def __init__(self, values: Values, tolerance: float) -> None:
        self._values = values
        self._tolerance = tolerance

    def run(self, progress: Callable[[int, int], None] | None = None) -> Localisation:
        """Compares every operator and finds the one at fault."""
        values = self._values
        found: dict[str, TensorComparison] = {}
        written = [name for operator in values.block.operators for name in operator.output_names()]
        names = [name for name in written if name in values.used and values.is_known(name)]
        for start in range(0, len(names), _BATCH):
            found |= self._compare(names[start : start + _BATCH])
            if progress is not None:
                progress(min(start + _BATCH, len(names)), len(names))
        location = Localisation()
        suspects: list[_Suspect] = []
        for operator in values.block.operators:
            outputs = tuple(found[name] for name in operator.output_names() if name in found)
            filled = values.filled_by(operator)
            agree = all(found[name].ok for one in (*filled, operator) for name in variables_read(one) if name in found)
            # Nothing but what reads an array shows what a loop or branch wrote to it.
            owner = next((one for one in filled if one.blocks), None)
            compared = OperatorComparison(operator, outputs, agree and owner is None)
            location.operators.append(compared)
            if agree and not compared.ok:
                blamed = compared if owner is None else OperatorComparison(owner, outputs, True)
                suspects.append(_Suspect(blamed, operator, filled))
        suspects = [one for one in suspects if one.blamed.operator.type not in RANDOM] or suspects
        for suspect in suspects:
            isolated = self.isolate(suspect.operator, suspect.filled)
            if isolated is not None:
                suspect.blamed.isolated = tuple(
                    compare_tensor(name, isolated.results[name], want, self._tolerance)
                    for name, want in isolated.expected.items()
                )
                if all(one.ok for one in suspect.blamed.isolated):
                    continue
            location.culprit, location.isolated = suspect.blamed, isolated
            return location
        if suspects:
            location.culprit, location.amplifies = suspects[0].blamed, True
            location.isolated = self.isolate(suspects[0].operator, suspects[0].filled)
        return location

    def isolate(self, operator: Operator, filled: Sequence[Operator] = ()) -> Isolated | None:
        """The operator alone, on Paddle's own inputs, behind those that filled its arrays; None where it cannot be."""
        values, together = self._values, (*filled, operator)
        made = {name for one in together for name in one.output_names()}
        available = {
            name: one for member in together for name, one in values.read_by(member).items() if name not in made
        }
        expected = values.of_paddle(name for name in operator.output_names() if name in values.used)
        # Numbers that a converter must know, such as shapes, may only be known through what computes them.
        floats = {name: one for name, one in available.items() if one.dtype not in ("int32", "int64", "bool")}
        for cuts in (available, floats):
            try:
                results, model = values.compute(cuts, list(expected))
            except Exception:  # whatever a conversion of a cut program raises: the whole one has passed
                continue
            return Isolated(cuts, expected, dict(zip(expected, results, strict=True)), model)
        return None

    def _compare(self, names: Sequence[str]) -> dict[str, TensorComparison]:
        expected = self._values.of_paddle(names)
        return {
            name: compare_tensor(name, result, expected[name], self._tolerance)
            for name, result in self._values.of_openvino(expected).items()
        }


__all__ = ["Isolated", "Localisation", "Localiser", "OperatorComparison"]
