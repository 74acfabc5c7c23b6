"""Makes the batch of a recurrent layer's sequence static if that of its states is.

In a computed shape, OpenVINO 2026.4's CPU plugin forgets which elements are constant. A sequence of static batch that
is repeated or reshaped to such a shape then has a dynamic batch, and its recurrent layer does not compile with states
of a static one.
"""

from __future__ import annotations

from typing import TypeAlias

from openvino import Node

from paddle2ov.graph.constants import constant_of, ints
from paddle2ov.graph.opset import ops
from paddle2ov.graph.shapes import dims_of
from paddle2ov.graph.workarounds import works_around
from paddle2ov.passes.graph import Counts, Graph
from paddle2ov.passes.replacement import insert
from paddle2ov.passes.rule import MatchFailureError, Rule

_RESHAPING = frozenset(("Broadcast", "Reshape", "Tile"))
"""Node types whose second input is, or multiplies, the shape of their output."""

_Layer: TypeAlias = tuple[Node, list[int]]
"""A recurrent layer, and the target shape of its sequence."""


@works_around("recurrent_layer_of_computed_shape")
class PinRecurrentBatch(Rule[_Layer, _Layer]):
    """Reshapes the sequence of a recurrent layer to the batch of the states.

    Given:
        A recurrent layer over a sequence [N, T, I] with a dynamic dimension that is computed from a tensor reshaped to
        a computed shape, and initial states [N, D, H] of static N.
    Result:
        The same over Reshape(sequence, [N, -1, I]), with 0, which keeps a size, for a dynamic I. If the sequence has a
        dynamic N, T is kept as well, so that another N is an error.
    """

    roots = ("GRUSequence", "LSTMSequence", "RNNSequence")
    counts = ("layers",)

    def pattern(self, graph: Graph, node: Node) -> _Layer | None:
        dims, states = dims_of(node.input_value(0)), dims_of(node.input_value(1))
        if dims is None or states is None or None not in dims or states[0] is None:
            return None
        steps, features = dims[1:]
        if steps is None:  # OpenVINO does not compile the layer with 0 here, in some models
            steps = 0 if dims[0] is None else -1
        return node, [states[0], steps, features or 0]

    def check(self, graph: Graph, match: _Layer) -> _Layer:
        if not _has_computed_shape(match[0].input_value(0).get_node()):
            raise MatchFailureError("the shape of the sequence is not computed")
        return match

    def rewrite(self, graph: Graph, plan: _Layer) -> Counts:
        layer, dims = plan
        pinned = ops.reshape(layer.input_value(0), ints(dims), True)
        insert([layer.input(0)], pinned.output(0), layer)
        return {"layers": 1}


def _has_computed_shape(node: Node) -> bool:
    """Whether what a node computes, or the first input of it and so on, has been reshaped to a computed shape."""
    while node.get_input_size():
        if node.get_type_name() in _RESHAPING and constant_of(node.input_value(1)) is None:
            return True
        node = node.input_value(0).get_node()
    return False


pin_recurrent_batch = PinRecurrentBatch()
