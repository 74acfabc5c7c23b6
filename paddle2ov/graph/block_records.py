"""What entered and left the branches and loops of a model as they were built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct
from openvino import Node, Output
from openvino.op import Parameter, Result

from paddle2ov.graph.consumers import key_of


class CarriedValue(Struct):
    """A state of a loop.

    Attributes:
        parameter: the body's parameter.
        initial: its initial value, outside.
        after: its value in the next iteration, inside.
        erased: the same value with dimensions hidden, if they are.
        result: the body's result for it.
    """

    parameter: Parameter
    initial: Output
    after: Output
    erased: Output | None
    result: Result


class LoopRecord(Struct):
    """A Loop.

    Attributes:
        node: the Loop.
        current: the body's parameter that is the number of the iteration.
        states: what it carries, in the order of its first outputs.
        invariant: (the body's parameter, its value in every iteration).
        one: `opaque_one` of what enters it.
        is_entered: whether it is known to run.
    """

    node: Node
    current: Parameter
    states: Sequence[CarriedValue]
    invariant: Sequence[tuple[Parameter, Output]]
    one: Output | None
    is_entered: bool

    def replace(self, values: Mapping[tuple[str, int], Output]) -> None:
        """Notes that other values stand in the place of some that enter the Loop."""
        self.invariant = [(parameter, values.get(key_of(value), value)) for parameter, value in self.invariant]
        for state in self.states:
            state.initial = values.get(key_of(state.initial), state.initial)


class IfRecord(Struct):
    """An If, with what enters it: (the parameters of both branches, the value outside)."""

    node: Node
    entering: Sequence[tuple[tuple[Parameter | None, Parameter | None], Output]]

    def replace(self, values: Mapping[tuple[str, int], Output]) -> None:
        """Notes that other values stand in the place of some that enter the If."""
        self.entering = [(parameters, values.get(key_of(value), value)) for parameters, value in self.entering]


BlockRecord: TypeAlias = LoopRecord | IfRecord
