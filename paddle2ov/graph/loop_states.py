"""Copies of what one state of a Loop hands to another.

OpenVINO's CPU plugin (2026.4) overwrites the states of an iteration by those of the next one after the other: what is
in the memory of another state, or is another state, may be overwritten before it is read. Nor does it compile a state
that becomes an invariant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from openvino import Node, Output, Type
from openvino.op import Parameter, Result

from paddle2ov.graph.memory import INDEXING, OWN_MEMORY
from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around


@works_around("loop_states_that_change_places", "loop_states_written_in_place")
def copy_states(carried: Iterable[tuple[Parameter, Result]]) -> None:
    """Lets each state that may be in the memory of another one, or of an invariant, be a copy of it.

    Args:
        carried: (the body's parameter, the result that is its value in the next iteration).
    """
    for parameter, result in carried:
        if _may_share_memory(result.input_value(0), parameter):
            result.input(0).replace_source_output(in_own_memory(result.input_value(0)))


def in_own_memory(value: Output) -> Output:
    """The same value in memory of its own.

    What leaves a tensor as it is in another way is taken out on compilation. The two inputs keep the plugin from
    computing in their memory, as nothing else than its only reader computes there.
    """
    same = ops.logical_or if value.get_element_type() == Type.boolean else ops.maximum
    return same(value, value).output(0)


def is_copy(node: Node) -> bool:
    """Whether a node is what `in_own_memory` makes."""
    inputs = node.input_values() if node.get_type_name() in ("LogicalOr", "Maximum") else []
    return len(inputs) == 2 and inputs[0] == inputs[1]


def reached(start: Iterable[Node], follow: Callable[[Node], Iterable[Node]]) -> dict[str, Node]:
    """The nodes that are reached from some, these included, by their names."""
    left, seen = list(start), dict[str, Node]()
    while left:
        node = left.pop()
        if node.get_name() not in seen:
            seen[node.get_name()] = node
            left += follow(node)
    return seen


def _may_share_memory(value: Output, own: Parameter) -> bool:
    """Whether a value may be another parameter of the body, or computed in the memory of one."""
    found = reached([value.get_node()], _may_be_in_memory_of)
    return any(one.get_type_name() == "Parameter" and name != own.get_name() for name, one in found.items())


def _may_be_in_memory_of(node: Node) -> Sequence[Node]:
    """The nodes that OpenVINO may reduce a node to, or in whose memory it may compute it."""
    kind = node.get_type_name()
    if kind in OWN_MEMORY:
        return []
    inputs = [one.get_node() for one in node.input_values()]
    return inputs[:1] if kind in INDEXING else inputs


__all__ = ["copy_states", "in_own_memory", "is_copy", "reached"]
