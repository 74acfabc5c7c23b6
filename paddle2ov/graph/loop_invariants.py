"""Copies tensors that every iteration of a Loop reads for nodes that may overwrite them.

OpenVINO's CPU plugin (2026.4) lets the body of a Loop overwrite the tensors that it reads in every iteration: if a
node that computes in place reads one, or a view of it, the next iteration reads what that node wrote. Softmax, MVN and
the Scatter operations overwrite the tensor itself, elementwise nodes a view of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from openvino import Node, Output
from openvino.op import Parameter, loop, tensor_iterator
from openvino.op.util import InvariantInputDescription, MergedInputDescription

from paddle2ov.graph.consumers import Consumer, consumers
from paddle2ov.graph.loop_states import in_own_memory, is_copy
from paddle2ov.graph.placement import COPYING, FORWARDING, IN_PLACE, MOVING, SLICING, VIEWS
from paddle2ov.graph.provenance import copy_operators
from paddle2ov.graph.workarounds import works_around

_VIEWS = VIEWS | SLICING | MOVING
"""Nodes whose results may be views of their input."""
_SAFE = COPYING | FORWARDING
"""Nodes that never write where they read."""
_SAFE_DIRECTLY = _SAFE | IN_PLACE
"""Nodes that write elsewhere if they read the tensor itself and not a view of it."""


@works_around("loop_overwrites_what_softmax_reads", "loop_overwrites_what_views_show")
def copy_invariants(invariants: Iterable[Parameter]) -> int:
    """Lets nodes that may write into parameters of a body read copies of them; returns how many are copied."""
    return sum(_copy(parameter.output(0)) for parameter in invariants)


@works_around("loop_overwrites_what_views_show")
def copy_viewed_states(states: Iterable[Parameter]) -> int:
    """The same for parameters that each iteration changes, if a view of them is read as well, or they are a result.

    If only the node that writes reads such a parameter, it may write there.
    """
    return sum(_copy(state.output(0)) for state in states if any(map(_is_read_elsewhere, consumers(state.output(0)))))


def _is_read_elsewhere(port: Consumer) -> bool:
    kind = port.get_node().get_type_name()
    return (kind in _VIEWS or kind == "Result") and not _may_be_written(port)


def states_of(node: Node) -> list[Parameter]:
    """The parameters of a Loop's body that each iteration changes."""
    return _parameters_of(node, MergedInputDescription)


def invariants_of(node: Node) -> list[Parameter]:
    """The parameters of a Loop's body that have the same value in every iteration."""
    return _parameters_of(node, InvariantInputDescription)


def _parameters_of(node: Node, kind: type[InvariantInputDescription] | type[MergedInputDescription]) -> list[Parameter]:
    if not isinstance(node, loop | tensor_iterator):
        return []
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


def _copy(value: Output) -> bool:
    unsafe = [port for port in consumers(value) if _may_be_written(port)]
    if unsafe:
        copy = in_own_memory(value)
        for port in unsafe:
            copy_operators(copy, port.get_node())
            port.replace_source_output(copy)
    return bool(unsafe)


def _may_be_written(port: Consumer) -> bool:
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
