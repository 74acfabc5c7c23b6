"""The smallest part of a model that the device still computes wrongly.

A value that becomes a result may make a fault vanish, as it keeps nodes from being fused. So each smaller part is run,
and kept only if it is still wrong.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from openvino import Model, Tensor

from paddle2ov.checking.device import Device
from paddle2ov.checking.judge import InputTensors, Judge
from paddle2ov.checking.results import CheckedRun
from paddle2ov.checking.submodel import Part, Structure, build
from paddle2ov.comparison.evaluator import Evaluator, ValueKey, node_number
from paddle2ov.comparison.tensors import is_same
from paddle2ov.progress import StageProgress

_FEW = 200
"""From as many nodes on, single ones are not tried."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """A part that is wrong.

    Attributes:
        part: which.
        model: the part as a model.
        sets: values for its inputs.
        sequence: which of these the runs of one request take.
        judged: the runs.
        references: how the nodes were computed for comparison, as "Type: way".
    """

    part: Part
    model: Model
    sets: list[list[Tensor]]
    sequence: tuple[int, ...]
    judged: tuple[CheckedRun, ...] = ()
    references: tuple[str, ...] = ()

    def runs(self) -> list[list[Tensor]]:
        """What the inputs are, run by run."""
        used = list(dict.fromkeys(self.sequence))
        return [self.sets[used.index(k)] for k in self.sequence]

    def nodes(self) -> tuple[str, ...]:
        """The nodes of the part that compute something, in order."""
        return tuple(
            f"{node.get_type_name()} '{node.get_friendly_name()}'"
            for node in self.model.get_ordered_ops()
            if node.get_type_name() not in ("Parameter", "Constant", "Result")
        )

    def reason(self) -> str:
        """What is wrong in the first of the runs in which something is."""
        i, text = next(((i, run.reason) for i, run in enumerate(self.judged) if not run.ok), (0, ""))
        return f"run {i + 1} of {len(self.judged)}: {text}" if len(self.judged) > 1 else text


class Shrinker:
    """Makes a wrong, numbered model smaller; after this many seconds it stops with what it has."""

    def __init__(
        self, model: Model, sets: Sequence[InputTensors], device: Device, seconds: float, say: StageProgress
    ) -> None:
        self.structure = Structure(model)
        self._sets = sets
        self._device = device
        self._deadline = time.monotonic() + seconds
        self._say = say
        self._tried = 0
        self._values: dict[tuple[int, ValueKey], Tensor] = {}

    @property
    def is_late(self) -> bool:
        """Whether the time limit is exceeded."""
        return time.monotonic() > self._deadline

    def run(self, sequence: Sequence[int], error: bool = False) -> Wrong | None:
        """The smallest wrong part; with `error`, the device cannot compute at all what the reference can."""
        whole = Part(self.structure.results)
        self._by_error = error
        smallest = self._try(whole, tuple(sequence))
        if smallest is None:
            return None
        smallest = self._first((whole, runs) for runs in _fewer_runs(smallest)) or smallest
        if not error:
            smallest = self._fewer_results(smallest)
        smallest = self._earlier_results(self._later_inputs(smallest))
        if len(self.structure.computed(smallest.part)) <= _FEW:
            smallest = self._single_nodes(smallest)
        return self._first((smallest.part, runs) for runs in _fewer_runs(smallest)) or smallest

    def _first(self, tries: Iterable[tuple[Part, tuple[int, ...]]]) -> Wrong | None:
        """The first of some parts, each with the runs of a request, that is still wrong."""
        return next((wrong for part, sequence in tries if (wrong := self._try(part, sequence))), None)

    def _later_inputs(self, found: Wrong) -> Wrong:
        """Cuts away the longest beginning without which the rest is still wrong."""
        order = self.structure.computed(found.part)

        def attempt(i: int) -> Wrong | None:
            return self._try(replace(found.part, cuts=frozenset(order[:i])), found.sequence)

        return _bisected(found, len(order), attempt)

    def _earlier_results(self, found: Wrong) -> Wrong:
        """Takes the results as early as the part is still wrong."""
        order = self.structure.computed(found.part)

        def attempt(i: int) -> Wrong | None:
            inside = set(order[: len(order) - i])
            results = [
                key
                for key in dict.fromkeys(
                    (*(key for n in order for key in self.structure.sources[n]), *found.part.results)
                )
                if key[0] in inside
                and (key in found.part.results or any(r not in inside for r in self.structure.readers.get(key, ())))
            ]
            return self._try(replace(found.part, results=tuple(results)), found.sequence) if results else None

        return self._fewer_results(_bisected(found, len(order), attempt))

    def _fewer_results(self, found: Wrong) -> Wrong:
        wrong = sorted({i for item in found.judged for i in item.wrong})
        for i in wrong:
            if len(found.part.results) > 1:
                single = replace(found.part, results=(found.part.results[i],))
                if smaller := self._try(single, found.sequence):
                    return smaller
        for key in found.part.results if not wrong or len(found.part.results) <= _FEW else ():
            fewer = tuple(result for result in found.part.results if result != key)
            if fewer and (smaller := self._try(replace(found.part, results=fewer), found.sequence)):
                found = smaller
        return found

    def _single_nodes(self, found: Wrong) -> Wrong:
        """Removes single nodes until none can be removed; the values that this needs are computed at once."""
        computed = set(self.structure.computed(found.part))
        written = [key for key in self.structure.readers if key[0] in computed]
        self._values = {}
        for k in dict.fromkeys(found.sequence):
            self._compute(k, list(dict.fromkeys((*self.structure.given(found.part), *written))))
        while smaller := self._first((part, found.sequence) for part in self._smaller(found.part)):
            found = self._fewer_results(smaller)
        return found

    def _smaller(self, part: Part) -> Iterator[Part]:
        """The part without one of its nodes: as an input or constant, or with what it reads as results in its place."""
        structure, order = self.structure, self.structure.computed(part)
        made = {number for number, _ in part.results}
        size = len(order)
        for number in order:
            if number not in made:
                smaller = replace(part, cuts=part.cuts | {number})
                if len(structure.computed(smaller)) < size:
                    yield smaller
                    if structure.is_integer[number]:
                        yield replace(smaller, constants=part.constants | {number})
        for number in reversed(order):
            if number in made:
                before = [key for key in structure.sources[number] if key[0] in order]
                rest = [key for key in part.results if key[0] != number]
                for results in ((*rest, *before), *(((*rest, item) for item in before) if len(before) > 1 else ())):
                    if results:
                        yield replace(part, results=tuple(dict.fromkeys(results)))

    def _compute(self, k: int, keys: Sequence[ValueKey]) -> None:
        missing = [key for key in keys if (k, key) not in self._values]
        if not missing:
            return
        reference = Evaluator(self.structure.model, self._device.name, needed=missing)
        kept = reference.run(self._sets[k], keep=missing).kept
        self._values |= {(k, key): value[0] for key, value in kept.items()}

    def _try(self, part: Part, sequence: tuple[int, ...]) -> Wrong | None:
        """The part, if it is wrong in the last of the runs, or in any."""
        if self.is_late and self._tried:
            return None
        self._tried += 1
        self._say("looking for the smallest part", self._tried, 0)
        if len(self._values) > _FEW * 8:
            self._values = {}
        try:
            used = list(dict.fromkeys(sequence))
            constants = self._constants(part, used)
            if constants is None:
                return None
            model, keys = build(self.structure, part, constants)
            inputs = {node_number(node): i for i, node in enumerate(self.structure.model.get_parameters())}
            cuts = [key for key in keys if key[0] not in inputs]
            sets: list[list[Tensor]] = []
            for k in used:
                self._compute(k, cuts)
                sets.append(
                    [self._sets[k][inputs[key[0]]] if key[0] in inputs else self._values[k, key] for key in keys]
                )
        except (RuntimeError, KeyError):
            return None
        return self._judged(Wrong(part, model, sets, tuple(sequence)))

    def _judged(self, tried: Wrong) -> Wrong | None:
        """A part with its runs if it is wrong; where the device is to fail with an error, if it does."""
        used = list(dict.fromkeys(tried.sequence))
        judge = Judge(tried.model, self._device)
        (judged,) = judge.run(tried.sets, [[used.index(k) for k in tried.sequence]])
        if any(item.error if self._by_error else item.wrong for item in judged):
            methods = sorted(judge.reference.count_methods())
            return replace(tried, judged=tuple(judged), references=tuple(f"{a}: {b}" for a, b in methods))
        return None

    def _constants(self, part: Part, used: Sequence[int]) -> dict[ValueKey, Tensor] | None:
        """The values that are constants of a part; None if they differ between its runs."""
        constants = {}
        for key in self.structure.given(part) if part.constants else ():
            if key[0] in part.constants and key not in part.results:
                for k in used:
                    self._compute(k, [key])
                values = [self._values[k, key] for k in used]
                if not all(is_same(value, values[0]) for value in values):
                    return None
                constants[key] = values[0]
        return constants


def _fewer_runs(found: Wrong) -> Iterator[tuple[int, ...]]:
    """Single runs that are wrong, then pairs of runs, the second of which is."""
    sequence = found.sequence
    if len(sequence) < 2:
        return
    wrong = [i for i, item in enumerate(found.judged) if not item.ok] or list(range(len(sequence)))
    for i in wrong:
        yield (sequence[i],)
    if len(sequence) > 2:
        for i in wrong:
            for before in dict.fromkeys(sequence[:i][::-1]):
                yield (before, sequence[i])


def _bisected(found: Wrong, size: int, attempt: Callable[[int], Wrong | None]) -> Wrong:
    """The wrong part for the largest number for which `attempt` still finds one; it does for 0."""
    tried = {0: found}

    def fails(number: int) -> bool:
        smaller = attempt(number)
        if smaller is not None:
            tried[number] = smaller
        return smaller is None

    return tried[bisect_left(range(1, size), True, key=fails)]
