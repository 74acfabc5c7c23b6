"""Converters that say what their operators do with complex numbers."""

from __future__ import annotations

from functools import update_wrapper
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddle2ov.translation.node_context import Converter, NamedOutputs, NodeContext


class ComplexAware:
    """A converter that says what its operator does with complex numbers; any other refuses them.

    Attributes:
        convert: the converter for real numbers, whose name and documentation this has.
        of_complex: the converter used if an input or a result is complex.
    """

    def __init__(self, convert: Converter, of_complex: Converter) -> None:
        self.convert = convert
        self.of_complex = of_complex
        update_wrapper(self, convert)

    def __call__(self, node: NodeContext) -> NamedOutputs:
        """Converts the operator."""
        return (self.of_complex if node.has_complex() else self.convert)(node)
