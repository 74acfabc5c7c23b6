"""Hides what loops, branches and suppressions compute on from OpenVINO if it is constant.

OpenVINO 2026.4's CPU plugin runs loops and branches over constants once, as it compiles the model, in memory that it
overwrites later, and crashes if they draw random numbers. It does not compile a NonMaxSuppression over constants.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.opaque_values import hide, runtime_zero
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.independence import Independence
from paddle2ov.passes.replacement import insert

_DATA = {"If": slice(1, None), "Loop": slice(2, None), "NonMaxSuppression": slice(2), "TensorIterator": slice(None)}
"""Node type -> the inputs that are not a condition, count or threshold."""


@works_around("suppression_of_constants")
def hide_constants(graph: Graph) -> Counts:
    """Gives loops, branches and suppressions over constants copies that are computed at run time.

    Given:
        If, Loop, TensorIterator or NonMaxSuppression that depends on no Parameter.
    Result:
        The same nodes over copies that are computed at run time.
    """
    has_no_inputs = Independence(("Parameter", "ReadValue", "RandomUniform"))
    found: list[Node] = [node for node in graph.nodes(*_DATA) if has_no_inputs(node)]
    if found:
        zero = runtime_zero([one.output(0) for one in graph.model.get_parameters()])
        for node in found:
            for port in node.inputs()[_DATA[node.get_type_name()]]:
                insert([port], hide(port.get_source_output(), zero).output(0), node)
        graph.changed()
    return {"nodes": len(found)}
