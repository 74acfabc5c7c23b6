"""Results that differ only because of a choice that is as right as Paddle's.

Entries with equal scores stand in another order, eigenvectors are the negatives of Paddle's, or a number half-way
between two steps of a quantization is rounded to the other one. Two things show it. At the operator: its inputs agree,
and its results differ in the order of ties (see `orders.py`), its vectors fit their definition (see `vectors.py`), its
steps are the nearest ones (see `steps.py`), or Paddle's own operator, given what OpenVINO read, chooses as OpenVINO
does. And after it: given Paddle's choice, OpenVINO computes Paddle's results.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from paddle2ov.comparison.differences import Expected, as_openvino_array, compare_tensor
from paddle2ov.comparison.paddle_process import PaddleProcess
from paddle2ov.compilation.running import Result
from paddle2ov.errors import Paddle2OVError
from paddle2ov.program.model import Operator
from paddle2ov.program.traits import with_trait
from paddle2ov.typing import AnyArray
from paddle2ov.verification.cutting import extract
from paddle2ov.verification.orders import ORDER_CHECKS, ObservedOperator, Reordering
from paddle2ov.verification.steps import STEP_CHECKS
from paddle2ov.verification.values import Values
from paddle2ov.verification.vectors import VECTOR_CHECKS

Kind = Literal["order", "choice", "vectors", "steps"]
_CHECKS: dict[Kind, Mapping[str, Callable[[ObservedOperator], Reordering | None]]] = {
    "order": ORDER_CHECKS,
    "vectors": VECTOR_CHECKS,
    "steps": STEP_CHECKS,
}
_MEANING: dict[Kind, str] = {
    "order": "{0.moved} of {0.entries} entries in the order of ties, scores at most {0.gap:.2g} apart",
    "vectors": "{0.moved} of {0.entries} vectors are others, such as the negatives of Paddle's; they fit their "
    "definition within {0.gap:.2g}, as Paddle's do",
    "steps": "{0.moved} of {0.entries} numbers half-way between two steps are rounded to the other one, from what is "
    "at most {0.gap:.2g} apart",
    "choice": "{0.moved} of {0.entries} elements chosen otherwise, as Paddle does from what OpenVINO read, which is at "
    "most {0.gap:.2g} away",
}
CHOOSING = {*(type_ for checks in _CHECKS.values() for type_ in checks), *with_trait("selects")}


@dataclass(frozen=True, slots=True)
class Tie:
    """A choice between equal scores, or of vectors, that is another than Paddle's and as right.

    Attributes:
        type: the operator's type.
        index: its position in the main block.
        place: the same in words.
        kind: "order" where entries stand in another order, or others with the score of the last one are chosen;
            "choice" where rounding of the scores tipped what is chosen: Paddle's operator, given what OpenVINO read,
            chooses as OpenVINO does; "vectors" where eigenvectors or singular vectors are others; "steps" where numbers
            half-way between two steps of a quantization are rounded to the other one.
        moved: how many entries are not the ones that Paddle has there ("choice": elements of the results).
        entries: of how many.
        gap: the largest difference of two scores that changed places, as a fraction of the largest score ("choice":
            the largest relative difference of what was read, "steps": that of the numbers that were rounded otherwise;
            "vectors": the largest error in their definition).
    """

    type: str
    index: int
    place: str
    kind: Kind
    moved: int
    entries: int
    gap: float

    def describe(self) -> str:
        """The same as a sentence."""
        return f"{self.place}: {_MEANING[self.kind].format(self)}"


@dataclass(slots=True)
class TieFinder:
    """Looks for ties on one set of inputs. Paddle's choices become `fixed` ones of the values."""

    values: Values
    tolerance: float
    process: PaddleProcess

    def run(self, results: Sequence[Result]) -> tuple[list[Tie], bool]:
        """The selections of a model that decided otherwise, and whether its `results` differ by nothing else."""
        values, ties = self.values, list[Tie]()
        selections = [operator for operator in values.block.operators if operator.type in CHOOSING]
        if not selections or not results:
            return ties, False
        outputs = [item.variable for item in values.program.outputs]
        around = [name for selection in selections for name in (*selection.input_names(), *selection.output_names())]
        inside = [name for name in around if name in values.used or name in outputs]
        read, wrote = values.around(selections, [*inside, *outputs])
        paddle = read | wrote
        known = [name for name in (*inside, *outputs) if name in paddle]
        ours = values.of_openvino(known)
        if not self._is_the_same(dict(zip(outputs, results, strict=False)), ours, paddle):
            return ties, False  # with the values inside as results the model computes something else
        while True:
            before = len(ties)
            for operator in selections:
                names = [name for name in operator.output_names() if name in ours and name not in values.fixed]
                if self._agree(names, ours, paddle):
                    continue
                if not self._agree(operator.input_names(), ours, paddle):
                    continue  # an earlier one is to be fixed first
                tie = self._tie(operator, names, ours, paddle)
                if tie is None:
                    return ties, False
                ties.append(tie)
                values.fix({name: paddle[name] for name in operator.output_names() if name in paddle})
            if len(ties) == before:
                left = [name for name in outputs if name not in values.fixed]
                return ties, bool(ties) and all(name in ours for name in left) and self._agree(left, ours, paddle)
            ours = values.of_openvino(known)

    def _is_the_same(
        self, whole: Mapping[str, Result], ours: Mapping[str, Result], paddle: Mapping[str, Expected]
    ) -> bool:
        as_expected = {
            name: replace(paddle[name], array=value.array) for name, value in whole.items() if name in paddle
        }
        return all(item in ours and item in as_expected for item in whole) and self._agree(whole, ours, as_expected)

    def _agree(self, names: Iterable[str], ours: Mapping[str, Result], paddle: Mapping[str, Expected]) -> bool:
        return all(
            compare_tensor(ours[name], paddle[name], self.tolerance).ok
            for name in names
            if name in ours and name in paddle
        )

    def _tie(
        self, operator: Operator, names: Sequence[str], ours: Mapping[str, Result], paddle: Mapping[str, Expected]
    ) -> Tie | None:
        theirs = {name: as_openvino_array(value) for name, value in paddle.items()}
        same = self.values.parameters_of(operator)
        same |= {name: value for name, value in theirs.items() if name in self.values.inputs}
        seen = ObservedOperator(
            operator,
            same | theirs,
            same | {name: value.array for name, value in ours.items()},
            self.tolerance,
        )
        kind: Kind = next((kind for kind, checks in _CHECKS.items() if operator.type in checks), "choice")
        found = _CHECKS[kind][operator.type](seen) if kind != "choice" else None
        if found is None:
            kind, found = "choice", self._choice(operator, names, ours, paddle)
        if found is None:
            return None
        place = str(operator.place).splitlines()[0]
        return Tie(operator.type, operator.index, place, kind, found.moved, found.entries, found.gap)

    def _choice(
        self, operator: Operator, names: Sequence[str], ours: Mapping[str, Result], paddle: Mapping[str, Expected]
    ) -> Reordering | None:
        """Asks Paddle what it computes from what OpenVINO read."""
        reads = [name for name in dict.fromkeys(operator.input_names()) if name in self.values.dynamic]
        arrays: dict[str, AnyArray] = {}
        for name in reads:
            if name in self.values.inputs:
                arrays[name] = self.values.inputs[name]
            elif name in ours and name in paddle and paddle[name].array.dtype == ours[name].array.dtype:
                arrays[name] = ours[name].array
            else:
                return None
        with tempfile.TemporaryDirectory(prefix="paddle2ov-") as folder:
            try:
                part = extract(Path(folder), self.values, operator, reads, names)
                if part is None:
                    return None
                with self.process.load(part) as alone:
                    expected = dict(zip(names, alone.run(arrays), strict=True))
            except Paddle2OVError:
                return None
        if not self._agree(names, ours, expected):
            return None
        compared = [compare_tensor(ours[name], paddle[name], self.tolerance) for name in names]
        gaps = [compare_tensor(ours[name], paddle[name], self.tolerance) for name in reads if name in ours]
        return Reordering(
            sum(item.wrong for item in compared),
            sum(item.elements for item in compared),
            max((gap.relative for gap in gaps), default=0.0),
        )
