"""Hides the constant sequences of recurrent layers from OpenVINO.

In bfloat16, OpenVINO 2026.4 does not compile a recurrent layer over a value that it computes only once, such as zeros
of an input's size, nor over a constant that a loop or a branch may yield.
"""

from __future__ import annotations

from openvino import Node

from paddle2ov.graph.opaque_values import hide, runtime_zero
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.independence import Independence
from paddle2ov.passes.replacement import insert

_LAYERS = ("GRUSequence", "LSTMSequence", "RNNSequence")


@works_around("recurrent_layer_of_zeros_in_bfloat16")
def avoid_constant_recurrence(graph: Graph) -> Counts:
    """Gives recurrent layers over constants a copy that is computed at run time.

    Given:
        A recurrent layer over a sequence that depends on no Parameter, except through its shape, a branch or a loop.
    Result:
        The same layer over a copy that is computed at run time.
    """
    is_constant = Independence(("Parameter", "ReadValue"), opaque=("ShapeOf", "If", "Loop", "TensorIterator"))
    found: list[Node] = [node for node in graph.nodes(*_LAYERS) if is_constant(node.input_value(0).get_node())]
    if found:
        zero = runtime_zero([one.output(0) for one in graph.model.get_parameters()])
        for node in found:
            insert([node.input(0)], hide(node.input_value(0), zero).output(0), node)
        graph.changed()
    return {"layers": len(found)}
