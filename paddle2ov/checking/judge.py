"""Runs a model on the device, one request for all inputs, and compares with the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from openvino import Model, Tensor

from paddle2ov.checking.choices import Choices, observe
from paddle2ov.checking.device import Device
from paddle2ov.checking.input_sets import input_name
from paddle2ov.checking.results import CheckedResult, CheckedRun
from paddle2ov.comparison.evaluator import Computed, Evaluator
from paddle2ov.comparison.rounding import Rounding
from paddle2ov.errors import described
from paddle2ov.progress import StageProgress

InputTensors = Sequence[Tensor]
"""A value for each input of a model."""


class Judge:
    """Judges what a device makes of a numbered model.

    It should compute what the model says, or another one (`plain`) with the same inputs and results.
    """

    def __init__(
        self, model: Model, device: Device, plain: Model | None = None, say: StageProgress | None = None
    ) -> None:
        self.model, self.device = model, device
        self.is_same = plain is None
        self.reference = Evaluator(plain or model, device.name, Rounding(device.precision))
        self._say = say
        self._inputs = [input_name(node) for node in model.get_parameters()]
        self._results = [
            (
                str(min(port.get_names(), default=port.get_node().input_value(0).get_node().get_friendly_name())),
                port.get_element_type().get_type_name(),
            )
            for port in model.outputs
        ]

    def run(self, sets: Sequence[InputTensors], sequences: Sequence[Sequence[int]]) -> list[list[CheckedRun]]:
        """Judges requests: each sequence says which of the sets of inputs its runs take, one after the other."""
        requests = [self.device.run(self.model, [sets[k] for k in sequence]) for sequence in sequences]
        used = list(dict.fromkeys(k for sequence in sequences for k in sequence))
        computed = {k: self._computed(sets[k], done, len(used)) for done, k in enumerate(used)}
        judged = []
        for request, (got, sequence) in enumerate(zip(requests, sequences, strict=True)):
            shapes = [
                {name: tuple(tensor.shape) for name, tensor in zip(self._inputs, sets[k], strict=True)}
                for k in sequence
            ]
            runs = [
                self._compared(CheckedRun(request, inputs), item, computed[k])
                for inputs, item, k in zip(shapes, got, sequence, strict=True)
            ]
            if self.is_same and any(run.wrong for run in runs):
                self._settle(runs, got, [sets[k] for k in sequence])
            judged.append(runs)
        return judged

    def _computed(self, inputs: InputTensors, done: int, sets: int, choose: Choices | None = None) -> Computed | str:
        def advance(nodes: int) -> None:
            if self._say is not None:
                self._say("computing node by node", done * len(self.reference) + nodes, sets * len(self.reference))

        try:
            return self.reference.run(inputs, choose=choose, advance=advance)
        except RuntimeError as error:
            return described(error)

    def _settle(
        self, runs: list[CheckedRun], got: Sequence[list[Tensor] | str], sequence: Sequence[InputTensors]
    ) -> None:
        """Computes wrong runs again with the choices of the device."""
        observed = observe(self.model, self.device, sequence)
        for i, run in enumerate(runs):
            if not run.wrong or not observed[i]:
                continue
            choices = Choices(self.reference, observed[i])
            computed = self._computed(sequence[i], i, len(sequence), choices)
            if choices.ties:
                again = self._compared(run, got[i], computed)
                if again.ok and not again.refused:
                    runs[i] = replace(again, ties=tuple(choices.ties))

    def _compared(self, run: CheckedRun, got: list[Tensor] | str, computed: Computed | str) -> CheckedRun:
        """A run with what the device got, compared."""
        if isinstance(computed, str):
            return replace(run, refused=got if isinstance(got, str) else computed)
        if isinstance(got, str):
            return replace(run, error=got)
        outputs = [
            CheckedResult(**({} if item is None else asdict(item)), name=name, dtype=kind, drawn=item is None)
            for item, (name, kind) in zip(
                computed.compare(got, self.reference.rounding.unit), self._results, strict=True
            )
        ]
        return replace(run, outputs=tuple(outputs))
