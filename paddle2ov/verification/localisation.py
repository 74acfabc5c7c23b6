"""Finds the operator at fault: isolated, on Paddle's inputs, and by where the whole model first differs.

Both keep few tensors: operators are compared in batches of as many as have some `_BATCH_BYTES` of values, and a place
in the whole model is found by halving what is left of the program.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from paddle2ov.comparison.differences import Expected, TensorComparison, as_openvino_array, compare_tensor
from paddle2ov.compilation.running import Result
from paddle2ov.errors import Place
from paddle2ov.program.model import Operator
from paddle2ov.translation.translator import Progress
from paddle2ov.verification.judgement import Float64Comparisons, Float64Judge, is_paddle_rounding
from paddle2ov.verification.orders import ObservedOperator
from paddle2ov.verification.paddle_values import RANDOM
from paddle2ov.verification.steps import STEP_CHECKS
from paddle2ov.verification.values import Isolated, Values, variables_read

_BATCH_BYTES = 128 * 2**20
_FIRST_BATCH, _MAX_BATCH = 4, 256


@dataclass(slots=True)
class OperatorComparison:
    """One operator of the main block.

    Attributes:
        operator: the operator.
        outputs: its results that the program uses, as far as both sides can hand them out, compared in the whole model.
        inputs_agree: whether all of its inputs are the same on both sides, as far as they are known. What loops and
            branches wrote to tensor arrays is not known.
        isolated: how its results compare when OpenVINO gets Paddle's inputs; a quantization may round numbers half-way
            between two steps to either.
        float64: what Paddle computes in float64 shows of them, where they differ.
    """

    operator: Operator
    outputs: tuple[TensorComparison, ...] = ()
    inputs_agree: bool = True
    isolated: tuple[TensorComparison, ...] | None = None
    float64: Float64Comparisons | None = None


@dataclass(slots=True)
class Localisation:
    """What was found in a program, which is the whole one or the body of an `if` or a `while`.

    Attributes:
        values: both sides' values in the program.
        operators: the operators of the main block that were looked at alone, in program order.
        culprit: the first operator that is wrong given Paddle's own inputs; if there is none, one whose results differ
            in the whole model although its inputs agree; or None.
        isolated: the culprit alone, where it could be converted so.
        inside: what was found inside of the culprit, where that is an `if` or a `while`.
        amplifies: whether the culprit agrees with Paddle when it gets Paddle's own inputs.
        rounded: the operators before it that differ from Paddle alone, by Paddle's rounding.
        unknown: how many operators could not be run alone.
        is_explained: whether nothing differs in the whole model once OpenVINO takes Paddle's results of `rounded`.
        place: the culprit's, as the whole program has it; set in a body.
        within: the `if` and `while` that the body is in, outermost first, with the iteration of a loop.
    """

    values: Values
    operators: list[OperatorComparison] = field(default_factory=list)
    culprit: OperatorComparison | None = None
    isolated: Isolated | None = None
    inside: Localisation | None = None
    amplifies: bool = False
    rounded: list[OperatorComparison] = field(default_factory=list)
    unknown: int = 0
    is_explained: bool = False
    place: Place | None = None
    within: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Localiser:
    """Compares a program's values on one set of inputs.

    `judge` says of an operator alone whose results differ which side is the right one, `inside` looks into an `if` or a
    `while`, see `find_in_body`.
    """

    values: Values
    tolerance: float
    judge: Float64Judge | None = None
    inside: Callable[[Operator], Localisation | None] | None = None

    def run(self, progress: Progress | None = None) -> Localisation:
        """Finds the operator at fault."""
        location, drawn = Localisation(self.values), None
        for compared in self._each_alone(progress):
            location.operators.append(compared)
            if compared.isolated is None:
                location.unknown += 1
            elif not _agree(compared.isolated):
                if compared.operator.type in RANDOM:
                    drawn = drawn or compared
                elif self._is_at_fault(location, compared):
                    return location
        if drawn is not None:
            location.culprit, location.isolated = drawn, self.isolate(drawn.operator)
            return location
        self._look_at_whole(location)
        return location

    def compare_all(self, progress: Progress | None = None) -> list[OperatorComparison]:
        """All operators of the main block that the results need, in the whole model, in program order."""
        values = self.values
        by_name: dict[str, TensorComparison] = {}
        batches = self._batches(progress)
        for batch in batches:
            by_name |= self._compare(self._compared_results(batch), batches)
        compared = []
        for operator in values.block.operators:
            outputs = tuple(by_name[name] for name in operator.output_names() if name in by_name)
            filled = values.filled_by(operator)
            agree = all(
                by_name[name].ok for value in (*filled, operator) for name in variables_read(value) if name in by_name
            )
            # Nothing but what reads an array shows what a loop or branch wrote to it.
            compared.append(OperatorComparison(operator, outputs, agree and not any(item.blocks for item in filled)))
        return compared

    def isolate(self, operator: Operator) -> Isolated | None:
        """The operator alone, on Paddle's inputs, after those that filled its arrays; None if it cannot stand alone."""
        values, together = self.values, (*self.values.filled_by(operator), operator)
        made = {name for item in together for name in item.output_names()}
        available, expected = values.around(together, [name for name in operator.output_names() if name in values.used])
        available = {name: value for name, value in available.items() if name not in made}
        if not expected:
            return None
        # Numbers that a converter must know, such as shapes, may only be known through what computes them.
        floats = {name: value for name, value in available.items() if value.dtype not in ("int32", "int64", "bool")}
        for cuts in (available, floats):
            if (computed := values.compute(cuts, list(expected))) is not None:
                return Isolated(cuts, expected, dict(zip(expected, computed[0], strict=True)), computed[1])
        return None

    # --- each operator alone ------------------------------------------------------------------------------------------

    def _each_alone(self, progress: Progress | None) -> Iterator[OperatorComparison]:
        """The operators whose results are known, on Paddle's own inputs."""
        values = self.values
        batches = self._batches(progress)
        for batch in batches:
            plain = [
                item
                for item in batch
                if not item.blocks and not any(map(values.is_array, (*item.input_names(), *item.output_names())))
            ]
            compared = self._plain_alone(plain, batches)
            for operator in batch:
                alone = compared.get(operator.index) or None  # nothing of it is known to Paddle
                if alone is None and (isolated := self.isolate(operator)) is not None:
                    alone = self._compare_alone(operator, isolated)
                yield OperatorComparison(operator, isolated=alone)

    def _compared_results(self, operators: Iterable[Operator]) -> list[str]:
        """The results of operators that both sides may hand out, but those that OpenVINO takes from Paddle."""
        values = self.values
        names = (name for operator in operators for name in operator.output_names())
        return [name for name in names if name in values.used and values.is_known(name) and name not in values.fixed]

    def _batches(self, progress: Progress | None) -> _Batches:
        return _Batches([item for item in self.values.block.operators if self._compared_results([item])], progress)

    def _plain_alone(self, operators: Sequence[Operator], batches: _Batches) -> dict[int, tuple[TensorComparison, ...]]:
        """Compares several operators, by their index; without those that cannot be converted together with others."""
        values = self.values
        read, expected = values.around(operators, self._compared_results(operators))
        batches.fetched(value.array.nbytes for value in (read | expected).values())
        by_index = {}
        for group in _independent(operators):
            names = [name for item in group for name in item.output_names() if name in expected]
            inside = {name for item in group for name in variables_read(item)}
            computed = values.compute({name: value for name, value in read.items() if name in inside}, names)
            if computed is None:  # for one of them: each is looked at by itself
                continue
            compared = self._differences(dict(zip(names, computed[0], strict=True)), expected)
            for item in group:
                by_index[item.index] = tuple(compared[name] for name in item.output_names() if name in compared)
        return by_index

    def _compare_alone(self, operator: Operator, isolated: Isolated) -> tuple[TensorComparison, ...]:
        """How its results compare; a number half-way between two steps of a quantization may become either."""
        compared = tuple(self._differences(isolated.results, isolated.expected).values())
        check = STEP_CHECKS.get(operator.type)
        if check is None or _agree(compared) or not all(item.comparable for item in compared):
            return compared
        paddle = self.values.of_paddle(operator.input_names()) | isolated.inputs | isolated.expected
        same = self.values.parameters_of(operator)
        theirs = {name: as_openvino_array(value) for name, value in paddle.items()}
        ours = {name: value.array for name, value in isolated.results.items()}
        seen = ObservedOperator(operator, same | theirs, same | theirs | ours, self.tolerance)
        return compared if check(seen) is None else tuple(replace(item, wrong=0, reason="") for item in compared)

    def _differences(
        self, results: Mapping[str, Result], expected: Mapping[str, Expected]
    ) -> dict[str, TensorComparison]:
        return {name: compare_tensor(item, expected[name], self.tolerance) for name, item in results.items()}

    def _is_at_fault(self, location: Localisation, compared: OperatorComparison) -> bool:
        """Whether an operator that differs alone is wrong; then it is the culprit. Else Paddle's rounding is noted."""
        operator = compared.operator
        isolated = self.isolate(operator)
        if isolated is not None:
            compared.isolated = self._compare_alone(operator, isolated)
            if _agree(compared.isolated):
                return False
            if self.judge is not None:
                compared.float64 = self.judge.operator(self.values, operator, isolated)
                if is_paddle_rounding(compared.float64):
                    location.rounded.append(compared)
                    return False
        owner = self._owner(operator)
        if owner.blocks and self.inside is not None:
            location.inside = self.inside(owner)
            if location.inside is not None and location.inside.culprit is None:
                location.rounded += location.inside.rounded
                location.inside = None
                return False
        outputs = tuple(self._compare(list(isolated.expected) if isolated is not None else []).values())
        location.culprit = replace(compared, operator=owner, outputs=outputs)
        location.isolated = isolated
        return True

    # --- in the whole model -------------------------------------------------------------------------------------------

    def _look_at_whole(self, location: Localisation) -> None:
        """Where no operator is wrong alone: which one differs in the whole model, though not by Paddle's rounding."""
        values = self.values
        rounded = [name for item in location.rounded for name in item.operator.output_names() if name in values.used]
        if rounded:
            values.fix(values.of_paddle(rounded))
        location.culprit = culprit = self._first_in_whole()
        if culprit is None:
            location.is_explained = bool(rounded)
            return
        location.isolated = self.isolate(culprit.operator)
        if location.isolated is not None:
            culprit.isolated = self._compare_alone(culprit.operator, location.isolated)
            location.amplifies = _agree(culprit.isolated)

    def _first_in_whole(self) -> OperatorComparison | None:
        """An operator whose results differ in the whole model although its inputs agree; None if the results agree.

        Between a place where all that is still needed agrees and one where some of it differs there is such an
        operator: what is between them is halved. Tensor arrays are not known: no place is where one is needed.
        """
        values = self.values
        frontiers = _frontiers(values)
        if not frontiers or _agree(self._compare(frontiers[-1][1]).values()):
            return None
        # Before the first operator there are only the inputs, which agree.
        high = bisect_left(frontiers[:-1], True, key=lambda item: not _agree(self._compare(item[1]).values()))
        first = frontiers[high - 1][0] + 1 if high else 0
        between = values.block.operators[first : frontiers[high][0] + 1]
        comparisons = self._compare(self._compared_results(between))
        for operator in between:
            outputs_compared = tuple(comparisons[name] for name in operator.output_names() if name in comparisons)
            if not _agree(outputs_compared):
                return OperatorComparison(self._owner(operator), outputs_compared)
        return None

    def _owner(self, operator: Operator) -> Operator:
        """Nothing but what reads an array shows what a loop or branch wrote to it: that one is suspected then."""
        return next((item for item in self.values.filled_by(operator) if item.blocks), operator)

    def _compare(self, names: Sequence[str], batches: _Batches | None = None) -> dict[str, TensorComparison]:
        expected = self.values.of_paddle(names)
        if batches is not None:
            batches.fetched(value.array.nbytes for value in expected.values())
        return self._differences(self.values.of_openvino(expected), expected)


class _Batches:
    """Operators in batches that hold about `_BATCH_BYTES` of values, as far as the batch before lets one tell."""

    def __init__(self, operators: Sequence[Operator], progress: Progress | None) -> None:
        self._operators = operators
        self._progress = progress
        self._size = _FIRST_BATCH

    def __iter__(self) -> Iterator[Sequence[Operator]]:
        done = 0
        while done < len(self._operators):
            batch = self._operators[done : done + self._size]
            yield batch
            done += len(batch)
            if self._progress is not None:
                self._progress(done, len(self._operators))

    def fetched(self, sizes: Iterable[int]) -> None:
        """Takes note of the sizes in bytes of the values of this batch."""
        fitting = self._size * _BATCH_BYTES // max(sum(sizes), 1)
        self._size = max(1, min(4 * self._size, fitting, _MAX_BATCH))


def _agree(compared: Iterable[TensorComparison]) -> bool:
    return all(item.ok for item in compared)


def _independent(operators: Sequence[Operator]) -> list[list[Operator]]:
    """Groups of operators of which none reads what another one of its group writes."""
    groups: list[tuple[list[Operator], set[str]]] = []
    for operator in operators:
        read = set(variables_read(operator))
        group, written = next((group for group in groups if group[1].isdisjoint(read)), ([], set()))
        if not group:
            groups.append((group, written))
        group.append(operator)
        written.update(operator.output_names())
    return [group for group, _ in groups]


def _frontiers(values: Values) -> list[tuple[int, list[str]]]:
    """After which operators all values that are still needed are known: their positions, and the variables.

    The last one is the end of the program, where the results are needed.
    """
    operators = values.block.operators
    outputs = {item.variable for item in values.program.outputs}
    last = dict.fromkeys(outputs, len(operators))
    for position in range(len(operators) - 1, -1, -1):
        for name in variables_read(operators[position]):
            last.setdefault(name, position)
    fronts = []
    needed: dict[str, int] = {}
    for position, operator in enumerate(operators):
        needed |= {name: last[name] for name in operator.output_names() if name in last}
        needed = {name: end for name, end in needed.items() if end > position}
        is_last = position == len(operators) - 1
        if is_last or all(values.is_known(name) for name in needed):
            fronts.append((position, [name for name in needed if values.is_known(name) and name not in values.fixed]))
    return fronts
