"""The values that are visible in a block while it is translated."""

from __future__ import annotations

from openvino import Type
from openvino.op import Constant, Parameter

from paddle2ov.graph.constants import view_of
from paddle2ov.graph.opset import ops
from paddle2ov.graph.types import constant
from paddle2ov.graph.values import (
    UNKNOWN_LOD,
    ComplexValue,
    ConstantValue,
    EmptyTensorArray,
    LoDTensor,
    PlainValue,
    Value,
    is_complex,
    unmarked,
)


class Scope:
    """The values visible in a block: its own and, on demand, those of the blocks around it.

    A value of an outer block enters an inner one as a Parameter, recorded in `captures`, with its marks; a constant
    needs no Parameter.
    """

    def __init__(self, parent: Scope | None = None) -> None:
        self.values: dict[str, Value] = {}
        self.captures: dict[str, Parameter] = {}
        self.parent = parent

    def find(self, name: str) -> Value | None:
        """The value of a variable, or None if nothing defines it."""
        value = self.values.get(name)
        if value is not None or self.parent is None:
            return value
        outer = self.parent.find(name)
        if outer is None:
            return None
        captured = self._captured(name, unmarked(outer))
        inner = ComplexValue(captured) if is_complex(outer) else captured
        if isinstance(outer, LoDTensor):
            # A number of sequences that an outer block computes is not visible in an inner one.
            self.values[name] = LoDTensor(inner, outer.lod if isinstance(outer.lod, int) else UNKNOWN_LOD)
        else:
            self.values[name] = inner
        return self.values[name]

    def _captured(self, name: str, outer: PlainValue) -> PlainValue:
        if isinstance(outer, EmptyTensorArray):
            return outer
        if isinstance(outer, ConstantValue):
            # A node cannot belong to two models.
            return outer.view(outer.array)
        if isinstance(node := outer.get_node(), Constant):
            # A converter returned it, such as a weight that equals its own slice. The memory is shared where NumPy can.
            elements = view_of(outer)
            if elements is not None:
                return constant(elements).output(0)
            dtype = "bfloat16" if outer.get_element_type() == Type.bf16 else None
            return constant(node.get_data(), dtype, share=False).output(0)
        parameter = ops.parameter(outer.get_partial_shape(), outer.get_element_type())
        self.captures[name] = parameter
        return parameter.output(0)
