"""Copies what an iteration of a Loop reads where OpenVINO may overwrite it before.

OpenVINO's CPU plugin (2026.4) lets the body of a Loop overwrite the tensors that it reads in every iteration: if a
node that computes in place reads one, or a view of it, the next iteration reads what that node wrote. Softmax, MVN and
the Scatter operations overwrite the tensor itself, elementwise nodes a view of it.

The plugin also overwrites the states of an iteration with those of the next, one by one: a state that is another state,
or lies in its memory, may be overwritten before it is read. It does not compile a Loop where a state becomes an
invariant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from openvino import Node, Output, Type
from openvino.op import Parameter, Result, loop, tensor_iterator
from openvino.op.util import InvariantInputDescription, MergedInputDescription

from paddle2ov.graph.consumers import Consumer, consumers
from paddle2ov.graph.opset import ops
from paddle2ov.graph.placement import COPYING, FORWARDING, IN_PLACE, INDEXING, MOVING, OWN_MEMORY, SLICING, VIEWS
from paddle2ov.graph.upstream import sources_of, upstream
from paddle2ov.graph.workarounds import works_around

_VIEWS = VIEWS | SLICING | MOVING
"""Nodes whose results may be views of their input."""
_SAFE = COPYING | FORWARDING
"""Nodes that never write where they read."""
_SAFE_DIRECTLY = _SAFE | IN_PLACE
"""Nodes that write elsewhere if they read the tensor itself and not a view of it."""


def read_after_writes(node: Node) -> list[Output]:
    """The parameters of a Loop's body that nodes may overwrite before they are read, in this iteration or the next.

    Those that each iteration changes are among them only if a view of them is read as well, or they are a result: if
    only the node that writes reads such a parameter, it may write there.
    """
    invariants, states = (
        [parameter.output(0) for parameter in _parameters_of(node, kind)]
        for kind in (InvariantInputDescription, MergedInputDescription)
    )
    shared = [state for state in states if any(map(_is_read_elsewhere, consumers(state)))]
    return [value for value in (*invariants, *shared) if any(map(may_be_written, consumers(value)))]


def _is_read_elsewhere(port: Consumer) -> bool:
    kind = port.get_node().get_type_name()
    return (kind in _VIEWS or kind == "Result") and not may_be_written(port)


def _parameters_of(node: Node, kind: type[InvariantInputDescription] | type[MergedInputDescription]) -> list[Parameter]:
    assert isinstance(node, loop | tensor_iterator)
    parameters = node.get_function().get_parameters()
    return [
        parameters[description.body_parameter_index]
        for description in node.get_input_descriptions()
        if isinstance(description, kind)
    ]


def input_ports(node: Node) -> dict[str, int]:
    """The parameters of a Loop's body -> the inputs of the Loop that they get their values from."""
    assert isinstance(node, loop)
    parameters = node.get_function().get_parameters()
    return {
        parameters[description.body_parameter_index].get_name(): description.input_index
        for description in node.get_input_descriptions()
    }


def may_be_written(port: Consumer) -> bool:
    """Whether a node may write where it reads, or what reads a view of that."""
    reader = port.get_node()
    kind = reader.get_type_name()
    if is_copy(reader):
        return False
    if kind in _VIEWS:
        return any(item not in _SAFE for item in _readers_of_views(reader))
    return kind not in _SAFE_DIRECTLY


def _readers_of_views(view: Node) -> Iterator[str]:
    """The types of the nodes that read a view, or a view of it."""
    pending, seen = [view], {view.get_name()}
    while pending:
        for output in pending.pop().outputs():
            for port in consumers(output):
                reader = port.get_node()
                if is_copy(reader):
                    continue
                if reader.get_type_name() not in _VIEWS:
                    yield reader.get_type_name()
                elif reader.get_name() not in seen:
                    seen.add(reader.get_name())
                    pending.append(reader)


@works_around("loop_states_that_change_places", "loop_states_written_in_place")
def copy_states(carried: Iterable[tuple[Parameter, Result]]) -> None:
    """Replaces each state that may be in the memory of another one, or of an invariant, by a copy.

    Args:
        carried: (the body's parameter, the result that is its value in the next iteration).
    """
    for parameter, result in carried:
        value, own = result.input_value(0), parameter.get_name()
        reached = upstream([value.get_node()], _may_be_in_memory_of)
        if any(item.get_type_name() == "Parameter" and item.get_name() != own for item in reached):
            result.input(0).replace_source_output(in_own_memory(value))


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


def _may_be_in_memory_of(node: Node) -> Sequence[Node]:
    """The nodes that OpenVINO may reduce a node to, or in whose memory it may compute it."""
    kind = node.get_type_name()
    if kind in OWN_MEMORY:
        return []
    inputs = sources_of(node)
    return inputs[:1] if kind in INDEXING else inputs
