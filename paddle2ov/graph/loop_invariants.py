"""Copies the invariant inputs of a Loop before nodes of its body that may overwrite them.

OpenVINO's CPU plugin (2026.4) lets the body of a Loop overwrite the tensors that it reads in every iteration: where a
node that computes in place reads one, or a view of it, the next iteration reads what that node wrote. Softmax, MVN and
the Scatter operations do so directly, elementwise nodes behind a view.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from openvino import Input, Node, Output, Type
from openvino.op import Parameter, loop
from openvino.op.util import InvariantInputDescription

from paddle2ov.graph.memory import COPYING, ELEMENTWISE, HANDING_ON, MOVING, SLICING, VIEWS
from paddle2ov.graph.opset import ops
from paddle2ov.graph.workarounds import works_around

_VIEWS = VIEWS | SLICING | MOVING
"""Nodes whose results may be views of their input."""
_SAFE = COPYING | HANDING_ON
"""Nodes that never write where they read."""
_SAFE_DIRECTLY = _SAFE | ELEMENTWISE
"""Nodes that write elsewhere if they read the tensor itself, no view of it."""


@works_around("loop_overwrites_what_softmax_reads", "loop_overwrites_what_views_show")
def copy_invariants(invariants: Iterable[Parameter]) -> int:
    """Lets nodes that may write into parameters of a body read copies of them; returns how many are copied."""
    return sum(_copy(parameter.output(0)) for parameter in invariants)


def invariants_of(node: Node) -> list[Parameter]:
    """The parameters of a Loop's body that have the same value in every iteration."""
    if not isinstance(node, loop):
        return []
    parameters = node.get_function().get_parameters()
    inputs = node.get_input_descriptions()
    return [parameters[one.body_parameter_index] for one in inputs if isinstance(one, InvariantInputDescription)]


def _copy(value: Output) -> bool:
    unsafe = [port for port in value.get_target_inputs() if _may_be_written(port)]
    if unsafe:
        same = ops.logical_or if value.get_element_type() == Type.boolean else ops.maximum
        copy = same(value, value).output(0)  # what leaves a tensor as it is in another way is taken out on compilation
        for port in unsafe:
            port.replace_source_output(copy)
    return bool(unsafe)


def _may_be_written(port: Input) -> bool:
    reader = port.get_node()
    kind = reader.get_type_name()
    if kind in _VIEWS:
        return any(one not in _SAFE for one in _readers_of_views(reader))
    return kind not in _SAFE_DIRECTLY


def _readers_of_views(view: Node) -> Iterator[str]:
    """The types of the nodes that read a view, or a view of it."""
    pending, seen = [view], {view.get_name()}
    while pending:
        for output in pending.pop().outputs():
            for port in output.get_target_inputs():
                reader = port.get_node()
                if reader.get_type_name() not in _VIEWS:
                    yield reader.get_type_name()
                elif reader.get_name() not in seen:
                    seen.add(reader.get_name())
                    pending.append(reader)


__all__ = ["copy_invariants", "invariants_of"]
