"""Symbols of the elements of small integer tensors (which unknown dimensions they are), and of counted numbers.

OpenVINO computes them once, as a node is created, and not again where the dimensions get symbols later.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from openvino import Dimension, Node, Output, PartialShape, Symbol

from paddle2ov.graph.constants import constant_of, ints_of, is_zero, number_of
from paddle2ov.graph.node_kinds import MOVES
from paddle2ov.graph.shapes import static_dims
from paddle2ov.graph.upstream import source_behind

_MAX_ELEMENTS = 32
_Elements = list[Symbol | None]


def set_value_symbols(node: Node) -> None:
    """Sets the symbols of the elements of a node's result, where they are elements of its inputs."""
    if node.get_output_size() != 1 or not node.get_output_element_type(0).is_integral_number():
        return
    dims = static_dims(node.output(0))
    if dims is None or math.prod(dims) > _MAX_ELEMENTS:
        return
    function = _ELEMENTS.get(node.get_type_name())
    elements = None if function is None else function(node)
    fits = elements is not None and len(elements) == math.prod(dims) and any(elements)
    node.output(0).get_tensor().set_value_symbol(elements if fits else [])


def set_length_symbol(node: Node) -> None:
    """Gives the numbers from 0 on, as many as a dimension, the symbol of the dimension."""
    if node.get_type_name() != "Range" or node.get_output_partial_shape(0).is_static:
        return
    start, stop, step = node.input_values()
    first, by = (number_of(source_behind(value, MOVES).output(0)) for value in (start, step))
    (symbol,) = _of(stop) if first == 0 and by == 1 else (None,)
    if symbol is not None:
        length = Dimension()
        length.set_symbol(symbol)
        node.set_output_type(0, node.get_output_element_type(0), PartialShape([length]))


def _of(value: Output) -> _Elements:
    """The symbols of a small tensor's elements, None for those that have none."""
    dims = static_dims(value)
    count = _MAX_ELEMENTS + 1 if dims is None else math.prod(dims)
    symbols = value.get_tensor().get_value_symbol()
    return symbols if len(symbols) == count or count > _MAX_ELEMENTS else [None] * count


def _dims(node: Node) -> _Elements | None:
    shape = node.input_value(0).get_partial_shape()
    return [dim.get_symbol() if dim.has_symbol() else None for dim in shape]


def _same(node: Node) -> _Elements | None:
    return _of(node.input_value(0))


def _gathered(node: Node) -> _Elements | None:
    indices, data = ints_of(node.input_value(1)), _of(node.input_value(0))
    if indices is None or len(node.input_value(0).get_partial_shape()) != 1:
        return None
    return [data[i] for i in indices] if all(-len(data) <= i < len(data) for i in indices) else None


def _at_least_zero(node: Node) -> _Elements | None:
    return _of(node.input_value(0)) if is_zero(node.input_value(1)) else None


def _joined(node: Node) -> _Elements | None:
    return [item for value in node.input_values() for item in _of(value)]


def _sliced(node: Node) -> _Elements | None:
    bounds = [constant_of(value) for value in node.input_values()[1:4]]
    if any(bound is None or bound.size != 1 for bound in bounds) or len(node.input_value(0).get_partial_shape()) != 1:
        return None
    first, last, step = (int(bound.reshape(-1)[0]) for bound in bounds if bound is not None)
    return _of(node.input_value(0))[first:last:step] if step > 0 else None


_ELEMENTS: dict[str, Callable[[Node], _Elements | None]] = {
    "Concat": _joined,
    "Convert": _same,
    "Gather": _gathered,
    "Maximum": _at_least_zero,
    "Reshape": _same,
    "ShapeOf": _dims,
    "Slice": _sliced,
    "Squeeze": _same,
    "Unsqueeze": _same,
}
"""Node type -> the symbols of the elements of its result."""
