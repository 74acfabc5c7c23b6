"""Ranges of the counters of a loop: states that start at a known number and grow to a known limit."""

from __future__ import annotations

from collections.abc import Iterable

from openvino import Node, Output
from openvino.op import Parameter

from paddle2ov.graph.constants import number_of
from paddle2ov.graph.shapes import is_single
from paddle2ov.graph.upstream import upstream

_FORWARDING = ("Convert", "Reshape", "Squeeze", "Unsqueeze")
"""Nodes whose single element is that of their first input."""
_LIMITS = {"Less": (0, 1), "LessEqual": (0, 0), "Greater": (1, 1), "GreaterEqual": (1, 0)}
"""Comparisons -> which input is limited by the other one, and how far the greatest integer is below that."""


def counter_ranges(
    states: Iterable[tuple[Parameter, float | None, Output]], condition: Output
) -> dict[str, tuple[int, int]]:
    """The names of parameters of a body -> their least and greatest values in any iteration.

    Args:
        states: (the parameter, its initial value if that is a known number, its value in the next iteration).
        condition: whether there is a next iteration.
    """
    limits = _limits(condition)
    ranges = {}
    for parameter, initial, after in states:
        added = source(after)
        if initial is None or added.get_type_name() != "Add" or added.get_name() not in limits:
            continue
        step = next(
            (
                number_of(added.input_value(1 - i))
                for i in range(2)
                if source(added.input_value(i)).get_name() == parameter.get_name()
            ),
            None,
        )
        if step is not None and step > 0 and parameter.get_element_type().is_integral_number():
            ranges[parameter.get_name()] = int(initial), max(int(initial), limits[added.get_name()])
    return ranges


def source(value: Output) -> Node:
    """The node that computes the only element of a tensor."""
    node = value.get_node()
    while node.get_type_name() in _FORWARDING and is_single(node.input_value(0)):
        node = node.input_value(0).get_node()
    return node


def _conditions(node: Node) -> list[Node]:
    """Those that hold where a condition does."""
    return [source(value) for value in node.input_values()] if node.get_type_name() == "LogicalAnd" else []


def _limits(condition: Output) -> dict[str, int]:
    """The names of nodes -> the greatest integer that they can be where the condition holds."""
    limits: dict[str, int] = {}
    for node in upstream([source(condition)], _conditions):
        if node.get_type_name() in _LIMITS:
            limited, below = _LIMITS[node.get_type_name()]
            limit = number_of(node.input_value(1 - limited))
            if limit is not None and float(limit).is_integer():
                name = source(node.input_value(limited)).get_name()
                limits[name] = min(int(limit) - below, limits.get(name, int(limit)))
    return limits
