"""Runs a model on the device, one request for all inputs, and compares with the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from openvino import Model, Tensor

from paddle2ov.checking.choices import Choices, NodeTie, observe
from paddle2ov.checking.device import Device
from paddle2ov.comparison.evaluator import Computed, Evaluator
from paddle2ov.comparison.rounding import Difference, Rounding, compare
from paddle2ov.errors import plain_message
from paddle2ov.progress import StageProgress

InputTensors = Sequence[Tensor]
"""A value for each input of a model."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One run.

    Attributes:
        differences: the results, compared; None for those that depend on random numbers.
        refused: why the model cannot be computed for these inputs, here and there.
        error: why the device cannot compute it, though the reference can.
        ties: the nodes that chose otherwise, if that is all that differs.
    """

    differences: tuple[Difference | None, ...] = ()
    refused: str = ""
    error: str = ""
    ties: tuple[NodeTie, ...] = ()

    @property
    def wrong(self) -> tuple[int, ...]:
        """The results that are wrong."""
        return tuple(i for i, difference in enumerate(self.differences) if difference is not None and difference.reason)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.wrong or self.error)


class Judge:
    """Judges what a device makes of a numbered model.

    Args:
        model: what the device computes.
        device: the device.
        plain: what it should compute: another model with the same inputs and results; default: the same model.
        say: is told the progress.
    """

    def __init__(
        self, model: Model, device: Device, plain: Model | None = None, say: StageProgress | None = None
    ) -> None:
        self.model, self.device = model, device
        self.is_same = plain is None
        self.reference = Evaluator(plain or model, device.name, Rounding(device.precision))
        self._say = say

    def run(self, sets: Sequence[InputTensors], sequences: Sequence[Sequence[int]]) -> list[list[Judged]]:
        """Judges the runs of requests.

        Args:
            sets: values of the inputs.
            sequences: for each request, which of these its runs take, one after the other.

        Raises:
            RuntimeError: the device cannot compile the model.
        """
        requests = [self.device.run(self.model, [sets[k] for k in sequence]) for sequence in sequences]
        used = list(dict.fromkeys(k for sequence in sequences for k in sequence))
        computed = {k: self._computed(sets[k], done, len(used)) for done, k in enumerate(used)}
        by_request = []
        for got, sequence in zip(requests, sequences, strict=True):
            judged = [_compared(item, computed[k], self._unit) for item, k in zip(got, sequence, strict=True)]
            if self.is_same and any(item.wrong for item in judged):
                self._settle(judged, got, sets, sequence)
            by_request.append(judged)
        return by_request

    @property
    def _unit(self) -> float:
        return self.reference.rounding.unit

    def _computed(self, inputs: InputTensors, done: int, sets: int, choose: Choices | None = None) -> Computed | str:
        def advance(nodes: int) -> None:
            if self._say is not None:
                self._say("computing node by node", done * len(self.reference) + nodes, sets * len(self.reference))

        try:
            return self.reference.run(inputs, choose=choose, advance=advance)
        except RuntimeError as error:
            return plain_message(error)

    def _settle(
        self,
        judged: list[Judged],
        got: Sequence[list[Tensor] | str],
        sets: Sequence[InputTensors],
        sequence: Sequence[int],
    ) -> None:
        """Computes wrong runs again with the choices of the device."""
        observed = observe(self.model, self.device, [sets[k] for k in sequence])
        for i, item in enumerate(judged):
            if not item.wrong or not observed[i]:
                continue
            choices = Choices(self.reference, observed[i])
            computed = self._computed(sets[sequence[i]], i, len(sequence), choices)
            if choices.ties:
                again = _compared(got[i], computed, self._unit)
                if again.ok and not again.refused:
                    judged[i] = Judged(again.differences, ties=tuple(choices.ties))


def _compared(got: list[Tensor] | str, computed: Computed | str, unit: float) -> Judged:
    if isinstance(computed, str):
        return Judged(refused=got if isinstance(got, str) else computed)
    if isinstance(got, str):
        return Judged(error=got)
    return Judged(
        tuple(
            None if drawn else compare(have, want, unit)
            for have, want, drawn in zip(got, computed.results, computed.random, strict=True)
        )
    )
