"""Finds the rewrite of a conversion that changes what a graph computes, if there is one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

from openvino import Model, Node

from paddle2ov.checking.choices import Choices, NodeTie, ObservedNode
from paddle2ov.checking.device import Device
from paddle2ov.checking.judge import InputTensors
from paddle2ov.comparison.evaluator import (
    Computed,
    Evaluator,
    ValueKey,
    keys_read,
    node_number,
    nodes_by_number,
    numbered,
)
from paddle2ov.comparison.rounding import Rounding, chooses
from paddle2ov.passes import run_rewrites
from paddle2ov.progress import StageProgress
from paddle2ov.workarounds import Target, rewrites_for


class RewriteCheck:
    """Compares the graph with rewrites to the graph without, both computed node by node.

    `make` converts the model without rewrites, anew each time.
    """

    def __init__(self, make: Callable[[], Model], device: Device, say: StageProgress) -> None:
        self._make = make
        self._device = device.name
        self._say = say
        self._rewrites = rewrites_for(Target.of_device(device.name))
        self._plain = numbered(make())
        self._reference = Evaluator(self._plain, device.name, Rounding())
        self._by_name = {
            (node.get_type_name(), node.get_friendly_name()): number
            for number, node in nodes_by_number(self._plain).items()
            if chooses(node)
        }

    def run(self, sets: Sequence[InputTensors]) -> tuple[str, str, list[NodeTie]]:
        """A rewrite that changes what the graph computes, and what differs after it; "" if there is none. And ties.

        The graph is right before this rewrite, and wrong after it. As bisection finds it, there may be an earlier one,
        whose difference another one undoes.
        """
        ties: list[NodeTie] = []
        for inputs in sets:
            computed = self._reference.run(inputs)
            if self._reason(len(self._rewrites), inputs, computed, ties):
                break
        else:
            return "", "", ties

        def is_wrong(count: int) -> bool:
            self._say("looking for the rewrite", count, len(self._rewrites))
            return bool(self._reason(count, inputs, computed, []))

        right = bisect_left(range(1, len(self._rewrites)), True, key=is_wrong)  # this many are right
        return self._rewrites[right].__name__, self._reason(right + 1, inputs, computed, []), ties

    def _reason(self, count: int, inputs: InputTensors, computed: Computed, ties: list[NodeTie]) -> str:
        """What differs after `count` rewrites; the ties that explain a difference are added to `ties`."""
        model = self._make()
        run_rewrites(model, self._rewrites[:count])
        model = numbered(model)
        reference = Evaluator(model, self._device)
        choosing = [node for node in nodes_by_number(model).values() if chooses(node)]
        keep: set[ValueKey] = set()
        for node in choosing:
            keep.update(keys_read(node))
            keep.update((node_number(node), i) for i in range(node.get_output_size()))
        got = reference.run(inputs, keep=keep)
        reason = _compared(got, computed)
        if not reason:
            return ""
        choices = Choices(self._reference, self._observed(got, choosing))
        again = _compared(got, self._reference.run(inputs, choose=choices))
        if again or not choices.ties:
            return reason
        ties += choices.ties
        return ""

    def _observed(self, got: Computed, choosing: Sequence[Node]) -> dict[int, ObservedNode]:
        """What the nodes of the same names read and wrote in the other graph."""
        observed = {}
        for node in choosing:
            number = self._by_name.get((node.get_type_name(), node.get_friendly_name()))
            if number is not None:
                read = [got.kept[key][0] if key in got.kept else None for key in keys_read(node)]
                wrote = [got.kept[node_number(node), i][0] for i in range(node.get_output_size())]
                observed[number] = ObservedNode(read, wrote)
        return observed


def _compared(got: Computed, computed: Computed) -> str:
    """What differs first; "" if nothing."""
    differences = computed.compare([value[0] for value in got.results], Rounding().unit)
    return next((item.reason for item in differences if item is not None and item.reason), "")
