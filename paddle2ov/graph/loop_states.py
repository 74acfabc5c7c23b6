"""Copies states of a Loop that another state is computed from, or shares memory with.

OpenVINO's CPU plugin (2026.4) overwrites the states of an iteration with those of the next one by one: a state that is
another state, or lies in its memory, may be overwritten before it is read. Nor does the plugin compile a Loop where a
state becomes an invariant.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from openvino import Node, Output, Type
from openvino.op import Parameter, Result

from paddle2ov.graph.opset import ops
from paddle2ov.graph.placement import INDEXING, OWN_MEMORY
from paddle2ov.graph.upstream import sources_of, upstream
from paddle2ov.graph.workarounds import works_around


@works_around("loop_states_that_change_places", "loop_states_written_in_place")
def copy_states(carried: Iterable[tuple[Parameter, Result]]) -> None:
    """Replaces each state that may be in the memory of another one, or of an invariant, by a copy.

    Args:
        carried: (the body's parameter, the result that is its value in the next iteration).
    """
    for parameter, result in carried:
        if _may_share_memory(result.input_value(0), parameter):
            result.input(0).replace_source_output(in_own_memory(result.input_value(0)))


def in_own_memory(value: Output) -> Output:
    """The same value in memory of its own.

    This is a maximum with itself: other identity nodes are eliminated on compilation. With two inputs the plugin does
    not compute in place, as it does that only for the single reader of a tensor.
    """
    same = ops.logical_or if value.get_element_type() == Type.boolean else ops.maximum
    return same(value, value).output(0)


def is_copy(node: Node) -> bool:
    """Whether a node is what `in_own_memory` makes."""
    inputs = node.input_values() if node.get_type_name() in ("LogicalOr", "Maximum") else []
    return len(inputs) == 2 and inputs[0] == inputs[1]


def _may_share_memory(value: Output, own: Parameter) -> bool:
    """Whether a value may be another parameter of the body, or computed in the memory of one."""
    reached = upstream([value.get_node()], _may_be_in_memory_of)
    return any(item.get_type_name() == "Parameter" and item.get_name() != own.get_name() for item in reached)


def _may_be_in_memory_of(node: Node) -> Sequence[Node]:
    """The nodes that OpenVINO may reduce a node to, or in whose memory it may compute it."""
    kind = node.get_type_name()
    if kind in OWN_MEMORY:
        return []
    inputs = sources_of(node)
    return inputs[:1] if kind in INDEXING else inputs
