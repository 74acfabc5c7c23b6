"""What a block of a program sees while it is translated."""

from __future__ import annotations

from collections.abc import Iterable

from openvino import Type
from openvino.op import Parameter

from paddle2ov.graph.opset import ops
from paddle2ov.graph.types import EmptyArray, Known, SequenceCount, Value, constant


class Scope:
    """The values that a block sees: its own and, on demand, those of the blocks around it.

    A value of an outer block enters an inner one as a Parameter, noted in `captures`; known values need none.
    """

    def __init__(self, parent: Scope | None = None) -> None:
        self.values: dict[str, Value] = {}
        self.sequences: dict[str, SequenceCount] = {}
        self.captures: dict[str, Parameter] = {}
        self._parent = parent

    def find(self, name: str) -> Value | None:
        """The value of a variable, or None if nothing defines it."""
        found = self.values.get(name)
        if found is not None or self._parent is None:
            return found
        outer = self._parent.find(name)
        if outer is None or isinstance(outer, EmptyArray):
            return outer
        if isinstance(outer, Known):
            # One node cannot stand in two models.
            inner: Value = outer.viewed(outer.array)
        elif outer.get_node().get_type_name() == "Constant":
            node = outer.get_node()
            inner = constant(node.get_data(), "bfloat16" if outer.get_element_type() == Type.bf16 else None).output(0)
        else:
            parameter = ops.parameter(outer.get_partial_shape(), outer.get_element_type())
            self.captures[name] = parameter
            inner = parameter.output(0)
        self.values[name] = inner
        return inner

    def find_sequences(self, names: Iterable[str]) -> dict[str, SequenceCount]:
        """Those of the variables that hold sequences one after the other, and how many."""
        outer = self._parent.find_sequences(names) if self._parent is not None else {}
        # A number that an outer block computes is none that an inner one sees.
        found = {name: count if isinstance(count, int) else None for name, count in outer.items()}
        return found | {name: self.sequences[name] for name in names if name in self.sequences}
