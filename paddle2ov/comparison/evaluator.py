"""Evaluates a model node by node: nothing is fused, and no memory is shared.

Values are freed as soon as the last node has read them. Branches and loops are entered: the nodes of their bodies are
computed one by one as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from openvino import Model, Node, Tensor, Type
from openvino.op import Constant

from paddle2ov.comparison.iterations import run_if, run_iterations
from paddle2ov.comparison.rounding import EXACT, Difference, Lanes, Rounding, chooses, compare
from paddle2ov.comparison.single_node import Kernel
from paddle2ov.comparison.tensors import blank
from paddle2ov.graph.bodies import bodies_of
from paddle2ov.graph.upstream import reached

ValueKey = tuple[int, int]
"""A value of a model: the number of its node (see `numbered`) and the output."""
NUMBER = "paddle2ov_check"
_RANDOM = frozenset(("RandomUniform", "Multinomial"))


Chooser: TypeAlias = Callable[[int, Node, Sequence[Lanes], Sequence[Tensor]], Sequence[Tensor]]
"""Overrides what a discontinuous node of the main graph (a sort, a comparison, a rounding) has computed.

Called with its number, the node, what it read and what it wrote; returns the values to go on with.
"""


def numbered(model: Model) -> Model:
    """A copy whose nodes carry numbers, in the order in which they are computed; copies of the copy keep them."""
    model = model.clone()
    for i, node in enumerate(model.get_ordered_ops()):
        node.get_rt_info()[NUMBER] = str(i)
    return model


def node_number(node: Node) -> int:
    """The number of a node; -1 where it has none."""
    info = node.get_rt_info()
    return int(info[NUMBER].value) if NUMBER in info else -1


def keys_read(node: Node) -> list[ValueKey]:
    """The values that a node of a numbered model reads."""
    return [(node_number(value.get_node()), value.get_index()) for value in node.input_values()]


def nodes_by_number(model: Model) -> dict[int, Node]:
    """The nodes of a numbered model."""
    return {number: node for node in model.get_ordered_ops() if (number := node_number(node)) >= 0}


@dataclass(slots=True)
class ScheduledNode:
    """One node of the main graph or of a body, and where its inputs come from."""

    number: int
    node: Node
    sources: list[ValueKey]
    chooses: bool
    is_random: bool
    kernel: Kernel | None = None
    bodies: Sequence[Evaluator] = ()
    constant: Lanes | None = None
    frees: list[ValueKey] = field(default_factory=list)


@dataclass(slots=True)
class Computed:
    """What a run of the reference gives.

    Attributes:
        results: the results of the model.
        kept: the values that were asked for.
        random: which results depend on random numbers.
    """

    results: list[Lanes]
    kept: dict[ValueKey, Lanes]
    random: list[bool]

    def compare(self, got: Sequence[Tensor], unit: float) -> list[Difference | None]:
        """Compares what another one computed with the results; None for those that depend on random numbers."""
        return [
            None if drawn else compare(have, want, unit)
            for have, want, drawn in zip(got, self.results, self.random, strict=True)
        ]


class Evaluator:
    """Computes a copy of a model node by node: its results, or the values that are `needed`.

    The plugin of the device computes what nothing else does; `rounding` are the random errors that nodes get.
    """

    def __init__(
        self, model: Model, device: str = "CPU", rounding: Rounding = EXACT, needed: Collection[ValueKey] | None = None
    ) -> None:
        self.rounding = rounding
        self._device = device
        self._methods: set[tuple[int, str, str]] = set()
        """(Number of a node, its type, how it was computed): more than one of a node where sizes decide."""
        self._model = model.clone()  # its nodes are detached from each other
        ordered = list(self._model.get_ordered_ops())
        for i, node in enumerate(ordered):
            if NUMBER not in (info := node.get_rt_info()):
                info[NUMBER] = str(-1 - i)
        sources = {node_number(node): keys_read(node) for node in ordered}
        self._parameters = [node_number(node) for node in self._model.get_parameters()]
        self._results = [sources[node_number(node)][0] for node in self._model.get_results()]
        self._wanted = set(self._results if needed is None else needed)
        read_by = {number: [source for source, _ in read] for number, read in sources.items()}
        live = reached((number for number, _ in self._wanted), read_by.__getitem__)
        self._schedule = [
            self._schedule_node(node, number, sources[number])
            for node in ordered
            if (number := node_number(node)) in live and node.get_type_name() not in ("Parameter", "Result")
        ]
        seen: set[ValueKey] = set()
        for scheduled in reversed(self._schedule):
            scheduled.frees = [key for key in dict.fromkeys(scheduled.sources) if key not in seen]
            seen.update(scheduled.sources)

    def __len__(self) -> int:
        """How many nodes are computed."""
        return len(self._schedule)

    def run(
        self,
        inputs: Sequence[Tensor | Lanes],
        *,
        keep: Collection[ValueKey] = (),
        choose: Chooser | None = None,
        advance: Callable[[int], None] | None = None,
    ) -> Computed:
        """Computes the model, and returns the values `keep` besides its results.

        `choose` decides what nodes that choose compute; `advance` is called with the number of nodes done.
        """
        stay = set(keep) | self._wanted
        values: dict[ValueKey, Lanes] = {}
        drawn: set[ValueKey] = set()
        for number, value in zip(self._parameters, inputs, strict=True):
            values[number, 0] = self.rounding.given(value if isinstance(value, tuple) else (value,), (number,))
        for done, scheduled in enumerate(self._schedule):
            read = [values[key] for key in scheduled.sources]
            is_drawn = scheduled.is_random or not drawn.isdisjoint(scheduled.sources)
            for i, item in enumerate(self._compute(scheduled, read, choose)):
                values[scheduled.number, i] = item
                if is_drawn:
                    drawn.add((scheduled.number, i))
            for key in scheduled.frees:
                if key not in stay:
                    values.pop(key, None)
            if advance is not None:
                advance(done + 1)
        results = [values[key] for key in self._results if key in values]
        return Computed(
            results, {key: values[key] for key in stay if key in values}, [k in drawn for k in self._results]
        )

    def results_of(self, inputs: Sequence[Lanes]) -> list[Lanes]:
        """The results for given inputs; for the body of a branch or loop."""
        return self.run(inputs).results

    def _schedule_node(self, node: Node, number: int, sources: list[ValueKey]) -> ScheduledNode:
        kind = node.get_type_name()
        scheduled = ScheduledNode(number, node, sources, chooses(node), kind in _RANDOM)
        if isinstance(node, Constant):
            scheduled.constant = (node.get_tensor_view(),)
        elif kind in ("If", "Loop", "TensorIterator"):
            scheduled.bodies = [Evaluator(body, self._device, self.rounding) for body in bodies_of(node)]
            scheduled.is_random = any(item.is_random for body in scheduled.bodies for item in body._schedule)
        elif kind not in ("ReadValue", "Assign"):
            scheduled.kernel = Kernel(node, self._device)
        return scheduled

    def count_methods(self) -> Counter[tuple[str, str]]:
        """(Type, how it was computed) -> how many nodes, those of bodies included; constants are not computed."""
        counts = Counter((kind, method) for _, kind, method in self._methods)
        for scheduled in self._schedule:
            for body in scheduled.bodies:
                counts += body.count_methods()
        return counts

    def _compute(self, scheduled: ScheduledNode, read: list[Lanes], choose: Chooser | None) -> list[Lanes]:
        if scheduled.constant is not None:
            return [self.rounding.given(scheduled.constant, (scheduled.number,))]
        if scheduled.bodies:
            run = run_if if scheduled.node.get_type_name() == "If" else run_iterations
            return run(scheduled.node, [body.results_of for body in scheduled.bodies], read)
        if scheduled.kernel is None:
            return [_state(scheduled.node, read)]
        if scheduled.chooses:
            wrote = scheduled.kernel([item[0] for item in read])
            if choose is not None:
                wrote = list(choose(scheduled.number, scheduled.node, read, wrote))
            outputs: list[Lanes] = [(item,) for item in wrote]
        else:
            read = self.rounding.read(scheduled.kernel.type, read, scheduled.kernel.constants, (scheduled.number,))
            outputs = _all_lanes(scheduled.kernel, read)
        self._methods.add((scheduled.number, scheduled.kernel.type, scheduled.kernel.method))
        return self.rounding.written(scheduled.node, read, outputs, (scheduled.number, 1))

    def kernel(self, number: int) -> Kernel:
        """What computes a node of the main graph."""
        return next(item.kernel for item in self._schedule if item.number == number and item.kernel is not None)


def _all_lanes(kernel: Kernel, read: Sequence[Lanes]) -> list[Lanes]:
    count = max((len(item) for item in read), default=1)
    lanes = [kernel([item[k] if len(item) > 1 else item[0] for item in read], exact=k == 0) for k in range(count)]
    # Numbers that say how many elements there are have no errors: lanes of another shape are left out.
    return [
        item if all(lane.get_shape() == item[0].get_shape() for lane in item) else item[:1]
        for item in zip(*lanes, strict=True)
    ]


def _state(node: Node, read: Sequence[Lanes]) -> Lanes:
    """A state is what it is initialized with: every run begins with a reset."""
    if read:
        return read[0]
    tensor = blank(node.get_output_element_type(0), node.get_output_partial_shape(0))
    if tensor.get_element_type() != Type.string:
        tensor.data[...] = 0
    return (tensor,)
